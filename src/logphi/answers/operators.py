"""Arithmetic of bounds with numbers: for one bound, and element by element."""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from logphi.answers.enclosed import Enclosed
from logphi.answers.interval import Interval, meant
from logphi.answers.numpy_operators import compared, elementwise, given_to
from logphi.listed import Listed

if TYPE_CHECKING:
    from typing_extensions import Self


class Arithmetic(Enclosed):
    """``+ - * /`` with a number on either side, and whole powers: monotone functions of the bound."""

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


class Elementwise(Listed):
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

    @staticmethod
    def _compared(function: Callable[..., Any], *operands: Any) -> NDArray[np.bool_]:
        return compared(function, *operands)  # type: ignore[no-any-return]

    def _enclosed(self, function: Callable[..., Any], *operands: Any) -> Self:
        return self._array(elementwise(function, *operands))

    def __lt__(self, other: Any) -> NDArray[np.bool_]:
        return self._compared(operator.lt, self, other)

    def __le__(self, other: Any) -> NDArray[np.bool_]:
        return self._compared(operator.le, self, other)

    def __gt__(self, other: Any) -> NDArray[np.bool_]:
        return self._compared(operator.gt, self, other)

    def __ge__(self, other: Any) -> NDArray[np.bool_]:
        return self._compared(operator.ge, self, other)

    def __eq__(self, other: Any) -> NDArray[np.bool_]:  # type: ignore[override]
        return self._compared(operator.eq, self, other)

    def __ne__(self, other: Any) -> NDArray[np.bool_]:  # type: ignore[override]
        return self._compared(operator.ne, self, other)

    def __neg__(self) -> Self:
        return self._enclosed(operator.neg, self)

    def __add__(self, other: Any) -> Self:
        return self._enclosed(operator.add, self, other)

    def __radd__(self, other: Any) -> Self:
        return self._enclosed(operator.add, other, self)

    def __sub__(self, other: Any) -> Self:
        return self._enclosed(operator.sub, self, other)

    def __rsub__(self, other: Any) -> Self:
        return self._enclosed(operator.sub, other, self)

    def __mul__(self, other: Any) -> Self:
        return self._enclosed(operator.mul, self, other)

    def __rmul__(self, other: Any) -> Self:
        return self._enclosed(operator.mul, other, self)

    def __truediv__(self, other: Any) -> Self:
        return self._enclosed(operator.truediv, self, other)

    def __rtruediv__(self, other: Any) -> Self:
        return self._enclosed(operator.truediv, other, self)

    def __pow__(self, other: Any) -> Self:
        return self._enclosed(operator.pow, self, other)


def _number(other: Any) -> Interval | None:
    """The interval that a number stands for; None if it is not a number. Raises a TypeError for a bound."""
    if isinstance(other, Enclosed):
        raise TypeError(
            "bounds are not added to, multiplied or divided by each other, as it is not known which end of the result is "
            "private: use their ends, as in a.upper + b.upper, or compose the mechanisms, whose epsilon is at most the sum"
        )
    return meant(other)
