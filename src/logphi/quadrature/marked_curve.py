"""A curve whose points are kept with a probability that is a normal distribution function of the variable of integration.

notation: Phi the normal distribution function, b a place, tau a width. Phi is logarithmically concave, and off the real line
|Phi(x + iy)| <= e^{y^2/2} Phi(x), since it is the integral of the density over a half-line.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from logphi.arith.floats import LOG_ROOT_TWO_PI, ULP
from logphi.arrays import Array
from logphi.quadrature.curve import Curve

# derived: a normal law this far from its mean is below e^-72
_NEAR = 12.0


@dataclass(frozen=True)
class MarkedCurve(Curve):
    """A curve times Phi((s - b) / tau) or, for the other ``side``, times Phi((b - s) / tau)."""

    middle: float = 0.0
    width: float = 1.0
    side: int = 1

    def _log_kept(self, s: Array) -> Array:
        return np.asarray(log_ndtr(self.side * (s - self.middle) / self.width))

    def log_density(self, s: Array) -> Array:
        """The logarithm of the density of what is kept."""
        return super().log_density(s) + self._log_kept(s)

    def density_error(self, s: Array, size: Array) -> Array:
        """That of the distribution function: s is known to some ulps of ``size``.

        The derivative of log Phi is at most |u| + 1 left of zero, and right of it less than the density of e^{-u^2/2}.
        """
        u = self.side * (s - self.middle) / self.width
        steep = np.where(u < 0, 1 - u, np.exp(-(np.maximum(u, 0.0) ** 2) / 2))
        error: Array = ULP * ((4 * size / self.width + 4 * np.abs(u)) * steep + 4 + 16 * np.abs(self._log_kept(s)))
        return error

    def highest(self, low: Array, high: Array) -> Array:
        """A bound of g with the logarithm of the distribution function."""
        kept = self._log_kept(high if self.side > 0 else low)
        # its rounding and that of its argument
        return super().highest(low, high) + kept + 1e-12 * (1 + np.abs(kept))

    def within(self, left: float, right: float) -> tuple[float, float]:
        """That of the whole curve; where the large part is kept, from what counts without a tilt."""
        low, high = super().within(left, right)
        # the density times that of the coin is largest here
        peak = self.middle / (1 + self.width**2)
        return (low, high) if self.side < 0 or peak < 0 else (max(low, peak - _NEAR), max(high, peak + right))

    def log_slope(self, s: Array) -> Array:
        """The derivative of the logarithm of the density."""
        u = self.side * (s - self.middle) / self.width
        ratio = np.exp(-u * u / 2 - LOG_ROOT_TWO_PI - log_ndtr(u))
        slope: Array = super().log_slope(s) + self.side * ratio / self.width
        return slope

    @property
    def bend(self) -> float:
        """That of the density and of the distribution function."""
        return super().bend + 1 / (2 * self.width**2)
