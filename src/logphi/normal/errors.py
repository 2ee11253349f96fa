"""Rounding errors of normal masses of many cells."""

from __future__ import annotations

from logphi.arith.floats import ULP

# measured: the intermediate arrays of so many nodes fit a cache
RUN = 1 << 13
# derived: the rounding of a cell's mass besides that of its exponents, and of a share, with a margin
MASS = 24 * ULP
SHARE = 16 * ULP
