"""Many rounds of :mod:`logphi.convex.widest_chords` by splines, with a proved error of each round.

notation: as there, x = log u, w the width, R = e^w, and s the step, of which there are m to the width. T maps a function to the
supremum of its chords, h_k = T h_{k-1}. Derivatives are per step. T is monotone, T(c g) = c T g for c > 0,
T(g + c) = T g + c for every c, and, as values of chords are means, T(g^p) <= (T g)^p for a power p <= 1, and >= for p >= 1.
So from h_{k-1} <= e^a g^{1-b} + c everywhere and T g <= e^r N^{1-q} follows h_k <= e^{a+r} N^{1-b-q} + c, as g and N are at
most one; and likewise with >=, and the other signs of a, b, c, r and q. Here log g and log N are splines of degree five. Any
splines will do: they are chosen near the values of T at the knots, and the r and q are proved.

The chord of g from y to y + w is, at x = y + t, e^F, F(x, y) = log(a(t) g(y) + b(t) g(y + w)), a = (R - e^t) / (R - 1) and
b = 1 - a. To each knot x belongs a y that is nearly the best; from one knot to the next, both are taken as linear. Along this
line E = log N - F is within M/384 of the cubic with the same values and derivatives at both ends, for a bound M of the fourth
derivative of E; and a cubic is between the least and the largest coefficient of Bernstein's form.

* From below, T g >= e^F at all x, so that N is at most e^E too large.
* From above, every chord must be below e^r N^{1-q}. For a fixed y let D(x) = log N - F, as a function of x. On this line it is
  E, and its derivative e is bounded like E, by a linear interpolation and its second derivative. Its second derivative is
  (log N)'' + |f| s + f^2, with f = F_x: at least some k > 0 on the steps before and after, as e^F is linear in u. There D is at
  least E - e^2 / 2k; and if N is convex in u and D is clearly positive one step away, N - e^F increases from there on, on both
  sides. So N is at most e^2 / 2k - E too small, in logarithms.

Right of the last checked x, where h is tiny, nothing is proved of T: h <= h(last) adds to c, and g <= g(last) from below. Left
of zero, h(-x) = 1 - e^{-x} + e^{-x} h(x); what the splines of both sides differ from that is bounded like E. Where g exceeds
1 - 2e-9, 1 is the bound, and nothing else is proved.

This file is longer than others, as a round and its proof share most quantities.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ULP
from logphi.arrays import Array
from logphi.convex.quintic import Quintic
from logphi.convex.widest_chords import Bounds, widest_chords

# measured: rounds on the grid before the splines, whose first steps are so many to the width
BEFORE, PARTS = 40, 64
# chosen: smaller values of h have an upper bound only; splines go on to smaller ones, and begin with still smaller ones
LEAST = 1e-25
_LAST, _END, _START = math.log(LEAST), math.log(1e-4 * LEAST), 1e-9
# chosen: errors of smaller h are counted by the power
_DEEP = -20.0
# chosen: a larger h is one, and picks are not sought where it is nearer to one than the second
_ONE, _UNKNOWN = 2e-9, 5e-11
# derived: the rounding of E and of the logarithm of h, of absolute values up to 100, with room
ROUNDED = 2e-12
# chosen: best chords are sought until they gain less, relatively, or so often
_GAIN, _TRIES = 1e-11, 6
# chosen: smaller values lose digits to what is added to them, and so do those that are not as many times as large as it
_LEAST_SHARP, _CLEARLY = 1e-19, 100.0
# chosen: parts of a cell, where both sides of zero are compared
_FOLDED = 8
# derived: knots before the first, and after the last, value
_SPARE = 6
# measured: after so many rounds, steps that are twice as long do, as h is smoother
_HALVED = (48, 128, 256)
# chosen: but not to more than this
_LONGEST = 0.13


class UnprovedError(ArithmeticError):
    """Something that the proof needs does not hold."""


@dataclass(frozen=True)
class Off:
    """How far a logarithm may be off: by a constant, and by a share of itself."""

    constant: float = 0.0
    share: float = 0.0

    @staticmethod
    def over(errors: Array, logs: Array, least: float = 0.0) -> Off:
        """At least these errors, at logarithms that are at most these, and at least ``least``."""
        deep = logs < _DEEP
        share = max(float((errors[deep] / -logs[deep]).max()), 0.0) if deep.any() else 0.0
        return Off(max(float((errors + share * logs).max()), least) * (1 + 1e-9), share * (1 + 1e-9))

    def __add__(self, other: Off) -> Off:
        return Off(self.constant + other.constant, self.share + other.share)

    def at(self, logs: Array) -> Array:
        """The amounts, with the rounding of the logarithms."""
        return self.constant - self.share * logs + ROUNDED


@dataclass(frozen=True, eq=False)
class SmoothBounds:
    """Bounds of h, for x from 0 to ``last`` steps, by a spline for its logarithm, and its errors on both sides.

    Besides, ``more`` is added to the upper bound, and ``less`` taken from the lower one. After the last x, h is at most its
    upper bound there.
    """

    step: float
    parts: int
    log: Quintic
    last: int
    above: Off
    below: Off
    more: float
    less: float

    def logs(self, x: Array) -> tuple[Array, Array]:
        """The spline and its derivative, at x from 0 to the last one."""
        places = np.minimum(x / self.step, self.last)
        cells = np.minimum(np.floor(places), self.last - 1).astype(np.int64)
        value, slope, _ = self.log.at(self.log.column(cells), places - cells)
        return value, slope / self.step

    @cached_property
    def sharp(self) -> float:
        """Larger values of h have sharp bounds: they are well above what is known after the last x."""
        return max(_LEAST_SHARP, _CLEARLY * float(self.high(np.array([self.last * self.step]))[0]))

    def high(self, x: Array) -> Array:
        """Upper bounds at x >= 0."""
        logs = self.logs(x)[0]
        found: Array = (np.exp(logs + self.above.at(logs)) + self.more) * (1 + 1e-15)
        return np.minimum(found, 1.0)

    def low(self, x: Array) -> Array:
        """Lower bounds at x >= 0."""
        logs = self.logs(x)[0]
        found: Array = (np.exp(logs - self.below.at(logs)) - self.less) * (1 - 1e-15)
        return np.where(x <= self.last * self.step, np.maximum(found, 0.0), 0.0)

    def lines(self, size: int) -> tuple[Array, Array, Array]:
        """Tangents of the lower bound at ``size`` places: these, and there the values and u times the slope."""
        x = np.linspace(0.0, self.last * self.step, size)
        logs, slopes = self.logs(x)
        whole = np.exp(logs - self.below.at(logs))
        return x, whole * (1 - 1e-14) - self.less, whole * slopes * (1 + self.below.share)

    def grid(self, size: int) -> Bounds:
        """Upper bounds at about ``size`` nodes."""
        times = max(1, round(size / self.last))
        high = self.high(np.arange(self.last * times + 1.0) * (self.step / times))
        end = float(high[-1])
        return Bounds(self.step / times, self.parts * times, high - end, end)


@lru_cache(maxsize=64)
def smooth_chords(width: float, rounds: int, fine: int) -> SmoothBounds | None:
    """H_k from a grid of ``fine`` steps to the width for the first rounds, and then from splines; None if these prove nothing.

    The width may be off by two units of rounding.
    """
    try:
        return _smooth_chords(width, rounds, fine)
    except UnprovedError:
        return None


def _smooth_chords(width: float, rounds: int, fine: int) -> SmoothBounds:
    parts = PARTS
    below, above = (
        widest_chords(width * (1 + (4 if side else -4) * ULP), BEFORE, fine, above=side, cut=LEAST * _START)
        for side in (False, True)
    )
    grid = _Grid(width, parts)
    with np.errstate(all="ignore"):  # what is not finite is not proved
        bounds, behind = grid.started(below, above)
        previous = behind
        for count in range(BEFORE + 1, rounds + 1):
            if count in _HALVED and 2 * grid.step <= _LONGEST:
                parts //= 2
                bounds = grid.coarser(bounds)
                grid = _Grid(width, parts)
                behind, previous = behind[::2] / 2, previous[::2] / 2
            guess = 2 * behind - previous
            previous = behind
            bounds, behind = grid.round(bounds, guess)
            previous = _longer(previous, behind.size)
    return bounds


@dataclass(frozen=True, eq=False)
class _Chords:
    """Chords of g that begin ``behind`` knots x: F at x, F_x and F_y, and the ingredients of their derivatives along a line."""

    behind: Array
    cell: NDArray[np.int64]
    level: Array
    by_x: Array
    by_y: Array
    curvature: Array
    share: Array
    near: tuple[Array, Array, Array]
    far: tuple[Array, Array, Array]


class _Grid:
    """Rounds on the steps of one length."""

    def __init__(self, width: float, parts: int) -> None:
        self.width, self.parts, self.step, self.whole = width, parts, width / parts, math.expm1(width)
        # knots left of zero where chords end, and where g is known
        self.lead = 3 * parts // 4 + 2
        self.left = 2 * parts + _SPARE

    def started(self, below: Bounds, above: Bounds) -> tuple[SmoothBounds, Array]:
        """Bounds from those of a finer grid, and where its best chords begin."""
        times = above.parts // self.parts
        size = min(below.values.size, above.values.size)
        size = int(np.searchsorted(-above.values[:size], -math.exp(_END)))
        last = (size - 1) // times
        if last < 3 * self.parts:
            raise UnprovedError("the rounds before the splines do not reach far enough")
        nodes = np.arange(last + 1) * times
        log = self.spline(np.log(below.values[nodes] * above.values[nodes]) / 2)
        bounds = SmoothBounds(self.step, self.parts, log, last, Off(), Off(), 0.0, 0.0)
        every = np.arange(last * times + 1)
        g = np.exp(bounds.logs(every.astype(float) * (self.step / times))[0])
        low, high = below.values[every], above.values[every]
        # between the nodes g is above its chords less this, relatively, and the lower bound is above two lines
        fine = math.expm1(self.step / times)
        column = log.column(np.arange(last))
        second, slope = log.near[0][column], np.abs(log.cells[1])[column]
        steep = (slope + second) / self.step
        bent = float((second / self.step**2 + steep + steep**2).max()) * fine**2 / 8 * 1.1
        (chords,) = below.chords
        falls = chords.at(every.astype(float), below.step, every)[1]
        met = (falls[1:] * math.exp(-self.step / times) - falls[:-1]) * fine / 4 / low[1:]
        convex = self.convex(log, last)
        refolded = self.refolded(log)
        off = [
            Off.over(np.log(one / other), _before(np.log(g))) + Off(more + refolded)
            for one, other, more in ((high, g, bent), (g, low, max(float(met.max()), 0.0)))
        ]
        if not (convex and all(math.isfinite(one.constant) for one in off) and self.falls(log, last)):
            raise UnprovedError("the splines do not describe the first rounds")
        more, less = above.truncated + float(high[-1]) * 1.001, float(g[-1]) * 1.001
        behind = (nodes + below.parts - chords.best[nodes]) / times
        return replace(bounds, above=off[0], below=off[1], more=more, less=less), behind

    def spline(self, values: Array) -> Quintic:
        """A spline through logarithms from zero on, reflected at zero and continued by a parabola."""
        x = np.arange(self.left + 2, 0, -1)
        left = -x * self.step + np.log(np.expm1(x * self.step) + np.exp(values[x]))
        slope, bend = values[-1] - values[-2], min(values[-1] - 2 * values[-2] + values[-3], 0.0)
        after = np.arange(1, 2 * self.parts + 2 * _SPARE)
        return Quintic.through(-self.left - 2, np.concatenate([left, values, values[-1] + slope * after + bend * after**2 / 2]))

    def coarser(self, bounds: SmoothBounds) -> SmoothBounds:
        """The same bounds on steps that are twice as long."""
        log, gap = bounds.log.coarser(bounds.last)
        gap += ROUNDED
        last = bounds.last // 2
        if not self.falls(log, last):
            raise UnprovedError("the spline rises at its end")
        above = bounds.above + Off(gap)
        low, high = _tail(log, last, above)
        return SmoothBounds(
            2 * bounds.step,
            bounds.parts // 2,
            log,
            last,
            above,
            bounds.below + Off(gap),
            (bounds.more + high) * (1 + 1e-12),
            max(bounds.less, low),
        )

    def round(self, old: SmoothBounds, guess: Array) -> tuple[SmoothBounds, Array]:
        """The bounds after one more round, and where the best chords begin."""
        m, g = self.parts, old.log
        known = g.first + g.coefficients.size - m - _SPARE
        behind = _longer(guess, known)
        chords = self.chords(g, self.reflected(behind))
        gain, better = self.better(chords)
        for _ in range(_TRIES):
            if float(gain[self.lead : self.lead + old.last].max()) < _GAIN:
                break
            chords = self.chords(g, self.reflected(better))
            gain, better = self.better(chords)
        values = np.minimum(chords.level + gain, 0.0)[self.lead :]
        end = int(np.searchsorted(-values, -_END)) + 1
        last = min(int(np.searchsorted(-values, -_LAST)), min(end, known) - 2 * m)
        log = self.spline(values[:end])
        up, down = self.proved(g, log, chords, last)
        above, (low, high) = old.above + up, _tail(log, last, old.above + up)
        bounds = SmoothBounds(
            self.step,
            m,
            log,
            last,
            above,
            old.below + down,
            (old.more + high) * (1 + 1e-12),
            max(old.less, low),
        )
        return bounds, better[:end]

    def better(self, chords: _Chords) -> tuple[Array, Array]:
        """How much the best chords exceed these, by Newton's method, and how far behind they begin."""
        seen = (chords.curvature < 0) & (chords.level < -_UNKNOWN)
        gain = np.where(seen, -(chords.by_y**2) / (2 * chords.curvature), 0.0)
        moved = np.where(seen, chords.by_y / chords.curvature, 0.0)
        behind = chords.behind + np.clip(moved, -self.parts / 4, self.parts / 4)
        return gain, self.kept(behind[self.lead :], chords.level[self.lead :])

    def kept(self, behind: Array, level: Array) -> Array:
        """Between the ends of the width; where h is nearly one, like the first that is known."""
        clipped: Array = np.clip(behind, 1e-3 * self.parts, (1 - 1e-3) * self.parts)
        unknown = int(np.searchsorted(-level, _UNKNOWN))
        if 0 < unknown < clipped.size:
            clipped[:unknown] = clipped[unknown]
        return clipped

    def reflected(self, behind: Array) -> Array:
        """The same left of zero."""
        return np.concatenate([self.parts - behind[self.lead : 0 : -1], behind])

    def chords(self, g: Quintic, behind: Array) -> _Chords:
        """The chords to all knots from the lead on."""
        m, s = self.parts, self.step
        x = np.arange(-self.lead, behind.size - self.lead)
        y = x - behind
        cell = np.floor(y).astype(np.int64)
        behind = x - y
        column, inside = g.column(cell), y - cell
        near, far = g.at(column, inside), g.at(column + m, inside)
        t = behind * s
        fall = -np.expm1(far[0] - near[0])
        # of the far end; and the derivative of the weights, per step
        weight, turn = np.expm1(t) / self.whole, s * np.exp(t) / self.whole
        rest = -weight * fall
        level, total = near[0] + np.log1p(rest), 1 + rest
        share = (1 - weight) / total
        by_x = -turn * fall / total
        by_y = -by_x + share * near[1] + (1 - share) * far[1]
        curvature = (
            turn * (-s * fall + 2 * (near[1] - (1 - fall) * far[1])) / total
            + share * (near[1] ** 2 + near[2])
            + (1 - share) * (far[1] ** 2 + far[2])
            - by_y**2
        )
        return _Chords(behind, cell, level, by_x, by_y, curvature, share, near, far)

    def proved(self, g: Quintic, log: Quintic, chords: _Chords, last: int) -> tuple[Off, Off]:
        """By how much N may be too small, and too large, after one round, for x from 0 to ``last``."""
        m, s = self.parts, self.step
        end = self.lead + last + m + 1
        x, behind = np.arange(-self.lead, last + m + 1), chords.behind[:end]
        at, share = slice(None, end), chords.share[:end]
        turned = np.diff(behind)
        run = 1 - turned
        here, y = log.column(x), x - behind
        # the derivatives of both logarithms along the line, at its ends and bounded between them
        near_slope, far_slope = s / np.expm1((m - behind) * s), s / np.expm1(behind * s)
        near, far = [(_left(e), _right(e)) for e in (chords.near[1][at], chords.far[1][at])]
        a1 = [run * one - turned * weight for one, weight in zip(near, (_left(near_slope), _right(near_slope)), strict=True)]
        b1 = [run * one + turned * (s + weight) for one, weight in zip(far, (_left(far_slope), _right(far_slope)), strict=True)]
        start = g.column(chords.cell[: end - 1])
        sizes = g.wide
        a, b = ([size[start + ahead] for size in sizes] for ahead in (0, m))
        a2, a3, a4 = _along(a, run, turned, np.maximum(*(_left(near_slope), _right(near_slope))), s)
        b2, b3, b4 = _along(b, run, turned, np.maximum(*(_left(far_slope), _right(far_slope))), s)
        d3 = a3 + b3
        d2 = a2 + b2
        d1 = np.maximum(np.abs(a1[0] - b1[0]), np.abs(a1[1] - b1[1])) + d2 / 2
        # of log(1 + e^x) the derivatives of orders two to four are below 1/4, 0.0963 and 1/8
        f2 = np.maximum(a2, b2) + d1**2 / 4
        f4 = np.maximum(a4, b4) + d1**4 / 8 + 0.578 * d1**2 * d2 + 0.75 * d2**2 + d1 * d3
        third, fourth = (size[here[:-1]] for size in log.near[1:])
        value, slope = log.cells[0][here], log.cells[1][here]
        gap, tilt = value - chords.level[at], slope - chords.by_x[at]
        inner = [_left(tilt) - _left(chords.by_y[at]) * run, _right(tilt) - _right(chords.by_y[at]) * run]
        corners = np.array([_left(gap), _left(gap) + inner[0] / 3, _right(gap) - inner[1] / 3, _right(gap)])
        left_out = (f4 + fourth) / 384
        least, most = corners.min(axis=0) - left_out, corners.max(axis=0) + left_out
        # the derivative by x, log of which is t + log g(y) + log(1 - g(y + w) / g(y)) - F but for a constant
        drop = chords.near[0][at] - chords.far[0][at]
        curve = np.abs(chords.near[2][at] - chords.far[2][at])
        drop2 = (np.maximum(_left(curve), _right(curve)) + (a[1] + b[1]) / 2 * run) * run**2
        drops = [run * (one - other) for one, other in zip(near, far, strict=True)]
        drop1 = np.maximum(np.abs(drops[0]), np.abs(drops[1])) + drop2 / 2
        inverse = 1 / np.expm1(np.minimum(_left(drop), _right(drop)) - drop1)
        e2 = a[0] * run**2 + inverse * (1 + inverse) * drop1**2 + inverse * drop2 + f2
        of_drop = 1 / np.expm1(drop)
        moving = [s * turned + run * near[k] + side(of_drop) * drops[k] for k, side in enumerate((_left, _right))]
        e1 = [moving[k] - side(share) * a1[k] - (1 - side(share)) * b1[k] for k, side in enumerate((_left, _right))]
        change = np.maximum(np.abs(e1[0]), np.abs(e1[1])) + e2 / 2
        steep = -chords.by_x[at]
        steepest = np.maximum(_left(steep), _right(steep)) * np.exp(change / 2)
        mismatch = np.maximum(np.abs(_left(tilt)), np.abs(_right(tilt))) + (third + steepest * (change**2 + e2)) / 8
        # the least second derivative of D on three steps, the slope of a line least on the left
        flattest = np.minimum(_left(steep), _right(steep)) * np.exp(-change / 2)
        flattest = s / ((s / flattest + 1) * math.exp(s) - 1)
        bend = log.least_bend(3)[here[:-1] - 1] + s * flattest + flattest**2
        above = mismatch**2 / (2 * bend) - least
        steeply = steepest + mismatch + log.wide[0][here[:-1] - 1]
        # 1 - e^{-D} is at least D/2 up to D = 1
        apart = np.minimum(bend / 2 - mismatch + least, 1.0) * np.exp(-steeply) > 2 * np.maximum(np.abs(least), np.abs(most))
        # where h is nearly one
        weights = log.coefficients[-log.first : last - log.first]
        ones = max(int(np.searchsorted(-np.minimum.accumulate(weights), _ONE)) - 3, 0)
        no_more = bool((weights[: ones + 3] <= _ONE / 100).all())
        used = y[1:] >= (ones - m if ones else -m)
        checked = (
            (bend > 0) & apart & (run > 0) & (run < 2) & (_right(y) - _left(y) <= 2) & (inverse > 0) & np.isfinite(above + most)
        )
        first = int(np.argmax(used))
        fine = (
            no_more
            and bool(checked[first:].all())
            and y[first] <= (ones - m if ones else -m)
            and self.convex(log, last + m + 1, int(x[first]))
            and self.falls(log, last)
        )
        if not fine:
            raise UnprovedError("the splines are too coarse")
        folded = self.refolded(log)
        # left of the first x, one is the bound from above, and the chord there bounds T from below
        one_above = 1.01 * _ONE if ones else 0.0
        one_below = max(one_above, _ONE / 100 - float(chords.level[first])) if ones else 0.0
        # D is least at most one step away
        logs = _before(value[:-1])[first:]
        errors = ((above, one_above), (most, one_below))
        up, down = (Off.over(each[first:], logs, one) + Off(folded + ROUNDED) for each, one in errors)
        return up, down

    def convex(self, log: Quintic, end: int, first: int = 0) -> bool:
        """Whether g is convex in u from a knot to another one."""
        column = log.column(np.arange(first, end))
        second, slope = log.near[0][column], -log.cells[1]
        least = np.minimum(slope[column], slope[column + 1]) - second / 2
        return bool((least > 0).all() and (log.least_bend(1)[column] + self.step * least + least**2 > 0).all())

    def falls(self, log: Quintic, last: int) -> bool:
        """Whether g falls after a knot."""
        return bool((np.diff(log.coefficients[last - 3 - log.first :]) < 0).all())

    def refolded(self, log: Quintic) -> float:
        """How far log g may be, at most two widths left of zero, from what it is to the right implies."""
        # each cell in parts, which costs little here
        count = _FOLDED * (self.left - _SPARE)
        x = np.arange(count + 1) / _FOLDED
        right, left = np.floor(x).astype(np.int64), np.floor(-x).astype(np.int64)
        s = self.step / _FOLDED
        value, slope, _ = log.at(log.column(right), x - right)
        other, back, _ = log.at(log.column(left), -x - left)
        right, left, x = log.column(right), log.column(left), x * self.step
        slope, back = slope / _FOLDED, back / _FOLDED
        g = np.exp(value)
        whole = np.expm1(x) + g
        gap = other + x - np.log(whole)
        inner = -back + s - (s * np.exp(x) + g * slope) / whole
        corners = np.array([gap[:-1], gap[:-1] + inner[:-1] / 3, gap[1:] - inner[1:] / 3, gap[1:]])
        n2, n3, n4 = (size[right[:-1]] / _FOLDED**n for size, n in zip(log.near, (2, 3, 4), strict=True))
        n1 = np.maximum(np.abs(slope[:-1]), np.abs(slope[1:])) + n2 / 2
        top = g[:-1] * np.exp(n1)
        h = [s**n * np.exp(x[1:]) for n in (1, 2, 3, 4)]
        h[1] = h[1] + top * (n2 + n1**2)
        h[2] = h[2] + top * (n3 + 3 * n1 * n2 + n1**3)
        h[3] = h[3] + top * (n4 + 4 * n1 * n3 + 3 * n2**2 + 6 * n1**2 * n2 + n1**4)
        first = np.abs(s * np.exp(x) + g * slope)
        h[0] = np.maximum(first[:-1], first[1:]) + h[1] / 2
        bottom = np.minimum(whole[:-1], whole[1:]) - h[0] / 2
        r1, r2, r3, r4 = (one / bottom for one in h)
        fourth = r4 + 4 * r1 * r3 + 3 * r2**2 + 12 * r1**2 * r2 + 6 * r1**4 + log.near[2][left[1:]] / _FOLDED**4
        found = float((np.abs(corners).max(axis=0) + np.where(bottom > 0, fourth, np.inf) / 384).max())
        return found if found < 1 else math.inf


def _tail(log: Quintic, last: int, above: Off) -> tuple[float, float]:
    """The spline's value at a knot, and that with its error, rounded up."""
    value = float(log.cells[0][log.column(np.array(last))])
    return math.exp(value) * (1 + 1e-11), math.exp(value + float(above.at(np.array(value)))) * (1 + 1e-11)


def _left(values: Array) -> Array:
    return values[:-1]


def _right(values: Array) -> Array:
    return values[1:]


def _before(values: Array) -> Array:
    """The values one place before."""
    return np.append(values[:1], values[:-1])


def _longer(values: Array, size: int) -> Array:
    """Cut, or continued by a line."""
    more = np.arange(1, max(size - values.size, 0) + 1)
    return np.concatenate([values[:size], values[-1] + (values[-1] - values[-2]) * more])


def _along(sizes: list[Array], run: Array, turned: Array, weight: Array, s: float) -> tuple[Array, Array, Array]:
    """Bounds of the second to fourth derivatives of log g, and of the logarithm of a weight, along the line.

    With A = ``weight`` / s that logarithm has the derivatives A, A (1 + A), A (1 + A) (1 + 2 A) and
    A (1 + A) (1 + 6 A + 6 A^2) by t, but for signs and, of the far end, for 1 in the first one.
    """
    two, three, four = sizes
    a, turn = weight, np.abs(turned)
    base = a * (s + a) * turn**2
    return (
        two * run**2 + base,
        three * run**3 + base * (s + 2 * a) * turn,
        four * run**4 + base * (s**2 + 6 * s * a + 6 * a**2) * turn**2,
    )
