"""Certificates of bounds of a release: of the private ends alone where no more is known, of both ends of a bracket."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import partial
from typing import Any

from logphi.certified.certificate import refuse_unknown
from logphi.certified.claims import Asked, CertifiedClaims
from logphi.certified.proposal import DOUBLES, ROUGH, Check, Ends, around
from logphi.certified.route import NotCertifiedError
from logphi.certified.several import Claimed, settled_claim, together
from logphi.text.written import meant

# the question that bounds what is claimed
_QUESTIONS = {"epsilon": "epsilon", "delta": "delta", "advantage": "delta", "tradeoff": "tradeoff", "renyi": "renyi"}
# chosen: the numbers of digits that are tried if all claims exceed the budget of a check together
_FEWER = (4, 2)
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
    given = {id(one): (bound, own) for one, bound, own in zip(asked, bounds, lines, strict=True)}

    def claim(one: Asked, most: int) -> Claimed:
        found, own = given[id(one)]
        if not found.upper < math.inf:
            raise NotCertifiedError(f"no finite {one.quantity} is known at {one.at}")
        profile = partial(release.delta, direction=one.direction, rtol=ROUGH)
        why = ""
        for tried in (most, *(fewer for fewer in (*_FEWER, 1) if fewer < most)):
            # a digit less than doubles give, as the hulls of the checker differ in the last one
            low, high = around(found, min(tried, DOUBLES - 1), one.quantity)
            ends: Ends = (low, None) if own else (low if both else Decimal(0), high)
            made, verdict = settled_claim(one, ends, check_soon, profile, own)
            if verdict:
                return made, verdict.witness
            why = str(verdict)
        raise NotCertifiedError(f"the checker of certificates does not derive a single digit of this bound: {why}")

    return together(asked, claim, digits, _FEWER, check)


def _lines(release: Any, one: Asked) -> dict[str, list[str]]:
    """The logarithm of the slope of the trade-off function, a line along which is the highest; no proof relies on it."""
    alpha, order = float(one.at), one.direction
    here, there = ((release.tradeoff(at, direction=order).value, at) for at in (alpha * (1 - _ASIDE), alpha * (1 + _ASIDE)))
    slope = (here[0] - there[0]) / (there[1] - here[1])
    place = [str(meant(math.log(slope) if slope > 0 else _FLAT))]
    return dict.fromkeys(("remove", "add") if order is None else (order,), place)
