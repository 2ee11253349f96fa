"""Certificates of bounds of a release: of the private ends alone where no more is known, of both ends of a bracket."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from typing import Any

from logphi.certified.certificate import refuse_unknown
from logphi.certified.claims import Asked, CertifiedClaim, CertifiedClaims
from logphi.certified.proposal import DOUBLES, MOST_DIGITS, Check, decimal, logarithm, moved
from logphi.certified.route import NotCertifiedError
from logphi.certified.several import bundle

# the question that bounds what is claimed
_QUESTIONS = {"epsilon": "epsilon", "delta": "delta", "advantage": "delta", "tradeoff": "tradeoff", "renyi": "renyi"}
# chosen: the numbers of digits that are tried if all claims exceed the budget of a check together
_FEWER = (4, 2)
# chosen: how often ends are moved to where the checker derives them
_MOVES = 5
# chosen: an end that was moved so far that the delta there is smaller by this factor moves back once
_SLACK = Fraction(11, 10)
# chosen: digits of an epsilon that was moved, which the checker does not derive as sharply as it is known
_ROUGH = 5
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
            _claim(one, found, places, min(most, DOUBLES), check_soon, both)
            for one, found, places in zip(asked, bounds, lines, strict=True)
        ]
        made = bundle([(one.release, claim) for one, (claim, _) in zip(asked, claims, strict=True)])
        # one claim alone was accepted already, with a smaller budget
        verdict = claims[0][1] if len(claims) == 1 else check(made)
        if verdict:
            return replace(made, witness=verdict.witness)
    raise NotCertifiedError(f"a certificate was made, but its check does not accept it: {verdict}")


def _claim(
    one: Asked,
    found: Any,
    lines: dict[str, list[str]],
    digits: int,
    check: Callable[[Any], Check],
    both: bool,
) -> tuple[CertifiedClaim, Check]:
    """The ends of the bound in doubles, or weaker ones that the checker derives; with its verdict."""
    if not found.upper < math.inf:
        raise NotCertifiedError(f"no finite {one.quantity} is known at {one.at}")
    ends, accepted = (Fraction(found.lower), Fraction(found.upper)), list[tuple[CertifiedClaim, Check]]()
    # as if delta were e^{-c epsilon^2}; then as the last two deltas say
    slope = -2 * math.log(one.at) / found.upper if one.quantity == "epsilon" and found.upper else None
    before: tuple[Fraction, Fraction] | None = None
    for _ in range(_MOVES):
        tried = CertifiedClaim(one.quantity, one.at, one.direction, *_ends(one.quantity, ends, digits, both), lines=lines)
        verdict = check(bundle([(one.release, tried)]))
        low, high = verdict.derived or (None, None)
        accepted = [(tried, verdict)] if verdict else accepted
        # the end as it was rounded, where the checker derived this
        ends = ends[0], ends[1] if tried.upper is None else Fraction(tried.upper)
        if low is None or high is None or (accepted and (before is None or slope is None or _SLACK * high > one.at)):
            break
        if before is not None and not high:
            # above the largest loss: half of the way back
            ends = ends[0], (before[0] + ends[1]) / 2
            continue
        if slope is not None and before is not None and high != before[1]:
            # a profile falls ever faster, so that an end moves back more carefully
            slope = logarithm(before[1] / high) / float(ends[1] - before[0]) * (2 if verdict else 1)
        before = ends[1], high
        ends, digits = moved(ends, (low, high), one.at, slope), min(digits, MOST_DIGITS if slope is None else _ROUGH)
        if one.quantity in ("delta", "advantage") and not ends[1] < 1:
            # true of every release
            break
    if not accepted:
        raise NotCertifiedError("the checker of certificates does not derive a single digit of this bound")
    return accepted[0]


def _ends(quantity: str, ends: tuple[Fraction, Fraction], digits: int, both: bool) -> tuple[Decimal | Fraction, Decimal | None]:
    """The private end, or both, rounded outward."""
    share = 1 + Fraction(1, 10**digits)
    least = decimal(ends[0] / share, digits + 2, ROUND_FLOOR)
    if quantity == "tradeoff":
        return least, None
    most = decimal(ends[1] * share, digits + 2, ROUND_CEILING)
    return least if both else Fraction(0), most if quantity in ("epsilon", "renyi") else min(most, Decimal(1))


def _lines(release: Any, one: Asked) -> dict[str, list[str]]:
    """The logarithm of the slope of the trade-off function, a line along which is the highest; no proof relies on it."""
    alpha, order = float(one.at), one.direction
    here, there = ((release.tradeoff(at, direction=order).value, at) for at in (alpha * (1 - _ASIDE), alpha * (1 + _ASIDE)))
    slope = (here[0] - there[0]) / (there[1] - here[1])
    place = [str(Fraction(repr(math.log(slope) if slope > 0 else _FLAT)))]
    return dict.fromkeys(("remove", "add") if order is None else (order,), place)
