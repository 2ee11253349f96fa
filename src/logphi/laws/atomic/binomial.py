"""Binomial probabilities, with bounds of their relative errors however many trials there are (Loader 2000).

notation: N trials, p the probability of success, q = 1 - p, k successes, d = k - N p. With phi(x) = (1 + x) log(1 + x) - x,
N times the divergence of k/N from p is D = N p phi(d / (N p)) + N q phi(-d / (N q)), a sum of two non-negative numbers,
and P(k) = sqrt(N / (2 pi k (N - k))) e^{S(N) - S(k) - S(N - k) - D}, S the rest of Stirling's series.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from logphi.arith.floats import ULP
from logphi.arrays import Array

# derived: from this m on, the remainder after four terms is below 1e-14
_TABLED = 16
# derived: for |x| up to this, the remainder after twelve terms of phi is below an ulp
_SMALL = 0.04


def log_binomial(size: Array, count: Array, excess: Array, p: float) -> tuple[Array, Array]:
    """The logarithm of P(k), and a bound of its error; ``excess`` is d, right to an ulp, and 0 < p < 1."""
    divergence, wrong = log_chernoff(size, excess, p)
    inner = (count > 0) & (count < size)
    k, rest = np.where(inner, count, 1.0), np.where(inner, size - count, 1.0)
    spread = np.log(size / (2 * np.pi * k * rest)) / 2
    stirling = _stirling(size) - _stirling(k) - _stirling(rest)
    # at both ends P is p^N or q^N, which is e^{-D}
    found = np.where(inner, spread + stirling, 0.0) - divergence
    return found, wrong + 8 * ULP * (np.abs(spread) + 4) + 4e-14


def log_chernoff(size: Array, excess: Array, p: float) -> tuple[Array, Array]:
    """D, and a bound of its error; away from the mean, a count is reached or passed with probability at most e^{-D}."""
    parts = [_divergence(size * rate, side * excess) for rate, side in ((p, 1.0), (1 - p, -1.0))]
    return parts[0][0] + parts[1][0], parts[0][1] + parts[1][1]


def _divergence(mean: Array, excess: Array) -> tuple[Array, Array]:
    """The mean times phi(excess / mean), and a bound of its error."""
    x = np.maximum(excess / mean, -1.0)
    small = np.abs(x) < _SMALL
    y = np.where(small, x, 0.0)
    series = np.zeros(np.shape(y))
    for j in range(13, 1, -1):
        series = 1 / (j * (j - 1)) - y * series
    grown = np.where(small | (x <= -1), 0.0, x)
    logs = (1 + grown) * np.log1p(grown)
    direct = np.where(x <= -1, 1.0, logs - grown)
    found = mean * np.where(small, y * y * series, direct)
    # the last rounding of x counts twice in its square, and by log(1 + x) elsewhere
    size = np.where(small, np.abs(found) / mean, np.abs(logs) + np.abs(x) * (1 + np.abs(np.log1p(grown))))
    return found, 8 * ULP * mean * size


def _stirling(m: Array) -> Array:
    few = np.minimum(m, _TABLED - 1).astype(int)
    large = 1 / np.maximum(m, _TABLED)
    square = large * large
    series = large * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680)))
    found: Array = np.where(m < _TABLED, _table()[few], series)
    return found


@lru_cache(maxsize=1)
def _table() -> Array:
    """S(0), which is never used, to S(15): log m! - (m + 1/2) log m + m - log(2 pi) / 2."""
    of = [math.lgamma(m + 1) - (m + 0.5) * math.log(m) + m - math.log(2 * math.pi) / 2 for m in range(1, _TABLED)]
    return np.array([0.0, *of])
