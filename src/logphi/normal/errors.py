"""Rounding errors of normal masses of cells, and how many cells are computed at a time."""

from __future__ import annotations

from logphi.arith.floats import ULP

# measured: the intermediate arrays of this many nodes fit a cache
RUN = 1 << 13
# derived, with a margin: the relative rounding error of a cell's mass, besides that of its exponents
MASS = 24 * ULP
# derived, with a margin: the rounding error of a share
SHARE = 16 * ULP
