"""The gamma function of complex numbers by Stirling's series, with a bound of every error.

notation: with z moved to Re z >= 10 by Gamma(z) = Gamma(z + m) / (z (z + 1) ... (z + m - 1)),

    log Gamma(z) = (z - 1/2) log z - z + log(2 pi)/2 + sum over j < 10 of B_2j / (2j (2j-1) z^{2j-1}) + R,

where |R| is at most the first term left out times 1/cos^{20}(arg(z)/2) ([DLMF] 5.11.10 and what follows it).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY, LOG_ROOT_TWO_PI, ULP
from logphi.arrays import Array, Complex

# derived: B_2j / (2j (2j - 1)) for j = 1 .. 9
_SERIES = (
    1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400, 43867 / 244188,
)  # fmt: skip
# derived: the tenth coefficient 174611/125400 times 2^10 / 10^19
_REST = 1.5e-16
# derived: the bound above holds for real parts from here on
_RIGHT = 10.0
# derived: a value with an error this large is unknown
_UNKNOWN = 600.0
# chosen: the number of factors, each below 1e30, that are multiplied before a logarithm is taken
_CHUNK = 8


def log_gamma(z: NDArray[Any]) -> tuple[Complex, Array]:
    """Log Gamma(z) up to multiples of 2 pi i, and a bound of its error, which includes the effect of an ulp of each part of z.

    The points must have about the same real part, and a distance of at least 1/100 from the poles 0, -1, -2 ....
    """
    steps = max(math.ceil(_RIGHT - float(z.real.min(initial=_RIGHT))), 0)
    moved, log_factors, shift_error = z, np.zeros(z.shape, complex), np.zeros(z.shape)
    for start in range(0, steps, _CHUNK):
        factors = np.ones(z.shape, complex)
        for k in range(start, min(start + _CHUNK, steps)):
            one = z + k
            factors = factors * one
            shift_error = shift_error + ULP * (2 + np.abs(z) + k) / np.abs(one)
        log_factors = log_factors + np.log(factors)
    moved = z + steps
    value = stirling(moved)
    error = stirling_error(moved) + shift_error + ELEMENTARY * (np.abs(log_factors) + steps) + ULP * np.abs(value)
    return value - log_factors, error


def stirling(z: NDArray[Any]) -> Complex:
    """Log Gamma(z) for Re z >= 10."""
    inverse = 1 / z
    square = inverse * inverse
    series = np.zeros(z.shape, complex)
    for coefficient in _SERIES[::-1]:
        series = series * square + coefficient
    return np.asarray((z - 0.5) * np.log(z) - z + LOG_ROOT_TWO_PI + series * inverse)


def stirling_error(z: NDArray[Any]) -> Array:
    """A bound of the remainder of the series and of rounding; the rounding of z counts |log z| times."""
    size = np.abs(z)
    return np.asarray(_REST + ELEMENTARY * (size * (1 + np.log(size)) + 2))


def reciprocal_gamma(z: NDArray[Any]) -> tuple[Complex, Array, Array]:
    """1 / Gamma(z) as e^u times a factor v, which is near zero if z is near a pole, with the absolute error of v.

    |v| is at most one, and an error of u counts as one of v.
    """
    steps = max(math.ceil(_RIGHT - float(z.real.min(initial=_RIGHT))), 0)
    moved = z + steps
    log_size, phase, relative = np.zeros(z.shape), np.ones(z.shape, complex), np.zeros(z.shape)
    for k in range(steps):
        one = z + k
        least = ULP * (1 + np.abs(z) + k)
        size = np.maximum(np.abs(one), least)
        log_size = log_size + np.log(size)
        phase = phase * (one / size)
        relative = relative + 2 * least / size
    error = stirling_error(moved) + relative + ELEMENTARY * (np.abs(log_size) + 2 * steps + 1)
    return log_size - stirling(moved), phase, np.where(error < _UNKNOWN, np.expm1(np.minimum(error, _UNKNOWN)), np.inf)
