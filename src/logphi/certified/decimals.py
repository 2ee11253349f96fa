"""Balls as decimals, rounded to the safe side."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from flint import arb, fmpq

from logphi.certified.route import NotCertifiedError

# what is smaller takes long to write down
SMALLEST_BITS = 1 << 20
TOO_SMALL = "the answer is below 1e-300000, too small to write it out as a decimal: ask at a smaller epsilon"
_NEGLIGIBLE = "1e-1000"


def ball(number: Fraction) -> Any:
    """A rational as a ball."""
    return arb(fmpq(number.numerator, number.denominator))


def shown(value: Any, digits: int) -> str:
    """The upper end of a real ball, rounded up to some digits; of what is negligible, a bound."""
    top = value.upper()
    if 0 < top < arb(_NEGLIGIBLE):
        return _NEGLIGIBLE
    return _plain(_rounded(exact(top), digits, ROUND_CEILING))


def exact(value: Any) -> Fraction:
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


def enclosing(lower: Fraction, upper: Fraction, digits: int) -> tuple[str, str]:
    """Decimals of some digits around two numbers that are not negative, a unit of the last digit to spare; zero is exact."""
    down, up = _context(digits, ROUND_FLOOR), _context(digits, ROUND_CEILING)
    low, high = (context.divide(Decimal(x.numerator), Decimal(x.denominator)) for x, context in ((lower, down), (upper, up)))
    return _plain(low and low.next_minus(down)), _plain(high and high.next_plus(up))


def _rounded(number: Fraction, digits: int, rounding: str) -> Decimal:
    return _context(digits, rounding).divide(Decimal(number.numerator), Decimal(number.denominator))


def _context(digits: int, rounding: str) -> Context:
    return Context(prec=digits, rounding=rounding, Emax=10**9, Emin=-(10**9))


def _plain(number: Decimal) -> str:
    return str(number).lower()
