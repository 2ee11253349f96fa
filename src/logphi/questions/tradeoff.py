"""The trade-off function of a release: the smallest type II error of a test at a type I error.

notation: (P, Q) a pair, L = log(p/q), a = e^x, delta the profile of the pair. The test with null Q and alternative P that
rejects where L > x has type I error Q(L > x) and type II error P(L <= x); the lines of that slope give

    f(alpha) = sup over x of g(a),    g(a) = 1 - delta(x) - a alpha,

which is concave in a, with slope Q(L > x) - alpha. Every g(a) is a lower bound of f, and chords between a few of them are an
upper bound of all, atoms or not. With beta = 1 - alpha and delta' the profile of the reversed pair,
g(a) = a (beta - delta'(-x)) keeps its digits where alpha is close to one, and g(a) = P(L <= x) + a (Q(L > x) - alpha) where f
is small for other alpha.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, overload

from logphi.answers.bound import Bound, Bounds
from logphi.answers.enclosure import meet
from logphi.answers.ledger import Entry, Ledger
from logphi.answers.status import Direction, Side
from logphi.engine.answer import judged, unresolved, worst
from logphi.engine.directions import HasLoss
from logphi.engine.log_probability import masses
from logphi.engine.method import TRIVIAL
from logphi.engine.supporting_lines import ROUNDING, ProfileLines, ReversedLines, TailLines
from logphi.engine.tangent import Search, guessed, supremum
from logphi.inputs import check
from logphi.inputs.arguments import DirectionLike, Number, Numbers
from logphi.inputs.guesses import guided
from logphi.inputs.tolerance import Tolerance
from logphi.inversion.demand import Demand
from logphi.laws.log_phi import LogPhi
from logphi.questions.pointwise import each

# measured: the relative width of profiles over that of the curve, which leaves the tolerance to the chords
SHARPER = 1e-2
# derived: if the supremum is below this share of its terms, it has lost digits by cancellation, and the tails are used
_CANCELLED = 1e-4
# derived: smaller values lose digits to underflow
_NEGLIGIBLE = 1e-300
# derived: the absolute rounding of two products that underflow
_LEAST = 2e-323
# derived: e^x does not overflow
_LARGEST = 709.0


@overload
def tradeoff(
    self: HasLoss, type_one_error: Number, *, direction: DirectionLike | None = None, rtol: float | None = None
) -> Bound: ...
@overload
def tradeoff(
    self: HasLoss, type_one_error: Numbers, *, direction: DirectionLike | None = None, rtol: float | None = None
) -> Bounds: ...
@guided()
def tradeoff(
    self: HasLoss, type_one_error: Any, *, direction: DirectionLike | None = None, rtol: float | None = None
) -> Bound | Bounds:
    """The trade-off function: the smallest type II error of a test between P and Q at a type I error ([AFA] Definition 3).

    In direction ``"remove"`` the null hypothesis is Q, the record is absent, and the alternative is P:
    f(alpha) = inf of P(accept) over all tests, also randomized ones, with Q(reject) <= alpha. In direction ``"add"`` the two
    are exchanged; that curve is the inverse of the first. By default the pointwise minimum of both: no test that an adversary
    may choose, in either direction, does better. The minimum of two convex curves need not be convex; its largest convex
    minorant is the trade-off function whose conjugate is the profile max(remove, add) (Dong, Roth & Su 2022, Prop. 2.12).

    Papers write T[P, Q] with the null hypothesis first: alpha = P(reject), beta = Q(accept) ([AFA] Definition 3, [LT] eq. 11).
    With (P, Q) the pair, P with the record, T[Q, P] is direction ``"remove"`` and T[P, Q] is direction ``"add"``, which
    :func:`inverse_tradeoff` in direction ``"remove"`` gives too.

    Parameters
    ----------
    type_one_error
        One number or an array, in [0, 1].
    direction
        ``"remove"`` or ``"add"`` for one direction only; the minimum of both by default.
    rtol
        Requested ``upper - lower`` relative to the value; by default as in :func:`logphi.questions.delta.delta`.

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
    >>> import logphi as lp
    >>> round((100 * lp.Gaussian(sigma=10)).tradeoff(0.05).value, 9)
    0.740488977

    P = 0.9 N(0, 1) + 0.1 N(1, 1) against Q = N(0, 1): T[Q, P] is 0.9 (1 - alpha) + 0.1 Phi(Phi^{-1}(1 - alpha) - 1), and the
    test of the null hypothesis P that rejects below 0 has the errors 0.9 / 2 + 0.1 Phi(-1) and 1/2.

    >>> from scipy.special import ndtr, ndtri
    >>> sampled = lp.Gaussian(sigma=1).poisson(0.1)
    >>> round(sampled.tradeoff(0.2, direction="remove").value, 9), round(0.72 + 0.1 * float(ndtr(ndtri(0.8) - 1)), 9)
    (0.763707917, 0.763707917)
    >>> at = 0.45 + 0.1 * float(ndtr(-1))
    >>> round(sampled.tradeoff(at, direction="add").value, 9), round(sampled.inverse_tradeoff(at, direction="remove").value, 9)
    (0.5, 0.5)
    """
    return _asked("type_one_error", type_one_error, self._loss().orders(direction), rtol)


@overload
def inverse_tradeoff(
    self: HasLoss, type_two_error: Number, *, direction: DirectionLike | None = None, rtol: float | None = None
) -> Bound: ...
@overload
def inverse_tradeoff(
    self: HasLoss, type_two_error: Numbers, *, direction: DirectionLike | None = None, rtol: float | None = None
) -> Bounds: ...
@guided()
def inverse_tradeoff(
    self: HasLoss, type_two_error: Any, *, direction: DirectionLike | None = None, rtol: float | None = None
) -> Bound | Bounds:
    """The smallest type I error of a test at a type II error: the inverse of the trade-off function.

    The inverse of a pair's trade-off function is the trade-off function of the reversed pair (Dong, Roth & Su 2022, Lemma A.2).
    Small type II errors keep their digits here, while type I errors close to one would lose them.

    Parameters
    ----------
    type_two_error
        One number or an array, in [0, 1].
    direction
        The curve that is inverted: ``"remove"`` or ``"add"``, the minimum of both by default.
    rtol
        Requested ``upper - lower`` relative to the value; by default as in :func:`logphi.questions.delta.delta`.

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
    >>> import logphi as lp
    >>> round(lp.Gaussian(sigma=1).inverse_tradeoff(0.25).value, 9)
    0.372397463
    """
    reflected = [(name, part.reflected()) for name, part in self._loss().orders(direction)]
    return _asked("type_two_error", type_two_error, reflected, rtol)


def _asked(name: str, errors: Any, orders: list[tuple[Direction, LogPhi]], rtol: float | None) -> Bound | Bounds:
    tolerance = Tolerance.of(rtol)
    check.unit_array(name, errors)
    return each(name, errors, lambda at: _smallest(orders, at, tolerance))


def _smallest(orders: list[tuple[Direction, LogPhi]], alpha: float, tolerance: Tolerance) -> Bound:
    """The smallest value over the orders of the pair."""
    found = []
    for name, part in orders:
        one = replace(_curve(part, alpha, tolerance), direction=name, side=Side.LOWER)
        found.append(replace(one, ledger=one.ledger.estimating("truncation", "inner")) if part.traits.estimated else one)
    best = worst(found, Side.LOWER)
    return judged(best, math.inf if best.upper < _NEGLIGIBLE else tolerance.enough * best.upper)


def _curve(loss: LogPhi, alpha: float, tolerance: Tolerance) -> Bound:
    """The value in one direction of the pair."""
    infinite, reverse_log_mass = masses(loss)
    if alpha == 0:
        low, high = 1 - infinite[1], 1 - infinite[0]
        return Bound(max(math.nextafter(low, 0.0), 0.0), (low + high) / 2, min(math.nextafter(high, 1.0), 1.0))
    end = math.exp(reverse_log_mass[1]) * (1 + ROUNDING)
    if alpha == 1 or alpha >= end:
        return Bound(0.0, 0.0, 0.0)
    guess = guessed(loss, alpha, -math.expm1(reverse_log_mass[1]))
    # tests that observe only whether the loss is infinite, in either direction
    blind = min((1 - alpha / min(end, 1.0) + ROUNDING) * (1 - infinite[0]), 1.0)
    best = _trivial(blind)
    sides = [ProfileLines if guess.at >= 0 and alpha <= 0.5 else ReversedLines]
    for kind in [*sides, TailLines] if alpha <= 0.5 else sides:
        search = Search(kind(loss, alpha, lines_demand(tolerance)), guess)
        if kind is TailLines and search.blunt:
            break
        best = meet(best, _bound(search, blind, tolerance.aim))
        cancelled = best.lower == 0 or best.upper < _CANCELLED * math.exp(min(guess.at, 0.0))
        if best.width <= tolerance.aim * best.value or search.noise > tolerance.aim or not cancelled:
            break
    return best


def lines_demand(tolerance: Tolerance) -> Demand:
    """The demand on the profile with which lines meet a tolerance."""
    sharper = (tolerance * SHARPER).at_least(1e-13)
    return Demand(sharper.aim, enough=sharper.enough)


def _trivial(blind: float) -> Bound:
    """The bounds from a blind test alone."""
    return unresolved(0.0, blind / 2, blind, TRIVIAL, Ledger(truncation=Entry(blind)))


def _bound(search: Search, blind: float, rtol: float) -> Bound:
    """The supremum of the lines; at most that of a blind test if the chords prove nothing."""
    found = supremum(search, rtol)
    if found.unit > _LARGEST:
        # no line is representable
        return _trivial(blind)
    size, middle = math.exp(found.unit), found.middle
    value = max(found.value, 0.0)
    lower = max(max(found.lower, 0.0) * size * (1 - ROUNDING) - _LEAST, 0.0)
    upper = blind
    if math.isfinite(found.upper):
        upper = min(max(found.upper, 0.0) * size * (1 + ROUNDING) + _LEAST, blind)
    value = min(max(value * size, lower), upper)
    ledger = search.lines.ledger(found.at, middle)
    chords = Entry(max(upper - lower - sum(line.amount for name, line in ledger.items() if name != "infinite_mass"), 0.0))
    return Bound(
        lower, value, upper, method=middle.method, ledger=replace(ledger, discretization=ledger.discretization + chords)
    )
