"""Certificates of bounds of a release: of the private ends alone where no more is known, of both ends of a bracket."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from logphi.certified.certificate import Check, refuse_unknown
from logphi.certified.proposal import sharpest
from logphi.certified.route import NotCertifiedError
from logphi.certified.several import Asked, CertifiedClaim, CertifiedClaims, bundle

# the question that bounds what is claimed
_QUESTIONS = {"epsilon": "epsilon", "delta": "delta", "advantage": "delta", "tradeoff": "tradeoff", "renyi": "renyi"}
# chosen: the numbers of digits that are tried if all claims exceed the budget of a check together
_FEWER = (4, 2)
# chosen: how much weaker ends than the bound in doubles are tried where the checker does not derive that bound to a digit
_WEAKER = (Fraction(1, 4), Fraction(3, 5), Fraction(1), Fraction(2), Fraction(4), Fraction(9))
# chosen: the digits of such ends
_ROUGH = 2
# chosen: the relative distance of two type I errors between which the slope is taken, and the logarithm of one that is zero
_ASIDE, _FLAT = 0.01, -20.0


def issue_above(
    release: Any,
    asked: Sequence[Asked],
    *,
    digits: int,
    check: Callable[[Any], Check],
    check_soon: Callable[[Any], Check],
    both: bool = False,
) -> CertifiedClaims:
    """One certificate of private ends, each the bound in doubles of the release, rounded as far as ``check`` needs it.

    With ``both`` it has the other ends too, but for trade-off functions.

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
            (one.release, _claim(one, found, places, most, check, check_soon, both))
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
    both: bool,
) -> CertifiedClaim:
    """The end with the most digits that a short check accepts, or the fewest that any does, or a weaker end."""
    if not found.upper < math.inf:
        raise NotCertifiedError(f"no finite {one.quantity} is known at {one.at}")

    def attempt(tried: int, accepts: Callable[[Any], Check], moved: Fraction | None = None) -> CertifiedClaim | None:
        ends = _ends(one.quantity, found, tried, moved or Fraction(1, 10**tried), both)
        claim = CertifiedClaim(one.quantity, one.at, one.direction, *ends, lines=lines)
        return claim if accepts(bundle([(one.release, claim)])) else None

    claim = sharpest(digits, lambda tried: attempt(tried, check_soon)) or attempt(min(2, digits), check)
    if claim is None:
        weaker = (attempt(_ROUGH, check_soon, moved) for moved in _WEAKER if _says_something(one.quantity, found, moved))
        claim = next((made for made in weaker if made is not None), None)
    if claim is None:
        raise NotCertifiedError("the checker of certificates does not derive a single digit of this bound")
    return claim


def _says_something(quantity: str, found: Any, moved: Fraction) -> bool:
    """Whether an end that is so much weaker says more than is true of every release, whose delta is at most one."""
    return quantity not in ("delta", "advantage") or found.upper * (1 + moved) < 1


def _ends(quantity: str, found: Any, digits: int, moved: Fraction, both: bool) -> tuple[Decimal | Fraction, Decimal | None]:
    """The private end, or both, moved outward by a share of it."""
    least = _decimal(Fraction(found.lower) / (1 + moved), digits, ROUND_FLOOR)
    if quantity == "tradeoff":
        return least, None
    most = _decimal(Fraction(found.upper) * (1 + moved), digits, ROUND_CEILING)
    return least if both else Fraction(0), most if quantity in ("epsilon", "renyi") else min(most, Decimal(1))


def _decimal(number: Fraction, digits: int, rounding: str) -> Decimal:
    return Context(prec=digits + 2, rounding=rounding).divide(Decimal(number.numerator), Decimal(number.denominator))


def _lines(release: Any, one: Asked) -> dict[str, list[str]]:
    """The logarithm of the slope of the trade-off function, a line along which is the highest; no proof relies on it."""
    alpha, order = float(one.at), one.direction
    here, there = ((release.tradeoff(at, direction=order).value, at) for at in (alpha * (1 - _ASIDE), alpha * (1 + _ASIDE)))
    slope = (here[0] - there[0]) / (there[1] - here[1])
    place = [str(Fraction(repr(math.log(slope) if slope > 0 else _FLAT)))]
    return dict.fromkeys(("remove", "add") if order is None else (order,), place)
