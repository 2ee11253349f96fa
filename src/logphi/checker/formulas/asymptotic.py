"""Functions for all y >= Y, as c y^k + m log y: enough to bound an integral up to infinity.

Y >= 1 is a number, k is rational, and c and m are balls, real or complex, that hold the coefficients at every such y.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from flint import acb, arb

from logphi.checker.arithmetic.balls import ball, between, within
from logphi.checker.arithmetic.work import Undecided
from logphi.checker.formulas.formula import Arithmetic


@dataclass(frozen=True)
class Asymptotic:
    """The function c y^k + m log y, y >= ``start``."""

    start: Any
    c: Any
    k: Fraction = Fraction(0)
    m: Any = field(default_factory=arb)

    def __add__(self, other: Asymptotic) -> Asymptotic:
        (low, high) = sorted((self, other), key=lambda one: one.k)
        if high.c.is_zero():
            low, high = high, low
        lost = arb(0) if low.c.is_zero() else low.c * _up_to(self.start, low.k - high.k)
        return Asymptotic(self.start, high.c + lost, high.k, self.m + other.m)

    def __neg__(self) -> Asymptotic:
        return Asymptotic(self.start, -self.c, self.k, -self.m)

    def __sub__(self, other: Asymptotic) -> Asymptotic:
        return self + -other

    def __mul__(self, other: Asymptotic) -> Asymptotic:
        one, two = (self, other) if other.m.is_zero() else (other, self)
        if not two.m.is_zero() or not (one.m.is_zero() or two.k == 0):
            raise Undecided("this checker cannot follow a formula to infinity: a logarithm has a factor other than a number")
        return Asymptotic(self.start, self.c * other.c, self.k + other.k, one.m * two.c)

    def __truediv__(self, other: Asymptotic) -> Asymptotic:
        return self * other._of_one_sign("a divisor").power(Fraction(-1))

    def _of_one_sign(self, what: str, positive: bool = False) -> Asymptotic:
        """The function itself, if it is c y^k and its sign is known."""
        complex_one = isinstance(self.c, acb)
        known = not self.c.contains(0) if complex_one else self.c > 0 or (self.c < 0 and not positive)
        if not self.m.is_zero() or not known:
            raise Undecided(f"this checker cannot follow a formula to infinity: the sign or the growth of {what} is not clear")
        return self

    def power(self, exponent: Fraction) -> Asymptotic:
        """The power, for a whole exponent or a positive function."""
        whole = exponent.denominator == 1
        base = self if whole and exponent > 0 and self.m.is_zero() else self._of_one_sign("a power", positive=not whole)
        c = base.c**exponent.numerator if whole else (base.c.log() * ball(exponent)).exp()
        return Asymptotic(self.start, c, self.k * exponent)

    def log(self) -> Asymptotic:
        """Log c + k log y, for a positive c y^k."""
        return Asymptotic(self.start, self._of_one_sign("a logarithm", positive=True).c.log(), Fraction(0), ball(self.k))

    def exp(self) -> Asymptotic:
        """The exponential of a function that is bounded, or falls."""
        if self.m.is_zero() and self.k <= 0:
            return Asymptotic(self.start, (self.c * _up_to(self.start, self.k)).exp() if self.k else self.c.exp())
        c = acb(self.c).real.upper()
        if isinstance(self.m, arb) and self.m <= 0 and c < 0:
            # at most its value at Y where k > 0, and at most one elsewhere
            top = (c * self.start ** ball(self.k)).exp() if self.k > 0 else arb(1)
            return Asymptotic(self.start, between(0, top) if isinstance(self.c, arb) else acb(within(top), within(top)))
        raise Undecided("this checker cannot follow a formula to infinity: an exponential grows")

    def largest(self) -> Any:
        """A bound of |c y^k| for all y >= Y; infinite if it grows."""
        return abs(self.c * _up_to(self.start, self.k)).abs_upper() if self.m.is_zero() and self.k <= 0 else arb.pos_inf()

    def integral(self, shift: int = 0) -> Any:
        """A bound of the integral of e^{c y^k + m log y} y^shift over all y >= Y."""
        c, m, k, start = self.c.upper(), (self.m + shift).upper(), ball(self.k), self.start
        if self.k > 0 and c < 0:
            s = (m + 1) / k
            return ((-c) ** -s * (-c * start**k).gamma_upper(s) / k).abs_upper()
        if self.k <= 0 and m < -1:
            return ((c * _up_to(start, self.k)).exp() * start ** (m + 1) / -(m + 1)).abs_upper()
        raise Undecided("this checker cannot show that the integral of a density up to infinity is finite")


def _up_to(start: Any, k: Fraction) -> Any:
    """All values of y^k, k <= 0, for y >= Y."""
    return between(0, start ** ball(k)) if k else arb(1)


class AsymptoticArithmetic(Arithmetic):
    """The arithmetic of :class:`Asymptotic`, for y >= ``start``."""

    def __init__(self, start: Any) -> None:
        self.start = start

    def constant(self, value: Any) -> Asymptotic:
        """A constant function."""
        return Asymptotic(self.start, value)

    def power(self, x: Asymptotic, exponent: Fraction) -> Asymptotic:
        """See :class:`Asymptotic`."""
        return x.power(exponent)
