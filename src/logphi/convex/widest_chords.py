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

For several widths, T_i takes the supremum of the chords of one of them, and h_n, with n_i rounds of each, is the largest
T_i h_{n - e_i}, by the best next round. It is at least h_0 after all T_i in any order; no order gives more, not even one that
is chosen as one goes. All widths are multiples of one step, rounded outward. In every case tried, the widest chords are best
taken first, next to h_0, but for a narrower one before three to five of them. A bound from below goes through these n alone.

Every step adds positive numbers, so that rounding errors stay relative. Where h_k is tiny it is truncated: a constant is
subtracted everywhere, which leaves it convex, and the sum of these constants is added to the upper bound. The two bounds differ
by about 2/m^2, as a relative error of a variance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
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
class Chords:
    """The best chord of each node: the node where it begins, counted from -w, and the values before at both ends of chords."""

    parts: int
    best: NDArray[np.int64]
    near: Array
    far: Array

    def at(self, nodes: Array, step: float, chords: NDArray[np.int64]) -> tuple[Array, Array]:
        """The values of chords of certain nodes, at any nodes or between them, and there u times the slopes."""
        m, first = self.parts, self.best[chords]
        behind, ahead = (nodes + m - first) * step, (first - nodes) * step
        whole = math.expm1(m * step)
        values = (np.exp(behind) * np.expm1(ahead) * self.near[first] + np.expm1(behind) * self.far[first]) / whole
        return values, np.exp(behind) * (self.far[first] - self.near[first]) / whole


@dataclass(frozen=True, eq=False)
class Bounds:
    """A bound of h_k from one side: its values at the nodes 0, step, 2 step, ..., zero after these, and the truncated amount.

    ``parts`` are the steps of the largest width. The last round has ``chords`` of each width.
    """

    step: float
    parts: int
    values: Array
    truncated: float
    chords: tuple[Chords, ...] = ()

    def lines(self, size: int) -> tuple[Array, Array, Array]:
        """Best chords of about ``size`` nodes: the places of the nodes, and there the values and u times the slope.

        These lines lie below h_k: between the ends of the chords as chords of an h before, and outside as that is convex.
        """
        nodes = np.arange(0, self.values.size, max(1, -(-self.values.size // size)))
        values, slopes = np.full(nodes.size, -np.inf), np.zeros(nodes.size)
        for chords in self.chords:
            here = nodes[: int(np.searchsorted(nodes, chords.best.size))]
            one, slope = chords.at(here.astype(float), self.step, here)
            higher = np.flatnonzero(one > values[: here.size])
            values[higher], slopes[higher] = one[higher], slope[higher]
        return nodes.astype(float) * self.step, values, slopes


# a width, the number of its rounds, and the number of steps to it
Widths = tuple[tuple[float, int, int], ...]


@lru_cache(maxsize=64)
def in_any_order(widths: Widths, *, above: bool, cut: float = CUT) -> Bounds:
    """The largest h after rounds of several widths, which increase, in the best order; about ``cut`` of it is truncated."""
    shift = 1 + _SHIFT if above else 1 - _SHIFT
    step = (max if above else min)(width * shift / parts for width, _, parts in widths)
    grids = [_Grid(step, parts, above) for _, _, parts in widths]
    counts = tuple(rounds for _, rounds, _ in widths)
    total, parts = sum(counts), max(parts for _, _, parts in widths)
    known = {_more((0,) * len(grids), i): Bounds(step, parts, grid.first(), 0.0) for i, grid in enumerate(grids)}
    for _ in range(1, total):
        ways: dict[tuple[int, ...], list[tuple[_Grid, Bounds]]] = {}
        for left, before in known.items():
            widest = _widest(left, counts)
            for i in range(0 if above else max(widest - 1, 0), widest + 1):
                found = _more(left, i)
                if found[i] <= counts[i] and (above or _in_order(found, counts)):
                    ways.setdefault(found, []).append((grids[i], before))
        known = {left: _largest(pairs, cut / total) for left, pairs in ways.items()}
    (last,) = known.values()
    return replace(last, truncated=last.truncated * (1 + total * ULP)) if above else last


def both_sides(width: float, rounds: int, parts: int, *, error: float, cut: float) -> tuple[Bounds, Bounds]:
    """H_k from below, and from above, for a width with a relative ``error``; from below, chords are those best from above.

    Chords end on both sides of their nodes, not at them, and so bound h_k from below up to the next nodes.
    """
    sides, shift = (False, True), _SHIFT + error
    low_grid, high_grid = (_Grid(width * (1 + shift if above else 1 - shift) / parts, parts, above) for above in sides)
    low, high = (Bounds(grid.step, parts, grid.first(), 0.0) for grid in (low_grid, high_grid))
    for _ in range(1, rounds):
        upper, chords = high_grid.round(high.values)
        lower, others = low_grid.round(low.values, chords.best)
        high = _truncated(replace(high, values=upper, chords=(chords,)), cut / rounds)
        low = _truncated(replace(low, values=lower, chords=(others,)), cut / rounds)
    return low, replace(high, truncated=high.truncated * (1 + rounds * ULP))


def rounds_in_any_order(counts: Sequence[int]) -> int:
    """How many rounds the bound from above takes."""
    each = math.prod(count + 1 for count in counts)
    return sum(each // (count + 1) * count for count in counts)


def _more(counts: tuple[int, ...], i: int) -> tuple[int, ...]:
    return (*counts[:i], counts[i] + 1, *counts[i + 1 :])


def _widest(found: tuple[int, ...], counts: tuple[int, ...]) -> int:
    """The place of the widest chords of which some are left, or of the narrowest ones."""
    place = len(counts) - 1
    while place and found[place] == counts[place]:
        place -= 1
    return place


def _in_order(found: tuple[int, ...], counts: tuple[int, ...]) -> bool:
    """Whether there are no chords, or only one of the widest but one, while wider ones are left."""
    first = _widest(found, counts)
    early = found[:first]
    if first == len(counts) - 1 and early and early[-1] == 1:
        early = early[:-1]
    return not any(early)


def _largest(ways: list[tuple[_Grid, Bounds]], cut: float) -> Bounds:
    """The largest of several next h, where values below ``cut`` are truncated."""
    rounds = [(grid, before, *grid.round(before.values)) for grid, before in ways]
    values = np.zeros(max(found.size for _, _, found, _ in rounds))
    for _, _, found, _ in rounds:
        values[: found.size] = np.maximum(values[: found.size], found)
    truncated, chords = max(before.truncated for _, before in ways), tuple(chords for *_, chords in rounds)
    return _truncated(Bounds(ways[0][1].step, ways[0][1].parts, values, truncated, chords), cut)


def _truncated(bounds: Bounds, cut: float) -> Bounds:
    """Without values below ``cut``."""
    values = bounds.values
    end = int(np.searchsorted(-values, -cut))
    if end == values.size:
        return bounds
    # the ends of the chords still carry what is left
    left = np.maximum(values[: end + 1] - values[end], 0.0)
    chords = tuple(replace(one, best=one.best[: end + 1]) for one in bounds.chords)
    return replace(bounds, values=left, truncated=bounds.truncated + float(values[end]), chords=chords)


class _Grid:
    """The nodes, and the weights of the two ends of a chord that begins d steps before a node."""

    def __init__(self, step: float, parts: int, above: bool) -> None:
        self.width, self.parts, self.above, self.step = step * parts, parts, above, step
        self.whole = math.expm1(self.width)
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

    def round(self, values: Array, chosen: NDArray[np.int64] | None = None) -> tuple[Array, Chords]:
        """The next h, w farther, with the best chords or, from below, with those that are chosen."""
        m, size = self.parts, values.size
        reach = np.pad(values, (0, max(0, m + 1 - size)))[m:0:-1]
        known = np.concatenate([self.floor + self.mirror * reach, values, np.zeros(m + 1)])
        # the ends of the chords from -w on, the last of them zero
        near, far = known[: size + m + 1], known[m:]
        # how far each node is behind the beginning of its chord
        behind = np.arange(m, size + 2 * m)
        if chosen is not None:
            chosen = np.pad(chosen, (0, max(0, size + m - chosen.size)), "edge")[: size + m]
            # the bound from above may reach farther, where this one is zero
            best = np.clip(chosen, behind - m + 1, np.minimum(behind - 1, near.size - 1))
            d = behind - best
            found = (self.near[d] * near[best] + self.far[d] * far[best]) * (1 - _ROUNDINGS)
            return found, Chords(m, best, near, far)
        extra = self._extra(near, far) if self.above else None
        best = self._best(near, far, extra)
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
        return np.maximum(found, 0.0), Chords(m, best, near, far)

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
