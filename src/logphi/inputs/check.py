"""Checks of arguments, and one form of message for bad ones: the value, the rule, and the next step.

Numbers given exactly, in an expression or as a ``Fraction`` or a ``Decimal``, stay exact (:mod:`logphi.text.written`).

The file is longer than others because every kind of number that an argument may be has its check here.
"""

from __future__ import annotations

import math
import numbers
import operator
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arrays import Array
from logphi.inputs.guesses import beyond_one
from logphi.text.written import Written, exact

# derived: sums of normalised doubles differ from one by far less, and bounds by no more for sums that differ by this
NORMALIZED = 1e-14
# derived: smaller shares of a mixture, and of its profile, lose digits
LEAST_SHARE = 1e-290
# derived: products with larger counts overflow
LARGEST_COUNT = 10**300
# derived: decimals with larger exponents are no doubles; to make a quotient of a far larger one takes minutes
_FARTHEST = 400
# derived: with a margin, the inverse of a smaller rate is no double
_LEAST_RATE = 1e-300
# types that Python takes for integers, and that are none
_NO_NUMBERS = (bool, np.bool_, np.timedelta64)


def real(name: str, value: Any, rule: str = "a real number") -> float:
    """``value`` as a finite float, or a TypeError or ValueError that names it."""
    plain = _unwrapped(value)
    if isinstance(plain, _NO_NUMBERS) or not isinstance(plain, (numbers.Real, Decimal)):
        raise TypeError(f"{name} must be {rule}, got {_shown(value)} of type {type(value).__name__}")
    try:
        number = _kept(plain)
    except OverflowError:
        # the whole part of a large decimal takes minutes
        below = plain.adjusted() < 0 if isinstance(plain, Decimal) else math.trunc(plain) == 0
        if below:
            raise ValueError(f"{name} must be {rule} in the range of doubles, got one that is closer to zero") from None
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{name} must be {rule}, finite and not NaN, got {number!r}")
    return number


def _unwrapped(value: Any) -> Any:
    """The number in an array of no dimension; anything else is itself."""
    return value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value


def _kept(value: Any) -> float:
    """The nearest double, with the number itself where that is a decimal, a quotient, or whole and not a double."""
    if isinstance(value, Written):
        return value
    if isinstance(value, Decimal):
        return _kept_decimal(value)
    number = float(value)
    if isinstance(value, Fraction) or (isinstance(value, numbers.Rational) and number != value):
        return Written(Fraction(int(value.numerator), int(value.denominator)))
    return number


def _kept_decimal(value: Decimal) -> float:
    if not value.is_finite():
        return math.nan if value.is_nan() else float(value)
    if value and abs(value.adjusted()) > _FARTHEST:
        raise OverflowError
    return Written(Fraction(value)) if value else 0.0


def _as_written(number: float) -> float | Fraction:
    """The exact number: its double may be on the other side of a limit, or on it."""
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
    # minus zero is zero
    return number or 0.0


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


def moderate_or_zero(name: str, value: Any) -> float:
    """Zero, or a positive number whose square is a double too."""
    return 0.0 if nonnegative(name, value) == 0 else moderate(name, value)


def open_unit(name: str, value: Any) -> float:
    """A number strictly between 0 and 1."""
    number = real(name, value, "a number strictly between 0 and 1")
    if not (0 < number < 1 and 0 < _as_written(number) < 1):
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {number!r}{beyond_one(name, number)}")
    return number


def probability(name: str, value: Any) -> float:
    """A number in [0, 1] that is 0 or 1 if its double is: a number just below 1 must not count as 1."""
    number = unit(name, value)
    if number == 1 != _as_written(number):
        raise ValueError(f"{name} must be 1, or a double below 1, got a number in between, which doubles cannot hold")
    return number


def rate(value: Any) -> float:
    """A sampling rate: a probability that is zero, or whose inverse is a double."""
    number = probability("rate", value)
    if 0 < number < _LEAST_RATE:
        raise ValueError(f"rate must be 0 or at least {_LEAST_RATE}, got {number!r}: below that doubles cannot hold the answer")
    return number


def unit(name: str, value: Any) -> float:
    """A number in [0, 1]."""
    number = real(name, value, "a number in [0, 1]")
    if not 0 <= _as_written(number) <= 1:
        raise ValueError(f"{name} must lie in [0, 1], got {number!r}{beyond_one(name, number)}")
    return number


def _integer(name: str, value: Any) -> int:
    """An integer of any type; a float only up to where neighbouring integers have the same float."""
    if type(value) is int:
        return value
    plain = _unwrapped(value)
    if isinstance(plain, np.ndarray):
        raise TypeError(f"{name} must be one integer, got an array of shape {plain.shape}: take its numbers one by one")
    if isinstance(plain, _NO_NUMBERS):
        raise TypeError(f"{name} must be an integer, got {value!r} of type {type(value).__name__}")
    try:
        return operator.index(plain)
    except TypeError:
        if not isinstance(plain, (numbers.Real, Decimal)):
            raise TypeError(f"{name} must be an integer, got {_shown(value)} of type {type(value).__name__}") from None
    if isinstance(plain, (Written, numbers.Rational, Decimal)):
        return _whole_exactly(name, plain)
    number = float(plain)
    if not number.is_integer() or number != plain:
        raise TypeError(f"{name} must be an integer, got {value!r}")
    # a narrower float runs out of digits earlier
    kind = getattr(plain, "dtype", None)
    digits = sys.float_info.mant_dig if kind is None else np.finfo(kind).nmant + 1
    if abs(number) > 2 ** min(digits, sys.float_info.mant_dig):
        raise ValueError(
            f"{name} must be exact, got {value!r}: integers this large are not all of type {type(value).__name__}, so "
            "that it may be rounded; give an int"
        )
    return int(number)


def _whole_exactly(name: str, value: Any) -> int:
    """A quotient or a decimal as an integer; an error if it is not one."""
    if isinstance(value, Decimal) and value and value.is_finite() and value.adjusted() > _FARTHEST:
        raise ValueError(f"{name} must be at most 1e300, the range of doubles, got {_shown(value)}")
    fraction = isinstance(value, Decimal) and (not value.is_finite() or (bool(value) and value.adjusted() < 0))
    number = None if fraction else exact(value) if isinstance(value, Written) else Fraction(value) if value else Fraction(0)
    if number is None or number.denominator != 1:
        raise TypeError(f"{name} must be an integer, got {_shown(value)}")
    return number.numerator


def count(name: str, value: Any) -> int:
    """An integer, zero or more, of any type: ``100.0`` is a hundred."""
    number = _integer(name, value)
    if number < 0:
        raise ValueError(f"{name} must not be negative, got {_shown(value)}")
    if number > LARGEST_COUNT:
        raise ValueError(f"{name} must be at most 1e300, the range of doubles, got a number of {len(str(number))} digits")
    return number


def whole(name: str, value: Any, least: int, most: int) -> int:
    """An integer of any type between two bounds; ``4.0`` is one."""
    number = _integer(name, value)
    if not least <= number <= most:
        raise ValueError(f"{name} must be an integer from {least} to {most}, got {_shown(value)}")
    return number


def flag(name: str, value: Any) -> bool:
    """A bool."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def real_array(name: str, value: Any) -> Array:
    """``value`` as an array of finite floats of the same shape; exact numbers are rounded to the nearest."""
    array = plain_array(name, value, "a real number or an array of them")
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{name} must be finite and not NaN, got {value!r}")
    return array


def paired(names: str, first: Array, second: Array, rule: str) -> None:
    """Raise a ValueError unless two arrays are lists of one length, not empty; ``rule`` says which entries belong together."""
    if first.ndim != 1 or first.shape != second.shape or first.size == 0:
        got = f"{first.shape} and {second.shape}"
        raise ValueError(f"{names} must be two lists of equal length with at least one number each, got shapes {got}; {rule}")


def plain_array(name: str, value: Any, rule: str, kinds: str = "iuf") -> NDArray[Any]:
    """``value`` as an array of the same shape, infinite or not, of NumPy's kinds; exact numbers are rounded to the nearest."""
    try:
        array = np.asarray(doubles(value))
    except OverflowError:
        raise ValueError(f"{name} must be {rule}, in the range of doubles, got {_shown(value)}") from None
    except ValueError:
        raise TypeError(f"{name} must be {rule}, got {_shown(value)}") from None
    if array.dtype.kind not in kinds:
        raise TypeError(f"{name} must be {rule}, got {_shown(value)}")
    with np.errstate(over="ignore"):  # a wider float that overflows is infinite
        return array.astype(float) if array.dtype.kind in "iuf" else array


def doubles(value: Any) -> Any:
    """The same number, list or array, with doubles in place of quotients and decimals."""
    if isinstance(value, (Fraction, Decimal)):
        return _kept(value)
    if hasattr(value, "__array__"):
        value = np.asarray(value)
        return doubles(value.tolist()) if value.dtype == object else value
    return [doubles(entry) for entry in value] if _listed(value) else value


def entries(value: Any, array: Array) -> tuple[float, ...]:
    """The entries of a list that was checked as an array, each as exact as it was given."""
    listed = value if _listed(value) else np.asarray(value).tolist()
    return tuple(map(_kept, listed)) if _listed(listed) else tuple(array.tolist())


def _listed(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _shown(value: Any) -> str:
    """``repr`` of anything, short; a number too long to print is described."""
    try:
        text = repr(value)
    except ValueError:
        return f"a number of type {type(value).__name__} too long to print"
    return text if len(text) <= 80 else text[:77] + "..."


def unit_array(name: str, value: Any) -> Array:
    """``value`` as an array of numbers in [0, 1] of the same shape."""
    array = real_array(name, value)
    if not np.all((array >= 0) & (array <= 1)):
        raise ValueError(f"{name} must lie in [0, 1], got {value!r}{beyond_one(name, float(np.max(array)))}")
    return array


def nonnegatives(name: str, value: Any, kind: str = "numbers") -> tuple[float, ...]:
    """A non-empty list of non-negative numbers; ``kind`` is what messages call them."""
    array = real_array(name, value)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} must be a non-empty list of {kind}, got {value!r}")
    if np.any(array < 0):
        raise ValueError(f"{name} must not have negative entries, got {value!r}")
    return entries(value, array)


def probabilities(name: str, value: Any, least: float = 0.0) -> tuple[float, ...]:
    """A non-empty list of numbers that are zero, or ``least`` or more, and sum to one up to the rounding of doubles."""
    numbers = nonnegatives(name, value, "probabilities")
    total = math.fsum(numbers)
    if abs(total - 1) > NORMALIZED:
        raise ValueError(
            f"{name} must sum to one to within {NORMALIZED:g}, got a sum of {total!r}: an entry is missing, or has too few "
            "digits; give more digits, or divide by the sum"
        )
    if (rare := min((one for one in numbers if one > 0), default=1.0)) < least:
        raise ValueError(f"{name} must be zero or at least {least:g} each, got {rare!r}")
    return numbers
