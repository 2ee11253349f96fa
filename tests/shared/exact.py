"""Exact numbers for tests: what a float was written as, and whether a bound holds a number of many digits."""

from mpmath import mpf


def dec(number):
    """The decimal that a user wrote, to the working precision."""
    return mpf(repr(float(number)))


def contains(bound, exact):
    """Whether lower <= exact <= upper, compared without rounding."""
    return mpf(bound.lower) <= exact <= mpf(bound.upper)
