"""The log-ratio of two densities given by their values: quadrature, with estimated errors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ULP, complex_log1p
from logphi.arith.protocol import Arithmetic, Number
from logphi.arith.scaled import Scaled
from logphi.arrays import Array
from logphi.bracketing import last_good
from logphi.laws.closed_form import ClosedForm
from logphi.laws.densities.density_excess import density_excess
from logphi.laws.densities.density_samples import loss_samples
from logphi.laws.densities.density_tables import (
    LIGHT,
    centred_terms,
    log_peak,
    log_ulps,
    loss_ranges,
    losses,
    pruned,
    tilted_shares,
)
from logphi.laws.densities.log_densities import LogDensity
from logphi.laws.support import LogMasses, Support
from logphi.laws.traits import Traits
from logphi.laws.transform import LossTransform, T
from logphi.laws.visitor import LawVisitor
from logphi.quadrature.approximation import Approximation
from logphi.quadrature.kronrod import KRONROD, Table, above_noise, divided, doubts, first_table, settled, spread
from logphi.quadrature.values import Line, Values

# measured: the relative error that the quadrature aims at for answers
_TOLERANCE = 1e-13
# measured: the relative error that the quadrature aims at for approximate values
_COARSE = 1e-7
# measured: the largest number of entries of an array
_BLOCK = 1 << 18
# derived: the 10-point rule errs by less than 1e-14 on a panel over which the phase changes by this
_TURN = 6.0
# derived: where the exponent of an integrand is larger, 1 is negligible beside its exponential
_LARGE = 50.0
# chosen: phases of up to this many radians are resolved
_LONGEST = 1200.0
# measured: this many points take about a second
_POINTS = 512
# chosen: the largest abscissa at which the quadrature is tried
_FARTHEST = 2.0**15
# chosen: the number of bisections that locate the end of the strip
_HALVINGS = 24
# chosen: by how much abscissas of one table may differ in size, as a logarithm
_APART = 1.5
# measured: an abscissa at which M has a larger error counts as outside of the strip
_SETTLED = 1e-6
# measured: the number of abscissas that share panels
_FEW = 6
# measured: the largest phase up to which the decay is sampled
_PHASE = 800.0
# measured: the number of samples in a turn of the phase
_SAMPLES = 16
# derived: what a peak between two samples may add, (pi/16)^2 / 2, with room
_BETWEEN = 1.03


@dataclass(frozen=True)
class Densities(LossTransform):
    """log(p/q) under p, for densities p, q given by their logarithms on an interval.

    K(z) = log of the integral of p^{1+z} q^{-z} where both are positive. All errors are estimates. Both laws may have an atom
    beside their densities, the same one with mass ``rest``: there the loss is zero.
    """

    log_p: LogDensity
    log_q: LogDensity
    interval: tuple[float, float]
    breakpoints: tuple[float, ...] = ()
    rest: float = 0.0

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """Refused: there is no formula."""
        raise NotImplementedError(
            "a pair given by callables has no symbolic log-phi, as its densities are known by samples only; "
            "use FromLogPhi with an expression of your own, or ask for renyi, delta or epsilon instead"
        )

    traits = Traits(estimated=True)

    def reflected(self) -> Densities:
        """The densities exchanged."""
        return replace(self, log_p=self.log_q, log_q=self.log_p)

    def logs(self, x: Array) -> tuple[Array, Array]:
        """Both logarithms."""
        with np.errstate(all="ignore"):  # squares overflow at extreme points, and logarithms of zero are minus infinity
            return tuple(np.asarray(log(x), dtype=float) for log in (self.log_p, self.log_q))  # type: ignore[return-value]

    def probes(self) -> Array:
        """Points at which the two functions may be checked before they are used."""
        return spread(self.interval, self.breakpoints)

    @property
    def strip(self) -> tuple[float, float]:
        """From -1 to the largest abscissa at which the quadrature of M(c) converges."""
        return (-1.0, _end_of_strip(self))

    def totals(self) -> tuple[tuple[float, float], tuple[float, float], float]:
        """The masses of p and q, the part of each where the other is zero, and the error of all four."""
        table = _base(self)
        p, q = np.exp(table.log_p) * table.width, np.exp(table.log_q) * table.width
        alone_p, alone_q = np.where(np.isneginf(table.log_q), p, 0.0), np.where(np.isneginf(table.log_p), q, 0.0)
        sums = [float((part @ KRONROD).sum()) for part in (p, alone_p, q, alone_q)]
        error = max(float(doubts(part).sum()) for part in (p, alone_p, q, alone_q))
        return (sums[0] + self.rest, sums[1]), (sums[2] + self.rest, sums[3]), error + 64 * ULP

    @cached_property
    def support(self) -> Support:
        """The whole line, with the masses where the other density is zero."""
        (_, infinite_p), (_, infinite_q), error = self.totals()
        parts = (np.array([np.log1p(-min(infinite, 1 - 1e-15))]) for infinite in (infinite_p, infinite_q))
        masses = (Values(part, 4 * ULP * np.abs(part), np.where(part < 0, error / np.exp(part), 0.0)) for part in parts)
        return Support(masses=LogMasses(*masses))

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K by quadrature on panels made for these points; infinite outside the strip."""
        z = np.asarray(z)
        inside = (z.real >= self.strip[0]) & (z.real < self.strip[1]) & (np.abs(z.imag) * _loss_range(self) < _LONGEST)
        result = Values(np.full(z.shape, np.inf, dtype=z.dtype), np.full(z.shape, np.inf), np.zeros(z.shape))
        # panels and scale chosen for large values do not serve small ones
        level = np.where(inside, np.floor(np.log(np.maximum(np.abs(z.real), 1.0)) / _APART), -1.0)
        for one in np.unique(level[inside]):
            own = z[level == one]
            table = _tilted(self, _few(own.real), float(np.abs(own.imag).max()))
            for part, whole in zip(_transform(self, table, own), (result.mid, result.rounding, result.inner), strict=True):
                whole[level == one] = part
        return result

    @property
    def approximate(self) -> Approximation:
        """K by a coarse quadrature; infinite outside the strip."""
        return Approximation(self._by_coarse_table)

    def _by_coarse_table(self, c: Array) -> Array:
        inside = (c >= self.strip[0]) & (c < self.strip[1])
        result = np.full(c.shape, np.inf)
        if inside.any():
            result[inside] = _transform(self, _tilted(self, _few(c[inside]), 0.0, _COARSE), c[inside])[0]
        return result

    def log_envelope(self, abscissa: float, heights: Array, end: float = np.inf) -> Array:
        """An estimate from samples at small phases; it never rises, and is constant above the last sample."""
        top, sampled = _decay(self, abscissa)
        index = np.minimum(np.searchsorted(top, heights, side="right") - 1, top.size - 1)
        return np.where(index >= 0, sampled[np.maximum(index, 0)], 0.0)

    @property
    def closed_form(self) -> ClosedForm:
        """The excess, by quadrature."""
        return ClosedForm(self.excess)

    def excess(self, x: float) -> Scaled:
        """The integral of (p - e^x q)_+ where q is positive, plus the contribution of the atom."""
        own, atom = density_excess(_base(self), self.logs, x, _TOLERANCE), self.rest * -float(np.expm1(min(x, 0.0)))
        return own + Scaled(0.0, atom, rounding=4 * ULP * atom) if atom else own

    def accept(self, visitor: LawVisitor[T, LossTransform]) -> T | None:
        """The visitor's result for the nodes of a quadrature."""
        return visitor.samples(lambda: _samples(self))

    def on_line(self, line: Line, count: int = 1) -> Values:
        """K on a vertical line; unknown if the line has more than a fixed number of nodes."""
        known = self.log_transform(line.points[:_POINTS], count)
        rest = max(0, line.size - _POINTS)
        mid, rounding = (np.append(part, np.full(rest, np.inf)) for part in (known.mid, known.rounding))
        return Values(mid, rounding, np.append(known.inner, np.zeros(rest)))


@lru_cache(maxsize=8)
def _samples(law: Densities) -> tuple[Array, Array]:
    return loss_samples(_base(law), law.rest, law.logs)


def _few(abscissas: Array) -> tuple[float, ...]:
    """A few of many abscissas, both ends included."""
    distinct = np.unique(abscissas)
    return tuple(distinct[np.unique(np.linspace(0, distinct.size - 1, _FEW).astype(int))].tolist())


def _transform(law: Densities, table: Table, z: NDArray[Any]) -> tuple[NDArray[Any], Array, Array]:
    """K with its rounding and the estimate of the quadrature's error."""
    (whole_p, infinite_p), (whole_q, infinite_q), error = law.totals()
    table, dropped = pruned(table, z)
    parts: list[tuple[NDArray[Any], Array, Array]] = []
    block = max(1, _BLOCK // table.x.size)
    peak = max(log_peak(table, float(z.real.max())), log_peak(table, float(z.real.min())))
    for first in range(0, z.size, block):
        own = z[first : first + block]
        terms, moved = centred_terms(table, own, peak)
        sums = (terms @ KRONROD).sum(axis=1)
        doubt = doubts(terms).sum(axis=1)
        parts.append((sums, doubt, (moved @ KRONROD).sum(axis=1) * ULP))
    deviation, doubt, moved = (np.concatenate(one) for one in zip(*parts, strict=True))
    doubt = doubt + dropped * np.exp(-peak)
    # if a mass differs from one, the user's density is wrong by that much, which counts in the error of the answer
    missing = np.abs(1 + z) * max(abs(whole_p - 1) - 4 * error, 0.0) + np.abs(z) * max(abs(whole_q - 1) - 4 * error, 0.0)
    infinite = -(1 + z) * infinite_p + z * infinite_q
    inner = missing + (np.abs(1 + z) * (infinite_p > 0) + np.abs(z) * (infinite_q > 0)) * error
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # not finite: nothing is known
        if peak < _LARGE:
            mid = complex_log1p(deviation * np.exp(peak) + infinite)
        else:
            mid = np.log(deviation + (1 + infinite) * np.exp(-peak)) + peak
        # in units of the transform itself
        size = np.exp(np.minimum(peak - mid.real, 700.0))
        inner = doubt * size + inner * np.exp(-mid.real)
        rounding = (moved + ULP * np.abs(deviation)) * size + 4 * ULP * np.abs(mid)
    known = np.isfinite(mid) & (inner < 0.5) & (rounding < 0.5)
    # a relative error e of M is an error of -log(1 - e) of log M
    spread = [np.where(known, -np.log1p(-np.where(known, one, 0.0)), np.inf) for one in (rounding, inner)]
    return np.where(known, mid, np.inf), spread[0], np.where(known, spread[1], 0.0)


@lru_cache(maxsize=32)
def _base(law: Densities) -> Table:
    """Panels on which quadrature of both densities, and of their geometric mean, converges."""

    def report(table: Table) -> tuple[Array, Array]:
        with np.errstate(invalid="ignore"):  # minus infinity less itself
            mean = np.where(np.isneginf(table.log_p) | np.isneginf(table.log_q), -np.inf, (table.log_p + table.log_q) / 2)
        own_p = np.where(np.isneginf(table.log_q), -np.inf, table.log_p)
        own_q = np.where(np.isneginf(table.log_p), -np.inf, table.log_q)
        parts = np.stack([np.exp(log) * table.width for log in (table.log_p, table.log_q, mean, own_p, own_q)])
        size = parts @ KRONROD
        noise = ((parts * (log_ulps(table, table.log_p) + log_ulps(table, table.log_q))) @ KRONROD) * (4 * ULP)
        return size, above_noise(doubts(parts), noise)

    table = settled(first_table(law.interval, law.breakpoints, law.logs), law.logs, report, _TOLERANCE)
    # halving a panel reveals a kink near its end
    return settled(divided(table, np.full(table.low.size, 2.0), law.logs), law.logs, report, _TOLERANCE)


@lru_cache(maxsize=32)
def _loss_range(law: Densities) -> float:
    """The range of the losses that have a relevant mass."""
    loss, weight = tilted_shares(law.rest, _base(law), -0.5)
    return float(np.ptp(loss)) if weight.size else 0.0


@lru_cache(maxsize=64)
def _tilted(law: Densities, abscissas: tuple[float, ...], height: float, tolerance: float = _TOLERANCE) -> Table:
    """Panels on which M converges at some abscissas, narrow enough for the phase up to a height."""

    def report(table: Table) -> tuple[Array, Array]:
        parts, noise = centred_terms(table, np.array(abscissas), [log_peak(table, c) for c in abscissas])
        size, doubt = np.abs(parts @ KRONROD), above_noise(doubts(parts), ULP * (noise @ KRONROD))
        if height > 0:
            loss, common = losses(table)
            turn = height * loss_ranges(loss, common)
            heavy = size > LIGHT * size.sum(axis=1, keepdims=True)
            doubt = np.where(heavy & (turn > _TURN), np.maximum(doubt, size), doubt)
        return size, doubt

    return settled(_base(law), law.logs, report, tolerance)


@lru_cache(maxsize=32)
def _end_of_strip(law: Densities) -> float:
    """The largest abscissa, up to the farthest one, at which the quadrature converges."""

    def settles(c: float) -> bool:
        table = _tilted(law, (c,), 0.0, _COARSE)
        mid, _, inner = _transform(law, table, np.array([c]))
        return bool(np.isfinite(mid[0]) and inner[0] < _SETTLED)

    return last_good(settles, _FARTHEST, 8.0, 16, _HALVINGS)


@lru_cache(maxsize=32)
def _decay(law: Densities, abscissa: float) -> tuple[Array, Array]:
    """Heights from zero on, and for each the logarithm of the largest |M(c + it)| / M(c) from there on."""
    loss, weight = tilted_shares(law.rest, _tilted(law, (abscissa,), 0.0), abscissa)
    if not np.ptp(loss) > 0:
        return np.zeros(1), np.zeros(1)
    highest = _PHASE / float(np.ptp(loss))
    loss, weight = tilted_shares(law.rest, _tilted(law, (abscissa,), highest), abscissa)
    side = int(np.sqrt(_PHASE * _SAMPLES / (2 * np.pi))) + 1
    step = highest / side**2
    fine = np.exp(1j * step * np.arange(side) * loss[:, None]) * weight[:, None]
    coarse = np.exp(1j * step * side * np.arange(side)[:, None] * loss)
    modulus = np.abs(coarse @ fine).ravel()
    # above the last sample, the largest value of the upper half
    modulus[modulus.size // 2 :] = np.maximum(modulus[modulus.size // 2 :], modulus[modulus.size // 2 :].max())
    largest: Array = np.maximum.accumulate(modulus[::-1])[::-1]
    return step * np.arange(float(side**2)), np.log(np.minimum(_BETWEEN * largest + 1e-15, 1.0))
