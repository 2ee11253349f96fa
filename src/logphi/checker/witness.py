"""The numbers that a certificate says its bounds were made of: the claim does not rest on them here, but they must agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from flint import arb

from logphi.checker.balls import Undecided, ball, precision
from logphi.checker.reading import Certificate, NotACertificate, number
from logphi.checker.sweep import Work

ROUTES = ("beyond", "contour", "lattice", "pieces", "rays", "single", "twofold")
# relative; numbers are written to some digits
AGREEMENT = Fraction(1, 10**6)


def check_witness(certificate: Certificate, laws: Mapping[str, Sequence[tuple[Any, int]]], work: Work) -> None:
    """An :class:`Undecided` if a number of the witness is not what the mechanism gives."""
    if not certificate.witness:
        raise Undecided("it has no witness")
    for order, witness in certificate.witness.items():
        if order not in laws:
            raise Undecided(f"it has a witness of the direction {order}, which was not asked for")
        if witness.get("route") not in ROUTES:
            raise Undecided(f"the witness of {order} names no route of {', '.join(ROUTES)}")
        if witness["route"] == "contour":
            try:
                _check_contour(certificate, witness, laws[order], work)
            except NotACertificate as wrong:
                raise Undecided(f"the witness of {order} is malformed: {wrong}") from None


def _check_contour(certificate: Certificate, witness: Mapping[str, Any], terms: Sequence[tuple[Any, int]], work: Work) -> None:
    claim = certificate.claim
    c, step, aliasing, truncation = (number(witness.get(key), key) for key in ("abscissa", "step", "aliasing", "truncation"))
    shifts, nodes = witness.get("shifts"), witness.get("nodes")
    if not isinstance(shifts, list) or len(shifts) != 2:
        raise Undecided("the witness needs two shifts of the line")
    up, down = (number(shift, "a shift") for shift in shifts)
    end = min(law.end for law, _ in terms)
    if type(nodes) is not int or not (nodes > 0 < step and up > 0 and c + up < end and 0 < down <= c < 10**6):
        raise Undecided("the line of the witness, moved by its shifts, leaves the strip")
    epsilon = claim.upper if claim.quantity == "epsilon" else claim.at
    with precision(128 + sum(count for _, count in terms).bit_length()):
        found = sum((_aliasing(terms, c, shift, step, epsilon, work) for shift in (up, -down)), arb(0))
        if not abs(found - ball(aliasing)) <= ball(AGREEMENT) * found:
            raise Undecided("the aliasing error of the witness is not that of its line")
    size = claim.upper if claim.quantity == "delta" else claim.at * max(Fraction(1), c * claim.upper)
    if not truncation >= 0 or aliasing + truncation > 10 * size / 10**claim.digits:
        raise Undecided("the errors of the witness are larger than its digits allow")


def _aliasing(
    terms: Sequence[tuple[Any, int]], c: Fraction, shift: Fraction, step: Fraction, epsilon: Fraction, work: Work
) -> Any:
    """kappa(s) M(s) e^{-s eps} / (e^{2 pi |shift| / h} - 1) at s = c + shift, kappa(s) = s^s / (1+s)^{1+s}."""
    s = ball(c + shift)
    kappa = (s * s.log() if c + shift else arb(0)) - (1 + s) * s.log1p()
    logs = (count * law.moment(s, work).log() for law, count in terms)
    return sum(logs, kappa - s * ball(epsilon)).exp() / (2 * arb.pi() * ball(abs(shift) / step)).expm1()
