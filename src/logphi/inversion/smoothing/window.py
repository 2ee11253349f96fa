"""A Kaiser-Bessel window of order one: a density on an interval whose transform falls like that of a normal law.

notation: as in :mod:`logphi.inversion.smoothing.smoothed`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arrays import Array

# derived: a recurrence from two to six with beta >= 12 loses at most three digits, in terms that fall by 1e-3 each
_MEAN = 256 * ULP
# derived: e to minus twice this is below the rounding of one
_FAR = 19.0
# derived: B(v) = sum of v^2k (2k + 2) / (2k + 3)!; twelve terms leave less than 1e-25 for |v| < 1
_SERIES = [(2 * k + 2) / math.factorial(2 * k + 3) for k in range(12)]


@dataclass(frozen=True)
class Window:
    """The density of xi."""

    width: float
    beta: float

    @cached_property
    def log_mean(self) -> float:
        """The d of e^d = E[e^xi], with a relative error of ``_MEAN``, which z multiplies.

        B(v) = i_1(v) / v with the modified spherical Bessel functions, and (1/v d/dv)^j B = i_{j+1}(v) / v^{j+1}: Taylor's
        series of B in v^2 / 2 around beta^2 / 2, where v^2 is larger by w^2.
        """
        beta = self.beta
        fall = math.exp(-2 * beta)
        before, bessel = (1 - fall) / beta, ((1 + fall) - (1 - fall) / beta) / beta
        first, term, change = bessel, 1.0, 0.0
        for j in range(1, 6):
            before, bessel = bessel, before - (2 * j + 1) / beta * bessel
            term *= self.width**2 / (2 * beta * j)
            change += term * bessel / first
        return math.log1p(change)

    @property
    def hump(self) -> float:
        """The factor e^{4w} s^2 between the density and the bound of the hump; I_1 is below I_0."""
        return math.exp(4 * self.width) * self.width**2 / self.beta * (1 + 1e-12)

    @cached_property
    def _scale(self) -> float:
        """B(beta) e^{-beta}."""
        return _scaled_real(np.array([self.beta])).item()

    def log_gain(self, u: Array) -> Array:
        """The logarithm of kappa(u), u real."""
        v = np.hypot(self.beta, u * self.width)
        gain: Array = np.log(_scaled_real(v) / self._scale) + (u * self.width) ** 2 / (v + self.beta)
        return gain

    def transform(self, z: NDArray[np.complex128]) -> tuple[NDArray[np.complex128], Array]:
        """The kappa(z) e^{zd} and its absolute error."""
        v = np.sqrt(self.beta**2 + (z * self.width) ** 2)
        value, parts = _scaled(v)
        turn = np.exp((v - self.beta) + z * self.log_mean) / self._scale
        error = ELEMENTARY * (8 + 2 * np.abs(v) + self.beta) + (4 * ULP + _MEAN) * np.abs(z) * self.log_mean
        return np.asarray(value * turn, dtype=np.complex128), parts * np.abs(turn) * error

    def log_size(self, heights: Array, abscissa: float) -> Array:
        """The logarithm of a bound of |kappa(z) e^{zd}| at and above each height.

        B(v) is a positive mean of e^{vy} over |y| < 1, hence at most B(Re v), and Re v falls with the height. Where |v|
        grows with the height, |B| is also at most 2 cosh(Re v) / |v|^2, with Re v at the last height.
        """
        square = self.beta**2 + ((abscissa + 1j * heights) * self.width) ** 2
        real = np.sqrt(square).real * (1 + 1e-12) + 1e-12
        first = np.log(_scaled_real(real)) + real
        rising = heights * self.width > 1.01 * math.hypot(self.beta, abscissa * self.width)
        second = np.where(rising, real + np.log1p(np.exp(-2 * real)) - np.log(np.abs(square)), np.inf)
        bound: Array = np.minimum(first, second) - self.beta - math.log(self._scale) + abs(abscissa) * self.log_mean + 1e-9
        return bound


def _scaled(v: NDArray[Any]) -> tuple[NDArray[Any], Array]:
    """B(v) e^{-v} for Re v >= 0, and the size of the two parts of which it is the difference."""
    size = np.abs(v)
    near = size < 1
    far = np.where(near, 1.0, v)
    # e^{-2v} is negligible far to the right
    fall = np.zeros_like(far)
    left = far.real < _FAR
    fall[left] = np.exp(-2 * far[left])
    value = ((1 + fall) - (1 - fall) / far) / (2 * far * far)
    parts = 2 / np.maximum(size, 1.0) ** 2
    if near.any():
        square = v[near] ** 2
        series = np.full_like(square, _SERIES[-1])
        for coefficient in _SERIES[-2::-1]:
            series = series * square + coefficient
        value[near] = series * np.exp(-v[near])
        parts[near] = np.abs(value[near])
    return value, parts


def _scaled_real(v: Array) -> Array:
    return np.asarray(_scaled(v)[0], dtype=np.float64)
