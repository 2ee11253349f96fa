"""Exact numbers as real balls at the precision in force, and exact balls as rational numbers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import arb, ctx, fmpq

from logphi.arith.balls import Balls
from logphi.arith.protocol import Parameter
from logphi.certified.route import NotCertifiedError

# derived: 2 to minus this, about 1e-300000, is the smallest number that is written as a decimal in a second
SMALLEST_BITS = 1 << 20
TOO_SMALL = "the answer is below 1e-300000, too small to write it out as a decimal: ask at a smaller epsilon"


def balls() -> Balls:
    """Ball arithmetic at the precision in force, which encloses all errors."""
    return Balls(ctx.prec, proving=True)


def real(parameter: Parameter) -> Any:
    """A parameter as a ball."""
    return parameter.under(balls()).value.real


def constant(value: float) -> Any:
    """A number as a ball: as it was written, or the shortest decimal of a double."""
    return balls().constant(value).value.real


def ball(number: Fraction) -> Any:
    """A rational as a ball."""
    return arb(fmpq(number.numerator, number.denominator))


def on_ball(falling: Callable[[Any], Any], place: Any) -> Any:
    """The range of a decreasing function with values in [0, 1] on a ball, from its values at both ends."""
    if not place.is_finite():
        return arb(0).union(1)
    low, high = place.lower(), place.upper()
    first = falling(low)
    return first if low == high else first.union(falling(high))


def rational(value: Any) -> Fraction:
    """An exact ball as a rational.

    Raises
    ------
    NotCertifiedError
        If it is too small, or too large, to write out.
    """
    mantissa, exponent = value.mid().man_exp()
    if abs(int(exponent)) > SMALLEST_BITS:
        raise NotCertifiedError(TOO_SMALL)
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
