"""The exponential of an answer that is a logarithm."""

from __future__ import annotations

import math

from logphi.answers.bound import Bound
from logphi.answers.enclosure import with_ends
from logphi.arith.floats import ULP

# derived: exponentials of larger numbers overflow
_LARGEST = 709.0


def exponential(log: Bound) -> Bound:
    """The exponential of an enclosed number, rounded outward; on overflow it is between the largest double and infinity."""
    lower, value, upper = _exp(log.lower, -1), _exp(log.value, 0), _exp(log.upper, 1)
    return with_ends(log, lower, value, upper, ledger=log.ledger.scaled(value))


def _exp(log: float, side: int) -> float:
    """e^log, rounded to a side."""
    if log > _LARGEST:
        return math.inf if side > 0 else math.exp(_LARGEST)
    value = math.exp(log)
    if not side or log in (0.0, -math.inf):
        return value
    # an exponential is within two ulps, and its argument within one
    return max(math.nextafter(value * (1 + side * 4 * ULP), side * math.inf), 0.0)
