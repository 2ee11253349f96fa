"""A SymPy expression at all points of discs, with rounding, underflow and overflow in the radius.

A disc here has a real midpoint, and holds complex numbers: a value with a finite radius says that the expression is analytic on
the disc of its variable.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from logphi.arith.floats import ELEMENTARY, INFLATE, ULP, Discs
from logphi.mechanisms.formulas.formula_evaluation import NotEnclosedError, evaluated

# derived: above the underflow of any operation on discs, all of which have at least this radius
_UNDERFLOW = 1e-300
# derived: exponentials of smaller numbers are near the smallest normal double
_DEEP = -680.0


def enclosed(expression: Any, variable: Any, x: Discs) -> Discs:
    """All values of an expression of + - * / powers, exp and log; an infinite or undefined radius where that is not known."""
    with np.errstate(all="ignore"):  # not finite: not known
        return evaluated(expression, variable, _DiscRules(_guarded(x)))


@dataclass(frozen=True)
class _DiscRules:
    x: Discs

    def variable(self) -> Discs:
        return self.x

    def rational(self, value: Fraction) -> Discs:
        try:
            mid = float(value)
        except OverflowError:
            raise NotEnclosedError("a number of the formula is out of the range of doubles") from None
        return _guarded(_double(mid, 0.0 if Fraction(mid) == value else ULP * abs(mid)))

    def rounded(self, value: float) -> Discs:
        return _guarded(_double(value, ULP * value))

    def add(self, one: Discs, two: Discs) -> Discs:
        return _guarded(one + two)

    def multiply(self, one: Discs, two: Discs) -> Discs:
        return _guarded(one * two)

    def power(self, base: Discs, exponent: Fraction) -> Discs:
        if exponent.denominator > 1:
            return self.exp(_guarded(self.rational(exponent) * self.log(base)))
        if exponent < 0:
            return _guarded(Discs.exact(1.0) / self.power(base, -exponent))
        found, square, left = Discs.exact(1.0), base, exponent.numerator
        while left:
            if left & 1:
                found = _guarded(found * square)
            left >>= 1
            if left:
                square = _guarded(square * square)
        return found

    def exp(self, exponent: Discs) -> Discs:
        mid = np.exp(exponent.mid)
        near = (np.expm1(exponent.rad) + ELEMENTARY) * mid
        # where the midpoint underflows, the largest modulus is the radius, and zero the midpoint
        top = np.exp(exponent.mid + exponent.rad) * (1 + 2 * ELEMENTARY + ULP * (np.abs(exponent.mid) + exponent.rad))
        deep = exponent.mid < _DEEP
        return _guarded(Discs(np.where(deep, 0.0, mid), np.where(deep, top, near) * INFLATE))

    def log(self, value: Discs) -> Discs:
        mid = np.log(value.mid)
        # rounded up, as the error is large where this is near one
        relative = value.rad / np.abs(value.mid) * INFLATE
        own = np.where(relative < 1, -np.log1p(-np.minimum(relative, 1.0)), np.inf)
        return _guarded(Discs(mid, (own + ELEMENTARY * np.abs(mid)) * INFLATE))


def _guarded(x: Discs) -> Discs:
    return Discs(x.mid, x.rad + _UNDERFLOW)


def _double(mid: float, rad: float) -> Discs:
    return Discs(np.float64(mid), np.float64(rad))  # type: ignore[arg-type]


def finite(x: Discs) -> Any:
    """Whether each value is known."""
    return np.isfinite(x.mid) & np.isfinite(x.rad)


def log_constant(value: Fraction) -> Discs:
    """The logarithm of a positive rational number."""
    rules = _DiscRules(Discs.exact(0.0))
    return rules.log(rules.rational(value)) if value != 1 else Discs.exact(0.0)
