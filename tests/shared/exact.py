"""Exact numbers for tests: what a float was written as, and whether a bound holds a number of many digits."""

from typing import Any

from mpmath import mpf


def dec(number: Any) -> mpf:
    """The decimal that a user wrote, to the working precision."""
    return mpf(repr(float(number)))


def contains(bound: Any, exact: Any) -> bool:
    """Whether lower <= exact <= upper, compared without rounding."""
    return bool(mpf(bound.lower) <= exact <= mpf(bound.upper))
