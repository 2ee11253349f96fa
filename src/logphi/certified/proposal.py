"""Claims from bounds in doubles: proposed as they are, then with ends as far apart as the checker derives them.

Nothing is proved here. What the checker derives of a claim says which ends it accepts with the same proof. Ends only move
apart, so that a claim also holds what was found in doubles, or in balls.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any, Protocol

from logphi.answers.bound import Bound
from logphi.answers.status import Direction
from logphi.certified.answer import Answer
from logphi.certified.form import Witness
from logphi.certified.route import NotCertifiedError
from logphi.engine.directions import Loss
from logphi.questions.delta import delta
from logphi.questions.epsilon import epsilon

# measured: the largest numbers of digits that doubles give, and that cells prove
DOUBLES, MOST_DIGITS = 12, 9
# chosen: the relative tolerance of the answers in doubles, and that of a slope
RTOL, ROUGH = 1e-12, 1e-6
# chosen: the half width of a claim in units of its last digit; both halves together are less than a unit
_HALF = Fraction(9, 20)
# derived: digits that are written beside those that are claimed
_SPARE = 3
# chosen: how often ends are moved to where the checker derives them
_MOVES = 5
# chosen: how much farther an end of an epsilon moves than the checker seems to need
_FARTHER = Fraction(21, 20)
# chosen: the relative distance of two epsilons between which the slope of a profile is taken, and the least fall between them
_ASIDE, _FLAT = 1e-3, 1e-9

# the ends of a claim; None for no upper end
Ends = tuple[Decimal, Decimal | None]


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


def settled(
    quantity: str,
    at: Fraction,
    ends: Ends,
    made: Callable[[Ends, Witness], Any],
    check: Callable[[Any], Check],
    profile: Callable[[float], Bound] | None = None,
) -> tuple[Ends, Check]:
    """The ends that the check accepts, moved to where it derives them if need be; or the last ones, and why not.

    ``made`` is the certificate of ends, with a witness where that is known; ``profile`` gives delta at an epsilon in doubles.
    """
    verdict, slope = check(made(ends, Witness())), None
    for _ in range(_MOVES):
        if verdict or verdict.derived is None:
            break
        if quantity == "epsilon":
            assert profile is not None, "of an epsilon"
            slope = slope or _slope_at(profile, float(ends[1] or ends[0]))
        moved = _moved(ends, verdict.derived, at, slope)
        # true of every release
        if moved is None or (quantity in ("delta", "advantage") and not (moved[1] or 0) < 1):
            break
        ends, verdict = moved, check(made(moved, verdict.witness))
    return ends, verdict


def proposed(loss: Loss, *, quantity: str, at: Fraction, direction: Direction | None, digits: int) -> Answer:
    """About the answer with so many digits, from the one in doubles.

    Raises
    ------
    NotCertifiedError
        If doubles do not show that the answer is finite and positive, or zero.
    """
    question = delta if quantity == "delta" else epsilon
    found = question(loss, float(at), direction=direction, rtol=RTOL)
    if not (found.upper == 0 or 0 < found.lower <= found.upper < math.inf):
        raise NotCertifiedError("no digit of the answer is known in doubles either: it may be zero, or infinite")
    low, high = around(found, digits, quantity)
    return Answer(str(low).lower(), str(high).lower(), (found.direction or Direction.BOTH).value)


def _moved(ends: Ends, derived: tuple[Fraction, Fraction], at: Fraction, slope: float | None) -> Ends | None:
    """Ends that the checker derives, or about those if log delta falls as the ``slope`` says; None if they say nothing."""
    low, high = map(Fraction, (ends[0], ends[1] or 0))
    if slope is None:
        low, high = min(low, derived[0]), max(high, derived[1])
    else:
        # how far the deltas at the ends are from the level, in epsilons
        below, above = (logarithm(one / at) / slope if one > 0 else -math.inf for one in derived)
        low = low + Fraction(min(below, 0.0)) * _FARTHER if below > -math.inf else Fraction(0)
        high += Fraction(max(above, 0.0)) * _FARTHER
    low = max(low, Fraction(0))
    if ends[1] is None:
        return (decimal(low, _SPARE, ROUND_FLOOR), None) if low else None
    return outward(low, high, _SPARE + (digits_of((low, high)) if low else MOST_DIGITS))


def outward(low: Fraction, high: Fraction, digits: int) -> tuple[Decimal, Decimal]:
    """Decimals of so many digits around an interval."""
    return decimal(low, digits, ROUND_FLOOR), decimal(high, digits, ROUND_CEILING)


def around(found: Bound, digits: int, quantity: str) -> tuple[Decimal, Decimal]:
    """Decimals around a bound in doubles, about as far apart as the digits allow."""
    room = _HALF / 10**digits
    low, high = outward(Fraction(found.lower) * (1 - room), Fraction(found.upper) * (1 + room), digits + _SPARE)
    return low, high if quantity in ("epsilon", "renyi") else min(high, Decimal(1))


def digits_of(ends: tuple[Decimal | Fraction, Decimal | Fraction | None]) -> int:
    """How many digits two ends share: their distance is at most 10^-digits of the upper one."""
    low, high = Fraction(ends[0]), Fraction(ends[1] or ends[0])
    return max(math.floor(-logarithm((high - low) / high) / math.log(10)), 0) if low < high else DOUBLES


def _slope_at(profile: Callable[[float], Bound], place: float) -> float:
    """About how fast, at least, the logarithm of a profile falls near an epsilon."""
    there = place + _ASIDE * max(abs(place), _ASIDE)
    one, other = profile(place).value, profile(there).value
    # next to the largest loss it falls to nothing, so by more than a factor of e
    return max(math.log(one / other) if one > 0 and other > 0 else 1, _FLAT) / (there - place)


def logarithm(number: Fraction) -> float:
    """The logarithm of a positive number that need not be a double."""
    return math.log(number.numerator) - math.log(number.denominator)


def decimal(number: Fraction, digits: int, rounding: str) -> Decimal:
    """A number with so many digits."""
    return Context(prec=digits, rounding=rounding).divide(Decimal(number.numerator), Decimal(number.denominator))
