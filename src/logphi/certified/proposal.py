"""Claims from bounds in doubles, where no route in balls applies: as sharp as the checker derives them.

Nothing is proved here. A claim is proposed, and where the checker does not accept it, what it derived says which one to propose
next.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Protocol, TypeVar

from logphi.answers.bound import Bound
from logphi.answers.status import Direction
from logphi.certified.answer import Answer
from logphi.certified.form import Witness
from logphi.certified.route import NotCertifiedError
from logphi.engine.directions import Loss
from logphi.questions.delta import delta
from logphi.questions.epsilon import epsilon

T = TypeVar("T")

# measured: the largest numbers of digits that doubles give, and that cells prove
DOUBLES, MOST_DIGITS = 12, 9
# chosen: the relative tolerance of the answer in doubles
_RTOL = 1e-12
# chosen: the width of a claim, as a share of what its digits allow
_WIDTH = Fraction(9, 10)
# chosen: the relative distance of two epsilons between which the slope of a profile is taken, and the smallest slope
_ASIDE, _FLAT = 1e-3, 1e-6
# chosen: up to so many digits, one more is worth another check
_FEW = 3
# chosen: how much wider a claim is than what was derived when many digits were tried, as a try of fewer digits stops sooner
_ROOM = 2
# chosen: how much farther an end moves than the checker seems to need
_FARTHER = Fraction(21, 20)


class Check(Protocol):
    """The verdict on a certificate: true if it is accepted, printed as the reason, with what was derived of the last claim.

    That is a lower bound at the lower end and an upper bound at the upper end, of delta there for an epsilon.
    """

    @property
    def derived(self) -> tuple[Fraction, Fraction] | None:
        """The two bounds; None where nothing was derived."""

    @property
    def witness(self) -> Witness:
        """What the check needed beside the claims."""

    def __bool__(self) -> bool: ...


def slope_at(profile: Callable[[float], Bound], place: float) -> float:
    """About how fast the logarithm of a profile falls near an epsilon."""
    there = place + _ASIDE * max(abs(place), _ASIDE)
    one, other = profile(place).value, profile(there).value
    return max(math.log(one / other) / (there - place), _FLAT) if one > 0 and other > 0 else math.inf


def moved(
    ends: tuple[Fraction, Fraction], derived: tuple[Fraction, Fraction], at: Fraction, slope: float | None
) -> tuple[Fraction, Fraction]:
    """Ends that the checker would accept, if deltas near an epsilon follow the ``slope``; without one, what it derived."""
    if slope is None:
        return min(ends[0], derived[0]), max(ends[1], derived[1])
    low, high = (Fraction(logarithm(one / at) / slope) if one > 0 else Fraction(0) for one in derived)
    # back as far as the slope is surely known
    down, up = (one * (_FARTHER if one > 0 else 2 - _FARTHER) for one in (-low, high))
    return ends[0] - down if derived[0] > 0 else Fraction(0), ends[1] + up


def digits_between(ends: tuple[Fraction, Fraction], value: Fraction) -> int:
    """How many digits a claim around a value has that reaches these ends."""
    width = 2 * _ROOM * max(ends[1] - value, value - ends[0]) / (_WIDTH * abs(value))
    return math.floor(-math.log10(width)) if 0 < width < 1 else 0 if width else DOUBLES


def sharpest(
    digits: int,
    attempt: Callable[[int], tuple[T, Check] | None],
    reached: Callable[[T, tuple[Fraction, Fraction]], int] | None = None,
) -> tuple[T, int, Check] | None:
    """What an attempt makes of the most digits that succeed, their number and the verdict; None if not even of one digit.

    ``reached`` tells from what was made, and what was derived of it, how many to try next.
    """
    tried = min(digits, DOUBLES)
    while tried > 0:
        found, fewer = attempt(tried), tried // 2 + 1
        if found is not None:
            made, verdict = found
            if verdict:
                return made, tried, verdict
            if reached is not None and verdict.derived is not None:
                fewer = reached(made, verdict.derived)
        tried = min(tried - 1, fewer)
    return None


def proposed(
    loss: Loss,
    *,
    quantity: str,
    at: Fraction,
    direction: Direction | None,
    digits: int,
    check: Callable[[Answer, int], Check],
) -> tuple[Answer, int, Check]:
    """The answer with the most digits, at most ``digits``, that the check accepts, their number and the verdict.

    Raises
    ------
    NotCertifiedError
        If none is accepted, or the answer is infinite.
    """
    question = delta if quantity == "delta" else epsilon
    found = question(loss, float(at), direction=direction, rtol=_RTOL)
    nothing = Answer("0", "0", _attained(found))
    if found.upper == 0 and (verdict := check(nothing, digits)):
        return nothing, digits, verdict
    if not 0 < found.lower <= found.upper < math.inf:
        raise NotCertifiedError("no digit of the answer is known in doubles either: it may be zero, or infinite")
    most, value = Decimal(1) if quantity == "delta" else None, Fraction(found.value)
    first, slope = min(digits, MOST_DIGITS), list[float]()

    def attempt(tried: int) -> tuple[Answer, Check] | None:
        answer = _rounded(found, tried, most)
        return None if answer is None else (answer, check(answer, tried))

    def reached(answer: Answer, derived: tuple[Fraction, Fraction]) -> int:
        if most is None and not slope:
            slope.append(slope_at(lambda place: delta(loss, place, direction=direction, rtol=_ASIDE**2), found.value))
        ends = Fraction(answer.lower), Fraction(answer.upper)
        return digits_between(moved(ends, derived, at, slope[0] if slope else None), value)

    made = sharpest(first, attempt, reached)
    if made is None:
        raise NotCertifiedError("the checker of certificates cannot derive a single digit of this answer")
    # what was derived at first may have been too cautious
    while made[1] < min(digits, _FEW) and (more := attempt(made[1] + 1)) is not None and more[1]:
        made = more[0], made[1] + 1, more[1]
    return made


def _attained(found: Bound) -> str:
    return (Direction.BOTH if found.direction is None else found.direction).value


def logarithm(number: Fraction) -> float:
    """The logarithm of a positive number that need not be a double."""
    return math.log(number.numerator) - math.log(number.denominator)


def _rounded(found: Bound, digits: int, most: Decimal | None) -> Answer | None:
    """Decimals around the answer, as far apart as the digits allow; None if its bounds are too wide."""
    value = Fraction(found.value)
    room = _WIDTH * value / 10**digits / 2
    lower, upper = decimal(value - room, digits + 3, ROUND_FLOOR), decimal(value + room, digits + 3, ROUND_CEILING)
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


def decimal(number: Fraction, digits: int, rounding: str) -> Decimal:
    """A number with so many digits."""
    return Context(prec=digits, rounding=rounding).divide(Decimal(number.numerator), Decimal(number.denominator))
