"""Rounding errors of normal masses of many cells."""

from __future__ import annotations

from logphi.arith.floats import ULP

# measured: so many nodes' intermediate arrays fit a cache
RUN = 1 << 13
# derived: the roundings of a cell's mass beside those of its exponents, and of a share, with room
MASS = 24 * ULP
SHARE = 16 * ULP
