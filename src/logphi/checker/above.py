"""Points above a profile, by a function that bounds it."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import arb

from logphi.checker.balls import ball, rough
from logphi.checker.hulls import Place
from logphi.checker.work import EXP, STORED, spend

# chosen: the logarithm of the delta down to which a profile is followed
DEEPEST = -46.0
# derived: halvings of the range of epsilon
HALVINGS = 40

# an upper bound of a profile, as a function of epsilon
Bound = Callable[[Any], Any]


def top(bound: Bound, end: Fraction) -> Fraction:
    """An epsilon with a delta of about e^DEEPEST, or the end; no proof relies on it."""
    low, high = 0.0, float(end)
    spend(10 * EXP * HALVINGS)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if rough(bound(arb(middle))) > math.exp(DEEPEST) else (low, middle)
    return Fraction(high)


def points(bound: Bound, low: Fraction, high: Fraction, number: int) -> list[Place]:
    """Points of a profile, equally far apart."""
    spend((10 * EXP + STORED) * number)
    places = [low + (high - low) * k / number for k in range(number + 1)]
    return [(x, delta) for x in places if (delta := upper(bound(ball(x)))) < 1]


def upper(value: Any) -> Fraction:
    """An upper bound of a ball as a fraction."""
    mantissa, exponent = value.upper().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
