"""Whole powers of complex arrays."""

from __future__ import annotations

import numpy as np

from logphi.arrays import Complex


def power(base: Complex, count: int) -> Complex:
    """The power by repeated squaring, whose error is at most that of ``count`` multiplications in a row."""
    result: Complex | None = None
    while True:
        if count & 1:
            result = base if result is None else result * base
        count >>= 1
        if not count:
            return np.ones_like(base) if result is None else result
        base = base * base
