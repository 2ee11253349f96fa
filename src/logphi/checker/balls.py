"""Exact numbers as balls, at the precision in force."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from threading import RLock
from typing import Any

import flint
from flint import arb, ctx, fmpq

# A real number that is known to any precision: a ball at the precision in force when it is called.
Real = Callable[[], Any]


class Undecided(ValueError):
    """Why a claim does not follow here."""


# The precision of FLINT is one global variable, which all threads share. The lock that guards it is kept among FLINT's own
# names, so that other code can take the same one without being imported here.
_LOCK = "_precision_lock"


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """``bits`` of working precision inside the block, for one thread at a time; then the old precision, whatever happens."""
    with vars(flint).setdefault(_LOCK, RLock()), ctx.workprec(bits):
        yield


def ball(value: Fraction | int) -> Any:
    """The smallest ball around a rational number."""
    return arb(fmpq(value.numerator, value.denominator))


def exactly(value: Fraction | int) -> Real:
    """A rational number, to any precision."""
    return lambda: ball(value)


ZERO = exactly(0)


def between(low: Any, high: Any) -> Any:
    """A ball around all numbers from ``low`` to ``high``."""
    return arb(low).union(arb(high))


def within(size: Any) -> Any:
    """The ball around zero of radius ``size``."""
    return arb(0, arb(size).abs_upper())


def rough(value: Any) -> float:
    """The middle of a ball as a double, for plans that nothing proved rests on; infinite beyond the range."""
    return float(arb(value).mid())
