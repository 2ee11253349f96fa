"""Rounding errors of normal masses of many cells, and sums of exponentials."""

from __future__ import annotations

import numpy as np

from logphi.arith.floats import ULP
from logphi.arrays import Array

# measured: so many nodes' intermediate arrays fit a cache
RUN = 1 << 13
# derived: the roundings of a cell's mass beside those of its exponents, and of a share, with room
MASS = 24 * ULP
SHARE = 16 * ULP


def log_sum(exponent: Array) -> Array:
    """log(sum(exp)) along the last axis."""
    peak = exponent.max(axis=-1)
    total: Array = np.log(np.exp(exponent - peak[..., None]).sum(axis=-1)) + peak
    return total
