"""The method ``"certified"`` of delta and epsilon: bounds in doubles, rounded outward from certified decimals."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

from logphi.answers.bound import Bound, Bounds
from logphi.answers.ledger import Entry, Ledger
from logphi.answers.status import Direction
from logphi.certified.answer import certify
from logphi.engine.answer import status_of
from logphi.engine.directions import Loss
from logphi.inputs import check
from logphi.inputs.route_names import CERTIFIED
from logphi.progress import shown
from logphi.questions.delta import pointwise
from logphi.text.description import manner
from logphi.text.written import meant

# derived: the digits that distinguish all doubles
_DIGITS = 15


def certified(quantity: str, loss: Loss, question: Any, *, direction: Direction | str | None, rtol: float) -> Bound | Bounds:
    """``"delta"`` at one or many epsilons, or ``"epsilon"`` at deltas, by :func:`logphi.certified.answer.certify`.

    Numbers and parameters count as they were written, if that is known; otherwise a float counts as its shortest decimal.

    Raises
    ------
    NotCertifiedError
        If the loss cannot be certified, or there is no finite answer.
    ValueError, TypeError
        If the question is not one of finite numbers, or lists two different numbers with the same double, or the tolerance is
        out of range.
    """
    rtol = check.tolerance("rtol", rtol)
    name = "delta" if quantity == "epsilon" else "epsilon"

    def one(at: Fraction) -> Bound:
        found = certify(loss, quantity=quantity, at=at, direction=direction, digits=_DIGITS, shown=shown)
        lower, upper = _down(Fraction(found.lower)), -_down(-Fraction(found.upper))
        ledger = Ledger(rounding=Entry(upper - lower))
        middle = (Fraction(lower) + Fraction(upper)) / 2
        status = status_of(upper - lower <= rtol * upper, proved=True)
        return Bound(lower, float(middle), upper, status, CERTIFIED, Direction(found.attained), ledger)

    if isinstance(question, (float, int, Fraction, Decimal)):
        return one(meant(check.real(name, question)))
    points = check.real_array(name, question)
    listed = check.entries(question, points) if points.ndim == 1 else ()
    manner(listed)
    numbers = {float(point): meant(point) for point in listed}
    return pointwise(points, lambda at: one(numbers.get(at, meant(at))))


def _down(number: Fraction) -> float:
    """The largest double that is not above."""
    nearest = float(number)
    return nearest if Fraction(nearest) <= number else math.nextafter(nearest, -math.inf)
