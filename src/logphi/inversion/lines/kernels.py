"""The kernels of the inversion integrals: transforms of payoffs, anchored at the threshold."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY
from logphi.arrays import Array
from logphi.laws.transform import LossTransform


class Kernel(Protocol):
    """The factor by which the transform is multiplied under the integral, with bounds of its errors and its decay."""

    @property
    def anchor(self) -> float:
        """The point x0 for which e^{-z x0} is part of the exponent."""

    @property
    def period(self) -> float:
        """The imaginary period of the integrand, infinite if it has none."""

    def __call__(self, z: NDArray[np.complex128]) -> tuple[NDArray[np.complex128], Array]:
        """The factor of e^{K(z) - z x0}, and its absolute rounding error."""

    @property
    def poles(self) -> tuple[float, ...]:
        """The real poles of the factor, in order. Right of all poles the integral is a positive functional."""

    @property
    def farthest(self) -> float:
        """The largest abscissa worth trying."""

    def log_real(self, c: Array) -> Array:
        """An approximate logarithm of the factor's size on the real axis."""

    def log_size(self, heights: Array, abscissa: float) -> Array:
        """Logarithm of a bound of the factor, decreasing in height, valid at and above each height."""

    def log_rest(self, height: float, abscissa: float) -> float:
        """Logarithm of a bound of the integral of the factor's size from a height on, for a factor without a period."""

    def log_chernoff(self, u: Array) -> Array:
        """Logarithm of a constant C(u) such that the functional at any y is at most C(u) M(u) e^{-uy}."""

    def position_error(self, z: NDArray[np.complex128], factor: NDArray[np.complex128], share: float) -> float:
        """A bound of the effects that the kernel neglects, in units of M(c) e^{-c x0}."""


@dataclass(frozen=True)
class Smooth:
    """1 / (z (z + 1)), the transform of the payoff (1 - e^{x-X})_+ for any law."""

    anchor: float
    period: float = np.inf
    poles: tuple[float, ...] = (-1.0, 0.0)
    farthest: float = np.inf

    def __call__(self, z: NDArray[np.complex128]) -> tuple[NDArray[np.complex128], Array]:
        """The factor."""
        factor = 1 / (z * (z + 1))
        return factor, ELEMENTARY * np.abs(factor)

    def log_real(self, c: Array) -> Array:
        """-log |c (c + 1)|."""
        return np.asarray(-np.log(np.maximum(np.abs(c), 1e-300)) - np.log(np.maximum(np.abs(c + 1), 1e-300)))

    def position_error(self, z: NDArray[np.complex128], factor: NDArray[np.complex128], share: float) -> float:
        """Zero: nothing is neglected."""
        return 0.0

    def log_size(self, heights: Array, abscissa: float | Array) -> Array:
        """-log |z (z + 1)|."""
        bound: Array = -np.log(np.hypot(heights, abscissa)) - np.log(np.hypot(heights, abscissa + 1))
        return bound + 1e-14

    def log_rest(self, height: float, abscissa: float) -> float:
        """The integral of 1/t^2, as |z (z + 1)| exceeds t^2."""
        return -math.log(height) + 1e-14

    def log_chernoff(self, u: Array) -> Array:
        """The constant for the payoff (1 - e^{x-X})_+."""
        return log_kappa(u)


KernelAt = Callable[[LossTransform, float], Kernel]


def smooth(law: LossTransform, x: float) -> Kernel:
    """The kernel that serves every law."""
    return Smooth(x)


def log_kappa(u: Array) -> Array:
    """Logarithm of the Chernoff constant: sup over y of (1 - e^{-y})_+ e^{-uy} = u^u / (1+u)^{1+u}; 1 for u in [-1, 0]."""
    positive = np.maximum(u, 1e-300)
    return np.where(u > 0, -positive * np.log1p(1 / positive) - np.log1p(positive), 0.0)
