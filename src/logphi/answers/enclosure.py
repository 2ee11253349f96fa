"""Enclosures of a number: two ends and a best value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar


class Ends(Protocol):
    """``lower <= truth <= upper``, and the best value between them."""

    @property
    def lower(self) -> float:
        """Lower end."""

    @property
    def value(self) -> float:
        """Best value."""

    @property
    def upper(self) -> float:
        """Upper end."""


E = TypeVar("E", bound=Ends)


@dataclass(frozen=True)
class Enclosure:
    """An enclosure ``lower <= truth <= upper`` of one number, and the best value in it; the ends may be infinite."""

    lower: float
    value: float
    upper: float


def meet(one: E, other: E) -> E:
    """The intersection of two enclosures of one number; all other fields are those of the narrower."""
    best, rest = (one, other) if _width(one) <= _width(other) else (other, one)
    return with_ends(best, max(best.lower, rest.lower), best.value, min(best.upper, rest.upper))


def with_ends(one: E, lower: float, value: float, upper: float, **others: Any) -> E:
    """The enclosure with other ends, other fields too, and as its best value the number between the ends nearest to this."""
    changed: Any = one
    moved: E = replace(changed, lower=lower, value=min(max(value, lower), upper), upper=upper, **others)
    return moved


def _width(one: Ends) -> tuple[float, float]:
    return 0.0 if one.lower == one.upper else one.upper - one.lower, one.upper
