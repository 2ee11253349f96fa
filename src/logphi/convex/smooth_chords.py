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

The first rounds are those of a grid, where h_k is not smooth. Their lower bound, a little decreased, is nearly a spline S, and
the upper bound is at most e^a ((1 - p) S + p T S) + c for a small p, as if p more rounds had been taken. As T of a mean is at
most the mean of both T, the same p remains after all rounds: h_k <= e^a ((1 - p) T^j S + p T^{j+1} S) + c.

Right of the last checked x, where h is tiny, nothing is proved of T: h <= h(last) adds to c, and g <= g(last) from below. Left
of zero, h(-x) = 1 - e^{-x} + e^{-x} h(x); what the splines of both sides differ from that is bounded like E. Where g exceeds
1 - 2e-9, 1 is the bound, and nothing else is proved.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from logphi.arith.floats import ULP
from logphi.arrays import Array
from logphi.convex.quintic import Quintic
from logphi.convex.spline_proofs import ROUNDED, Off, Several, falls
from logphi.convex.spline_rounds import LEAST, Round, Steps, UnprovedError, longer
from logphi.convex.spline_start import Start
from logphi.convex.widest_chords import Bounds, both_sides

# measured: the rounds on the grid before the splines
_BEFORE = 28
# measured: above the width _WIDE there are more of them, and above _WIDER on a grid that is finer by a factor
_WIDE, _BEFORE_WIDE = 1.0, 40
_WIDER, _FINER = 2.0, 1.4
# measured: so many of the first steps of the splines are a width
_PARTS = 48
# chosen: the grid begins with values that are smaller by so much
_START = 1e-9
# chosen: smaller values lose digits to the constant that is added to them, and so do those that are less than _CLEARLY times
# the last one
_LEAST_SHARP = 1e-19
_CLEARLY = 100.0
# chosen: so do those that are not as many times as large as what is taken from them
_FAR = 1e4
# measured: after so many rounds, steps that are twice as long do, as h is smoother
_HALVED = (44, 72, 120)
# measured: and of larger widths
_HALVED_WIDE = (56, 96, 160)
# measured: but not to more than this; with twice as long ones, proofs of wide ranges fail
_LONGEST = 0.2
# measured: knots that are proved at once
_AT_ONCE = 8000


@dataclass(frozen=True, eq=False)
class AfterRound:
    """Bounds of h after a round, for x from 0 to ``last`` steps, by a spline for its logarithm.

    ``above`` and ``below`` are the errors of the logarithm; besides, ``more`` is added to the upper bound, and ``less`` taken
    from the lower one. After the last x, h is at most its upper bound there.
    """

    log: Quintic
    last: int
    above: Off
    below: Off
    more: float
    less: float

    def after(self, log: Quintic, last: int, up: Off, down: Off, tail: float) -> AfterRound:
        """One round later, whose spline has the logarithm ``tail`` at the last knot."""
        above = self.above + up
        high = math.exp(tail + float(above.at(np.array(tail)))) * (1 + 1e-11)
        low = math.exp(tail) * (1 + 1e-11)
        return AfterRound(log, last, above, self.below + down, (self.more + high) * (1 + 1e-12), max(self.less, low))

    def coarser(self) -> AfterRound:
        """The same on steps that are twice as long."""
        log, gap = self.log.coarser(self.last)
        last, off = self.last // 2, Off(gap + ROUNDED)
        if not falls(log, last):
            raise UnprovedError("the spline rises at its end")
        return self.after(log, last, off, off, float(log.cells[0][log.column(np.array(last))]))


@dataclass(frozen=True, eq=False)
class SmoothBounds:
    """Bounds of h, for x from 0 to ``last`` steps.

    The lower bound is that of the ``last_round``; the upper one is a mean of both rounds, with the errors of the ``next_round``
    and with the weight ``part`` for its spline.
    """

    step: float
    parts: int
    last_round: AfterRound
    next_round: AfterRound
    part: float

    @property
    def last(self) -> int:
        """The number of steps for which both splines are known."""
        return min(self.last_round.last, self.next_round.last)

    def _logs(self, x: Array, log: Quintic) -> tuple[Array, Array]:
        """A spline and its derivative, at x from 0 to the last one."""
        places = np.minimum(x / self.step, self.last)
        cells = np.minimum(np.floor(places), self.last - 1).astype(np.int64)
        value, slope, _ = log.at(log.column(cells), places - cells)
        return value, slope / self.step

    @cached_property
    def sharp(self) -> float:
        """Larger values of h have sharp bounds: they are well above what is known after the last x."""
        return max(_LEAST_SHARP, _CLEARLY * float(self.high(np.array([self.last * self.step]))[0]), _FAR * self.last_round.less)

    def high(self, x: Array) -> Array:
        """Upper bounds at x >= 0."""
        after = self.next_round
        logs = (self._logs(x, log)[0] for log in (self.last_round.log, after.log))
        one, other = (np.exp(log + after.above.at(log)) for log in logs)
        found: Array = (one + self.part * np.maximum(other - one, 0.0) + after.more) * (1 + 1e-15)
        return np.minimum(found, 1.0)

    def low(self, x: Array) -> Array:
        """Lower bounds at x >= 0."""
        before = self.last_round
        logs = self._logs(x, before.log)[0]
        found: Array = (np.exp(logs - before.below.at(logs)) - before.less) * (1 - 1e-15)
        return np.where(x <= self.last * self.step, np.maximum(found, 0.0), 0.0)

    def lines(self, size: int) -> tuple[Array, Array, Array]:
        """Tangents of the lower bound at ``size`` places: these, and there the values and u times the slope."""
        x, before = np.linspace(0.0, self.last * self.step, size), self.last_round
        logs, slopes = self._logs(x, before.log)
        whole = np.exp(logs - before.below.at(logs))
        return x, whole * (1 - 1e-14) - before.less, whole * slopes * (1 + before.below.share)

    def grid(self, size: int) -> Bounds:
        """Upper bounds at about ``size`` nodes."""
        times = max(1, round(size / self.last))
        high = self.high(np.arange(self.last * times + 1.0) * (self.step / times))
        end = float(high[-1])
        return Bounds(self.step / times, self.parts * times, high - end, end)


@lru_cache(maxsize=64)
def smooth_chords(width: float, rounds: int, fine: int) -> SmoothBounds | None:
    """H_k from a grid of ``fine`` steps to the width, or a few more, and then from splines; None if these prove nothing.

    The width may be off by two units of rounding.
    """
    try:
        return _smooth_chords(width, rounds, fine)
    except UnprovedError:
        return None


def _smooth_chords(width: float, rounds: int, fine: int) -> SmoothBounds:
    wide = width >= _WIDE
    first, halved = (_BEFORE_WIDE, _HALVED_WIDE) if wide else (_BEFORE, _HALVED)
    fine = round(_FINER * fine) if width >= _WIDER else fine
    below, above = both_sides(width, first, -(-fine // _PARTS) * _PARTS, error=4 * ULP, cut=LEAST * _START)
    steps = Steps(width, _PARTS)
    with np.errstate(all="ignore"):  # what is not finite is not proved
        start = Start.of(steps, below, above)
        one, behind = steps.next(start.log, start.last, start.behind)
        (proved,) = Several(steps, start.log, [one]).proved()
        part, more = start.compared(one.log, proved.down)
        known = AfterRound(start.log, start.last, more, start.below, start.more, start.less)
        known = known.after(one.log, one.last, proved.up, proved.down, proved.tail)
        before, previous = known, longer(start.behind, behind.size)
        waiting: list[Round] = []
        log, last = one.log, one.last
        for count in range(first + 2, rounds + 2):
            if count in halved and 2 * steps.step <= _LONGEST and count <= rounds:
                known = _all_proved(steps, known, waiting)[-1].coarser()
                waiting, log, last = [], known.log, known.last
                steps = Steps(width, steps.parts // 2)
                behind, previous = behind[::2] / 2, previous[::2] / 2
            guess, previous = 2 * behind - previous, behind
            one, behind = steps.next(log, last, guess)
            previous, log, last = longer(previous, behind.size), one.log, one.last
            waiting.append(one)
            if sum(each.behind.size for each in waiting) > _AT_ONCE or count > rounds:
                before, known = _all_proved(steps, known, waiting)[-2:]
                waiting = []
    return SmoothBounds(steps.step, steps.parts, before, known, part)


def _all_proved(steps: Steps, known: AfterRound, rounds: list[Round]) -> list[AfterRound]:
    """What is known after each round, with what was known before these."""
    found = [known]
    if rounds:
        for one, proved in zip(rounds, Several(steps, known.log, rounds).proved(), strict=True):
            found.append(found[-1].after(one.log, one.last, proved.up, proved.down, proved.tail))
    return found
