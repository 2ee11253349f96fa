"""Exponentials and logarithms of doubles that are infinite where the math module raises an error."""

from __future__ import annotations

import math

# derived: the exponential of this is a double
_LARGEST = 700.0
# derived: above it 1 - e^x keeps more digits as -expm1(x), below it as a number next to one (Maechler 2012)
_HALF = -math.log(2)


def safe_exp(exponent: float) -> float:
    """The exponential; infinity above 700."""
    return math.exp(exponent) if exponent < _LARGEST else math.inf


def safe_expm1(exponent: float) -> float:
    """The exponential less one; infinity above 700."""
    return math.expm1(exponent) if exponent < _LARGEST else math.inf


def safe_log(number: float) -> float:
    """The logarithm; minus infinity of zero and negative numbers."""
    return math.log(number) if number > 0 else -math.inf


def log1mexp(x: float) -> float:
    """log(1 - e^x), also where e^x rounds to one; minus infinity from x = 0 on."""
    if not x < 0:
        return -math.inf
    return math.log(-math.expm1(x)) if x > _HALF else math.log1p(-math.exp(x))


def log_difference(one: float, other: float) -> float:
    """log(e^one - e^other), to a few ulps of the larger part; minus infinity if the difference is not positive."""
    return one if other == -math.inf else one + log1mexp(other - one)
