"""Bounds of real moments of the mean S of lognormal variables, and of the tails of an integral.

The integrand is e^{sv} E[S^n e^{-uS}] over v, u = e^{v - i alpha}, where the expectation is at most E S^n in size, and at most
E S^{n-b} (b / (e Re u))^b for every b > 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammaln

from logphi.arrays import Array
from logphi.quadrature.sums.series_power import power

# derived: the largest logarithm of a moment whose products stay in the range of doubles
_LARGEST_MOMENT = 500.0
# chosen: the largest order n
_MOST_ORDERS = 150
# chosen: ends of ranges are multiples of this, so that nearby lines share their tables
_WHOLE = 2.0


@dataclass(frozen=True)
class LognormalMoments:
    """The mean of ``count`` lognormal variables of shift m; ``relative_error`` is that of m."""

    shift: float
    count: int
    relative_error: float = 0.0

    @cached_property
    def order(self) -> int:
        """The largest n for which neither the moment nor its intermediate values overflow."""
        most = int(math.sqrt(2 * _LARGEST_MOMENT) / self.shift) if self.shift else _MOST_ORDERS
        return max(2, min(most, _MOST_ORDERS))

    @property
    def highest(self) -> float:
        """The largest power whose moment is computed."""
        return self.order - 1.0

    @cached_property
    def log_moments(self) -> Array:
        """Upper bounds of log E S^n for integers n, by the power of the series of all moments; exact but for rounding."""
        j = np.arange(self.order + 1.0)
        log_j = gammaln(j + 1)
        # coefficients that underflow are negligible relative to 1/n!
        series = np.exp(self.shift**2 * j * (j - 1) / 2 - log_j - j * math.log(self.count))
        found = np.log(power(series[:, None], None, self.count)[0][:, 0]) + log_j
        return np.asarray(found + 1e-10 * (1 + np.abs(found)))

    def log_moment_bound(self, at: float) -> float:
        """An upper bound of log E S^q for real q.

        Between integers by convexity; below zero as S is at least the geometric mean of the variables.
        """
        m = self.shift * (1 + 1e-12)
        if at < 0:
            return 0.5 * m * m * (-at + at * at / self.count)
        if at <= 1:
            return 0.0
        if at > self.order:
            return math.inf
        low = min(int(at), self.order - 1)
        share = at - low
        return float((1 - share) * self.log_moments[low] + share * self.log_moments[low + 1])


def range_of_sum(mean: LognormalMoments, n: int, at: float, alpha: float, log_target: float) -> tuple[float, float] | None:
    """The range of the sum over v; both ends are multiples of two."""
    rho = n - at
    low = (log_target - mean.log_moments[n] + math.log(rho)) / rho
    high = min(_log_end(mean, n, rho, alpha, b, log_target) for b in _exponents(rho))
    if not math.isfinite(low + high):
        return None
    return _WHOLE * math.floor(low / _WHOLE), _WHOLE * math.ceil(max(high, low + 1) / _WHOLE)


def _exponents(rho: float) -> list[float]:
    return [rho + gap for gap in (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, rho, 4 * rho)]


def _log_end(mean: LognormalMoments, n: int, rho: float, alpha: float, b: float, log_target: float) -> float:
    known = mean.log_moment_bound(n - b) + b * (math.log(b / math.cos(alpha)) - 1) - math.log(b - rho)
    return (known - log_target) / (b - rho)


def log_cut(mean: LognormalMoments, n: int, at: float, alpha: float, low: float, high: float) -> float:
    """The logarithm of a bound of h times the sum outside of the range: the integral of a bound of its terms."""
    rho = n - at
    below = mean.log_moments[n] + rho * low - math.log(rho)
    above = min(
        mean.log_moment_bound(n - b) + b * (math.log(b / math.cos(alpha)) - 1) + (rho - b) * high - math.log(b - rho)
        for b in _exponents(rho)
    )
    return float(np.logaddexp(below, above)) + 1e-3
