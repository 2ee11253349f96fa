"""Enclosed numbers that can be used as numbers: compared, rounded, and given to NumPy."""

from __future__ import annotations

import numbers
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from logphi.answers.decimals import formatted, rounded
from logphi.answers.interval import Exact, exact
from logphi.answers.numpy_operators import given_to
from logphi.answers.sameness import Same

# the ends of both sides -> whether the relation holds for all numbers between them, and whether for none
_RELATIONS: dict[str, Callable[[Exact, Exact, Exact, Exact], tuple[bool, bool]]] = {
    "<": lambda low, high, least, most: (high < least, low >= most),
    "<=": lambda low, high, least, most: (high <= least, low > most),
    ">": lambda low, high, least, most: (low > most, high <= least),
    ">=": lambda low, high, least, most: (low >= most, high < least),
    "==": lambda low, high, least, most: (low == high == least == most, high < least or low > most),
}


class UndecidedError(ValueError):
    """A comparison that the bounds do not decide.

    Attributes
    ----------
    relation
        ``"<"``, ``"<="``, ``">"``, ``">="`` or ``"=="``.
    lower, upper
        The ends of the bound on the left.
    other
        The number on the right, or the pair of its ends.
    """

    def __init__(self, relation: str, lower: float, upper: float, other: Any) -> None:
        # all of them, so that it can be pickled
        super().__init__(relation, lower, upper, other)
        self.relation, self.lower, self.upper, self.other = relation, lower, upper, other

    def __str__(self) -> str:
        other = "one between {!r} and {!r}".format(*self.other) if isinstance(self.other, tuple) else repr(self.other)
        same = "; same_as says whether two answers agree in every field" if self.relation == "==" else ""
        return (
            f"undecided: whether a number between {self.lower!r} and {self.upper!r} is {self.relation} {other}; compare "
            f"an end, .lower or .upper, or the private side, float(...), as with key=float in sorted and max{same}"
        )


class Enclosed(Same):
    """A number of which only an enclosure is known.

    A comparison is made for all numbers in the closed enclosure: it is a bool where they agree, and an :class:`UndecidedError`
    where they do not. Text and ``round`` round to the private side.
    """

    @abstractmethod
    def __float__(self) -> float: ...

    @abstractmethod
    def _ends(self) -> tuple[float, float]:
        """The enclosure."""

    @abstractmethod
    def _upward(self) -> bool | None:
        """Whether the private side is the upper one; None if there is none."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """All fields as plain data for JSON: infinities are ``"inf"`` and ``"-inf"``, and NaN does not occur."""

    def _content(self) -> Any:
        return self.to_dict()

    def _decided(self, relation: str, other: Any) -> bool:
        """Whether the relation holds; NotImplemented if the other is not a number. Raises an UndecidedError if undecided."""
        holds = self._holds(relation, other)
        if holds is None:
            raise UndecidedError(relation, *self._ends(), other._ends() if isinstance(other, Enclosed) else other)
        return holds

    def _holds(self, relation: str, other: Any) -> bool | None:
        """Whether the relation holds; NotImplemented if the other is not a number, None if undecided."""
        if other is self:
            return relation in ("<=", ">=", "==")
        number = None if isinstance(other, Enclosed) else exact(other)
        if isinstance(other, Enclosed):
            always, never = _RELATIONS[relation](*self._ends(), *other._ends())
        elif number is not None:
            always, never = _RELATIONS[relation](*self._ends(), number, number)
        elif relation == "==" and isinstance(other, numbers.Number):
            raise TypeError(f"a bound is compared with real numbers, got {other!r} of type {type(other).__name__}")
        else:
            return NotImplemented  # type: ignore[no-any-return]
        return always if always or never else None

    def __lt__(self, other: Any) -> bool:
        return self._decided("<", other)

    def __le__(self, other: Any) -> bool:
        return self._decided("<=", other)

    def __gt__(self, other: Any) -> bool:
        return self._decided(">", other)

    def __ge__(self, other: Any) -> bool:
        return self._decided(">=", other)

    def __eq__(self, other: object) -> bool:
        return self._decided("==", other)

    def __hash__(self) -> int:
        # only points are equal to others; everything is equal to itself
        lower, upper = self._ends()
        return hash(lower) if lower == upper else object.__hash__(self)

    def __format__(self, spec: str) -> str:
        return formatted(float(self), spec, self._upward()) if spec else str(self)

    @overload
    def __round__(self, places: None = None) -> int: ...
    @overload
    def __round__(self, places: int) -> float: ...
    def __round__(self, places: int | None = None) -> float:
        return rounded(float(self), places, self._upward())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(float(self), dtype=dtype or float)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return given_to(ufunc, method, inputs, options, self._array)

    def _array(self, elements: Any) -> Any:
        """An array of such numbers, made of its elements."""
        return elements
