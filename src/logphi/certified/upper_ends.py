"""Certificates of the private ends alone, of releases of which only bounds are known."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from logphi.certified.certificate import Check, refuse_unknown
from logphi.certified.route import NotCertifiedError
from logphi.certified.several import Asked, CertifiedClaim, CertifiedClaims, bundle, tried_digits

# the question that bounds what is claimed
_QUESTIONS = {"epsilon": "epsilon", "delta": "delta", "advantage": "delta", "tradeoff": "tradeoff"}
# chosen: the numbers of digits that are tried if all claims exceed the budget of a check together
_FEWER = (4, 2)
# chosen: slopes of lines below a trade-off function are looked for between e^-x and e^x
_STEEPEST = 20.0
# derived: golden sections that leave a ten-millionth of it
_SECTIONS, _GOLDEN = 36, (math.sqrt(5) - 1) / 2


def issue_above(
    release: Any,
    asked: Sequence[Asked],
    *,
    digits: int,
    check: Callable[[Any], Check],
    check_soon: Callable[[Any], Check],
) -> CertifiedClaims:
    """One certificate of private ends, each the bound in doubles of the release, rounded as far as ``check`` needs it.

    Raises
    ------
    NotCertifiedError
        If an end is infinite, the checker derives none that shares a digit with it, or all together exceed its budget.
    """
    for _, node in asked[0].release.tree:
        refuse_unknown(node)
    # of the release itself, as no law of a loss has its bounds
    bounds = [getattr(release, _QUESTIONS[one.quantity])(float(one.at), direction=one.direction) for one in asked]
    lines = [_lines(release, one) if one.quantity == "tradeoff" else {} for one in asked]
    verdict: Any = ""
    for most in [digits, *(fewer for fewer in _FEWER if fewer < digits)]:
        claims = [
            (one.release, _claim(one, found, places, most, check, check_soon))
            for one, found, places in zip(asked, bounds, lines, strict=True)
        ]
        made = bundle(claims)
        verdict = check(made)
        if verdict:
            return made
    raise NotCertifiedError(f"a certificate was made, but its check does not accept it: {verdict}")


def _claim(
    one: Asked,
    found: Any,
    lines: dict[str, list[str]],
    digits: int,
    check: Callable[[Any], Check],
    check_soon: Callable[[Any], Check],
) -> CertifiedClaim:
    """The end with the most digits that a short check accepts, or the fewest that any does."""
    if not found.upper < math.inf:
        raise NotCertifiedError(f"no finite {one.quantity} is known at {one.at}")
    tries = [(tried, check_soon) for tried in tried_digits(digits)]
    for tried, accepts in [*tries, (min(2, digits), check)]:
        claim = CertifiedClaim(one.quantity, one.at, one.direction, *_ends(one.quantity, found, tried), lines=lines)
        if accepts(bundle([(one.release, claim)])):
            return claim
    raise NotCertifiedError("the checker of certificates does not derive a single digit of this bound")


def _ends(quantity: str, found: Any, digits: int) -> tuple[Decimal | Fraction, Decimal | None]:
    """The private end, moved outward by a unit of the last digit."""
    moved = Fraction(1, 10**digits)
    if quantity == "tradeoff":
        return _decimal(Fraction(found.lower) * (1 - moved), digits, ROUND_FLOOR), None
    return Fraction(0), _decimal(Fraction(found.upper) * (1 + moved), digits, ROUND_CEILING)


def _decimal(number: Fraction, digits: int, rounding: str) -> Decimal:
    return Context(prec=digits + 2, rounding=rounding).divide(Decimal(number.numerator), Decimal(number.denominator))


def _lines(release: Any, one: Asked) -> dict[str, list[str]]:
    """The logarithm of the slope of a high line below the trade-off function; no proof relies on it."""
    alpha = float(one.at)

    def height(x: float) -> float:
        return 1 - float(release.delta(x, direction=one.direction).upper) - math.exp(x) * alpha

    low, high = -_STEEPEST, _STEEPEST
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    by_left, by_right = height(left), height(right)
    for _ in range(_SECTIONS):
        if by_left > by_right:
            high, right, by_right = right, left, by_left
            left = high - _GOLDEN * (high - low)
            by_left = height(left)
        else:
            low, left, by_left = left, right, by_right
            right = low + _GOLDEN * (high - low)
            by_right = height(right)
    place = [str(Fraction(repr((low + high) / 2)))]
    return {name: place for name in (("remove", "add") if one.direction is None else (one.direction,))}
