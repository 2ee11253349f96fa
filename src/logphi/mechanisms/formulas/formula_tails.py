"""Upper bounds of the integral of e^f over all y >= Y, from the asymptotic form of the formula of f.

notation: each part of f is c y^k + m log y for all y >= Y, k a rational number, c and m intervals, or the exponential of that.
Interval ends are rounded outward.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from logphi.mechanisms.formulas.formula_evaluation import NotEnclosedError, evaluated

# derived: far more than the rounding of one operation, relative to its operands
_ROUNDED = 1e-14
# derived: far more than one operation loses to underflow
_UNDERFLOW = 1e-300
# the refusal of a formula whose asymptotic form is not known
_UNKNOWN = "a formula has no enclosure up to an end of the support"


@dataclass(frozen=True)
class _Interval:
    low: float
    high: float

    @staticmethod
    def of(*ends: float) -> _Interval:
        """The hull, rounded outward."""
        if not all(math.isfinite(end) for end in ends):
            raise NotEnclosedError(_UNKNOWN)
        low, high = min(ends), max(ends)
        return _Interval(low - _ROUNDED * abs(low) - _UNDERFLOW, high + _ROUNDED * abs(high) + _UNDERFLOW)

    @property
    def zero(self) -> bool:
        return self.low == self.high == 0

    def __add__(self, other: _Interval) -> _Interval:
        if self.zero or other.zero:
            return other if self.zero else self
        # a sum may cancel: the rounding is relative to the operands
        room = _ROUNDED * max(abs(self.low), abs(self.high), abs(other.low), abs(other.high))
        return _Interval.of(self.low + other.low - room, self.high + other.high + room)

    def __mul__(self, other: _Interval) -> _Interval:
        # a product that underflows is not zero
        if self.zero or other.zero:
            return _ZERO
        return _Interval.of(*(a * b for a in (self.low, self.high) for b in (other.low, other.high)))

    def __neg__(self) -> _Interval:
        return _Interval(-self.high, -self.low)


_ZERO = _Interval(0.0, 0.0)


@dataclass(frozen=True)
class _Tail:
    """c y^k + m log y for y >= ``start``, or its exponential."""

    start: float
    c: _Interval
    k: Fraction = Fraction(0)
    m: _Interval = _ZERO
    exponential: bool = False

    def plain(self) -> _Tail:
        """The value without an exponential: a power or a bounded function where it is one, or zero up to its largest value."""
        if not self.exponential:
            return self
        if self.k == 0 and self.m.low == self.m.high:
            return _Tail(self.start, _exp(self.c), Fraction(self.m.low))
        if self.k <= 0 and self.m.zero:
            return _Tail(self.start, _exp(self.c * _up_to(self.start, self.k)))
        top = self._largest_exponent()
        return _Tail(self.start, _Interval.of(0.0, _exp(_Interval.of(top)).high))

    def _largest_exponent(self) -> float:
        """The largest value of c y^k + m log y; an error if it may grow."""
        k, c, m = float(self.k), self.c.high, self.m.high
        at = (self.c * _power(self.start, self.k)).high + (self.m * _log(self.start)).high
        if (k > 0 and c <= 0 and c * k * self.start**k * (1 - _ROUNDED) + m <= 0) or (k == 0 and m <= 0):
            return at + _ROUNDED * (1 + abs(at))
        if k < 0 and m <= 0:
            return max((self.c * _up_to(self.start, self.k)).high, 0.0) + (self.m * _log(self.start)).high + _ROUNDED
        raise NotEnclosedError(_UNKNOWN)

    def exponent(self) -> _Tail | None:
        """The logarithm, if the value is positive."""
        if self.exponential:
            return _Tail(self.start, self.c, self.k, self.m)
        if self.m.zero and self.c.low > 0:
            return _Tail(self.start, _log_of(self.c), Fraction(0), _number(self.k))
        return None

    def __add__(self, other: _Tail) -> _Tail:
        if self.exponential or other.exponential:
            one, two = self.exponent(), other.exponent()
            if one is not None and two is not None:
                return _sum_of_exponentials(one, two)
        a, b = self.plain(), other.plain()
        low, high = sorted((a, b), key=lambda one: one.k)
        if high.c.zero:
            low, high = high, low
        lost = _ZERO if low.c.zero else low.c * _up_to(self.start, low.k - high.k)
        return _Tail(self.start, high.c + lost, high.k, a.m + b.m)

    def __mul__(self, other: _Tail) -> _Tail:
        if self.exponential or other.exponential:
            one, two = self.exponent(), other.exponent()
            if one is not None and two is not None:
                total = one + two
                return _Tail(self.start, total.c, total.k, total.m, True)
        a, b = self.plain(), other.plain()
        if a.m.zero:
            a, b = b, a
        if not b.m.zero or (not a.m.zero and b.k != 0):
            raise NotEnclosedError(_UNKNOWN)
        return _Tail(self.start, a.c * b.c, a.k + b.k, a.m * b.c)

    def power(self, exponent: Fraction) -> _Tail:
        """The power: of a positive value, or with a whole exponent."""
        log = self.exponent()
        if log is not None:
            times = _number(exponent)
            if self.exponential:
                return _Tail(self.start, log.c * times, log.k, log.m * times, True)
            return _Tail(self.start, _exp(_log_of(self.c) * times), self.k * exponent)
        own = self.plain()
        if exponent.denominator > 1 or not own.m.zero or (exponent < 0 and own.c.low <= 0 <= own.c.high):
            raise NotEnclosedError(_UNKNOWN)
        n = exponent.numerator
        ends = [end**n for end in (own.c.low, own.c.high)]
        if n % 2 == 0 and own.c.low <= 0 <= own.c.high:
            ends.append(0.0)
        scale = 1 + abs(n) * _ROUNDED
        return _Tail(self.start, _Interval.of(*(end * s for end in ends for s in (scale, 1 / scale))), own.k * exponent)

    def integral(self, shift: int) -> float:
        """The logarithm of an upper bound of the integral of y^shift times the exponential."""
        k, log_start = float(self.k), _log(self.start)
        at_start = _power(self.start, self.k)
        grows = self.m + _number(Fraction(shift + 1))
        if self.k > 0 and self.c.high < 0:
            # in log y, the exponent falls at this rate or faster
            rate = -((_Interval.of(self.c.high * k) * at_start) + grows).high
            top = (_Interval.of(self.c.high) * at_start + grows * log_start).high
        elif self.k <= 0 or self.c.zero:
            rate = -grows.high
            reach = self.c * _up_to(self.start, self.k) if self.k <= 0 else _ZERO
            top = (reach + grows * log_start).high
        else:
            raise NotEnclosedError(_UNKNOWN)
        if not rate > 0:
            return math.inf
        return top - math.log(rate) + _ROUNDED * (1 + abs(top) + abs(math.log(rate)))


def _sum_of_exponentials(one: _Tail, two: _Tail) -> _Tail:
    """The sum of e^one and e^two, at least the larger and at most twice that, or sharper if one falls faster."""
    if one.k != two.k:
        slow, fast = sorted((one, two), key=lambda each: each.k)
        if slow.k >= 0 and fast.c.high < 0:
            gap = fast + _Tail(slow.start, -slow.c, slow.k, -slow.m)
            top = _Tail(gap.start, gap.c, gap.k, gap.m, True)._largest_exponent()
            more = _Interval.of(0.0, math.log1p(_exp(_Interval.of(top)).high)) * _up_to(slow.start, -slow.k)
            return _Tail(slow.start, slow.c + more, slow.k, slow.m, True)
        # the slower one inside the coefficient of the other
        slow = _Tail(slow.start, slow.c * _up_to(slow.start, slow.k - fast.k), fast.k, slow.m)
        one, two = slow, fast
    larger = max((one, two), key=lambda each: (each.c.low, each.m.low))
    doubled = _Interval.of(0.0, math.log(2)) * (_up_to(one.start, -one.k) if one.k > 0 else _Interval(1.0, 1.0))
    if one.k < 0:
        raise NotEnclosedError(_UNKNOWN)
    c = _Interval.of(larger.c.low, max(one.c.high, two.c.high)) + doubled
    return _Tail(one.start, c, one.k, _Interval.of(larger.m.low, max(one.m.high, two.m.high)), True)


def _number(value: Fraction) -> _Interval:
    found = float(value)
    return _Interval(found, found) if Fraction(found) == value else _Interval.of(found)


def _exp(x: _Interval) -> _Interval:
    if x.high > 700:
        raise NotEnclosedError(_UNKNOWN)
    room = _ROUNDED * (1 + max(abs(x.low), abs(x.high)))
    return _Interval.of(math.exp(x.low - room) if x.low > -740 else 0.0, math.exp(x.high + room))


def _log_of(x: _Interval) -> _Interval:
    return _Interval.of(math.log(x.low) - _ROUNDED, math.log(x.high) + _ROUNDED)


def _log(x: float) -> _Interval:
    return _Interval.of(math.log(x))


def _power(start: float, k: Fraction) -> _Interval:
    if k == 0:
        return _Interval(1.0, 1.0)
    exponent = float(k) * math.log(start)
    return _exp(_Interval.of(exponent))


def _up_to(start: float, k: Fraction) -> _Interval:
    """All values of y^k, k <= 0, for y >= Y."""
    return _Interval.of(0.0, _power(start, k).high) if k else _Interval(1.0, 1.0)


def log_tail(expression: Any, variable: Any, start: float, shift: int = 0) -> float:
    """The logarithm of an upper bound of the integral of y^shift e^f over y >= ``start``, at least 2; infinite if not known."""
    try:
        return evaluated(expression, variable, _TailRules(start)).plain().integral(shift)
    except (NotEnclosedError, OverflowError, ZeroDivisionError):
        return math.inf


@dataclass(frozen=True)
class _TailRules:
    start: float

    def variable(self) -> _Tail:
        return _Tail(self.start, _Interval(1.0, 1.0), Fraction(1))

    def rational(self, value: Fraction) -> _Tail:
        return _Tail(self.start, _number(value))

    def rounded(self, value: float) -> _Tail:
        return _Tail(self.start, _Interval.of(value))

    def add(self, one: _Tail, two: _Tail) -> _Tail:
        return one + two

    def multiply(self, one: _Tail, two: _Tail) -> _Tail:
        return one * two

    def power(self, base: _Tail, exponent: Fraction) -> _Tail:
        return base.power(exponent)

    def exp(self, exponent: _Tail) -> _Tail:
        own = exponent.plain()
        return _Tail(self.start, own.c, own.k, own.m, True)

    def log(self, value: _Tail) -> _Tail:
        found = value.exponent()
        if found is None:
            raise NotEnclosedError(_UNKNOWN)
        return found
