"""Numbers in a text: doubles that remember the exact number, as long as it is rational and short.

A decimal is exactly that decimal, and ``256/60000`` that quotient; each is a :class:`logphi.text.written.Written`.
"""

from __future__ import annotations

import math
import operator
import re
import sys
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from logphi.expression.tokens import Token, clipped, described, is_number
from logphi.text.spelling import LONGEST_DECIMAL
from logphi.text.written import Written, exact

LARGEST_WHOLE_FLOAT = 2**53
"""Derived: above it neighbouring integers share a double, so that a float is no longer a count."""
MOST_DIGITS = 400
"""Chosen: digits computed before an integer is compared with the largest double, which has 309."""
MOST_BITS = 3600
"""Chosen: bits of a numerator or a denominator; a number that needs more is kept as its double only."""


def literal(token: Token) -> int | float:
    """The number that a token writes."""
    text = token.text
    whole = text.replace("_", "").isdigit() and len(text) <= MOST_DIGITS
    try:
        # base 0 refuses a leading zero, which means octal in other languages
        value = int(text, 0) if whole else float(text)
    except ValueError:
        token.refuse("not a number: write 12, 1.5 or 1e-5 (no complex, hexadecimal or octal numbers)")
    number = _fitting(token, value, vanished=value == 0 and bool(re.search("[1-9]", re.split("[eE]", text)[0])))
    if whole or len(text) > LONGEST_DECIMAL:
        return number
    # zero may have an exponent that no power of ten can be computed for
    return Written(Fraction(text.replace("_", "") if number else 0))


def calculate(sign: Token, left: Any, right: Any) -> int | float:
    """``left sign right`` for numbers; everything else is refused."""
    if not (is_number(left) and is_number(right)):
        sign.refuse(
            f"it cannot join {described(left)} and {described(right)}: "
            "mechanisms compose with + and repeat with an integer and *, lists are only arguments"
        )
    number = None
    try:
        number = _rational(sign.text, left, right)
        result = _OPERATIONS[sign.text](left, right) if number is None else _rounded(number)
    except ZeroDivisionError:
        sign.refuse(f"division by zero, {clipped(left)} {sign.text} {clipped(right)}")
    except OverflowError:
        result = math.inf
    if isinstance(result, complex):
        sign.refuse(f"{clipped(left)} ** {clipped(right)} is not a real number")
    if number is None:
        vanished = result == 0 and sign.text not in "+-" and left != 0 and (sign.text != "*" or right != 0)
    else:
        vanished = result == 0 != number
    return _fitting(sign, result, vanished)


def _rational(sign: str, left: int | float, right: int | float) -> Fraction | None:
    """The exact result for two exact numbers; None if it is irrational or too long, or if both are ints."""
    if not (isinstance(left, (int, Written)) and isinstance(right, (int, Written))):
        return None
    if type(left) is type(right) is int and (sign in "+-*" or (sign == "**" and right >= 0)):
        return None
    one, other = exact(left), exact(right)
    if sign == "**":
        if other.denominator > 1 or abs(other) * max(one.numerator.bit_length(), one.denominator.bit_length()) > MOST_BITS:
            return None
        result = one**other.numerator
    else:
        result = _OPERATIONS[sign](one, other)
    return result if max(result.numerator.bit_length(), result.denominator.bit_length()) <= MOST_BITS else None


def _rounded(number: Fraction) -> float:
    """The number as a double that remembers it; zero if it is below every double."""
    nearest = float(number)
    return Written(number) if nearest or not number else nearest


def negative(number: int | float) -> int | float:
    """The number with the opposite sign, as exact as it was."""
    return Written(-number.exact) if isinstance(number, Written) else -number


def _power(base: int | float, exponent: int | float) -> Any:
    if isinstance(base, float) or isinstance(exponent, float):
        return float(base) ** float(exponent)
    # the size follows from logarithms: 10**10**10 is never computed
    if abs(base) > 1 and abs(exponent) * math.log10(abs(base)) > MOST_DIGITS:
        return math.inf if exponent > 0 else 0.0
    return base**exponent if exponent >= 0 else 1 / base**-exponent


_OPERATIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": _power,
}


def _fitting(token: Token, number: int | float, vanished: bool = False) -> int | float:
    if vanished or not abs(number) <= sys.float_info.max:
        token.refuse(f"the number is too {'small' if vanished else 'large'} for double precision")
    return number


def repetitions(sign: Token, number: int | float) -> int:
    """An integer of repetitions."""
    if number < 0 or exact(number).denominator > 1:
        sign.refuse(f"a mechanism is repeated an integer of times, got {clipped(number)}: write a count")
    if isinstance(number, float) and number > LARGEST_WHOLE_FLOAT:
        sign.refuse(f"{number!r} is no longer exact as a float: write the count as an integer")
    return int(number)
