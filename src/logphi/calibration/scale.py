"""The numbers that a parameter may be: positive reals, or whole numbers; distances are those of logarithms."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

# derived: as a power of two: parameters of the catalogue lie between 1e-100 and 1e100
FARTHEST = 332


class Scale(ABC):
    """The numbers that a parameter can be."""

    @abstractmethod
    def number(self, value: float) -> Any:
        """The nearest of them."""

    @abstractmethod
    def shifted(self, value: Any, doublings: int) -> Any:
        """Doubled, or halved, some times; None out of range."""

    @abstractmethod
    def between(self, one: Any, other: Any, share: float) -> Any:
        """A number strictly between two, about at a share of the way; None if there is none."""

    @abstractmethod
    def adjacent(self, one: Any, other: Any, rtol: float) -> bool:
        """Whether two are within the tolerance, or neighbours."""

    def middle(self, one: Any, other: Any) -> Any:
        """Half way between two; None if there is nothing between them."""
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
        """Itself."""
        return float(value)

    def shifted(self, value: float, doublings: int) -> float | None:
        """Exact, but for the range of doubles."""
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
    """0, 1, 2, ..."""

    def number(self, value: float) -> int:
        """Rounded."""
        return round(value)

    def shifted(self, value: int, doublings: int) -> int | None:
        """Zero is the half of one."""
        if doublings > 0:
            return value << doublings if value and _log(value) / math.log(2) + doublings <= FARTHEST else None
        found = value >> -doublings
        return found if found < value else None

    def between(self, one: int, other: int, share: float) -> int | None:
        """By logarithms, but never one of the two."""
        low, high = sorted((one, other))
        if high - low < 2:
            return None
        found = round(math.exp(_log(one) + share * (_log(other) - _log(one))))
        return min(max(found, low + 1), high - 1)

    def middle(self, one: int, other: int) -> int | None:
        """Computed in whole numbers, as large ones share doubles."""
        low, high = sorted((one, other))
        if high > 2 * low:
            return self.between(low, high, 0.5)
        return (low + high) // 2 if high - low > 1 else None

    def adjacent(self, one: int, other: int, rtol: float) -> bool:
        """Neighbours, whatever the tolerance."""
        return abs(one - other) == 1


def shortened(value: float, digits: int, upward: bool) -> Decimal:
    """The nearest decimal of some digits on one side, or the number itself, as it prints."""
    context = Context(prec=digits, rounding=ROUND_CEILING if upward else ROUND_FLOOR)
    return context.create_decimal(Decimal(repr(value)))


def _log(value: float) -> float:
    # zero is as far from one as two is
    return math.log(value) if value else -math.log(2)
