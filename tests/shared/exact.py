"""Exact numbers for tests: what a float was written as, and whether a bound holds a number of many digits."""

from typing import Any

import mpmath
from mpmath import mpf


def dec(number: Any) -> mpf:
    """The decimal that a user wrote, to the working precision."""
    return mpf(repr(float(number)))


def contains(bound: Any, exact: Any) -> bool:
    """Whether lower <= exact <= upper, compared without rounding."""
    return bool(mpf(bound.lower) <= exact <= mpf(bound.upper))


def noise_tail(x: mpf, *, normal: bool) -> mpf:
    """The probability that normal noise, or Laplace noise, of width one is at least x."""
    if normal:
        return mpmath.erfc(x / mpmath.sqrt(2)) / 2
    return mpmath.exp(-x) / 2 if x >= 0 else 1 - mpmath.exp(x) / 2
