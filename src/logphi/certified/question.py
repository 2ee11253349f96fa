"""The method ``"certified"`` of delta, its logarithm and epsilon: bounds in doubles, rounded outward from decimals."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

from logphi.answers.bound import Bound, Bounds
from logphi.answers.ledger import Entry, Ledger
from logphi.answers.status import Direction
from logphi.arith.ball import precision
from logphi.certified.answer import certify
from logphi.certified.reals import ball, rational
from logphi.engine.answer import status_of
from logphi.engine.directions import Loss
from logphi.inputs import check
from logphi.inputs.route_names import CERTIFIED
from logphi.progress import shown
from logphi.questions.pointwise import pointwise
from logphi.text.description import manner
from logphi.text.written import meant

# derived: the digits that distinguish all doubles
_DIGITS = 15
# derived: with these, the error of a logarithm is below the rounding to doubles
_BITS = 128


def certified(quantity: str, loss: Loss, question: Any, *, direction: Direction | str | None, rtol: float) -> Bound | Bounds:
    """``"delta"`` or ``"log_delta"`` at epsilons, or ``"epsilon"`` at deltas, by :func:`logphi.certified.answer.certify`.

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
        asked = "epsilon" if quantity == "epsilon" else "delta"
        found = certify(loss, quantity=asked, at=at, direction=direction, digits=_DIGITS, shown=shown)
        ends = Fraction(found.lower), Fraction(found.upper)
        logarithmic = quantity == "log_delta"
        lower, upper = _logarithms(*ends) if logarithmic else (_down(ends[0]), -_down(-ends[1]))
        width = 0.0 if lower == upper else upper - lower
        middle = lower if lower == upper else float((Fraction(lower) + Fraction(upper)) / 2) if lower > -math.inf else -math.inf
        # of a logarithm, as much as of what it is of, relatively
        status = status_of(width <= rtol * (1 if logarithmic else upper), proved=True)
        return Bound(lower, middle, upper, status, CERTIFIED, Direction(found.attained), Ledger(rounding=Entry(width)))

    if isinstance(question, (float, int, Fraction, Decimal)):
        return one(meant(check.real(name, question)))
    points = check.real_array(name, question)
    listed = check.entries(question, points) if points.ndim == 1 else ()
    manner(listed)
    numbers = {float(point): meant(point) for point in listed}
    return pointwise(points, lambda at: one(numbers.get(at, meant(at))))


def _logarithms(low: Fraction, high: Fraction) -> tuple[float, float]:
    """The logarithms of two probabilities, rounded outward; minus infinity of zero."""
    with precision(_BITS):
        least, most = (ball(end).log() if end else None for end in (low, high))
        return (
            -math.inf if least is None else _down(rational(least.lower())),
            -math.inf if most is None else -_down(-rational(most.upper())),
        )


def _down(number: Fraction) -> float:
    """The largest double that is not above."""
    nearest = float(number)
    return nearest if Fraction(nearest) <= number else math.nextafter(nearest, -math.inf)
