"""Masses of normal laws, and of mixtures of their shifts, above or below a point, with small relative errors also if tiny."""

from __future__ import annotations

import math

import numpy as np

from logphi.arith.floats import ULP
from logphi.arith.scaled import Scaled
from logphi.arith.summation import log_sum
from logphi.arrays import Array
from logphi.normal.cells import WIDE, log_normal_mass
from logphi.normal.errors import MASS

# derived: farther out, an ulp of the point changes a normal tail by a large part of its size
_FARTHEST = 1e7
# for a single law: its centre, the logarithm of its weight, and its error, all zero
ALONE = np.zeros(1)


def log_masses(low: Array, high: Array) -> tuple[Array, Array]:
    """Logarithms of the normal masses of cells, and their relative errors."""
    inner = np.where((low < 0) & (high > 0), 0.0, np.minimum(np.abs(low), np.abs(high)))
    return log_normal_mass(low, high), MASS + WIDE + 2 * ULP * (inner + 1) ** 2


def mixed_sides(
    low: float, high: float, centres: Array, log_weights: Array, weight_error: Array
) -> tuple[Scaled, Scaled] | None:
    """The masses of sum p_i N(c_i, 1) above and below a point that lies between two; None where these are too far out.

    Centres are known to four ulps, weights to a relative ``weight_error`` and some ulps of their logarithms; the two points may
    be infinite.
    """
    ends = [place for place in (low, high) if math.isfinite(place)]
    if any(np.abs(place - centres).max() > _FARTHEST for place in ends):
        return None

    def side(place: float, sign: int) -> tuple[float, float]:
        """Bounds of the logarithm of the mass above a point (sign 1), or below it (sign -1)."""
        if math.isinf(place):
            certain = 0.0 if sign * place < 0 else -math.inf
            return certain, certain
        ahead = sign * (place - centres)
        log_mass, wrong = log_masses(ahead, np.full(ahead.shape, np.inf))
        # the relative change of a tail is at most (end + 1) times the change of its end
        by_place = (1 + np.maximum(ahead, 0.0)) * ULP * (4 * np.abs(centres) + np.abs(ahead))
        exponent = log_weights + log_mass
        # on a logarithmic scale a relative error counts at most twice
        unsure = 2 * (wrong + by_place + weight_error + ULP * (4 + np.abs(log_weights) + np.abs(exponent) + centres.size))
        return float(log_sum(exponent - unsure)), float(log_sum(exponent + unsure))

    above = Scaled.between(side(high, 1)[0], side(low, 1)[1])
    below = Scaled.between(side(low, -1)[0], side(high, -1)[1])
    return above, below
