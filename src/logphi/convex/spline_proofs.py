"""Proofs of rounds on splines, many at a time: how far each next spline is from the supremum of the chords.

notation: as in :mod:`logphi.convex.smooth_chords`, which has the argument. A cell lies between two neighbouring knots of one
round; ``_left`` and ``_right`` are values at its ends. The knots of all rounds follow each other, with one more cell between
two rounds, of which nothing is asked. With p the share of the near end, along a line

    F = log(e^A + e^B),  D = A - B:   F'' = p A'' + (1 - p) B'' + p (1 - p) D'^2,
    |F'''| <= max(|A'''|, |B'''|) + 3/4 |D' D''| + 0.0963 |D'|^3,
    -F_x = e^l, l = t + log g(y) + log(1 - e^{-d}) - F but for a constant,  d = log g(y) - log g(y + w),

and with i = 1 / (e^d - 1), log(1 - e^{-d}) has the derivatives i d', i d'' - i (1 + i) d'^2 and
i d''' - 3 i (1 + i) d' d'' + i (1 + i) (1 + 2 i) d'^3. Second derivatives are known at both ends of a cell, where much cancels,
and their changes in between are bounded by the third.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from logphi.arrays import Array
from logphi.convex.quintic import Quintic
from logphi.convex.spline_rounds import Round, Steps, UnprovedError

# chosen: errors of smaller h are counted by the power
_DEEP = -20.0
# chosen: a larger h is one
_ONE = 2e-9
# derived: the rounding of E and of the logarithm of h, of absolute values up to 100, with room
ROUNDED = 2e-12
# chosen: parts of a cell, where both sides of zero are compared
_FOLDED = 8


@dataclass(frozen=True)
class Off:
    """How far a logarithm may be off: by a constant, and by a share of itself."""

    constant: float = 0.0
    share: float = 0.0

    def __add__(self, other: Off) -> Off:
        return Off(self.constant + other.constant, self.share + other.share)

    def at(self, logs: Array) -> Array:
        """The amounts, with the rounding of the logarithms."""
        return self.constant - self.share * logs + ROUNDED


def offs(errors: Array, logs: Array, starts: NDArray[np.int64] | None = None, least: Array | float = 0.0) -> list[Off]:
    """At least these errors, at logarithms that are at most these, for each stretch of them, and at least ``least``."""
    begin = np.zeros(1, dtype=np.int64) if starts is None else starts
    deep = logs < _DEEP
    shares = np.maximum(np.maximum.reduceat(np.where(deep, errors / np.where(deep, -logs, 1.0), 0.0), begin), 0.0)
    sizes = np.diff(np.append(begin, errors.size))
    constants = np.maximum(np.maximum.reduceat(errors + np.repeat(shares, sizes) * logs, begin), least)
    return [Off(one * (1 + 1e-9), share * (1 + 1e-9)) for one, share in zip(constants.tolist(), shares.tolist(), strict=True)]


@dataclass(frozen=True)
class Proved:
    """By how much N may be too small, and too large, up to the last knot, and log N there."""

    up: Off
    down: Off
    tail: float


class Several:
    """Rounds on steps of one length, the first one of g, each further one of the spline before."""

    def __init__(self, steps: Steps, g: Quintic, rounds: Sequence[Round]) -> None:
        self.steps, self.rounds = steps, rounds
        splines = [g, *(one.log for one in rounds)]
        sizes = np.array([one.coefficients.size for one in splines])
        begin = np.append(0, np.cumsum(sizes))
        self.all = Quintic(0, np.concatenate([one.coefficients for one in splines]))
        # the cell that begins at knot zero, and how many cells there are from there on
        self.zero = begin[:-1] - np.array([one.first + 2 for one in splines])
        self.cells_left = begin[1:] - 5 - self.zero
        self.firsts = np.array([one.first for one in splines])
        # the knots of all rounds, without those before the chords that end where h is nearly one
        self.lasts = np.array([one.last for one in rounds])
        self.ones = np.array([self._ones(k) for k in range(len(rounds))])
        self.skipped = np.where(self.ones > 0, np.maximum(self.ones - steps.parts - 2 + steps.lead, 0), 0)
        counts = np.array([one.behind.size for one in rounds]) - self.skipped
        self.starts = np.append(0, np.cumsum(counts))
        self.which = np.repeat(np.arange(len(rounds)), counts)
        self.x = np.arange(self.starts[-1]) - (self.starts[:-1] - self.skipped)[self.which] - steps.lead

    def proved(self) -> list[Proved]:
        """What is proved of each round.

        Raises
        ------
        UnprovedError
            If that is nothing.
        """
        m, s, x, which = self.steps.parts, self.steps.step, self.x, self.which
        g = log = self.all
        base = self.zero[which]
        all_behind = [one.behind[skipped:] for one, skipped in zip(self.rounds, self.skipped.tolist(), strict=True)]
        chords = self.steps.chords(g, base, x, np.concatenate(all_behind))
        behind, share = chords.behind, chords.share
        turned = np.diff(behind)
        run = 1 - turned
        here, y, start = self.zero[1:][which] + x, x - behind, (base + chords.cell)[:-1]
        # the derivatives of both logarithms along the line, at its ends and bounded between them
        near, far = _ends(chords.near[1]), _ends(chords.far[1])
        near_bend, far_bend = _ends(chords.near[2]), _ends(chords.far[2])
        near_slope, far_slope = _ends(s / np.expm1((m - behind) * s)), _ends(s / np.expm1(behind * s))
        a1 = [run * one - turned * weight for one, weight in zip(near, near_slope, strict=True)]
        b1 = [run * one + turned * (s + weight) for one, weight in zip(far, far_slope, strict=True)]
        # powers above the second one are slow
        run2, turned2 = run**2, turned**2
        run3 = run2 * run
        a2 = [run2 * one - turned2 * weight * (s + weight) for one, weight in zip(near_bend, near_slope, strict=True)]
        b2 = [run2 * one - turned2 * weight * (s + weight) for one, weight in zip(far_bend, far_slope, strict=True)]
        a, b = ([size[start + ahead] for size in g.wide[1:]] for ahead in (0, m))
        a3, a4 = _along(a, (run3, run2**2), turned, np.maximum(*near_slope), s)
        b3, b4 = _along(b, (run3, run2**2), turned, np.maximum(*far_slope), s)
        d3 = a3 + b3
        d2 = np.maximum(np.abs(a2[0] - b2[0]), np.abs(a2[1] - b2[1])) + d3 / 2
        d1 = np.maximum(np.abs(a1[0] - b1[0]), np.abs(a1[1] - b1[1])) + d2 / 2
        # of log(1 + e^x) the derivatives of orders two to four are below 1/4, 0.0963 and 1/8
        d1_squared = d1**2
        f3 = np.maximum(a3, b3) + d1 * (0.75 * d2 + 0.0963 * d1_squared)
        f4 = np.maximum(a4, b4) + d1_squared * (d1_squared / 8 + 0.578 * d2) + 0.75 * d2**2 + d1 * d3
        value, slope, third = log.cells[0][here], log.cells[1][here], 6 * log.cells[3][here]
        fourth = log.near[2][here[:-1]]
        gap, tilt = value - chords.level, slope - chords.by_x
        inner = [side(tilt) - side(chords.by_y) * run for side in (_left, _right)]
        corners = np.array([_left(gap), _left(gap) + inner[0] / 3, _right(gap) - inner[1] / 3, _right(gap)])
        left_out = (f4 + fourth) / 384
        least, most = corners.min(axis=0) - left_out, corners.max(axis=0) + left_out
        # l and its derivatives
        drop = chords.near[0] - chords.far[0]
        drop1 = [run * (one - other) for one, other in zip(near, far, strict=True)]
        drop2 = [run2 * (one - other) for one, other in zip(near_bend, far_bend, strict=True)]
        most3 = (a[0] + b[0]) * run3
        most2 = np.maximum(np.abs(drop2[0]), np.abs(drop2[1])) + most3 / 2
        most1 = np.maximum(np.abs(drop1[0]), np.abs(drop1[1])) + most2 / 2
        inverse = 1 / np.expm1(np.minimum(*_ends(drop)) - most1)
        l1, l2 = [], []
        for k, (i, p) in enumerate(zip(_ends(1 / np.expm1(drop)), _ends(share), strict=True)):
            l1.append(s * turned + run * near[k] + i * drop1[k] - p * a1[k] - (1 - p) * b1[k])
            of_line = p * a2[k] + (1 - p) * b2[k] + p * (1 - p) * (a1[k] - b1[k]) ** 2
            l2.append(run2 * near_bend[k] + i * (drop2[k] - (1 + i) * drop1[k] ** 2) - of_line)
        change3 = a[0] * run3 + inverse * (most3 + (1 + inverse) * most1 * (3 * most2 + (1 + 2 * inverse) * most1**2)) + f3
        change2 = np.maximum(np.abs(l2[0]), np.abs(l2[1])) + change3 / 2
        change = np.maximum(np.abs(l1[0]), np.abs(l1[1])) + change2 / 2
        steep = -chords.by_x
        steepest = np.maximum(*_ends(steep)) * np.exp(change / 2)
        # the second derivative of e, and how much it changes
        turns = [side(third) + side(steep) * (l1[k] ** 2 + l2[k]) for k, side in enumerate((_left, _right))]
        twists = fourth + steepest * (change * (change**2 + 3 * change2) + change3)
        mismatch = np.maximum(np.abs(turns[0]), np.abs(turns[1])) + twists / 2
        mismatch = np.maximum(np.abs(_left(tilt)), np.abs(_right(tilt))) + mismatch / 8
        # the least second derivative of D on three steps, the slope of a line least on the left
        flattest = np.minimum(*_ends(steep)) * np.exp(-change / 2)
        flattest = s / ((s / flattest + 1) * math.exp(s) - 1)
        bend = log.least_bend(3)[here[:-1] - 1] + s * flattest + flattest**2
        above = mismatch**2 / (2 * bend) - least
        steeply = steepest + mismatch + log.wide[0][here[:-1] - 1]
        # 1 - e^{-D} is at least D/2 up to D = 1
        apart = np.minimum(bend / 2 - mismatch + least, 1.0) * np.exp(-steeply) > 2 * np.maximum(np.abs(least), np.abs(most))
        checked = (
            (bend > 0) & apart & (run > 0) & (run < 2) & (_right(y) - _left(y) <= 2) & (inverse > 0) & np.isfinite(above + most)
        )
        checked &= convex(log, here[:-1], s)
        # where h is nearly one
        ones, reach = self.ones, np.where(self.ones > 0, self.ones - m, -m)
        first, asked = self._asked(y[1:] >= reach[which[:-1]])
        checked &= (chords.cell[:-1] >= self.firsts[which[:-1]] + 2) & (chords.cell[:-1] + m + 3 < self.cells_left[which[:-1]])
        ends = convex(log, self.zero[1:] + self.lasts + m, s)
        falling = all(falls(one.log, one.last) for one in self.rounds)
        if not (checked[asked].all() and ends.all() and (y[first] <= reach).all() and falling):
            raise UnprovedError("the splines are too coarse")
        folded = refolded(self.all, self.zero[1:, None], self.steps)
        # left of the first x, one is the bound from above, and the chord there bounds T from below
        one_above = np.where(ones > 0, 1.01 * _ONE, 0.0)
        one_below = np.where(ones > 0, np.maximum(one_above, _ONE / 100 - chords.level[first]), 0.0)
        # D is least at most one step away
        before = np.append(value[:1], value[:-2])
        before[self.starts[:-1]] = value[self.starts[:-1]]
        logs = np.where(asked, before, 0.0)
        ups, downs = (
            offs(np.where(asked, errors, -np.inf), logs, self.starts[:-1], least)
            for errors, least in ((above, one_above), (most, one_below))
        )
        tails = log.cells[0][self.zero[1:] + self.lasts].tolist()
        more = [Off(one + ROUNDED) for one in folded.tolist()]
        return [Proved(up + one, down + one, tail) for up, down, one, tail in zip(ups, downs, more, tails, strict=True)]

    def _ones(self, k: int) -> int:
        """How many knots of a round, from zero on, are not checked, as h is one there."""
        log, last = self.rounds[k].log, self.lasts[k]
        weights = log.coefficients[-log.first :]
        if weights[0] <= -_ONE:
            return 0
        weights = weights[:last]
        ones = max(int(np.searchsorted(-np.minimum.accumulate(weights), _ONE)) - 3, 0)
        if not (weights[: ones + 3] <= _ONE / 100).all():
            raise UnprovedError("the spline exceeds one")
        return ones

    def _asked(self, used: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The first used cell of each round, and which cells are from there on."""
        places = np.arange(used.size)
        between = np.zeros(used.size, dtype=bool)
        between[self.starts[1:-1] - 1] = True
        first = np.minimum.reduceat(np.where(used & ~between, places, used.size), self.starts[:-1])
        first = np.minimum(first, self.starts[1:] - 2)
        return first, (places >= first[self.which[:-1]]) & ~between


def convex(log: Quintic, columns: NDArray[np.int64], step: float) -> NDArray[np.bool_]:
    """Whether g is convex in u on these cells."""
    slope = -log.cells[1]
    least = np.minimum(slope[columns], slope[columns + 1]) - log.near[0][columns] / 2
    found: NDArray[np.bool_] = (least > 0) & (log.least_bend(1)[columns] + step * least + least**2 > 0)
    return found


def falls(log: Quintic, last: int) -> bool:
    """Whether g falls after a knot."""
    after = log.coefficients[last - 3 - log.first :]
    return bool((after[1:] < after[:-1]).all())


def refolded(log: Quintic, zero: NDArray[np.int64], steps: Steps) -> Array:
    """How far log g may be, at most two widths left of zero, from what it is to the right implies.

    For each of several splines in one, whose cells from knot zero on begin at ``zero``, a column.
    """
    # each cell in parts, which costs little here
    count = 2 * steps.parts * _FOLDED
    x = np.arange(count + 1) / _FOLDED
    right, left = np.floor(x).astype(np.int64), np.floor(-x).astype(np.int64)
    s = steps.step / _FOLDED
    value, slope, _ = log.at(zero + right, x - right)
    other, back, _ = log.at(zero + left, -x - left)
    right, left, x = zero + right, zero + left, x * steps.step
    slope, back = slope / _FOLDED, back / _FOLDED
    g = np.exp(value)
    whole = np.expm1(x) + g
    gap = other + x - np.log(whole)
    rise = s * np.exp(x) + g * slope
    inner = -back + s - rise / whole
    corners = np.array([_left(gap), _left(gap) + _left(inner) / 3, _right(gap) - _right(inner) / 3, _right(gap)])
    n2, n3, n4 = (size[right[..., :-1]] / _FOLDED**n for size, n in zip(log.near, (2, 3, 4), strict=True))
    n1 = np.maximum(*_ends(np.abs(slope))) + n2 / 2
    top = _left(g) * np.exp(n1)
    line, square = np.exp(x[1:]), n1**2
    h = [s**n * line for n in (1, 2, 3, 4)]
    h[1] = h[1] + top * (n2 + square)
    h[2] = h[2] + top * (n3 + n1 * (3 * n2 + square))
    h[3] = h[3] + top * (n4 + 4 * n1 * n3 + 3 * n2**2 + square * (6 * n2 + square))
    h[0] = np.maximum(*_ends(np.abs(rise))) + h[1] / 2
    bottom = np.minimum(*_ends(whole)) - h[0] / 2
    r1, r2, r3, r4 = (one / bottom for one in h)
    square = r1**2
    fourth = r4 + 4 * r1 * r3 + 3 * r2**2 + 6 * square * (2 * r2 + square) + log.near[2][left[..., 1:]] / _FOLDED**4
    found: Array = (np.abs(corners).max(axis=0) + np.where(bottom > 0, fourth, np.inf) / 384).max(axis=-1)
    return np.where(found < 1, found, np.inf)


def _left(values: Array) -> Array:
    return values[..., :-1]


def _right(values: Array) -> Array:
    return values[..., 1:]


def _ends(values: Array) -> tuple[Array, Array]:
    return values[..., :-1], values[..., 1:]


def _along(sizes: list[Array], runs: tuple[Array, Array], turned: Array, weight: Array, s: float) -> tuple[Array, Array]:
    """Bounds of the third and fourth derivative of log g, and of the logarithm of a weight, along the line.

    ``runs`` are the third and fourth power of the run.

    With A = ``weight`` / s that logarithm has the derivatives A, A (1 + A), A (1 + A) (1 + 2 A) and
    A (1 + A) (1 + 6 A + 6 A^2) by t, but for signs and, of the far end, for 1 in the first one.
    """
    three, four = sizes
    (run3, run4), a, turned2 = runs, weight, turned**2
    base = a * (s + a) * turned2
    return three * run3 + base * (s + 2 * a) * np.abs(turned), four * run4 + base * (s**2 + 6 * a * (s + a)) * turned2
