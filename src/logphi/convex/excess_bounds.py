"""Both bounds of h_k of :mod:`logphi.convex.widest_chords` at any point: by the grid, or by splines where these are sharp."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from logphi.arith.floats import ULP
from logphi.arrays import Array
from logphi.convex.linear_densities import Weights, weights_above, weights_below
from logphi.convex.smooth_chords import SmoothBounds
from logphi.convex.symmetric_pair import SMALL, pair_above, pair_below
from logphi.convex.widest_chords import CUT, Bounds, Widths, in_any_order

# derived: the share of the distance between the two bounds at which the truth lies: the lower bound, from chords between nodes,
# is too small by a twelfth of a squared step on average, and the upper bound too large by five times that
_SHARE = 1 / 6
# chosen: a value this many times what is truncated is as narrow as it can be
_FAR_ABOVE = 1e9
# chosen: the truncations that are tried in turn; deeper ones take longer
_CUTS = (CUT, 1e-75, 1e-150, 1e-280)
# chosen: between two weights of a density, the splines are compared with its excess at so many nodes
_NODES = 16
# chosen: a larger h is left to the grid, if a pair is asked for
_NEARLY_ONE = 0.99


def _last(holds: Callable[[float], bool], end: float) -> tuple[float, float]:
    """Between which two places up to an end a condition that holds at zero ceases to hold, to the last digits."""
    low, high = 0.0, end
    while high - low > 1e-14 * high:
        middle = low + (high - low) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low, high


class ExcessBounds(Protocol):
    """What is known of h_k, as a function of x = log u >= 0."""

    def low(self, x: float) -> float:
        """A lower bound."""

    def high(self, x: float) -> float:
        """An upper bound."""

    def crossing(self, level: float) -> tuple[float, float, float]:
        """A lower bound, an estimate and an upper bound of the place where h_k crosses a level."""

    def pair(self, size: int, *, above: bool, small: float = SMALL) -> tuple[Array, Array]:
        """Masses whose excess is nowhere below (``above``) or above h_k, about ``size`` on each side of zero.

        They are sharp where h_k is not ``small``.
        """

    def weights(self, size: int, *, above: bool) -> Weights:
        """Weights of a density whose excess is so."""


@dataclass(frozen=True)
class GridBounds:
    """From the grid of nodes alone, for widths that are known up to a relative error; h_k is zero from ``end`` on."""

    widths: Widths
    error: float
    end: float

    def low(self, x: float) -> float:
        """From the best chords of the neighbouring nodes at x itself."""
        return self._deep_enough(self._low, x)

    def high(self, x: float) -> float:
        """Linear in e^x between two nodes."""
        return self._deep_enough(self._high, x)

    def _deep_enough(self, value: Callable[[float, float], float], x: float) -> float:
        """A value from the bounds of which so little is truncated that it does not matter there."""
        found = 0.0
        for cut in _CUTS:
            found = value(x, cut)
            if found > _FAR_ABOVE * cut or x >= self.end:
                break
        return found

    def _low(self, x: float, cut: float) -> float:
        bounds = self._bounds(above=False, cut=cut)
        node = x / bounds.step
        if not bounds.chords:
            # one round has a formula
            left = max(bounds.step * bounds.parts - x, 0.0)
            return math.exp(x) * math.expm1(left / 2) ** 2 / math.expm1(bounds.step * bounds.parts) * (1 - 64 * ULP)
        found = 0.0
        for chords in bounds.chords:
            near = np.unique([int(node), int(node) + 1])
            near = near[near < chords.best.size]
            behind = node + chords.parts - chords.best[near]
            inside = near[(behind >= 0) & (behind <= chords.parts)]
            if inside.size:
                found = max(found, float(chords.at(np.array(node), bounds.step, inside)[0].max()))
        return found * (1 - 64 * ULP)

    def _high(self, x: float, cut: float) -> float:
        bounds = self._bounds(above=True, cut=cut)
        node = int(x / bounds.step)
        if node >= bounds.values.size - 1:
            return bounds.truncated if x < self.end else 0.0
        left, right = bounds.values[node : node + 2]
        # derived: a node is accurate to a billionth of a step
        share = min(max(math.expm1(x - node * bounds.step) / math.expm1(bounds.step) - 1e-9, 0.0), 1.0)
        return float(left + share * (right - left)) * (1 + 16 * ULP) + bounds.truncated

    def crossing(self, level: float) -> tuple[float, float, float]:
        """From the cell of the upper bound, and by bisection of the lower one."""
        cut = next((cut for cut in _CUTS if level > _FAR_ABOVE * cut), _CUTS[-1])
        bounds = self._bounds(above=True, cut=cut)
        index = int(np.searchsorted(-bounds.values, -(level * (1 - 8 * ULP) - bounds.truncated)))
        if index == 0:
            return 0.0, 0.0, 0.0
        upper = self.end
        if index < bounds.values.size:
            left, right = bounds.values[index - 1 : index + 1]
            share = (left + bounds.truncated - level) / (left - right)
            inside = math.log1p(min(max(share, 0.0), 1.0) * math.expm1(bounds.step)) + 1e-9 * bounds.step
            upper = min(((index - 1) * bounds.step + inside) * (1 + 16 * ULP), self.end)
        low, _ = _last(lambda x: self.low(x * (1 + 8 * ULP)) >= level * (1 + 8 * ULP), upper)
        return low, low + _SHARE * (upper - low), upper

    def pair(self, size: int, *, above: bool, small: float = SMALL) -> tuple[Array, Array]:
        """Chords between nodes, or best chords."""
        bounds = self._bounds(above=above, cut=CUT / SMALL * small)
        return pair_above(bounds, self.end, size, small) if above else pair_below(bounds.lines(size), small)

    def weights(self, size: int, *, above: bool) -> Weights:
        """From all nodes."""
        bounds = self._bounds(above=above)
        if above:
            return weights_above(bounds, self.end, size)
        return weights_below(bounds.lines(bounds.values.size), self.end, size)

    def _bounds(self, *, above: bool, cut: float = CUT) -> Bounds:
        moved = 1 + (self.error if above else -self.error)
        return in_any_order(tuple((width * moved, rounds, parts) for width, rounds, parts in self.widths), above=above, cut=cut)


@dataclass(frozen=True, eq=False)
class SplineBounds:
    """From splines where they are sharp, and from a grid elsewhere."""

    splines: SmoothBounds
    grid: GridBounds

    def low(self, x: float) -> float:
        """The bound of the splines, if it is sharp."""
        found = float(self.splines.low(np.array([x]))[0])
        return found if found > self.splines.sharp else self.grid.low(x)

    def high(self, x: float) -> float:
        """The bound of the splines, if it is sharp."""
        found = float(self.splines.high(np.array([x]))[0])
        return found if found > self.splines.sharp else self.grid.high(x)

    def crossing(self, level: float) -> tuple[float, float, float]:
        """By bisection of both bounds."""
        if level <= self.splines.sharp:
            return self.grid.crossing(level)
        if self._at_zero <= level:
            return 0.0, 0.0, 0.0
        end = self.splines.last * self.splines.step
        # the bounds fall, but for the rounding of a step of the search
        lower, _ = _last(lambda x: float(self.splines.low(np.array([x]))[0]) > level, end)
        _, upper = _last(lambda x: float(self.splines.high(np.array([x]))[0]) > level, end)
        lower, upper = lower * (1 - 1e-12), upper * (1 + 1e-12)
        return lower, lower + (upper - lower) / 2, min(upper, self.grid.end)

    def pair(self, size: int, *, above: bool, small: float = SMALL) -> tuple[Array, Array]:
        """Chords or tangents of the splines; a pair cannot be above what is nearly one, unless it is much above."""
        if self._at_zero > _NEARLY_ONE or small < SMALL:
            return self.grid.pair(size, above=above, small=small)
        splines = self.splines
        return pair_above(splines.grid(size), self.grid.end, size) if above else pair_below(splines.lines(size))

    def weights(self, size: int, *, above: bool) -> Weights:
        """From so many nodes of the splines that the steps between them do not matter."""
        if self._at_zero > _NEARLY_ONE:
            return self.grid.weights(size, above=above)
        splines, nodes = self.splines, _NODES * size
        if above:
            return weights_above(splines.grid(nodes), self.grid.end, size)
        return weights_below(splines.lines(nodes + 1), self.grid.end, size)

    @property
    def _at_zero(self) -> float:
        return float(self.splines.high(np.zeros(1))[0])
