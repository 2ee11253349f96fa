"""Bounds of a normal quantile, and a mu for which a pair with bounded loss is mu-GDP."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from logphi.arith.floats import ULP
from logphi.normal.tails import log_masses

# measured: two enclosures nearly always suffice; derived: doubled steps pass every quantile of a double
_MOST_STEPS = 64
# derived: sums of a few logarithms of doubles
_ROUNDING = 2e-15
# derived: farther out, an ulp of the point changes the tail by more than its size
_FARTHEST = 1e8
# the far end of a tail
_INFINITE = np.array([np.inf])


def quantile_below(log_mass: float) -> float:
    """A z with Phi(z) <= e^log_mass, slightly below the largest such z; sharp for masses up to one half."""
    return _on_side(log_mass, -1)


def quantile_above(log_mass: float) -> float:
    """A z with Phi(z) >= e^log_mass, slightly above the smallest such z; sharp for masses up to one half."""
    return _on_side(log_mass, 1)


def _on_side(log_mass: float, sign: int) -> float:
    """A guess, moved outward until an enclosure of the tail proves that it is on the given side."""
    if log_mass == -math.inf or log_mass >= 0:
        return math.copysign(math.inf, log_mass)
    place = float(ndtri_exp(log_mass))
    step = 4 * ULP * (1 + abs(place))
    for _ in range(_MOST_STEPS if abs(place) < _FARTHEST else 0):
        log_tail, wrong = log_masses(np.array([-place]), _INFINITE)
        unsure = float(wrong[0]) + ULP * (2 + abs(float(log_tail[0])))
        low, high = float(log_tail[0]) - 2 * unsure, float(log_tail[0]) + 2 * unsure
        missing = log_mass - low if sign > 0 else high - log_mass
        if missing <= 0:
            return place
        slope = math.exp(-place * place / 2 - float(log_ndtr(place))) / math.sqrt(2 * math.pi)
        step = max(2 * step, missing / slope if slope > 0 else 0.0)
        place += sign * step
    return sign * math.inf


def shift_of_ends(infimum: float, supremum: float) -> float:
    """A mu, slightly above the smallest, for which all pairs with these bounds of log(p/q) are mu-GDP.

    The trade-off function of P and Q is at least the largest of
    1 - e^supremum a and e^infimum (1 - a), whose graph has one corner (a, b). The normal trade-off function is convex, so that
    it stays below if it does at the corner: there mu is the difference of the normal quantiles at 1 - b and at a.
    """
    if infimum >= 0 or supremum <= 0:
        # a likelihood ratio has mean one
        return 0.0
    if math.isinf(supremum - infimum):
        return math.inf
    span = math.log(-math.expm1(infimum - supremum))
    log_first = math.log(-math.expm1(infimum)) - supremum - span
    log_second = infimum + math.log(-math.expm1(-supremum)) - span
    first, second = (log - _ROUNDING * (4 + abs(log) + abs(span)) for log in (log_first, log_second))
    return -(quantile_below(first) + quantile_below(second)) * (1 + 4 * ULP)
