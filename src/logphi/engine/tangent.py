"""The supremum of the supporting lines of a trade-off function.

notation: as of :mod:`logphi.questions.tradeoff`. The supremum is attained at the x where Q(L > x) is the type I error; lines of
points around it bound it from below, and chords of these points from above.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from logphi.answers.enclosure import Enclosure
from logphi.arrays import Array
from logphi.bracketing import fall
from logphi.convex.concave import Ceiling, Known, ceiling
from logphi.engine.log_probability import LogProbability
from logphi.engine.supporting_lines import ProfileLines
from logphi.inversion.lines.contour import LARGEST_THRESHOLD
from logphi.inversion.lines.half_line import spread
from logphi.inversion.lines.saddle import Interval, minimise
from logphi.laws.log_phi import LogPhi

# chosen: half the length of a secant in the search for x, in units of the loss's standard deviation
_SECANT = 1e-4
# chosen: the first distance of the points around x, in the same unit; the error of chords is of second order in it
_AROUND = 2e-7
# chosen: the factor by which the next pair of points is farther away
_GROWTH = 4.0
# chosen: farther to the left of the middle, e^x is negligible
_FARTHEST = 30.0
# derived: e^x is a double
_LARGEST = 700.0
# measured: the number of pairs of points after the first pair that encloses x, for chords on both sides of a kink
_MORE_PAIRS = 3
# measured: how often points are taken around another x, as the chords of a round meet where the function has a kink
_ROUNDS = 3
# measured: how much nearer the first points of each round are
_NEARER = 0.05
# measured: the relative distance within which a prepared profile is as sharp
_NEAR = 0.02
# measured: how far from the guess x may be, in local standard deviations, and in those of the whole loss, which are added
_FARTHEST_LOCATION = 1e4
_DEVIATIONS = 10.0
# measured: the least local standard deviation, as a share of that of the whole loss
_LEAST_SCALE = 1e-7
# chosen: the first step away from the guess, in standard deviations
_STEP = 0.1


@dataclass(frozen=True)
class Guess:
    """Guesses of the threshold of the test and of the standard deviation of the loss there, and the range of the search."""

    at: float
    scale: float
    farthest: float


def guessed(loss: LogPhi, alpha: float, infinite_mass: float) -> Guess:
    """The saddle-point guess of the quantile of the loss under Q, from whichever tail is smaller.

    With k the cumulants of the loss under Q, or of its negative, log Q(tail) is about k(c) - c x - log(c (2 pi g'')^{1/2}),
    g'' = k'' + c^-2.
    """
    above = alpha <= 0.5
    level = math.log(alpha if above else max(1 - alpha - infinite_mass, 1e-300))
    end = loss.strip[1] + 1 if above else -1 - loss.strip[0]

    def cumulants(c: Array) -> Array:
        return loss.approximate(c - 1 if above else -1 - c)

    if end <= 0:
        # without a moment on that side, the middle of the strip is taken
        c, above, level = 0.5, True, math.log(min(alpha, 0.5))
    else:
        c = minimise(lambda c: (cumulants(c) - level) / c, Interval(0.0, end)).abscissa
    low, middle, high = cumulants(c * np.array([0.9, 1.0, 1.1])).tolist()
    wide = (low + high - 2 * middle) / (0.1 * c) ** 2
    wide = wide if 0 < wide < math.inf else c**-2
    x = (middle - level - math.log(c) - 0.5 * math.log(2 * math.pi * (wide + c**-2))) / c
    x = x if math.isfinite(x) else 0.0
    # at an end of the support the standard deviation vanishes
    whole = spread(loss)
    scale = max(math.sqrt(wide), _LEAST_SCALE * whole)
    # there is no mass outside of the support, and little above log(1/alpha), as E_Q[e^L] <= 1
    x = max(min(x if above else -x, -math.log(alpha), loss.support.upper), loss.support.lower)
    return Guess(x, scale, _FARTHEST_LOCATION * scale + _DEVIATIONS * whole)


class Search:
    """The search, by secants, for the x at which the slope of the curve has its level."""

    def __init__(self, lines: ProfileLines, guess: Guess) -> None:
        self.lines, self.guess = lines, guess
        self._local = lines.near(guess.at)
        self._seen: dict[float, LogProbability] = {}
        first = self.found(guess.at)
        self.noise = min(first.relative_width, 1.0)
        # tails from slopes of the profile take long, and are no sharper than lines from the profile itself
        self.blunt = first.method.blunt
        self._half = min(guess.scale * min(max(self.noise ** (1 / 3), _SECANT), 0.1), 1.0)

    def found(self, x: float) -> LogProbability:
        """The computed function at x."""
        if x not in self._seen:
            self._seen[x] = self._local(x)
        return self._seen[x]

    def location(self) -> float:
        """An approximation of the x of the largest line, where the tail has its level."""
        guess, lines = self.guess, self.lines
        floor = max(lines.loss.support.lower - guess.scale, guess.at - guess.farthest)
        top = min(lines.loss.support.upper, -math.log(lines.alpha), guess.at + guess.farthest) + guess.scale
        floor, top = max(floor, -LARGEST_THRESHOLD), min(top, _LARGEST - 1)
        x = fall(self._surplus, guess.at, _STEP * guess.scale, floor, top, _STEP * guess.scale)
        if abs(x - guess.at) > _NEAR * abs(x):
            self._local = lines.near(x)
            self._seen.clear()
        return fall(self._surplus, x, _STEP * guess.scale, floor, top, self._half)

    def _surplus(self, x: float) -> float:
        """The logarithm of the slope of the secant around x, less its level, with the sign that makes it decreasing."""
        lines, half = self.lines, self._half
        before, after = self.found(x - half).value, self.found(x + half).value
        more, less = (after, before) if lines.rising else (before, after)
        tilt = lines.tilt * half
        # log(e^more - e^less)
        gain = more + math.log(-math.expm1(less - more - 2 * tilt)) + tilt if more + tilt > less - tilt else -math.inf
        surplus = gain - math.log(2 * math.sinh(half)) - (1 - lines.tilt) * x - lines.level
        return -surplus if lines.convex else surplus


@dataclass(frozen=True)
class Supremum(Enclosure):
    """An enclosure of the supremum in units of e^unit, with its x and the computed function there."""

    unit: float
    at: float
    middle: LogProbability


def supremum(search: Search, rtol: float) -> Supremum:
    """The supremum of the lines, from points around its x; the upper end is infinite if the chords prove nothing."""
    lines, guess = search.lines, search.guess
    at = search.location()
    middle = search.found(at)
    unit = lines.unit(at, middle)
    best = lines.line(at, middle, unit)
    lower, upper = best.lower, math.inf
    first = min(guess.scale * min(max(math.sqrt(search.noise), _AROUND), 0.03), 1.0)
    for attempt in range(_ROUNDS):
        top = Ceiling(math.inf, at)
        known: list[Known] = []
        # the standard deviation may be smaller or larger than guessed
        step = max(first * _NEARER**attempt, 64 * math.ulp(at))
        more = _MORE_PAIRS
        while step < min(guess.farthest, _LARGEST - max(at, 0.0)) and more and upper - lower > rtol * abs(best.value):
            for x in (at - step, at + step)[step > _FARTHEST :]:
                line = lines.line(x, search.found(x), unit)
                known.append(Known(math.expm1(x - at), line.lower, line.upper))
                lower = max(lower, line.lower)
            step *= _GROWTH
            top = ceiling(known)
            upper = min(upper, top.height)
            more -= math.isfinite(top.height)
        if upper - lower <= rtol * abs(best.value) or math.isinf(top.height):
            break
        # the chords meet where the function has a kink
        at += math.log1p(top.at)
        best = lines.line(at, search.found(at), unit)
        lower = max(lower, best.lower)
    return Supremum(lower, max(best.value, lower), upper, unit, at, middle)
