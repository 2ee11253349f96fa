"""The trade-off function of a release: the smallest type II error of a test at a type I error.

notation: (P, Q) a pair, L = log(p/q), a = e^x, delta the profile of the pair. The test with null Q and alternative P that
rejects where L > x has type I error Q(L > x) and type II error P(L <= x); the lines of that slope give

    f(alpha) = sup over x of g(a),    g(a) = 1 - delta(x) - a alpha,

which is concave in a, with slope Q(L > x) - alpha. Every g(a) is a lower bound of f, and chords between a few of them are an
upper bound of all, atoms or not. With beta = 1 - alpha and delta' the profile of the reversed pair,
g(a) = a (beta - delta'(-x)) keeps its digits where alpha is nearly one; where f is small by itself the tails do,
g(a) = P(L <= x) + a (Q(L > x) - alpha).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi import check
from logphi.bound import Bound, Bounds, Direction, Entry, Ledger, Side, Status
from logphi.core.logphi import LogPhi
from logphi.numerics.concave import Ceiling, Known, ceiling
from logphi.numerics.contour import OUT_OF_REACH
from logphi.numerics.halfline import spread
from logphi.numerics.roots import fall
from logphi.numerics.saddle import Interval, minimise
from logphi.views.delta import checked, each
from logphi.views.directions import Loss
from logphi.views.lines import ROUNDING, Lines, ReversedLines, TailLines
from logphi.views.profile import LogDelta, masses
from logphi.views.routes import Demand
from logphi.views.tail import BLUNT

# measured: profiles this much sharper than the curve leave its tolerance to the chords
_SHARPER = 1e-2
# measured: halves of the span of a secant that looks for the place, in units of the loss's deviation
_SECANT = 1e-4
# measured: the first distance of the points around the place, likewise; the chords' gap is of second order in it
_AROUND = 2e-7
# each next pair of points is this much further away, and none so far down that e^x - e^x0 tells nothing
_GROWTH = 4.0
_FARTHEST = 30.0
# derived: e^x is a double
_LARGEST = 700.0
# measured: pairs beyond the first that closes in on the place, for chords on both sides of a kink; and how often to begin anew
_BEYOND = 3
_ROUNDS = 3
_NEARER = 0.05
# measured: a profile prepared this near is as sharp, relatively; places beyond so many deviations are not looked at
_NEAR = 0.02
_REACH = 1e4
_DEVIATIONS = 10.0
# measured: the least deviation that is looked for, as a share of that of the whole loss
_LEAST_SCALE = 1e-7
# derived: lines that are so much larger than their supremum have lost digits that the tails keep
_CANCELLED = 1e-4
# measured: the first step away from the guess, in deviations
_STEP = 0.1
# derived: what two products lose where doubles end
_LEAST = 2e-323


def tradeoff(
    loss: Loss, type_one_error: Any, *, direction: Direction | str | None = None, rtol: float = 1e-9
) -> Bound | Bounds:
    """The trade-off function: the least type II error of a test between P and Q at a type I error ([AFA] Appendix F).

    In direction ``"remove"`` the null hypothesis is Q, the record is absent, and the alternative is P:
    f(alpha) = inf of P(accept) over all tests, randomised ones too, with Q(reject) <= alpha. In direction ``"add"`` the two
    are exchanged; that curve is the inverse of the first. By default the pointwise minimum of both: no test that an adversary
    may choose, in either direction, does better. The minimum of two convex curves need not be convex; its largest convex
    minorant is the trade-off function whose conjugate is the profile max(remove, add) (Dong, Roth & Su 2022, Prop. 2.12).

    Parameters
    ----------
    loss
        The loss of the release.
    type_one_error
        One number or an array, in [0, 1].
    direction
        ``"remove"`` or ``"add"`` for one order only; the minimum of both by default.
    rtol
        Requested ``upper - lower`` relative to the value. Wider answers are valid and say so in their status.

    Returns
    -------
    Bound or Bounds
        Of the shape of ``type_one_error``; ``lower <= f <= upper``, and ``float`` gives the lower end, the private side. At 0
        the value is P(L < inf), from Q(L > -inf) on it is 0.

    Raises
    ------
    ValueError, TypeError
        If a type I error is outside [0, 1] or NaN, or the direction does not apply.

    Examples
    --------
    >>> from logphi.mechanisms.gaussian import Gaussian
    >>> round((100 * Gaussian(sigma=10)).tradeoff(0.05).value, 9)
    0.740488977
    """
    checked(loss, direction, None, rtol)
    check.unit_array("type_one_error", type_one_error)
    return each("type_one_error", type_one_error, lambda at: _smallest(loss.orders(direction), at, rtol))


def inverse_tradeoff(
    loss: Loss, type_two_error: Any, *, direction: Direction | str | None = None, rtol: float = 1e-9
) -> Bound | Bounds:
    """The least type I error of a test at a type II error: the inverse of :func:`tradeoff`.

    The inverse of the trade-off function of a pair is that of the reversed pair (Dong, Roth & Su 2022, Lemma A.2), so nothing
    is searched for. Small type II errors keep their digits here, where type I errors next to one would lose them.

    Parameters
    ----------
    loss
        The loss of the release.
    type_two_error
        One number or an array, in [0, 1].
    direction
        The curve that is inverted: ``"remove"`` or ``"add"``, the minimum of both by default.
    rtol
        As of :func:`tradeoff`.

    Returns
    -------
    Bound or Bounds
        Of the shape of ``type_two_error``; ``float`` gives the lower end, the private side.

    Raises
    ------
    ValueError, TypeError
        If a type II error is outside [0, 1] or NaN, or the direction does not apply.

    Examples
    --------
    >>> from logphi.mechanisms.gaussian import Gaussian
    >>> round(Gaussian(sigma=1).inverse_tradeoff(0.25).value, 9)
    0.372397463
    """
    checked(loss, direction, None, rtol)
    check.unit_array("type_two_error", type_two_error)
    turned = [(name, part.reflected()) for name, part in loss.orders(direction)]
    return each("type_two_error", type_two_error, lambda at: _smallest(turned, at, rtol))


def _smallest(orders: list[tuple[Direction, LogPhi]], alpha: float, rtol: float) -> Bound:
    """The order that attains the minimum; both ends are minima of ends."""
    found = [(name, _curve(part, alpha, rtol)) for name, part in orders]
    name, best = min(found, key=lambda pair: pair[1].value)
    lower, upper = min(one.lower for _, one in found), min(one.upper for _, one in found)
    if len(found) == 2 and max(one.lower for _, one in found) <= upper:
        # the bounds do not tell the orders apart
        name = Direction.BOTH
    if any(part.estimated for _, part in orders):
        best = replace(best, ledger=best.ledger.estimating("truncation", "inner"))
    if upper - lower <= rtol * upper or upper < 1e-300:
        status = Status.MET if best.ledger.proved else Status.ESTIMATED
    else:
        status = Status.UNRESOLVED if best.method == "trivial" else Status.WIDE
    return replace(best, lower=lower, upper=upper, direction=name, status=status, side=Side.LOWER)


def _curve(loss: LogPhi, alpha: float, rtol: float) -> Bound:
    """One order of the pair."""
    infinite, reverse_log_mass = masses(loss)
    if alpha == 0:
        low, high = 1 - infinite[1], 1 - infinite[0]
        return Bound(max(math.nextafter(low, 0.0), 0.0), (low + high) / 2, min(math.nextafter(high, 1.0), 1.0))
    end = math.exp(reverse_log_mass[1]) * (1 + ROUNDING)
    if alpha == 1 or alpha >= end:
        return Bound(0.0, 0.0, 0.0)
    guess = _place(loss, alpha, -math.expm1(reverse_log_mass[1]))
    # a test that looks at nothing but whether the loss is infinite, either way
    blind = min((1 - alpha / min(end, 1.0) + ROUNDING) * (1 - infinite[0]), 1.0)
    best = Bound(0.0, blind / 2, blind, method="trivial", ledger=Ledger(truncation=Entry(blind)))
    sides = [Lines if guess.at >= 0 and alpha <= 0.5 else ReversedLines]
    for kind in [*sides, TailLines] if alpha <= 0.5 else sides:
        search = _Search(kind(loss, alpha, Demand(max(rtol * _SHARPER, 1e-13))), guess)
        if kind is TailLines and search.blunt:
            break
        best = _meet(best, _bound(search, blind, rtol))
        cancelled = best.lower == 0 or best.upper < _CANCELLED * math.exp(min(guess.at, 0.0))
        if best.width <= rtol * best.value or search.noise > rtol or not cancelled:
            break
    return best


@dataclass(frozen=True)
class _Guess:
    """About the threshold of the test, the deviation of the loss there, and how far from it to look at all."""

    at: float
    scale: float
    reach: float


def _place(loss: LogPhi, alpha: float, lost: float) -> _Guess:
    """The saddle-point guess of the quantile of the loss under Q, from whichever tail is smaller.

    With k the cumulants of the loss under Q, or of its negative, log Q(tail) is about k(c) - c x - log(c (2 pi g'')^{1/2}),
    g'' = k'' + c^-2.
    """
    above = alpha <= 0.5
    level = math.log(alpha if above else max(1 - alpha - lost, 1e-300))
    end = loss.strip[1] + 1 if above else -1 - loss.strip[0]

    def cumulants(c: NDArray[np.float64]) -> NDArray[np.float64]:
        return loss.sketch(c - 1 if above else -1 - c)

    if end <= 0:
        # no moment on that side: from the middle of the strip
        c, above, level = 0.5, True, math.log(min(alpha, 0.5))
    else:
        c = minimise(lambda c: (cumulants(c) - level) / c, Interval(0.0, end)).abscissa
    low, middle, high = cumulants(c * np.array([0.9, 1.0, 1.1])).tolist()
    wide = (low + high - 2 * middle) / (0.1 * c) ** 2
    wide = wide if 0 < wide < math.inf else c**-2
    x = (middle - level - math.log(c) - 0.5 * math.log(2 * math.pi * (wide + c**-2))) / c
    x = x if math.isfinite(x) else 0.0
    # at an end of the support the deviation vanishes
    whole = spread(loss)
    scale = max(math.sqrt(wide), _LEAST_SCALE * whole)
    # nothing lies beyond the ends of the support, and not much beyond 1/alpha: E_Q[e^L] <= 1
    x = max(min(x if above else -x, -math.log(alpha), loss.supremum), loss.infimum)
    return _Guess(x, scale, _REACH * scale + _DEVIATIONS * whole)


def _bound(search: _Search, blind: float, rtol: float) -> Bound:
    """The supremum of the lines, from points around its place; at most that of a blind test where the chords prove nothing."""
    lines, guess = search.lines, search.guess
    at = search.place()
    middle = search.found(at)
    unit = lines.unit(at, middle)
    size = math.exp(unit)
    lower, value, _ = lines.line(at, middle, unit)
    upper = math.inf
    first = min(guess.scale * min(max(math.sqrt(search.noise), _AROUND), 0.03), 1.0)
    for attempt in range(_ROUNDS):
        top = Ceiling(math.inf, at)
        known: list[Known] = []
        # the loss may vary less, or more, than was guessed
        step = max(first * _NEARER**attempt, 64 * math.ulp(at))
        more = _BEYOND
        while step < min(guess.reach, _LARGEST - max(at, 0.0)) and more and upper - lower > rtol * value:
            for x in (at - step, at + step)[step > _FARTHEST :]:
                low, _, high = lines.line(x, search.found(x), unit)
                known.append(Known(math.expm1(x - at), low, high))
                lower = max(lower, low)
            step *= _GROWTH
            top = ceiling(known)
            upper = min(upper, top.height)
            more -= math.isfinite(top.height)
        if upper - lower <= rtol * value or math.isinf(top.height):
            break
        # the chords meet where the function has a kink
        at += math.log1p(top.at)
        low, value, _ = lines.line(at, search.found(at), unit)
        lower = max(lower, low)
    lower = max(lower, 0.0)
    value = max(value, lower)
    lower = max(lower * size * (1 - ROUNDING) - _LEAST, 0.0)
    upper = min(max(upper, 0.0) * size * (1 + ROUNDING) + _LEAST, blind) if math.isfinite(upper) else blind
    value = min(max(value * size, lower), upper)
    ledger = lines.ledger(at, middle)
    chords = Entry(max(upper - lower - sum(line.amount for name, line in ledger.items() if name != "infinite_mass"), 0.0))
    return Bound(
        lower, value, upper, method=middle.method, ledger=replace(ledger, discretization=ledger.discretization + chords)
    )


class _Search:
    """Where the slope of the curve has its level, by secants."""

    def __init__(self, lines: Lines, guess: _Guess) -> None:
        self.lines, self.guess = lines, guess
        self._local = lines.near(guess.at)
        self._seen: dict[float, LogDelta] = {}
        first = self.found(guess.at)
        self.noise = min(first.relative_width, 1.0)
        # tails that are slopes of the profile take long, and tell no more than the lines from the profile itself
        self.blunt = first.method in BLUNT
        self._half = min(guess.scale * min(max(self.noise ** (1 / 3), _SECANT), 0.1), 1.0)

    def found(self, x: float) -> LogDelta:
        """What is computed at x."""
        if x not in self._seen:
            self._seen[x] = self._local(x)
        return self._seen[x]

    def place(self) -> float:
        """About the x of the largest line: where the tail has its level."""
        guess, lines = self.guess, self.lines
        floor = max(lines.loss.infimum - guess.scale, guess.at - guess.reach)
        top = min(lines.loss.supremum, -math.log(lines.alpha), guess.at + guess.reach) + guess.scale
        floor, top = max(floor, -OUT_OF_REACH), min(top, _LARGEST - 1)
        x = fall(self._surplus, guess.at, _STEP * guess.scale, floor, top, _STEP * guess.scale)
        if abs(x - guess.at) > _NEAR * abs(x):
            self._local = lines.near(x)
            self._seen.clear()
        return fall(self._surplus, x, _STEP * guess.scale, floor, top, self._half)

    def _surplus(self, x: float) -> float:
        """The logarithm of the slope of the secant around x, less its level; turned where it rises."""
        lines, half = self.lines, self._half
        before, after = self.found(x - half).value, self.found(x + half).value
        more, less = (after, before) if lines.rising else (before, after)
        tilt = lines.tilt * half
        # log(e^more - e^less)
        gain = more + math.log(-math.expm1(less - more - 2 * tilt)) + tilt if more + tilt > less - tilt else -math.inf
        surplus = gain - math.log(2 * math.sinh(half)) - (1 - lines.tilt) * x - lines.level
        return -surplus if lines.convex else surplus


def _meet(one: Bound, other: Bound) -> Bound:
    """The intersection of two enclosures, under the name of the narrower."""
    best, rest = sorted((one, other), key=lambda bound: bound.width)
    lower, upper = max(best.lower, rest.lower), min(best.upper, rest.upper)
    return replace(best, lower=lower, upper=upper, value=min(max(best.value, lower), upper))
