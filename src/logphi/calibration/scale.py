"""The possible values of a parameter, positive reals or integers, with distances on a logarithmic scale."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

# derived: the largest exponent of two, as parameters of the catalogue lie between 1e-100 and 1e100
FARTHEST = 332


class Scale(ABC):
    """The set of values of a parameter."""

    @abstractmethod
    def number(self, value: float) -> Any:
        """The nearest value in the set."""

    @abstractmethod
    def shifted(self, value: Any, doublings: int) -> Any:
        """The value doubled, or halved, some number of times; None out of range."""

    @abstractmethod
    def between(self, one: Any, other: Any, share: float) -> Any:
        """A value strictly between two, near a share of the distance; None if there is none."""

    @abstractmethod
    def adjacent(self, one: Any, other: Any, rtol: float) -> bool:
        """Whether two values are within the tolerance, or neighbours."""

    def middle(self, one: Any, other: Any) -> Any:
        """The midpoint of two values; None if there is no value between them."""
        low, high = sorted((one, other))
        # the logarithms of neighbours are equal
        if high > 2 * low:
            return self.between(one, other, 0.5)
        found = self.number(low + (high - low) / 2)
        return found if low < found < high else self.between(one, other, 0.5)

    @staticmethod
    def apart(one: float, other: float) -> float:
        """The distance on the logarithmic scale."""
        return abs(_log(other) - _log(one))


class Reals(Scale):
    """Positive doubles."""

    def number(self, value: float) -> float:
        """The number itself."""
        return float(value)

    def shifted(self, value: float, doublings: int) -> float | None:
        """Exact, within the range of doubles."""
        found = math.ldexp(value, doublings) if abs(math.log2(value) + doublings) <= FARTHEST else None
        return found or None

    def between(self, one: float, other: float, share: float) -> float | None:
        """By logarithms."""
        found = one * math.exp(share * (_log(other) - _log(one)))
        return found if min(one, other) < found < max(one, other) else None

    def adjacent(self, one: float, other: float, rtol: float) -> bool:
        """Within the relative tolerance."""
        return self.apart(one, other) <= rtol


class Wholes(Scale):
    """The integers 0, 1, 2, ..."""

    def number(self, value: float) -> int:
        """Rounded."""
        return round(value)

    def shifted(self, value: int, doublings: int) -> int | None:
        """Exact; half of one is zero."""
        if doublings > 0:
            return value << doublings if value and _log(value) / math.log(2) + doublings <= FARTHEST else None
        found = value >> -doublings
        return found if found < value else None

    def between(self, one: int, other: int, share: float) -> int | None:
        """By logarithms, but strictly between the two."""
        low, high = sorted((one, other))
        if high - low < 2:
            return None
        found = round(math.exp(_log(one) + share * (_log(other) - _log(one))))
        return min(max(found, low + 1), high - 1)

    def middle(self, one: int, other: int) -> int | None:
        """In integer arithmetic, because large integers share doubles."""
        low, high = sorted((one, other))
        if high > 2 * low:
            return self.between(low, high, 0.5)
        return (low + high) // 2 if high - low > 1 else None

    def adjacent(self, one: int, other: int, rtol: float) -> bool:
        """Whether they are neighbours, whatever the tolerance."""
        return abs(one - other) == 1


def shortened(value: float, digits: int, upward: bool) -> Decimal:
    """The nearest decimal of so many digits on one side; the number itself if it prints with no more."""
    context = Context(prec=digits, rounding=ROUND_CEILING if upward else ROUND_FLOOR)
    return context.create_decimal(Decimal(repr(value)))


def _log(value: float) -> float:
    # zero is as far from one as two is, by convention
    return math.log(value) if value else -math.log(2)
