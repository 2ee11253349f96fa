"""Issuing a certificate of several claims: epsilon, delta, advantage, trade-off and Renyi divergence.

Epsilon and delta are proved here. For a trade-off function or a Renyi divergence, bounds in doubles are proposed, with as many
digits as the checker derives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from logphi.answers.bound import Bound
from logphi.answers.status import Direction
from logphi.certified.certificate import issue, refuse_unknown
from logphi.certified.claims import Asked, CertifiedClaim, CertifiedClaims, Described
from logphi.certified.form import Witness, made_by
from logphi.certified.proposal import DOUBLES, RTOL, Check, Ends, around, digits_of, settled
from logphi.certified.route import NotCertifiedError
from logphi.engine.directions import direction_of
from logphi.engine.supporting_lines import ProfileLines
from logphi.engine.tangent import Search, guessed, supremum
from logphi.inputs.tolerance import Tolerance
from logphi.laws.log_phi import LogPhi
from logphi.questions.renyi import renyi
from logphi.questions.tradeoff import lines_demand, tradeoff
from logphi.text.description import DECIMALS, WRITTEN
from logphi.text.written import meant

# chosen: the numbers of digits if the checker cannot derive all claims in its budget
_FEWER = (6, 3)
# derived: the largest epsilon of a line that the checker reads
_FARTHEST = 1e4

# a claim, and what shows it
Claimed = tuple[CertifiedClaim, Witness]


def issue_several(
    asked: Sequence[Asked], *, digits: int, check: Callable[[Any], Check], check_soon: Callable[[Any], Check]
) -> CertifiedClaims:
    """One certificate of all claims that ``check`` accepts, with fewer digits where necessary.

    Raises
    ------
    NotCertifiedError
        If a claim cannot be certified, or all together exceed the budget of a check.
    """
    for one in asked:
        for _, node in one.release.tree:
            refuse_unknown(node)
    return together(asked, lambda one, digits: _claim(one, digits, check, check_soon), digits, _FEWER, check)


def together(
    asked: Sequence[Asked],
    claim: Callable[[Asked, int], Claimed],
    digits: int,
    fewer: Sequence[int],
    check: Callable[[Any], Check],
) -> CertifiedClaims:
    """One certificate of all that is asked, with fewer digits if the claims exceed the budget together."""
    verdict: Any = ""
    given = all(one.given for one in asked)
    for tried in [digits, *(one for one in fewer if one < digits and not given)]:
        made = bundle([(one.release, *claim(one, tried)) for one in asked])
        # what was made of one claim alone was accepted already
        verdict = (len(asked) == 1 and not given) or check(made)
        if verdict:
            return made
    raise NotCertifiedError(f"a certificate was made, but its check does not accept it: {verdict}")


def bundle(claims: Sequence[tuple[Described, CertifiedClaim, Witness]]) -> CertifiedClaims:
    """One certificate of all claims, in which each release is written once; with their proofs, if all are known."""
    releases: list[tuple[str, Any]] = []
    hulls: list[Sequence[Sequence[str]]] = []
    placed, proofs = [], list[Mapping[str, Sequence[Any]]]()
    for release, claim, witness in claims:
        own = (release.loss.adjacency.value, release.tree)
        if own not in releases:
            releases.append(own)
            hulls.append(())
        place = releases.index(own)
        placed.append(replace(claim, release=place))
        # a claim that needs more hulls than another has the same ones first
        hulls[place] = max([hulls[place], *witness.hulls], key=len)
        proofs += witness.proofs
    known = DECIMALS if any(release.manner == DECIMALS for release, _, _ in claims) else WRITTEN
    shown = Witness(hulls, proofs) if len(proofs) == len(claims) else Witness()
    return CertifiedClaims(releases, known, placed, made_by(), shown)


def _claim(one: Asked, digits: int, check: Callable[[Any], Check], check_soon: Callable[[Any], Check]) -> Claimed:
    if one.given:
        claim = CertifiedClaim(one.quantity, one.at, one.direction, one.lower or Fraction(0), one.upper)
        return claim, check(bundle([(one.release, claim, Witness())])).witness
    order = None if one.direction is None else direction_of(one.direction)
    if one.quantity == "renyi":
        return _divergence(one, order, digits, check_soon)
    if one.quantity == "tradeoff":
        return _tradeoff(one, order, digits, check_soon)
    found = issue(
        one.release.loss,
        one.release.tree,
        one.release.manner,
        quantity="delta" if one.quantity == "advantage" else one.quantity,
        at=one.at,
        direction=one.direction,
        digits=digits,
        check=check,
        check_soon=check_soon,
    )
    return CertifiedClaim(one.quantity, one.at, one.direction, found.lower, found.upper), found.witness


def _divergence(one: Asked, order: Direction | None, digits: int, check: Callable[[Any], Check]) -> Claimed:
    found = renyi(one.release.loss, float(one.at), direction=order, rtol=RTOL)
    if 0 < found.lower <= found.upper < math.inf:
        claim, verdict = settled_claim(one, around(found, min(digits, DOUBLES), "renyi"), check)
        if verdict and digits_of((claim.lower, claim.upper)):
            return claim, verdict.witness
    raise NotCertifiedError(
        "the checker of certificates cannot derive a single digit of this divergence: it is infinite or zero, or the "
        "moments of a law are not known to it"
    )


def settled_claim(
    one: Asked,
    ends: Ends,
    check: Callable[[Any], Check],
    profile: Callable[[float], Bound] | None = None,
    lines: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> tuple[CertifiedClaim, Check]:
    """A claim with the ends that the check accepts, see :func:`logphi.certified.proposal.settled`."""

    def claimed(ends: Ends) -> CertifiedClaim:
        return CertifiedClaim(one.quantity, one.at, one.direction, *ends, lines=lines)

    def made(ends: Ends, witness: Witness) -> CertifiedClaims:
        return bundle([(one.release, claimed(ends), witness)])

    ends, verdict = settled(one.quantity, one.at, ends, made, check, profile)
    return claimed(ends), verdict


def _tradeoff(one: Asked, order: Direction | None, digits: int, check: Callable[[Any], Check]) -> Claimed:
    alpha, tried = float(one.at), min(digits, DOUBLES)
    found = tradeoff(one.release.loss, alpha, direction=order, rtol=RTOL)
    orders = one.release.loss.orders(order)
    best = {name: _best_line(part, alpha) for name, part in orders}
    while tried and found.lower > 0:
        # the error of chords is of second order in the distance where the curve is smooth, and of first order at a kink
        for power in (tried / 2, tried + 1):
            lines = {
                key: _around(*best[name], power if found.direction in (name, Direction.BOTH, None) else None)
                for name, _ in orders
                for key in (("remove", "add") if name is Direction.BOTH else (name.value,))
            }
            claim = CertifiedClaim("tradeoff", one.at, one.direction, *around(found, tried, "tradeoff"), lines=lines)
            verdict = check(bundle([(one.release, claim, Witness())]))
            if verdict:
                return claim, verdict.witness
        # with fewer digits lines are farther apart, so that what was derived with others says little
        tried = tried // 2 + 1 if tried > 2 else tried - 1
    raise NotCertifiedError("the checker of certificates cannot derive a single digit of this type II error")


def _best_line(part: LogPhi, alpha: float) -> tuple[float, float]:
    """An estimate of the epsilon of the best line, and of the scale on which it changes; no proof rests on it."""
    guess = guessed(part, alpha, 0.0)
    search = Search(ProfileLines(part, alpha, lines_demand(Tolerance(RTOL, RTOL))), guess)
    return supremum(search, RTOL).at, guess.scale


def _around(place: float, scale: float, power: float | None) -> list[str]:
    """Three lines around a place, ``scale`` * 10^-power apart; or one line, without a power."""
    if not abs(place) < _FARTHEST:
        raise NotCertifiedError("the slopes of lines below this trade-off function are too large for a certificate")
    steps = [0.0] if power is None else [-scale * 10**-power, 0.0, scale * 10**-power]
    return [str(meant(place + step)) for step in steps]
