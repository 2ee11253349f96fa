"""Intervals with exact ends, fractions or infinities, which are rounded outward to doubles last."""

from __future__ import annotations

import math
import numbers
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from logphi.text.written import Written

# a float stands here for an infinity only
Exact = Fraction | float

# derived: every integer up to here is a double
WHOLE = 2.0**53


def exact(number: Any) -> Exact | None:
    """The number itself, NaN included; None for anything that is not a real number."""
    if isinstance(number, Written):
        return number.exact
    if isinstance(number, numbers.Rational):
        return Fraction(int(number.numerator), int(number.denominator))
    if not isinstance(number, (float, Decimal, np.floating)):
        return None
    try:
        return Fraction(*number.as_integer_ratio())
    except (OverflowError, ValueError):
        # infinite, or NaN
        return float(number)


def meant(number: Any) -> Interval | None:
    """The interval that a number stands for: for a float, half a unit in its last place on both sides of it.

    Whole floats, integers, fractions and decimals are exact. None for anything that is not a real number.

    Raises
    ------
    ValueError
        If it is NaN.
    """
    value = exact(number)
    if value is None:
        return None
    if value != value:
        raise ValueError(f"arithmetic with a bound needs a number, got {number!r}")
    if isinstance(number, (numbers.Rational, Decimal, Written)) or isinstance(value, float):
        return Interval(value, value)
    double = float(number)
    if double.is_integer() and abs(double) <= WHOLE:
        return Interval(value, value)
    half = Fraction(math.ulp(double)) / 2
    return Interval(value - half, value + half)


class Interval(NamedTuple):
    """``low <= x <= high``; operations are exact, and an infinity that cancels is refused."""

    low: Exact
    high: Exact

    @staticmethod
    def of(low: float, high: float) -> Interval:
        """Between two doubles, which may be infinite."""
        return Interval(*(Fraction(end) if math.isfinite(end) else end for end in (low, high)))

    def outward(self) -> tuple[float, float]:
        """The two nearest doubles that enclose it."""
        low, high = _nearest(self.low), _nearest(self.high)
        return (
            low if low <= self.low else math.nextafter(low, -math.inf),
            high if high >= self.high else math.nextafter(high, math.inf),
        )

    def negated(self) -> Interval:
        """All -x."""
        return Interval(-self.high, -self.low)

    def plus(self, other: Interval) -> Interval:
        """All x + y."""
        return Interval(_sum(self.low, other.low), _sum(self.high, other.high))

    def times(self, factor: Interval) -> Interval:
        """All x c, for factors of one sign."""
        if factor.low < 0:
            return self.negated().times(factor.negated())
        return Interval(
            _product(self.low, factor.low if self.low >= 0 else factor.high),
            _product(self.high, factor.high if self.high >= 0 else factor.low),
        )

    def inverse(self) -> Interval:
        """All 1 / x.

        Raises
        ------
        ZeroDivisionError
            If zero is among them.
        """
        if self.low <= 0 <= self.high:
            low, high = self.outward()
            raise ZeroDivisionError(f"division by a number that may be zero: it lies between {low!r} and {high!r}")
        return Interval(_inverse(self.high), _inverse(self.low))

    def power(self, exponent: int) -> Interval:
        """All x**n, for x of one sign; intermediate results are rounded outward, so that the fractions stay short."""
        if exponent < 0:
            return self.inverse().power(-exponent)
        if self.low < 0:
            found = self.negated().power(exponent)
            return found.negated() if exponent % 2 else found
        found = Interval(Fraction(1), Fraction(1))
        for bit in f"{exponent:b}":
            found = found._above_zero(found)
            found = found._above_zero(self) if bit == "1" else found
        return found

    def _above_zero(self, other: Interval) -> Interval:
        return Interval.of(*Interval(_product(self.low, other.low), _product(self.high, other.high)).outward())


def _nearest(end: Exact) -> float:
    """A double next to the end."""
    try:
        return float(end)
    except OverflowError:
        return math.inf if end > 0 else -math.inf


def _sum(one: Exact, other: Exact) -> Exact:
    if isinstance(one, Fraction):
        return one + other if isinstance(other, Fraction) else other
    if not isinstance(other, Fraction) and one != other:
        raise ValueError("infinity minus infinity is not a number: the bound has an infinite end")
    return one


def _product(one: Exact, other: Exact) -> Exact:
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return one * other
    if one == 0 or other == 0:
        raise ValueError("zero times infinity is not a number: the bound has an infinite end, or is multiplied by infinity")
    return math.inf if (one > 0) == (other > 0) else -math.inf


def _inverse(end: Exact) -> Exact:
    return 1 / end if isinstance(end, Fraction) else Fraction(0)
