"""Numbers as they were written: doubles that keep the exact decimal or quotient that they stand for.

Any other double stands for its shortest decimal: 0.1 is one tenth.
"""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import Any, cast


class Written(float):
    """The double nearest to an exact rational number, which it keeps as ``exact``.

    It behaves as the double in every respect: it is equal to it, hashes and prints alike, and arithmetic gives plain doubles.
    Only :func:`meant` and :func:`exact` distinguish the two.

    Examples
    --------
    >>> third = Written(Fraction(1, 3))
    >>> third == 1 / 3, meant(third) == meant(1 / 3)
    (True, False)
    """

    exact: Fraction

    def __new__(cls, exact: Fraction) -> Written:
        """The nearest double; an OverflowError if the number overflows or underflows."""
        number = super().__new__(cls, exact)
        if exact and not number:
            raise OverflowError("the number is too small for a double")
        number.exact = exact
        return number

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (self.exact,)


class Named(Written):
    """A trial number that stands in for a symbolic expression."""

    expression: Any

    def __new__(cls, expression: Any, trial: Fraction) -> Named:
        """The trial number, with the expression that it stands for."""
        number = cast(Named, super().__new__(cls, trial))
        number.expression = expression
        return number

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (self.expression, self.exact)


def exact(value: float) -> Fraction:
    """The number as it was written, or the exact value of a plain double."""
    return value.exact if isinstance(value, Written) else Fraction(value)


def meant(value: float) -> Fraction:
    """The number as it was written, or the shortest decimal of a plain double."""
    return value.exact if isinstance(value, Written) else Fraction(repr(float(value)))


def exactly(value: Any) -> Any:
    """A key that distinguishes values that are equal as doubles but were written differently.

    Tuples and dataclasses are searched for numbers. Anything else is its own key, and so is a number that equals both its
    double and the shortest decimal of the double.

    Examples
    --------
    >>> exactly(Written(Fraction(1, 2))) == exactly(0.5), exactly(Written(Fraction(0.1))) == exactly(0.1)
    (True, False)
    """
    if isinstance(value, Written):
        double = float(value)
        # a fraction equals a double by the value of the double, which need not be what the double means
        return double if exact(double) == value.exact == meant(double) else (value.exact,)
    if isinstance(value, tuple):
        return tuple(map(exactly, value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return tuple(exactly(getattr(value, field.name)) for field in dataclasses.fields(value))
    return value
