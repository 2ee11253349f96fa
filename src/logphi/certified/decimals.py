"""Balls as decimals, rounded to the safe side."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction


def enclosing(lower: Fraction, upper: Fraction, digits: int) -> tuple[str, str]:
    """Decimals of some digits at least a unit of their last digit outside two nonnegative numbers; zero stays zero."""
    down, up = _context(digits, ROUND_FLOOR), _context(digits, ROUND_CEILING)
    low, high = (context.divide(Decimal(x.numerator), Decimal(x.denominator)) for x, context in ((lower, down), (upper, up)))
    return _plain(low and low.next_minus(down)), _plain(high and high.next_plus(up))


def _context(digits: int, rounding: str) -> Context:
    return Context(prec=digits, rounding=rounding, Emax=10**9, Emin=-(10**9))


def _plain(number: Decimal) -> str:
    return str(number).lower()
