"""An envelope for a curve with several factors: the integral on a shifted line, bounded cell by cell.

notation as in :mod:`logphi.quadrature.curves.curve`. On s + ib, 0 < b < pi / (2 |kappa|), log |w_k| and |arg w_k| are
monotone in s, and all factors turn e^{itl} the same way:

    |M(c + it)| <= e^{B b^2} integral of e^{g(s)} |w_1|^a ... e^{-t |arg|} ds,

where the density grows by at most e^{B b^2}; cells bound this from above by their ends. At an end of the curve the line returns
to the axis, along which the integrand is at most its largest value there. Below the height S from which the ratio
|chi| to M(c) is less than E,

    1 - |chi(t)|^2 >= (1 - |chi(2^m t)|^2) / 4^m,     |chi(t)|^2 <= 1 - (t / 2S)^2 (1 - E^2),

as in :mod:`logphi.quadrature.density_envelope`. The sharper trapezoidal sum of
:mod:`logphi.quadrature.mixtures.mixture_envelope` is proved for shifts of one sign only; cells need no more than monotone
factors.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from logphi.arith.summation import log_sum
from logphi.arrays import Array
from logphi.quadrature.curves.curve import Curve
from logphi.quadrature.curves.gauss_legendre import parts_of
from logphi.quadrature.curves.panels import log_tail, panels
from logphi.quadrature.mixtures.log_ratio import rotated
from logphi.quadrature.values import MASS_ROUNDING

# measured: distances from the axis, relative to the largest; more of them gain little
_DISTANCES = np.geomspace(1 / 64, 1.0, 14)
# measured: the number of cells; more of them gain little
_CELLS = 640
# derived: below pi/2
_WIDEST = 1.57
# measured: a line on which the integrand grows by more than e^35 gives no better bound
_RISE = 35.0
# measured: the values of S, times the steepness of the loss, that are tried
_STARTS = 2.0 ** np.arange(-6, 30, 0.5)
# measured: one in this many heights S is tried first
_APART = 8
# measured: heights that are tried with every distance are this many octaves apart
_OCTAVES = 2.0
# derived: E^2 is below a half
_FALLEN = -0.35
# chosen: what serves all heights of a line is asked for several times
_KEPT = 1 << 10


def log_shifted_line_envelope(curve: Curve, abscissa: float, heights: Array) -> Array:
    """A proved upper bound of log |M(c + is)| - K(c) for all s >= t, of a curve without atoms."""
    found = _cells(curve, abscissa + 1)
    if found is None:
        return np.zeros_like(heights)
    start = _STARTS / curve.steepness
    own = np.minimum(found.log_ratio(heights), 0.0)
    # the best of the bounds that start at or above each height
    gap = -np.expm1(2 * found.from_start) / (2 * start) ** 2 * (1 - MASS_ROUNDING)
    best = np.maximum.accumulate(gap[::-1])[::-1]
    at = np.searchsorted(start, heights)
    left = np.where(at < start.size, heights**2 * best[np.minimum(at, start.size - 1)], 0.0)
    near = 0.5 * np.log1p(-np.minimum(left, 0.5))
    return np.asarray(np.minimum.accumulate(np.minimum(own, near)))


@dataclass(frozen=True, eq=False)
class _Cells:
    """The integrals on all shifted lines, cell by cell: what serves every height.

    Rows are distances from the axis. A cell is at most e^(log_size - t turn), and all outside of the cells e^log_outside.
    """

    curve: Curve
    log_size: Array
    turn: Array
    log_outside: Array
    log_mass: float
    log_margin: float

    @cached_property
    def from_start(self) -> Array:
        """The bounds at the heights S; those that cannot improve the envelope are zero."""
        start = _STARTS / self.curve.steepness
        found = np.zeros(start.size)
        few = np.unique(np.append(np.arange(0, start.size, _APART), start.size - 1))
        found[few] = np.minimum(self.log_ratio(start[few]), 0.0)
        # above a height at which the bound has fallen so far it is itself below what a higher S gives
        fallen = few[int(np.argmax(found[few] < _FALLEN))] if (found < _FALLEN).any() else start.size - 1
        falling = few[max(int(np.searchsorted(found[few] < 0, True)) - 1, 0)]
        between = np.setdiff1d(np.arange(falling, fallen), few)
        if between.size:
            found[between] = np.minimum(self.log_ratio(start[between]), 0.0)
        return found

    def log_ratio(self, heights: Array) -> Array:
        """Logarithms of bounds of |M| over M(c), from each height on; heights increase."""
        distances = len(self.log_size)
        octave = np.floor(np.log2(np.maximum(heights, 1e-300)) / _OCTAVES)
        few = np.unique(np.append(np.flatnonzero(np.diff(octave, prepend=-np.inf)), heights.size - 1))
        table = self._log_bounds(np.repeat(few, distances), np.tile(np.arange(distances), few.size), heights)
        table = table.reshape(few.size, distances)
        best = np.full(heights.size, np.inf)
        best[few] = table.min(axis=1)
        # between two heights that are near each other the best distance is near theirs
        pick = table.argmin(axis=1)
        at = np.setdiff1d(np.arange(heights.size), few)
        after = np.searchsorted(few, at)
        low = np.maximum(np.minimum(pick[after - 1], pick[after]) - 1, 0)
        high = np.minimum(np.maximum(pick[after - 1], pick[after]) + 1, distances - 1)
        row = np.repeat(at, high - low + 1)
        column = np.concatenate([np.arange(one, two + 1) for one, two in zip(low, high, strict=True)]) if at.size else at
        np.minimum.at(best, row, self._log_bounds(row, column, heights))
        return np.asarray(best + self.log_margin - self.log_mass)

    def _log_bounds(self, row: NDArray[np.intp], distance: NDArray[np.intp], heights: Array) -> Array:
        """Logarithms of bounds of |M| from some heights on, each from one distance from the axis."""
        sums = log_sum(self.log_size[distance] - heights[row, None] * self.turn[distance])
        return np.asarray(np.logaddexp(sums, self.log_outside[distance]))


@lru_cache(maxsize=_KEPT)
def _cells(curve: Curve, power: float) -> _Cells | None:
    """The cells for a power of e^l; None if K is unknown there."""
    found = panels(curve, np.array([power]), 0.0)
    if found is None:
        return None
    log_mass = parts_of(curve, found, power)[0] - MASS_ROUNDING
    start, end = found.start, found.end
    slope, bend = max(abs(factor.slope) for factor in curve.factors), curve.bend
    farthest = min(_WIDEST / slope, np.sqrt(_RISE / max(bend, 1e-300)))
    distance = (_DISTANCES * farthest)[:, None]
    s, h = np.linspace(start, end, _CELLS + 1, retstep=True)
    ends = ((start, -1, np.isfinite(curve.start)), (end, 1, np.isfinite(curve.end)))
    tails = [log_tail(curve, np.array([power]), np.array([e]), side)[1, 0, 0] for e, side, finite in ends if not finite]
    closed = np.array([e for e, _, finite in ends if finite])
    log_ends = curve.log_density(closed) + power * curve.loss(closed) + np.log(distance)
    log_tails = np.tile(tails, (distance.size, 1))
    rise = bend * distance**2
    log_size = curve.highest(s[:-1], s[1:]) + np.log(h) + rise
    turn = np.zeros(log_size.shape)
    for factor in curve.factors:
        value, theta = factor.value(s), abs(factor.slope) * distance
        arg, grown = rotated(factor.share(s, value), theta)
        exponent = factor.sign * power + factor.own
        part = exponent * (value + grown)
        log_size = log_size + np.maximum(part[:, 1:], part[:, :-1])
        turn += np.minimum(arg[:, 1:], arg[:, :-1])
        # off the axis a factor is smaller, so that negative powers of it are larger
        raised = max(-exponent, 0.0)
        log_ends = log_ends - raised * rotated(factor.share(closed, factor.value(closed)), theta)[1]
        log_tails = log_tails - raised * np.log(np.cos(theta / 2))
    log_outside = np.logaddexp.reduce(np.column_stack([log_ends, log_tails]) + rise, axis=1)
    # for the rounding of exponents and of sums
    log_margin = 1e-12 * (1 + abs(power)) * (1 + abs(start) + abs(end)) * curve.steepness + 1e-11
    return _Cells(curve, log_size, turn * (1 - MASS_ROUNDING), log_outside, log_mass, log_margin)
