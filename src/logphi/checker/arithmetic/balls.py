"""Rational numbers as balls at the precision in force, and the normal tail."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from threading import RLock
from typing import Any

import flint
from flint import acb, arb, ctx, fmpq

from logphi.checker.arithmetic.work import MOST_BITS, OUT_OF_RANGE, TAIL, demand, spend

# A real number known to any precision: calling it gives a ball at the precision in force.
Real = Callable[[], Any]


# chosen: the largest number of bits before and after the point of a bound that is a fraction
LONGEST = 10**5

# All threads share FLINT's precision. The lock that guards it is an attribute of FLINT's module, so that the code that issues
# certificates takes the same lock, although neither imports the other.
_LOCK = "_precision_lock"


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """``bits`` of precision inside the block, for one thread at a time; the old precision is restored afterwards."""
    demand(bits <= MOST_BITS, "the claim needs more digits than this checker computes with")
    with vars(flint).setdefault(_LOCK, RLock()), ctx.workprec(bits):
        yield


def resolving(goal: float, spare: int = 64) -> int:
    """The bits that numbers about as large as one need for errors of e^``goal``, and spare ones."""
    return int(-goal / math.log(2)) + spare


def ball(value: Fraction | int) -> Any:
    """The smallest ball around a rational number."""
    return arb(fmpq(value.numerator, value.denominator))


def exactly(value: Fraction | int) -> Real:
    """A rational number as a :data:`Real`."""
    return lambda: ball(value)


ZERO = exactly(0)


def between(low: Any, high: Any) -> Any:
    """A ball around all numbers from ``low`` to ``high``."""
    return arb(low).union(arb(high))


def within(size: Any) -> Any:
    """The ball around zero of radius ``size``."""
    return arb(0, arb(size).abs_upper())


def rough(value: Any) -> float:
    """The midpoint of a ball as a double, infinite on overflow; only for choices on which no proof rests."""
    return float(arb(value).mid())


def upper(value: Any) -> Fraction:
    """An upper bound of a ball as a fraction that is not too long."""
    mantissa, exponent = map(int, value.upper().man_exp())
    size = mantissa.bit_length() + exponent
    demand(size < LONGEST, OUT_OF_RANGE)
    if size < -LONGEST:
        return Fraction(mantissa > 0, 2**LONGEST)
    return mantissa * Fraction(2) ** exponent


def normal_tail(x: Any) -> Any:
    """P(X > x), X standard normal, for a real or complex ball x or an infinity."""
    if x in (arb.neg_inf(), arb.pos_inf()):
        return arb(1) if x == arb.neg_inf() else arb(0)
    spend(TAIL if isinstance(x, acb) else TAIL // 6)
    return (x / arb(2).sqrt()).erfc() / 2


def normal_density(x: Any) -> Any:
    """The density of a standard normal law, at a real or complex ball."""
    return (-(x**2) / 2).exp() / (2 * arb.pi()).sqrt()


def cached(compute: Callable[[], Any]) -> Callable[[], Any]:
    """The same function, whose value is kept until it is called at another precision."""
    known: dict[int, Any] = {}

    def value() -> Any:
        if ctx.prec not in known:
            found = compute()
            known.clear()
            known[ctx.prec] = found
        return known[ctx.prec]

    return value
