"""Sums of independent laws on the integers: the weights in a window, by a finite Fourier transform.

notation: X = sum of n_i X_i, each X_i with few weights w_i; phi_i its discrete transform on N nodes. The product of the
phi_i^{n_i}, transformed back, has at each node the sum of the weights of all integers that are equal modulo N: with N no
less than the length of the window, it errs upward by the weights outside, which are negligible by Chernoff's bound. A transform
in doubles errs by log2(N) (few u) in the 2-norm (Higham 2002, *Accuracy and Stability*, Theorem 24.2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import FOURIER, ULP
from logphi.arith.powers import power
from logphi.arith.summation import log_sum
from logphi.arrays import Array

# derived: the rounding of the folded weights, and of the multiplications of a power, for each of its factors
_FACTOR = 20 * ULP
# measured: rates of Chernoff's bound, in units of one over the deviation; closer rates shorten the window by only a percent
_RATES = np.geomspace(0.1, 30, 24)


@dataclass(frozen=True, eq=False)
class IntegerMeasure:
    """A measure on the integers, of which ``count`` copies are summed."""

    index: NDArray[np.int64]
    weight: Array
    count: int

    @property
    def mean(self) -> float:
        """The mean of one copy."""
        return float((self.index * self.weight).sum() / self.weight.sum())

    @property
    def variance(self) -> float:
        """The variance of one copy."""
        away = self.index - self.mean
        return float((away * away * self.weight).sum() / self.weight.sum())


def effective_range(parts: Sequence[IntegerMeasure], depth: float) -> tuple[int, int]:
    """Two integers outside of which the sum has at most a share of e^-depth on either side."""
    middle = sum(part.count * part.mean for part in parts)
    deviation = math.sqrt(sum(part.count * part.variance for part in parts))
    low, high = (sum(part.count * int(end(part.index)) for part in parts) for end in (np.min, np.max))
    if deviation == 0:
        return low, high
    # the roundings of the bounds, and of the middle
    depth = depth + 1 + 8 * ULP * sum(part.count for part in parts)
    slack = 2 + 8 * ULP * sum(part.count * float(np.abs(part.index).max()) for part in parts)
    half_width = [high - middle, middle - low]
    for side, sign in enumerate((1.0, -1.0)):
        rates = _RATES / deviation
        heights = np.zeros(rates.size)
        for part in parts:
            away = sign * (part.index - part.mean)
            with np.errstate(divide="ignore"):  # the logarithm of a weight of zero
                heights += part.count * log_sum(np.log(part.weight) + rates[:, None] * away)
        with np.errstate(over="ignore"):  # farther than any double: no bound
            half_width[side] = min(half_width[side], float(((heights + depth) / rates).min()) + slack)
    return max(low, math.floor(middle - half_width[1])), min(high, math.ceil(middle + half_width[0]))


def nodes_for(first: int, last: int) -> int:
    """The least power of two that is no less than the number of integers from ``first`` to ``last``."""
    return 1 << max(last - first, 1).bit_length()


def summed(parts: Sequence[IntegerMeasure], first: int, last: int) -> tuple[Array, float]:
    """The weights of the sum from ``first`` to ``last``, and a bound of the rounding error of each.

    Each weight also contains those outside of the window that are equal to it modulo the number of nodes.
    """
    nodes = nodes_for(first, last)
    levels = math.log2(nodes)
    log_bound, product, start = np.zeros(nodes // 2 + 1), np.ones(nodes // 2 + 1, dtype=np.complex128), 0
    errors: list[tuple[Array, float, int]] = []
    for part in parts:
        peak = int(part.index[np.argmax(part.weight)])
        folded = np.bincount((part.index - peak) & (nodes - 1), part.weight, nodes)
        # the largest weight is moved to zero, where its transform is a constant: without it, the norm is smaller
        largest, folded[0] = float(folded[0]), 0.0
        transform = np.fft.rfft(folded)
        transform += largest
        wrong = FOURIER * levels * math.sqrt(float(np.square(folded).sum()) * nodes)
        log_largest = np.log(np.maximum(np.abs(transform) + wrong, 1e-300))
        log_bound += part.count * log_largest
        errors.append((log_largest, wrong, part.count))
        product *= power(transform, part.count)
        start += part.count * peak
    factors = sum(part.count for part in parts)
    error = math.expm1(min(_FACTOR * (factors + 2), 700.0)) * float(np.exp(np.minimum(log_bound, 700.0)).sum())
    for log_largest, wrong, count in errors:
        others = np.exp(np.minimum(log_bound - log_largest, 700.0))
        error += count * wrong * float(np.sqrt(np.square(others).sum()))
    sums = np.fft.irfft(product, nodes)
    absolute = 2 * error / nodes + FOURIER * levels * float(np.sqrt(np.square(sums).sum()))
    chosen = sums[(np.arange(first, last + 1) - start) & (nodes - 1)]
    return np.maximum(chosen, 0.0), absolute * (1 + 1e-9)


def binomial(first: float, second: float, count: int, depth: float) -> tuple[int, Array, float]:
    """The lowest k, the binomial weights C(n, k) first^(n-k) second^k / (first + second)^n from there on, and their error.

    n is ``count``, and the error is relative. The weights left out have a share of at most 2 e^-depth (Bernstein's inequality).
    """
    share = second / (first + second)
    middle = count * share
    half_width = depth / 3 + math.sqrt(depth * depth / 9 + 2 * depth * middle * (1 - share)) + 1
    low, high = max(0, math.floor(middle - half_width)), min(count, math.ceil(middle + half_width))
    mode = min(max(round(middle), low), high)
    upward, downward = np.arange(mode, high, dtype=float), np.arange(mode, low, -1, dtype=float)
    up = np.cumprod((count - upward) / (upward + 1) * (second / first))
    down = np.cumprod(downward / (count - downward + 1) * (first / second))
    weights = np.concatenate([down[::-1], [1.0], up])
    # each step has half a dozen roundings, with those of the odds
    return low, weights / weights.sum(), (8 * max(up.size, down.size) + 16) * ULP
