"""A curve whose points are kept with a probability: that the variable of integration, with normal noise, lies in an interval.

notation: Phi the normal distribution function, b <= b' the ends, of which one may be infinite, tau the width of the noise, and
u = (s - b) / tau, u' = (s - b') / tau. Phi(u) - Phi(u') is the integral of the normal density over an interval, so that it
is logarithmically concave in s, symmetric around the middle of the interval, and off the real line at most e^{y^2/2} times as
large as at the real part, y the imaginary part of u.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from logphi.arith.floats import LOG_ROOT_TWO_PI, ULP
from logphi.arrays import Array
from logphi.quadrature.curves.curve import Curve

# derived: this many standard deviations from its mean, the normal density is e^-72 times its largest value
_NEAR = 12.0
# derived: the exponential of this is a double
_LARGEST = 600.0
# chosen: this many widths from an interval, the probability is negligible under every tilt
_BEYOND = 40.0


@dataclass(frozen=True)
class MarkedCurve(Curve):
    """A curve times Phi(u) - Phi(u') or, for the other ``side``, times Phi(-u).

    ``middle`` is b and ``far`` b'; the interval is many widths long.
    """

    middle: float = 0.0
    width: float = 1.0
    side: int = 1
    far: float = np.inf

    def _inside(self, s: Array) -> Array:
        """The distance from the nearer end of the interval, in widths; negative outside of it."""
        u = self.side * (s - self.middle) / self.width
        return np.asarray(np.minimum(u, (self.far - s) / self.width))

    def _outside(self, s: Array) -> Array:
        """The distance from the farther end of the interval, in widths."""
        u = self.side * (s - self.middle) / self.width
        return np.asarray(np.maximum(u, (self.far - s) / self.width))

    def _log_kept(self, s: Array) -> Array:
        """The logarithm of the probability with which a point is kept."""
        kept = log_ndtr(self._inside(s))
        if math.isinf(self.far):
            return np.asarray(kept)
        return np.asarray(kept + np.log1p(-np.exp(log_ndtr(-self._outside(s)) - kept)))

    def log_density(self, s: Array) -> Array:
        """The logarithm of the density times the probability with which a point is kept."""
        return super().log_density(s) + self._log_kept(s)

    def density_error(self, s: Array, size: Array) -> Array:
        """The relative error of the probability with which a point is kept: s is known to some ulps of ``size``.

        The derivative of log Phi is at most |u| + 1 left of zero, and right of it less than the density of e^{-u^2/2}. The
        other end of an interval adds less than that.
        """
        u = self._inside(s)
        steep = np.where(u < 0, 1 - u, np.exp(-(np.maximum(u, 0.0) ** 2) / 2))
        error: Array = ULP * ((8 * size / self.width + 8 * np.abs(u)) * steep + 8 + 16 * np.abs(self._log_kept(s)))
        return error

    def highest(self, low: Array, high: Array) -> Array:
        """An upper bound of the logarithm of the density on an interval, with that of the probability."""
        top = high if self.side > 0 else low
        kept = self._log_kept(top if math.isinf(self.far) else np.clip((self.middle + self.far) / 2, low, high))
        # the last term exceeds the rounding of the probability and of its argument
        return super().highest(low, high) + kept + 1e-12 * (1 + np.abs(kept))

    def highest_beside(self, low: Array, high: Array, v: Array) -> Array:
        """The smaller of two bounds off the real line; where points are kept almost surely, Phi is within Phi(-u) of one."""
        steep = v * v / (2 * self.width**2)
        # the distance from an end is concave in s
        least = np.minimum(self._inside(low), self._inside(high))
        missing = log_ndtr(-least) + steep + (math.log(2) if math.isfinite(self.far) else 0.0)
        nearly_all = np.log1p(np.exp(np.minimum(missing, _LARGEST)))
        whole = super().highest(low, high) + super().bend * v * v
        near_all = whole + nearly_all + 1e-12 * (1 + np.abs(missing))
        beside = self.highest(low, high) + self.bend * v * v
        return np.asarray(np.minimum(np.where(missing < _LARGEST, near_all, np.inf), beside))

    def within(self, left: float, right: float) -> tuple[float, float]:
        """The range for the whole curve, moved or shortened to where points are kept."""
        if math.isfinite(self.far):
            return self.middle - _BEYOND * self.width, self.far + _BEYOND * self.width
        low, high = super().within(left, right)
        if self.side < 0:
            return low, max(min(high, self.middle + _BEYOND * self.width), low + _NEAR)
        # the standard normal density times the derivative of Phi(u) is largest at this point
        peak = self.middle / (1 + self.width**2)
        return (low, high) if peak < 0 else (max(low, peak - _NEAR), max(high, peak + right))

    def log_slope(self, s: Array) -> Array:
        """The derivative of the logarithm of the density."""
        u, kept = self.side * (s - self.middle) / self.width, self._log_kept(s)
        ratio = np.exp(-u * u / 2 - LOG_ROOT_TWO_PI - kept)
        if math.isfinite(self.far):
            ratio = ratio - np.exp(-(((self.far - s) / self.width) ** 2) / 2 - LOG_ROOT_TWO_PI - kept)
        slope: Array = super().log_slope(s) + self.side * ratio / self.width
        return slope

    @property
    def bend(self) -> float:
        """The growth of the density off the real line, and of the probability."""
        return super().bend + 1 / (2 * self.width**2)
