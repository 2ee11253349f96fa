"""Arithmetic of bounds with numbers: for one bound, and element by element."""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from logphi.answers.enclosed import Enclosed
from logphi.answers.interval import Interval, meant
from logphi.answers.numpy_operators import compared, elementwise, given_to
from logphi.answers.sameness import Same

if TYPE_CHECKING:
    from typing_extensions import Self

E = TypeVar("E", bound="Elementwise")


class Arithmetic(Enclosed):
    """``+ - * /`` with a number on either side, and integer powers: monotone functions of the bound."""

    @abstractmethod
    def _mapped(self, function: Callable[[Interval], Interval], *, falling: bool = False) -> Self:
        """The enclosure of a monotone function; if it is falling, the ends are exchanged, and the private side with them."""

    def __pos__(self) -> Self:
        return self

    def __neg__(self) -> Self:
        return self._mapped(Interval.negated, falling=True)

    def __add__(self, other: Any) -> Self:
        number = _number(other)
        return NotImplemented if number is None else self._mapped(number.plus)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Self:
        number = _number(other)
        return NotImplemented if number is None else self._mapped(number.negated().plus)

    def __rsub__(self, other: Any) -> Self:
        number = _number(other)
        return NotImplemented if number is None else self._mapped(lambda x: number.plus(x.negated()), falling=True)

    def __mul__(self, other: Any) -> Self:
        number = _number(other)
        return NotImplemented if number is None else self._mapped(lambda x: x.times(number), falling=number.low < 0)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Self:
        number = _number(other)
        if number is None:
            return NotImplemented
        factor = number.inverse()
        return self._mapped(lambda x: x.times(factor), falling=number.low < 0)

    def __rtruediv__(self, other: Any) -> Self:
        number = _number(other)
        return NotImplemented if number is None else self._mapped(lambda x: x.inverse().times(number), falling=number.low >= 0)

    def __pow__(self, exponent: Any) -> Self:
        number = _number(exponent)
        if number is None:
            return NotImplemented
        power, (lower, upper) = number.low, self._ends()
        if power != number.high or not isinstance(power, Fraction) or power.denominator != 1:
            raise ValueError(
                f"a bound has integer powers only, got {exponent!r}: float(b) ** {exponent!r} is close, but not a bound"
            )
        if lower < 0 < upper:
            raise ValueError(
                f"a power of a number between {lower!r} and {upper!r} may rise or fall with it, so that it has no private "
                "side: take powers of .lower and .upper"
            )
        even_of_negative = lower < 0 and power % 2 == 0
        return self._mapped(lambda x: x.power(int(power)), falling=(power < 0) is not even_of_negative)


def _comparing(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], NDArray[np.bool_]]:
    """A comparison of Python as a method of arrays: element by element."""

    def method(array: Any, other: Any) -> NDArray[np.bool_]:
        return compared(function, array, other)  # type: ignore[no-any-return]

    return method


def _enclosing(function: Callable[[Any, Any], Any], *, swapped: bool = False) -> Callable[[E, Any], E]:
    """An operator of Python as a method of arrays: element by element; if ``swapped``, of what stands on its right."""

    def method(array: E, other: Any) -> E:
        return array._array(elementwise(function, *((other, array) if swapped else (array, other))))

    return method


class Elementwise(Same):
    """The operators of an array of bounds, in Python and in NumPy."""

    # elements are compared one by one
    __hash__ = None  # type: ignore[assignment]

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return given_to(ufunc, method, inputs, options, self._array)

    @abstractmethod
    def to_objects(self) -> NDArray[np.object_]:
        """The elements in an array of objects."""

    @abstractmethod
    def _array(self, elements: Any) -> Self:
        """An array of bounds, made of its elements."""

    __lt__, __le__, __gt__, __ge__ = map(_comparing, (operator.lt, operator.le, operator.gt, operator.ge))
    __eq__, __ne__ = map(_comparing, (operator.eq, operator.ne))  # type: ignore[assignment]

    __add__, __radd__ = _enclosing(operator.add), _enclosing(operator.add, swapped=True)
    __sub__, __rsub__ = _enclosing(operator.sub), _enclosing(operator.sub, swapped=True)
    __mul__, __rmul__ = _enclosing(operator.mul), _enclosing(operator.mul, swapped=True)
    __truediv__, __rtruediv__ = _enclosing(operator.truediv), _enclosing(operator.truediv, swapped=True)
    __pow__ = _enclosing(operator.pow)

    def __neg__(self) -> Self:
        return self._array(elementwise(operator.neg, self))


def _number(other: Any) -> Interval | None:
    """The interval that a number stands for; None if it is not a number. Raises a TypeError for a bound."""
    if isinstance(other, Enclosed):
        raise TypeError(
            "bounds are not added to, multiplied or divided by each other, as it is not known which end of the result is "
            "private: use their ends, as in a.upper + b.upper, or compose the mechanisms, whose epsilon is at most the sum"
        )
    return meant(other)
