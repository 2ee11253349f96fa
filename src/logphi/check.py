"""One voice for bad arguments: the value, the rule, and the next step.

Numbers that are not whole and were written exactly, in an expression or as a ``Fraction``, stay so (:mod:`logphi.written`).
"""

from __future__ import annotations

import math
import numbers
import operator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.written import Written

# far above what normalised doubles miss, and as far as bounds may be off for vectors that miss it
NORMALIZED = 1e-14
# beyond this, products with a count leave the range of doubles
LARGEST_COUNT = 10**300


def real(name: str, value: Any, rule: str = "a real number") -> float:
    """``value`` as a finite float, or a TypeError or ValueError that names it."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be {rule}, got {value!r} of type {type(value).__name__}")
    try:
        number = _kept(value)
    except OverflowError:
        if math.trunc(value) == 0:
            raise ValueError(f"{name} must be {rule} in the range of doubles, got one that is below all of them") from None
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{name} must be {rule}, finite and not NaN, got {number!r}")
    return number


def _kept(value: Any) -> float:
    """The nearest double, with the number itself where that is a quotient, or whole and not a double."""
    if isinstance(value, Written):
        return value
    number = float(value)
    if isinstance(value, Fraction) or (isinstance(value, numbers.Rational) and number != value):
        return Written(Fraction(int(value.numerator), int(value.denominator)))
    return number


def _told(number: float) -> float | Fraction:
    """The number itself: its double may be on the other side of a limit, or on it."""
    return number.exact if isinstance(number, Written) else number


def positive(name: str, value: Any) -> float:
    """A finite number above zero."""
    number = real(name, value, "a positive number")
    if number <= 0:
        raise ValueError(f"{name} must be positive, got {number!r}")
    return number


def nonnegative(name: str, value: Any) -> float:
    """A finite number that is zero or more."""
    number = real(name, value, "a non-negative number")
    if number < 0:
        raise ValueError(f"{name} must not be negative, got {number!r}")
    return number


def tolerance(name: str, value: Any) -> float:
    """A number above 0 and at most 1."""
    number = positive(name, value)
    if number > 1:
        raise ValueError(f"{name} must be at most 1, got {number!r}")
    return number


def moderate(name: str, value: Any) -> float:
    """A positive number whose square and inverse square are doubles too."""
    number = positive(name, value)
    if not 1e-100 <= number <= 1e100:
        raise ValueError(
            f"{name} must lie between 1e-100 and 1e100, got {number!r}: beyond that doubles cannot hold the answer"
        )
    return number


def guarantee(name: str, value: Any) -> float:
    """Zero, or a positive number whose square is a double too."""
    return 0.0 if nonnegative(name, value) == 0 else moderate(name, value)


def open_unit(name: str, value: Any) -> float:
    """A number strictly between 0 and 1."""
    number = real(name, value, "a number strictly between 0 and 1")
    if not (0 < number < 1 and 0 < _told(number) < 1):
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {number!r}")
    return number


def unit(name: str, value: Any) -> float:
    """A number in [0, 1]."""
    number = real(name, value, "a number in [0, 1]")
    if not 0 <= _told(number) <= 1:
        raise ValueError(f"{name} must lie in [0, 1], got {number!r}")
    return number


def _integer(name: str, value: Any) -> int:
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, got {value!r} of type {type(value).__name__}") from None
    return number


def count(name: str, value: Any) -> int:
    """A whole number, zero or more; integral floats are refused, as by ``range``."""
    number = _integer(name, value)
    if number < 0:
        raise ValueError(f"{name} must not be negative, got {number}")
    if number > LARGEST_COUNT:
        raise ValueError(f"{name} must be at most 1e300, the range of doubles, got a number of {len(str(number))} digits")
    return number


def whole(name: str, value: Any, least: int, most: int) -> int:
    """A whole number between two bounds; integral floats are refused, as by ``range``."""
    number = _integer(name, value)
    if not least <= number <= most:
        raise ValueError(f"{name} must be a whole number from {least} to {most}, got {_shown(number)}")
    return number


def flag(name: str, value: Any) -> bool:
    """A bool."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def real_array(name: str, value: Any) -> NDArray[np.float64]:
    """``value`` as an array of finite floats, of its own shape."""
    try:
        array = np.asarray([_double(x) for x in value] if _listed(value) else _double(value))
        if array.dtype == bool or array.dtype.kind not in "iuf":
            raise TypeError
        array = array.astype(float)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} must be a real number or an array of them, got {_shown(value)}") from None
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{name} must be finite and not NaN, got {value!r}")
    return array


def _double(value: Any) -> Any:
    return _kept(value) if isinstance(value, Fraction) else value


def entries(value: Any, array: NDArray[np.float64]) -> tuple[float, ...]:
    """The entries of a list that was checked as an array, each as it was written."""
    return tuple(_kept(entry) for entry in value) if _listed(value) else tuple(array.tolist())


def _listed(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _shown(value: Any) -> str:
    """``repr`` of anything, short; a number too long to print is described."""
    try:
        text = repr(value)
    except ValueError:
        return f"a number of type {type(value).__name__} too long to print"
    return text if len(text) <= 80 else text[:77] + "..."


def unit_array(name: str, value: Any) -> NDArray[np.float64]:
    """``value`` as an array of numbers in [0, 1], of its own shape."""
    array = real_array(name, value)
    if not np.all((array >= 0) & (array <= 1)):
        raise ValueError(f"{name} must lie in [0, 1], got {value!r}")
    return array


def nonnegatives(name: str, value: Any, kind: str = "numbers") -> tuple[float, ...]:
    """A finite list of non-negative numbers, of a kind that the refusal names."""
    array = real_array(name, value)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} must be a non-empty list of {kind}, got {value!r}")
    if np.any(array < 0):
        raise ValueError(f"{name} must not have negative entries, got {value!r}")
    return entries(value, array)


def probabilities(name: str, value: Any) -> tuple[float, ...]:
    """A finite list of non-negative numbers that sum to one, but for the rounding of doubles."""
    numbers = nonnegatives(name, value, "probabilities")
    total = math.fsum(numbers)
    if abs(total - 1) > NORMALIZED:
        raise ValueError(
            f"{name} must sum to one to within {NORMALIZED:g}, got a sum of {total!r}: an entry is missing, or has too few "
            "digits; give more digits, or divide by the sum"
        )
    return numbers
