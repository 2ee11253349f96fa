"""The logarithm of the gamma function in the right half-plane, with a bound of its error.

Stirling's series at |s| >= 16: with |arg s| < pi/2, what is left out is at most 2^N times the first term left out, where N is
the number of that term (Olver 1974, *Asymptotics and Special Functions*, chapter 8). Below, s moves up by a product of s + k.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ULP
from logphi.arrays import Array

# B_{2k} / (2k (2k - 1))
_TERMS = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)
_MOVED = 16
_LOG_ROOT = 0.9189385332046727


def log_gamma(s: NDArray[Any]) -> NDArray[np.complex128]:
    """Log Gamma at complex points with a positive real part, continuous in each line up from the real axis."""
    s = np.asarray(s, dtype=complex)
    near = np.abs(s) < _MOVED
    found = _stirling(np.where(near, s + _MOVED, s))
    if near.any():
        found[near] -= np.log(s[near][:, None] + np.arange(_MOVED)).sum(axis=1)
    return found


def log_gamma_error(real: float, heights: Array) -> Array:
    """A bound of its error at real + i heights."""
    size = np.hypot(real, heights) + _MOVED
    # derived: roundings of (s - 1/2) log s and of the sum; of sixteen logarithms, each at most log 32, below
    return np.asarray(ULP * (16 + 4 * size * (1 + np.log(size)) + np.where(size < 2 * _MOVED + 1, 160.0, 0.0)))


def _stirling(s: NDArray[np.complex128]) -> NDArray[np.complex128]:
    inverse = 1 / s
    square = inverse * inverse
    series = np.zeros_like(s)
    for term in reversed(_TERMS):
        series = series * square + term
    return np.asarray((s - 0.5) * np.log(s) - s + _LOG_ROOT + series * inverse)
