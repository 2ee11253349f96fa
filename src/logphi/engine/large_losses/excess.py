"""What rare large losses add to an excess, and a bound of the rest.

notation as in :mod:`logphi.engine.large_losses.clipping`: F is the event that a loss exceeds its cap B > eps, and

    R <= kappa(v) e^{eps + v (eps - B)} M(-1 - v) * (sum of Q(l > B)),    v > 0.

Where coins of width tau mark the losses in F, X with the noise of its coin is a normal variable S of variance 1 + tau^2, and
S > b. For a given S the law of X is normal with mean S / (1 + tau^2) and variance tau^2 / (1 + tau^2), so that X lies below
x_k = b / (1 + tau^2) - k tau with a probability of at most Phi(-k). With the losses l_k there,

    E_Q[e^{-v l}; S > b] <= Q(S > b) (e^{-v l_1} + Phi(-1) e^{-v l_2} + Phi(-2) e^{-v l_3} + ...),

where the last term has the least loss.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from logphi.arith.floats import ULP
from logphi.arith.scaled import Scaled
from logphi.arrays import Array
from logphi.inversion.lines.half_line import spread
from logphi.inversion.lines.kernels import log_kappa
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal.mixed_normal import mixed_normals

if TYPE_CHECKING:
    from logphi.laws.normal.clipped import ClippedNormal, UpperTail
    from logphi.laws.normal.mixed_normal import MixedNormal

# chosen: exponents v among which the best is found, over the spread of L, and the least one over the least large
# loss
_EXPONENTS = np.geomspace(0.1, 30.0, 24)
_LEAST = 3.0
# chosen: the k at which losses that coins mark as huge exceed a cap, and those of the terms of the bound
_CERTAIN = 9.0
_STEPS = np.arange(1.0, 41.0)
# chosen: how far half-lines reach above the shift; less than 1e-23 of the mass is above that
_HALF_LINE = 10.0
# derived: far above the relative rounding of a loss
_DOUBT = 1e-13
# derived: masses below this unit count linearly to the last digit, and their quotients do not overflow
_LOG_LEAST = -600.0


@dataclass(frozen=True)
class Rest:
    """Approximate bounds of R near a threshold, one for each exponent v; ``moments`` holds K(-1 - v)."""

    x: float
    exponents: Array
    moments: Array

    @staticmethod
    def near(loss: LogPhi, x: float, least: float) -> Rest:
        """The bounds for exponents on the scales of the small losses and of the least large loss."""
        exponents = _EXPONENTS / spread(loss)
        if exponents[0] > _LEAST / least:
            # losses that coins mark are not above a sharp cap
            exponents = np.append(np.geomspace(_LEAST / least, exponents[0], _EXPONENTS.size)[:-1], exponents)
        return Rest(x, exponents, loss.approximate(-1 - exponents))

    def log_bounds(self, caps: Array) -> Array:
        """Logarithms of the bound of R over the sum of Q(l > B), of shape (exponents, caps)."""
        v = self.exponents[:, None]
        bounds: Array = log_kappa(v) + self.x + v * (self.x - caps) + self.moments[:, None]
        return bounds

    def proved(self, loss: LogPhi, tails: Tails) -> tuple[float, float]:
        """The best v at which M(-1 - v) is known, and log(kappa(v) M(-1 - v)) with the decay of the tails."""
        exponent, bound = math.nan, math.inf
        decay = np.array([tails.log_decay(float(v)) for v in self.exponents])
        for best in np.argsort(log_kappa(self.exponents) + (1 + self.exponents) * self.x + self.moments + decay):
            abscissa = -1 - float(self.exponents[best])
            exponent = -1 - abscissa
            log_moment, own = _log_moment(loss, abscissa), tails.log_decay(exponent)
            bound = float(log_kappa(np.array([exponent]))[0]) + log_moment + own
            bound += 1e-13 * (1 + abs(log_moment) + abs(own))
            if math.isfinite(bound):
                break
        return exponent, bound


@dataclass(frozen=True)
class Tails:
    """The masses of large losses of each law, and lower bounds of these losses.

    Of each law at most a share of e^{log_shares[i]} lies between ``leasts[i]`` and the bound before.
    """

    parts: tuple[tuple[UpperTail, int], ...]
    leasts: tuple[float, ...]
    log_shares: tuple[float, ...] = (0.0,)

    @property
    def log_more(self) -> float:
        """About the logarithm of P(F) - Q(F)."""
        return float(np.logaddexp.reduce([part.log_more + math.log(count) for part, count in self.parts]))

    def log_decay(self, v: float) -> float:
        """The logarithm of a bound of E_Q[e^{-v l}] over the large losses of any of the laws."""
        exponents = np.array(self.log_shares) - v * np.array(self.leasts)
        return float(np.logaddexp.reduce(exponents + _DOUBT * (1 + np.abs(exponents))))

    @staticmethod
    def clipped(laws: Sequence[tuple[ClippedNormal, int]]) -> Tails:
        """The losses above a cap."""
        return Tails(tuple((law.upper_tail, count) for law, count in laws), (min(law.least_above for law, _ in laws),))

    @staticmethod
    def marked(laws: Sequence[tuple[MixedNormal, int]], ends: Sequence[float], widths: Sequence[float]) -> Tails:
        """The losses that coins of these widths mark as above the ends."""
        # SciPy's normal tails would double the time of importing the package
        from scipy.special import log_ndtr

        from logphi.laws.normal.clipped import UpperTail

        parts, leasts = [], []
        for (law, count), end, width in zip(laws, ends, widths, strict=True):
            (m, q), spread = law.constants, math.sqrt(1 + width * width)
            parts.append((UpperTail.above(m / spread, q, end / spread, law.relative_errors[1]), count))
            places = end / spread**2 - _STEPS * width
            least = law.ratio.value(places)[0]
            # the slope of the loss is at most m (l + q)
            least = least - _DOUBT * (np.abs(least) + q) * (1 + m * (m + np.abs(places)))
            leasts.append(np.append(least, law.support.lower * (1 + _DOUBT)))
        shares = np.append(0.0, log_ndtr(-_STEPS))
        return Tails(tuple(parts), tuple(np.min(leasts, axis=0).tolist()), tuple(shares.tolist()))

    @staticmethod
    def end_above(cap: float, law: MixedNormal, width: float) -> float:
        """The end above which coins of a width mark hardly any loss that is below the cap."""
        return (float(law.ratio.terms.inverse(cap)[0, 0]) + _CERTAIN * width) * (1 + width * width)


@dataclass(frozen=True)
class LargeLosses:
    """P(F) - Q(F) and Q(F) in units of e^log_unit, their relative error, and a bound of R e^{-(1 + v) x} at one v.

    Both are times the mass of the finite losses under P; ``log_lost`` is the logarithm of their mass under Q over that under P,
    with the error ``lost_error``. The large losses are independent of those that may be infinite.
    """

    log_unit: float
    excess_mass: float
    mass: float
    error: float
    exponent: float
    log_rest: float
    log_lost: float = 0.0
    lost_error: float = 0.0

    @staticmethod
    def of(tails: Tails, loss: LogPhi, rest: Rest) -> LargeLosses:
        """The large losses with these tails, with the best v at the threshold."""
        counts = np.array([float(count) for _, count in tails.parts])
        parts = [part for part, _ in tails.parts]
        log_mass, log_more = (np.array([getattr(part, name) for part in parts]) for name in ("log_mass", "log_more"))
        log_unit = float((np.maximum(log_mass, log_more) + np.log(counts)).max())
        unit = math.exp(max(log_unit, _LOG_LEAST))
        mass, excess_mass = np.exp(log_mass - log_unit), np.exp(log_more - log_unit)
        # logarithms of Q(not F), and of P(not F) over it
        kept = float(counts @ np.log1p(-unit * mass)) / unit
        apart = float(counts @ np.log1p(-unit * excess_mass / (1 - unit * mass))) / unit
        # with all other releases given, P(F) - Q(F) and Q(F) change with the mass of one at most as their sums over the
        # releases, weighted with the inverse probability that this one is not large: relative errors count by their shares
        errors = np.array([part.error for part in parts]) + 16 * ULP
        relative = max(
            _mean(errors, counts * mass / (1 - unit * mass)),
            _mean(errors, counts * excess_mass / np.maximum(1 - unit * (mass + excess_mass), ULP)),
        )
        exponent, log_rest = rest.proved(loss, tails)
        own, tilted = ((float(one.mid[0].real), float(one.radius[0])) for one in loss.support.masses)
        finite = math.exp(own[0])
        return LargeLosses(
            log_unit,
            -finite * math.exp(kept * unit) * math.expm1(apart * unit) / unit,
            -finite * math.expm1(kept * unit) / unit,
            2 * (1 - kept * unit) * relative + ULP * counts.size + math.expm1(2 * own[1]),
            exponent,
            # the masses may be far below the unit
            log_rest + float(np.logaddexp.reduce(log_mass + np.log(counts))) + 2 * float(errors.max()) + 1e-12,
            tilted[0] - own[0],
            tilted[1] + own[1] + ULP * abs(tilted[0] - own[0]),
        )

    def at(self, x: float) -> Scaled:
        """P(F) - e^x Q(F) + R, without infinite losses."""
        ahead = x + self.log_lost
        taken = math.expm1(ahead) * self.mass
        size = self.excess_mass + abs(taken)
        wrong = size * (self.error + 8 * ULP) * (1 + abs(x))
        if self.log_lost or self.lost_error:
            wrong += self.mass * math.exp(ahead) * math.expm1(2 * self.lost_error + 2 * ULP * abs(ahead))
        known = Scaled(self.log_unit, self.excess_mass - taken, rounding=wrong)
        log_rest = self.log_rest + (1 + self.exponent) * x
        log_rest += 1e-13 * (1 + abs(self.log_rest) + (1 + self.exponent) * abs(x))
        return known + Scaled(log_rest, 0.5, truncation=0.5)


def _log_moment(loss: LogPhi, abscissa: float) -> float:
    """An upper bound of K left of -1; where the sums of sampled normal pairs are too long, from half-lines.

    Where a ratio w is at least one, w^{c+1} is at most one there.
    """
    # SciPy's normal tails would double the time of importing the package
    from scipy.special import log_ndtr

    from logphi.quadrature.half_lines.shifted_half_line import ShiftedHalfLine

    at = np.array([abscissa])
    values = loss.log_transform(at)
    if np.isfinite(values.radius[0]):
        return float(values.mid[0] + values.radius[0])
    own, others = mixed_normals(loss.terms)
    values = LogPhi(tuple(others)).log_transform(at)
    total = float(values.mid[0] + values.radius[0])
    for law, count in own:
        end = law.constants[0] + _HALF_LINE
        half_line = ShiftedHalfLine(*law.constants, *law.relative_errors, end, 0.0, linear=False)
        total += count * float(np.logaddexp(half_line.log_on_axis(at, count), log_ndtr(-end))[0])
    return total


def _mean(errors: Array, weights: Array) -> float:
    """The mean of errors with the given weights; the largest one where all weights underflow."""
    total = float(weights.sum())
    return float(errors @ weights) / total if total > 0 else float(errors.max())
