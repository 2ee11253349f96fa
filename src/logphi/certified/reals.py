"""Exact numbers as real balls of the present precision, and exact balls as numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from flint import arb, ctx, fmpq

from logphi.arith.ball import Balls
from logphi.arith.protocol import Parameter


def balls() -> Balls:
    """The arithmetic of the present precision, in which a parameter is what was written, or its double."""
    return Balls(ctx.prec, doubles=True)


def real(parameter: Parameter) -> Any:
    """A parameter as a ball."""
    return parameter.under(balls()).value.real


def constant(value: float) -> Any:
    """A number as a ball: what was written, or the double."""
    return balls().constant(value).value.real


def ball(number: Fraction) -> Any:
    """A rational as a ball."""
    return arb(fmpq(number.numerator, number.denominator))


def rational(value: Any) -> Fraction:
    """An exact ball as a rational."""
    mantissa, exponent = value.mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
