"""Claims of few digits from bounds in doubles, where no route in balls applies.

Nothing is proved here: the answer in doubles is rounded to as many digits as the checker accepts, which derives each claim by
itself, from lattice laws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import TypeVar

from logphi.answers.bound import Bound
from logphi.answers.status import Direction
from logphi.certified.answer import Answer
from logphi.certified.route import NotCertifiedError
from logphi.engine.directions import Loss
from logphi.questions.delta import delta
from logphi.questions.epsilon import epsilon

T = TypeVar("T")

# measured: the largest numbers of digits that doubles give, and that cells prove
DOUBLES, MOST_DIGITS = 12, 9
# measured: the numbers of digits that are tried if more fail
_FEWER = (9, 7, 5, 4, 3, 2, 1)
# chosen: for so few digits, a check of the whole budget is worth its time
FEW = 4
# chosen: the relative tolerance of the answer in doubles
_RTOL = 1e-12
# chosen: the width of a claim, as a share of what its digits allow
_WIDTH = Fraction(9, 10)


def sharpest(digits: int, attempt: Callable[[int], T | None]) -> T | None:
    """What an attempt makes of the most digits, from those asked for downwards; None if it makes nothing of one digit.

    Fewer digits may fail where more succeed: lines of a trade-off function are then farther apart.
    """
    tries = (min(digits, DOUBLES), *(fewer for fewer in _FEWER if fewer < digits))
    return next((made for tried in tries if (made := attempt(tried)) is not None), None)


def proposed(
    loss: Loss,
    *,
    quantity: str,
    at: Fraction,
    direction: Direction | None,
    digits: int,
    checks: Sequence[Callable[[Answer, int], bool]],
) -> tuple[Answer, int]:
    """The answer with the most digits, at most ``digits``, that the first check accepts, and their number.

    If these are few, each further check, with a larger budget, may add some.

    Raises
    ------
    NotCertifiedError
        If none is accepted, or the answer is infinite.
    """
    question = delta if quantity == "delta" else epsilon
    found = question(loss, float(at), direction=direction, rtol=_RTOL)
    if found.upper == 0 and any(accepts(nothing := _nothing(found), digits) for accepts in checks):
        return nothing, digits
    if not 0 < found.lower <= found.upper < math.inf:
        raise NotCertifiedError("no digit of the answer is known in doubles either: it may be zero, or infinite")
    most = Decimal(1) if quantity == "delta" else None
    best, low = None, 0
    for place, accepts in enumerate(checks):
        high = min(digits, FEW if place else MOST_DIGITS)
        while low < high:
            # a check with a large budget takes long: one digit at a time
            tried = low + 1 if place else (low + high + 1) // 2
            answer = _rounded(found, tried, most)
            if answer is not None and accepts(answer, tried):
                best, low = answer, tried
            else:
                high = tried - 1
    if best is None:
        raise NotCertifiedError("the checker of certificates cannot derive a single digit of this answer")
    return best, low


def _nothing(found: Bound) -> Answer:
    """An answer of zero, as beyond the largest loss, or where delta at zero is small enough."""
    return Answer("0", "0", _attained(found))


def _attained(found: Bound) -> str:
    return (Direction.BOTH if found.direction is None else found.direction).value


def _rounded(found: Bound, digits: int, most: Decimal | None) -> Answer | None:
    """Decimals around the answer, as far apart as the digits allow; None if its bounds are too wide."""
    value = Fraction(found.value)
    room = _WIDTH * value / 10**digits / 2
    down, up = (Context(prec=digits + 3, rounding=rounding) for rounding in (ROUND_FLOOR, ROUND_CEILING))
    lower, upper = _decimal(value - room, down), _decimal(value + room, up)
    if most is not None:
        upper = min(upper, most)
    if (
        not Fraction(lower)
        <= Fraction(found.lower)
        <= Fraction(found.upper)
        <= Fraction(upper)
        <= Fraction(lower) + (Fraction(upper) / 10**digits)
    ):
        return None
    return Answer(str(lower).lower(), str(upper).lower(), _attained(found))


def _decimal(number: Fraction, context: Context) -> Decimal:
    return context.divide(Decimal(number.numerator), Decimal(number.denominator))
