"""Enclosed numbers that can be used as numbers: compared, rounded, and given to NumPy."""

from __future__ import annotations

import numbers
import operator
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from logphi.answers.decimals import formatted, rounded
from logphi.answers.interval import Exact, exact
from logphi.listed import Listed

COMPARED: dict[Any, Callable[..., Any]] = {
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
    np.equal: operator.eq,
    np.not_equal: operator.ne,
}
ENCLOSED: dict[Any, Callable[..., Any]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.true_divide: operator.truediv,
    np.power: operator.pow,
    np.negative: operator.neg,
    np.positive: operator.pos,
}
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
        The ends on the left.
    other
        The number on the right, or the pair of its ends.
    """

    def __init__(self, relation: str, lower: float, upper: float, other: Any) -> None:
        # all of them, so that it can be pickled
        super().__init__(relation, lower, upper, other)
        self.relation, self.lower, self.upper, self.other = relation, lower, upper, other

    def __str__(self) -> str:
        other = "one between {!r} and {!r}".format(*self.other) if isinstance(self.other, tuple) else repr(self.other)
        same = "; same_as tells whether two answers agree in every field" if self.relation == "==" else ""
        return (
            f"undecided: whether a number between {self.lower!r} and {self.upper!r} is {self.relation} {other}; compare "
            f"an end, .lower or .upper, or the private side, float(...), as with key=float in sorted and max{same}"
        )


class Enclosed(Listed):
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

    def same_as(self, other: object) -> bool:
        """Whether every field is the same, as two runs of one computation give; ``==`` is about the unknown numbers.

        Parameters
        ----------
        other
            Anything.

        Returns
        -------
        bool
            False for another class.

        Examples
        --------
        >>> import logphi as lp
        >>> release = 3 * lp.Gaussian(sigma=2)
        >>> release.delta(1).same_as(release.delta(1))
        True
        """
        return isinstance(other, Enclosed) and type(self) is type(other) and self.to_dict() == other.to_dict()

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
        return given_to(ufunc, method, inputs, options)


def given_to(ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A function of NumPy of bounds: operators compare or enclose, all others are applied to the private side."""
    plain = method == "__call__" and not options
    if plain and ufunc in COMPARED:
        return elementwise(COMPARED[ufunc], *inputs)
    if plain and ufunc in ENCLOSED:
        return elementwise(ENCLOSED[ufunc], *inputs)
    floats = (np.asarray(one) if hasattr(one, "__array_ufunc__") else one for one in inputs)
    return getattr(ufunc, method)(*floats, **options)


def elementwise(function: Callable[..., Any], *operands: Any) -> Any:
    """An operator of Python between the elements of arrays and bounds."""
    from logphi.answers.bounds import Bounds

    found = np.frompyfunc(function, len(operands), 1)(*map(_objects, operands))
    if not isinstance(found, np.ndarray):
        return found
    return found.astype(bool) if function in COMPARED.values() else Bounds(found)


def _objects(operand: Any) -> NDArray[np.object_]:
    """An array of the elements, with NumPy's numbers as Python's: the operators of NumPy's would call this code again."""
    from logphi.answers.bounds import Bounds

    if isinstance(operand, Bounds):
        return operand.to_objects()
    if isinstance(operand, Enclosed):
        held = np.empty((), dtype=object)
        held[()] = operand
        return held
    return np.asarray(np.frompyfunc(_of_python, 1, 1)(np.asarray(operand, dtype=object)), dtype=object)


def _of_python(number: Any) -> Any:
    found = number.item() if isinstance(number, np.generic) else number
    # item() leaves a number longer than a double as it is
    return exact(found) if isinstance(found, np.generic) else found
