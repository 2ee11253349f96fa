"""Functions of exponential order: bounds of their growth, from the operations in their formulas.

A function of Balls is evaluated with an :class:`Affine` in place of its real variable x. Sums and multiples of affine functions
are affine; their exponentials, and products, sums and powers of those, are an :class:`Order`: with t = |x|,

    |f(x)| <= e^{u_1 t + u_0},  and  f(x) >= e^{-(d_1 t + d_0)} where f is known to be positive.

The bounds hold for all real x. Other operations are refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from logphi.arith.ball import Ball, precision

# a linear function of t: slope and constant
Linear = tuple[Any, Any]


class _Function:
    """The operations that both classes of functions refuse."""

    def refuse(self, *_: Any) -> NoReturn:
        """Raise a NotImplementedError: nothing bounds the growth of such a function."""
        raise NotImplementedError("the size of this function far out is not known: it is no power of sums of exponentials")

    __truediv__ = __rtruediv__ = __rpow__ = refuse


@dataclass(frozen=True, eq=False)
class Affine(_Function):
    """``slope x + constant``, both balls."""

    slope: Ball
    constant: Ball

    def __neg__(self) -> Affine:
        return Affine(-self.slope, -self.constant)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Affine):
            return Affine(self.slope + other.slope, self.constant + other.constant)
        if isinstance(other, Order):
            return other + self
        return Affine(self.slope, self.constant + other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + (-other)

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Affine:
        if not isinstance(other, (Ball, int)):
            self.refuse()
        return Affine(self.slope * other, self.constant * other)

    __rmul__ = __mul__

    __pow__ = _Function.refuse

    def exp(self) -> Order:
        """The exponential, as an order of growth; positive where slope and constant are real."""
        with precision(self.slope.bits):
            rise, start = abs(self.slope.value.real).upper(), self.constant.value.real
            real = self.slope.value.imag.is_zero() and self.constant.value.imag.is_zero()
            return Order((rise, start.upper()), (rise, (-start).upper()) if real else None, self.slope.bits)


@dataclass(frozen=True, eq=False)
class Order(_Function):
    """A function whose logarithm is at most ``above`` and at least minus ``below``, which is None unless it is positive."""

    above: Linear
    below: Linear | None
    bits: int

    def __add__(self, other: Any) -> Order:
        one = order_of(other, self.bits)
        if one is None:
            return self
        with precision(self.bits) as flint:
            rise, start = (a.max(b) for a, b in zip(self.above, one.above, strict=True))
            below = None
            if self.below is not None and one.below is not None:
                # the sum is no smaller than either summand
                below = self.below if self.below[0] < one.below[0] else one.below
            return Order((rise, start + flint.arb(2).log()), below, self.bits)

    __radd__ = __add__

    def __neg__(self) -> Order:
        return Order(self.above, None, self.bits)

    def __sub__(self, other: Any) -> Order:
        return self.__add__(-other)

    def __rsub__(self, other: Any) -> Order:
        return (-self).__add__(other)

    def exp(self) -> NoReturn:
        """Refused: it grows faster than an exponential."""
        self.refuse()

    def __mul__(self, other: Any) -> Any:
        one = order_of(other, self.bits)
        if one is None:
            return other
        with precision(self.bits):
            below = None
            if self.below is not None and one.below is not None:
                below = (self.below[0] + one.below[0], self.below[1] + one.below[1])
            return Order((self.above[0] + one.above[0], self.above[1] + one.above[1]), below, self.bits)

    __rmul__ = __mul__

    def __pow__(self, power: Any) -> Order:
        """A power of a positive function: ``|f^a| = f^{Re a}``."""
        if self.below is None or not isinstance(power, (Ball, int)):
            self.refuse()
        with precision(self.bits) as flint:
            real = flint.acb(power).real if isinstance(power, int) else power.value.real
            kept = isinstance(power, int) or power.value.imag.is_zero()
            # log f lies between -below and above, and therefore between their positive parts, for either sign of Re a
            up, down = (_positive(one) for one in (real, -real))
            (a, b), (c, d) = ((_positive(rise), _positive(start)) for rise, start in (self.above, self.below))
            above, below = (up * a + down * c, up * b + down * d), (up * c + down * a, up * d + down * b)
        return Order(above, below if kept else None, self.bits)


def order_of(value: Any, bits: int) -> Order | None:
    """The order of growth of a value, which may be a constant; None for zero."""
    if isinstance(value, Order):
        return value
    if isinstance(value, Affine):
        if not value.slope.value.is_zero():
            value.refuse()
        return order_of(value.constant, bits)
    with precision(bits) as flint:
        number = flint.acb(value) if isinstance(value, int) else value.value
        if number.is_zero():
            return None
        positive = number.imag.is_zero() and number.real > 0
        zero = flint.arb(0)
        below = (zero, -number.real.lower().log()) if positive else None
        return Order((zero, number.abs_upper().log()), below, bits)


def _positive(number: Any) -> Any:
    """An upper bound of a real ball, or zero if that is larger."""
    return number.upper().max(type(number)(0))
