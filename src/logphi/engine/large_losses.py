"""What rare large losses add to an excess, and a bound of the rest.

notation as in :mod:`logphi.engine.clipping`: F is the event that a loss exceeds its cap B > eps, and

    R <= kappa(v) e^{eps + v (eps - B)} M(-1 - v) * (sum of Q(l > B)),    v > 0.
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
from logphi.inversion.half_line import spread
from logphi.inversion.kernels import log_kappa
from logphi.laws.log_phi import LogPhi

if TYPE_CHECKING:
    from logphi.laws.clipped import ClippedNormal

# chosen: exponents v among which the best is found, over the spread of L
_EXPONENTS = np.geomspace(0.1, 30.0, 24)
# derived: masses below this unit count linearly to the last digit, and their quotients do not overflow
_LOG_LEAST = -600.0


@dataclass(frozen=True)
class Rest:
    """Approximate bounds of R near a threshold, one for each exponent v; ``moments`` holds K(-1 - v)."""

    x: float
    exponents: Array
    moments: Array

    @staticmethod
    def near(loss: LogPhi, x: float) -> Rest:
        """The bounds for exponents on the scale of the small losses."""
        exponents = _EXPONENTS / spread(loss)
        return Rest(x, exponents, loss.approximate(-1 - exponents))

    def log_bounds(self, caps: Array) -> Array:
        """Logarithms of the bound of R over the sum of Q(l > B), of shape (exponents, caps)."""
        v = self.exponents[:, None]
        bounds: Array = log_kappa(v) + self.x + v * (self.x - caps) + self.moments[:, None]
        return bounds

    def proved(self, loss: LogPhi, cap: float) -> tuple[float, float]:
        """The best v at which M(-1 - v) is known, and log(kappa(v) e^{-vB} M(-1 - v))."""
        exponent, bound = math.nan, math.inf
        for best in np.argsort(self.log_bounds(np.array([cap]))[:, 0]):
            abscissa = -1 - float(self.exponents[best])
            exponent = -1 - abscissa
            values = loss.log_transform(np.array([abscissa]))
            bound = float((log_kappa(np.array([exponent])) + values.mid + values.radius)[0]) - exponent * cap
            bound += 1e-13 * (1 + abs(float(values.mid[0])) + exponent * abs(cap))
            if math.isfinite(bound):
                break
        return exponent, bound


@dataclass(frozen=True)
class LargeLosses:
    """P(F) - Q(F) and Q(F) in units of e^log_unit, their relative error, and a bound of R e^{-(1 + v) x} at one v."""

    log_unit: float
    excess_mass: float
    mass: float
    error: float
    exponent: float
    log_rest: float

    @staticmethod
    def above_cap(laws: Sequence[tuple[ClippedNormal, int]], loss: LogPhi, rest: Rest) -> LargeLosses:
        """The large losses of clipped laws, from their masses above the cap, with the best v at the threshold."""
        counts = np.array([float(count) for _, count in laws])
        parts = [law.upper_tail for law, _ in laws]
        log_mass, log_more = (np.array([getattr(part, name) for part in parts]) for name in ("log_mass", "log_more"))
        log_unit = float((np.maximum(log_mass, log_more) + np.log(counts)).max())
        unit = math.exp(max(log_unit, _LOG_LEAST))
        mass, excess_mass = np.exp(log_mass - log_unit), np.exp(log_more - log_unit)
        # logarithms of Q(not F), and of P(not F) over it
        kept = float(counts @ np.log1p(-unit * mass)) / unit
        apart = float(counts @ np.log1p(-unit * excess_mass / (1 - unit * mass))) / unit
        relative = max(part.error for part in parts) + 16 * ULP
        exponent, log_rest = rest.proved(loss, min(law.least_above for law, _ in laws))
        return LargeLosses(
            log_unit,
            -math.exp(kept * unit) * math.expm1(apart * unit) / unit,
            -math.expm1(kept * unit) / unit,
            2 * (1 - kept * unit) * relative + ULP * counts.size,
            exponent,
            # the masses may be far below the unit
            log_rest + float(np.logaddexp.reduce(log_mass + np.log(counts))) + 2 * relative + 1e-12,
        )

    def at(self, x: float) -> Scaled:
        """P(F) - e^x Q(F) + R."""
        taken = math.expm1(x) * self.mass
        size = self.excess_mass + abs(taken)
        known = Scaled(self.log_unit, self.excess_mass - taken, rounding=size * (self.error + 8 * ULP) * (1 + abs(x)))
        log_rest = self.log_rest + (1 + self.exponent) * x
        log_rest += 1e-13 * (1 + abs(self.log_rest) + (1 + self.exponent) * abs(x))
        return known + Scaled(log_rest, 0.5, truncation=0.5)
