"""The witness: the numbers from which a certificate derived its bounds. They are checked, but no claim rests on them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from flint import acb, arb

from logphi.checker.balls import ball, precision
from logphi.checker.composition import Composition
from logphi.checker.contour import log_chernoff
from logphi.checker.reading import Claim, NotACertificate, number
from logphi.checker.work import Undecided

ROUTES = ("beyond", "ceiling", "cells", "contour", "lattice", "pieces", "rays", "single", "twofold")
# the routes whose numbers are checked: sums along a line, and one Chernoff bound
LINES = ("contour", "lattice")
CEILING = "ceiling"
# derived: a relative error; numbers of a witness are rounded to eight digits or more
AGREEMENT = Fraction(1, 10**6)
# derived: certificates write this number for all smaller errors
LEAST = Fraction(1, 10**1000)


def check_witness(claim: Claim, given: Mapping[str, Mapping[str, Any]], laws: Mapping[str, Composition]) -> None:
    """Compare the witness with the mechanism; an :class:`Undecided` if a number disagrees."""
    if not given:
        raise Undecided("it has no witness")
    for order, witness in given.items():
        if order not in laws:
            raise Undecided(f"it has a witness of the direction {order}, which was not asked for")
        if witness.get("route") not in ROUTES:
            raise Undecided(f"the witness of {order} names no route of {', '.join(ROUTES)}")
        try:
            if witness["route"] in LINES:
                _check_line(claim, witness, laws[order])
            elif witness["route"] == CEILING:
                _check_ceiling(claim, order, witness, laws[order])
        except NotACertificate as wrong:
            raise Undecided(f"the witness of {order} is malformed: {wrong}") from None


def _check_line(claim: Claim, witness: Mapping[str, Any], whole: Composition) -> None:
    c, step, aliasing, truncation = (number(witness.get(key), key) for key in ("abscissa", "step", "aliasing", "truncation"))
    shifts, nodes = witness.get("shifts"), witness.get("nodes")
    if not isinstance(shifts, list) or len(shifts) != 2:
        raise Undecided("the witness needs two shifts of the line")
    up, down = (number(shift, "a shift") for shift in shifts)
    if type(nodes) is not int or not (nodes > 0 < step and up > 0 and c + up < whole.end and 0 < down <= c < 10**6):
        raise Undecided("the line of the witness, moved by its shifts, leaves the strip")
    epsilon = _place(claim)
    with precision(128 + whole.count.bit_length()):
        found = sum((_aliasing(whole, c, shift, step, epsilon) for shift in (up, -down)), arb(0))
        negligible = aliasing == LEAST and found < ball(LEAST)
        if not (negligible or abs(found - ball(aliasing)) <= ball(AGREEMENT) * found):
            raise Undecided("the aliasing error of the witness is not that of its line")
        if witness["route"] == "contour":
            left_out = _left_out(whole, c, step, nodes, epsilon)
            if left_out > ball(truncation) * (1 + ball(AGREEMENT)):
                raise Undecided("the first node that the witness leaves out exceeds its truncation error")
        elif not _is_a_period(whole, step, nodes):
            raise Undecided("the nodes of the witness are not those of one period")
    size = _upper(claim) if claim.quantity == "delta" else claim.at * max(Fraction(1), c * _upper(claim))
    if not truncation >= 0 or aliasing + truncation > 10 * size / 10**claim.digits:
        raise Undecided("the errors of the witness are larger than its digits allow")


def _upper(claim: Claim) -> Fraction:
    """The upper end, which a claim of version 1 has."""
    assert claim.upper is not None, "a claim of version 1 has both ends"
    return claim.upper


def _place(claim: Claim) -> Fraction:
    """The epsilon at which the errors of the witness are stated."""
    return _upper(claim) if claim.quantity == "epsilon" else claim.at


def _check_ceiling(claim: Claim, order: str, witness: Mapping[str, Any], whole: Composition) -> None:
    """Check an order below the answer: its stated Chernoff bound kappa(c) M(c) e^{-c eps} is right, and below the answer."""
    if claim.attained in (order, "both"):
        raise Undecided(f"the witness of {order}, which attains the answer, only bounds it")
    c, bound = (number(witness.get(key), key) for key in ("abscissa", "bound"))
    if not 0 < c < min(10**6, whole.end):
        raise Undecided("the abscissa of the witness is not inside the strip")
    if not bound < (_upper(claim) if claim.quantity == "delta" else claim.at):
        raise Undecided("Chernoff's bound of the witness does not settle its direction")
    with precision(128 + whole.count.bit_length()):
        if not log_chernoff(whole, ball(c), ball(_place(claim))).exp() <= ball(bound) * (1 + ball(AGREEMENT)):
            raise Undecided("Chernoff's bound is larger than the witness states")


def _aliasing(whole: Composition, c: Fraction, shift: Fraction, step: Fraction, epsilon: Fraction) -> Any:
    """kappa(s) M(s) e^{-s eps} / (e^{2 pi |shift| / h} - 1) at s = c + shift."""
    chernoff = log_chernoff(whole, ball(c + shift), ball(epsilon)).exp()
    return chernoff / (2 * arb.pi() * ball(abs(shift) / step)).expm1()


def _left_out(whole: Composition, c: Fraction, step: Fraction, nodes: int, epsilon: Fraction) -> Any:
    """A bound of the omitted nodes at c +- i nodes h: h / pi times the size of the integrand."""
    z = acb(ball(c), ball(nodes * step))
    size = abs(whole.on_line(ball(c), ball(nodes * step), 2)[1])
    return ball(step) / arb.pi() * (-ball(c * epsilon)).exp() * size / abs(z * (z + 1))


def _is_a_period(whole: Composition, step: Fraction, nodes: int) -> bool:
    """Whether the nodes c + ikh, k = 1 - N .. N - 1, cover one period: (2N - 1) h = 2 pi / span, to the digits of a step."""
    lattice = whole.lattice()
    if lattice is None:
        return False
    rotations = ball(step * (2 * nodes - 1)) * lattice.unit() / (2 * arb.pi())
    return bool(abs(rotations - 1) < ball(AGREEMENT))
