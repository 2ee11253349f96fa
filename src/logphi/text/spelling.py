"""Values as text: as Python writes them, and as the language of :mod:`logphi.expression` reads them back."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from logphi.text.written import Written, exact, meant

LONGEST_DECIMAL = 500
"""Chosen: the most characters of a decimal that the language reads exactly, a number of some 2700 bits at most."""
# derived: longer integers may exceed every double, and the language refuses those
_MOST_DIGITS = 308
# chosen: the most characters of a mechanism in a message
_SHOWN = 120


def python(value: Any) -> str:
    """``repr`` of a value, or the name of a class."""
    return value.__name__ if isinstance(value, type) else repr(value)


def short(value: Any) -> str:
    """``repr``, shortened for messages."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 10]}...{text[-7:]}"


def spelled(value: Any) -> str:
    """Text that the language reads as the same number, exactly, or as a list of numbers.

    A double becomes its shortest decimal. A number that was given exactly becomes a decimal, or a quotient of integers
    such as ``1/3``; with more than some three hundred digits, its double. Classes of other packages are named with their
    module, which the language refuses: a user's own class must not pass for one of the catalogue.

    Examples
    --------
    >>> spelled(0.1), spelled(Written(Fraction(1, 3))), spelled((1.0, Written(Fraction(2**60 + 1))))
    ('0.1', '1/3', '[1.0, 1152921504606846977]')
    """
    if isinstance(value, tuple):
        return f"[{', '.join(map(spelled, value))}]"
    if isinstance(value, Written):
        return _number(value)
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__}" if is_foreign(value) else value.__name__
    return repr(value)


def is_foreign(kind: type) -> bool:
    """Whether a class is defined in another package."""
    return kind.__module__.partition(".")[0] != __name__.partition(".")[0]


def _number(value: Written) -> str:
    number, shortest = exact(value), repr(float(value))
    if meant(float(value)) == number:
        return shortest
    if max(abs(number.numerator), number.denominator) < 10**_MOST_DIGITS:
        return str(number)
    decimal = _decimal(number)
    return decimal if decimal and len(decimal) <= LONGEST_DECIMAL else shortest


def _decimal(number: Fraction) -> str:
    """The finite decimal expansion of a fraction; empty if there is none."""
    # derived: a denominator of n bits that divides a power of ten divides 10^n
    places = number.denominator.bit_length()
    if places > 4 * LONGEST_DECIMAL or 10**places % number.denominator:
        return ""
    shifted = number * 10**places
    digits = str(shifted.numerator).rstrip("0")
    return f"{digits}e{len(str(shifted.numerator)) - len(digits) - places}"
