"""A convex function that is repeatedly replaced by the supremum of its chords of a fixed width.

notation: h_0(u) = (1 - u)_+ and h_k(u) the supremum of the chords of h_{k-1} between v and R v, over all v <= u <= R v, at u:

    h_k(u) = sup_v [ (R v - u) h_{k-1}(v) + (u - v) h_{k-1}(R v) ] / ((R - 1) v),     R = e^w.

With x = log u all h_k obey h(-x) = 1 - e^{-x} + e^{-x} h(x): x >= 0 is enough. h_1(x) = (e^{w/2} - e^{x/2})^2 / (e^w - 1).

All chords end at nodes of a grid of m steps to w. For a bound from below only chords between nodes are taken: they give a
convex function that is below h_k between nodes, too. For a bound from above, h_{k-1} is taken as linear in u between nodes.
Then the ends of a chord that begins between two nodes are linear in v, the chord at u is A + B v - C u/v, and for C > 0 it
exceeds the larger of its values at the two nodes by at most C (1 - e^{-step/2})^2 u/v, as -1/v exceeds its own chord by no
more. This multiple of u makes the lines of both nodes steeper.

The best chord of each node is found by counting crossings: if neighbouring lines cross ever further to the right, each line is
the highest between its two crossings. A line that breaks this order lies below its neighbours everywhere, and is left out. The
chords of a convex function are nearly in order: of two of one width, the earlier one is higher where the later one begins, and
lower where it ends itself.

Every step adds positive numbers, so that rounding errors stay relative. Where h_k is tiny it is truncated: a constant is
subtracted everywhere, which leaves it convex, and the sum of these constants is added to the upper bound. The two bounds differ
by about 2/m^2, as a relative error of a variance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ULP
from logphi.arrays import Array

# chosen: the sum of all that is truncated; smaller values of h_k are only known to be below this
CUT = 1e-30
# derived: a relative change of the width that exceeds the rounding of the grid
_SHIFT = 1e-14
# derived: the relative rounding error of one round
_ROUNDINGS = 32 * ULP


@dataclass(frozen=True, eq=False)
class Bounds:
    """A bound of h_k from one side: its values at the nodes 0, step, 2 step, ..., zero after these, and the truncated amount.

    ``best`` is the node where the best chord of each node begins, counted from -w; ``before`` are the values of h_{k-1} there
    and at the other ends of the chords.
    """

    step: float
    parts: int
    values: Array
    truncated: float
    best: NDArray[np.int64]
    before: tuple[Array, Array]

    def lines(self, size: int) -> tuple[Array, Array, Array]:
        """Best chords of about ``size`` nodes: the places of the nodes, and there the values and u times the slope.

        These lines lie below h_k: between the ends of the chords as chords of h_{k-1}, and outside as h_{k-1} is convex.
        """
        (near, far), m = self.before, self.parts
        nodes = np.arange(0, self.values.size, max(1, -(-self.values.size // size)))
        first = self.best[nodes]
        behind, ahead = (nodes + m - first) * self.step, (first - nodes) * self.step
        whole = math.expm1(m * self.step)
        values = (np.exp(behind) * np.expm1(ahead) * near[first] + np.expm1(behind) * far[first]) / whole
        return nodes.astype(float) * self.step, values, np.exp(behind) * (far[first] - near[first]) / whole


@lru_cache(maxsize=64)
def widest_chords(width: float, rounds: int, parts: int, *, above: bool, cut: float = CUT) -> Bounds:
    """H_k after so many rounds, at least one, from above or from below, on a grid of ``parts`` steps to the width."""
    width *= 1 + _SHIFT if above else 1 - _SHIFT
    grid = _Grid(width, parts, above)
    values, truncated = grid.first(), 0.0
    best, before = np.zeros(0, dtype=np.int64), (values, values)
    for _ in range(1, rounds):
        values, best, before = grid.round(values)
        end = int(np.searchsorted(-values, -cut / rounds))
        if end < values.size:
            truncated += float(values[end])
            # the ends of the chords still carry what is left
            values, best = np.maximum(values[: end + 1] - values[end], 0.0), best[: end + 1]
    return Bounds(grid.step, parts, values, truncated * (1 + rounds * ULP) if above else truncated, best, before)


class _Grid:
    """The nodes, and the weights of the two ends of a chord that begins d steps before a node."""

    def __init__(self, width: float, parts: int, above: bool) -> None:
        self.width, self.parts, self.above, self.step = width, parts, above, width / parts
        self.whole = math.expm1(width)
        d = np.arange(parts + 1)
        self.near = np.exp(d * self.step) * np.expm1((parts - d) * self.step) / self.whole
        self.far = np.expm1(d * self.step) / self.whole
        self.steeper = np.exp(d * self.step) / self.whole
        left = np.arange(parts, 0, -1) * self.step
        self.floor, self.mirror = -np.expm1(-left), np.exp(-left)

    def first(self) -> Array:
        """H_1 at 0, step, ..., w."""
        left = np.arange(self.parts, -1, -1)
        found: Array = np.exp(self.width - left * self.step) * np.expm1(left * self.step / 2) ** 2 / self.whole
        return found * (1 + _ROUNDINGS if self.above else 1 - _ROUNDINGS)

    def round(self, values: Array) -> tuple[Array, NDArray[np.int64], tuple[Array, Array]]:
        """The next h, w farther, with the best chords and their ends."""
        m, size = self.parts, values.size
        reach = np.pad(values, (0, max(0, m + 1 - size)))[m:0:-1]
        known = np.concatenate([self.floor + self.mirror * reach, values, np.zeros(m + 1)])
        # the ends of the chords from -w on, the last of them zero
        near, far = known[: size + m + 1], known[m:]
        extra = self._extra(near, far) if self.above else None
        best = self._best(near, far, extra)
        # how far each node is behind the beginning of its chord
        behind = np.arange(m, size + 2 * m)
        # outside of its chord, a line is below the function, and so below the chord that ends at the node
        won, best = best, np.clip(best, behind - m, behind)
        d = behind - best
        found = self.near[d] * near[best] + self.far[d] * far[best]
        if extra is None:
            found *= 1 - _ROUNDINGS
        else:
            found += self.steeper[d] * extra[won]
            lower = np.flatnonzero(won < best)
            found[lower] += (np.exp((best - won)[lower] * self.step) - 1) * self.steeper[d[lower]] * extra[won[lower]]
            # rounding may have chosen the second best line
            found = found * (1 + _ROUNDINGS) + _ROUNDINGS * (1 + 1 / self.whole) * near[: size + m]
        return np.maximum(found, 0.0), best, (near, far)

    def _extra(self, near: Array, far: Array) -> Array:
        """By how much chords that begin next to a node exceed its line, in units of u / (R - 1) v."""
        fall = near - far
        bend = fall[:-1] + (np.diff(far) - np.diff(near)) / math.expm1(self.step)
        # the differences are rounded
        bend = np.maximum(bend, 0.0) + 8 * ULP * near[:-1] * (1 + 1 / self.step)
        one = np.append(bend * math.expm1(-self.step / 2) ** 2 * (1 + 1e-9), 0.0)
        one[1:] = np.maximum(one[1:], one[:-1] * math.exp(self.step))
        return one

    def _best(self, near: Array, far: Array, extra: Array | None) -> NDArray[np.int64]:
        """The line that is highest at each node from 0 on, counted from -w."""
        m, last = self.parts, near.size - 1 + self.parts
        rise = far - near if extra is None else far - near + extra
        ratio = math.exp(self.width)

        def crossings(one: NDArray[np.int64] | slice, other: NDArray[np.int64] | slice, ahead: float | Array) -> Array:
            """How many steps after the first of two lines the second overtakes it; at once where the doubles hold one line."""
            with np.errstate(divide="ignore", invalid="ignore"):  # lines that are one do not cross
                fall = (far[other] - far[one]) - ratio * (near[other] - near[one])
                steps = np.log(fall / (np.exp(-self.step * ahead) * rise[other] - rise[one])) / self.step
            # chords that a node lies under begin at most their width before it: it does not matter where others cross
            at_once = np.where(near[other] > 0, -np.inf, np.inf)
            found: Array = np.ceil(np.clip(np.where(np.isnan(steps), at_once, steps), -m, 2 * m))
            return found

        kept = np.arange(near.size)
        crossing = crossings(slice(None, -1), slice(1, None), 1.0) + kept[:-1]
        while extra is not None:
            places = np.flatnonzero(crossing[1:] < crossing[:-1]) + 1
            if not places.size:
                break
            # of neighbouring lines, only every second one is removed at once
            run = np.flatnonzero(np.diff(places, prepend=-2) != 1)
            turn = np.arange(places.size) - np.repeat(run, np.diff(np.append(run, places.size)))
            places = places[turn % 2 == 0]
            joints = places - 1 - np.arange(places.size)
            kept, crossing = np.delete(kept, places), np.delete(crossing, places)
            one, other = kept[joints], kept[joints + 1]
            crossing[joints] = crossings(one, other, other - one) + one
        passed = np.clip(crossing, m, last).astype(np.int64) - m
        return kept[np.cumsum(np.bincount(passed, minlength=last - m + 1))[:-1]]
