"""Payoffs, functions of the loss above a threshold, integrated over boxes: their means under sums of flat parts.

notation: y the height of a box's centre above the threshold, r half its diagonal extent. All payoffs are zero below the
threshold, so that the integral over a box is the alternating sum over its corners of the m-fold integral of the payoff.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import factorial

import numpy as np
from numpy.typing import NDArray

from logphi.arrays import Array

# derived: above this h a polynomial in h loses no more than a digit
_LONG = 12.0
# derived: up to that h, this many terms leave less than 1e-17
_TERMS = 64
# derived: a term this small ends a sum, as further terms fall by a half at least, and are below rounding together
_LEFT = 5e-19


@dataclass(frozen=True)
class Payoff:
    """A payoff as a function of the height y above the threshold, and its m-fold integrals over boxes.

    ``series(h, m)`` is e^{-h} times the m-fold integral at y = 2h over 2^(m + smoothness); it jumps by one where that exponent
    is zero. ``whole`` is the mean payoff over a box that lies above the threshold, over e^{y/2}. A mass has the payoff
    e^{pole (X - x)} above the threshold x.
    """

    smoothness: int
    series: Callable[[Array, NDArray[np.intp]], Array]
    whole: Callable[[Array], Array]
    pole: float = 0.0

    @property
    def rises(self) -> bool:
        """Whether the payoff grows with the height."""
        return self.pole == 0


def factorials(order: NDArray[np.intp]) -> Array:
    """``m!`` for each of some small m."""
    table: Array = np.array([float(factorial(m)) for m in range(int(order.max(initial=0)) + 1)])[order]
    return table


def damped_sinh(h: Array, k: NDArray[np.intp]) -> Array:
    """``e^{-h}`` times the sum over r >= 0 of h^{k + 2r} / (k + 2r)!, for h >= 0 and k >= 1, which broadcast.

    With h = y/2 and k = m + 1 this is 2^{-m} e^{-y/2} times the m-fold integral of sinh(y/2) from 0. It is a sum up to h = k;
    above, where it is not far below 1/2, it is a hyperbolic function less its first terms.
    """
    k = np.broadcast_to(k, h.shape)
    result = np.empty_like(h)
    near = h <= k
    small, order = h[near], k[near]
    square, series = small * small, np.ones_like(small)
    top = int(k.max(initial=1))
    for r in range(_terms_of_sinh(small, order), 0, -1):
        series = 1 + square / ((order + 2 * r) * (order + 2 * r - 1)) * series
    result[near] = small**order / factorials(order) * np.exp(-small) * series
    large, order = h[~near], k[~near]
    if large.size:
        rest = 0.5 * (1 + np.where(order % 2, -1.0, 1.0) * np.exp(-2 * large))
        term = np.exp(-large)
        for j in range(top - 1):
            rest -= np.where((j <= order - 2) & ((order - j) % 2 == 0), term, 0.0)
            term = term * large / (j + 1)
        result[~near] = rest
    return result


def _terms_of_sinh(h: Array, k: NDArray[np.intp]) -> int:
    """How many terms after the first leave less than 1e-18 of it, for all these h and k at once."""
    largest, least, term, count = float(h.max(initial=0.0)) ** 2, int(k.min(initial=1 << 30)), 1.0, 0
    while term > _LEFT or 2 * largest > (least + 2 * count + 1) * (least + 2 * count + 2):
        count += 1
        term *= largest / ((least + 2 * count) * (least + 2 * count - 1))
    return count


def _damped_exponential(h: Array, m: NDArray[np.intp]) -> Array:
    """``e^{-h}`` times the sum over r >= m of h^r / r!, for h >= 0, as a sum over both parities."""
    at_least_one = np.maximum(m, 1)
    both: Array = damped_sinh(h, at_least_one) + damped_sinh(h, at_least_one + 1)
    return np.where(m == 0, np.where(h > 0, 1.0, 0.0), both)


def _damped_power(h: Array, m: NDArray[np.intp]) -> Array:
    """``e^{-h} h^{m-1} / (m-1)!`` for h > 0; nothing for m = 0."""
    power = np.maximum(m - 1, 0)
    return np.where((m > 0) & (h > 0), np.exp(-h) * h**power / factorials(power), 0.0)


def damped_decay(h: Array, m: NDArray[np.intp]) -> Array:
    """``e^{-h}`` times the sum over r >= m of (-1)^{r-m} h^r / r!, for h > 0 and small m; nothing for h = 0.

    It is e^{-2h} times the sum over k of m / (m + k) h^{m+k} / (m! k!), which has one sign; far out e^{-h} times a polynomial.
    """
    h, m = np.broadcast_arrays(h, m)
    near, at_least_one = np.where(h <= _LONG, h, 0.0), np.maximum(m, 1)
    term, total = np.ones_like(near), np.ones_like(near)
    for k in range(1, _TERMS):
        term = term * near / k
        total += at_least_one / (at_least_one + k) * term
    close = np.exp(-2 * near) * near**at_least_one / factorials(at_least_one) * total
    far = np.maximum(h, _LONG)
    rest, power = np.where(at_least_one % 2, -1.0, 1.0) * np.exp(-far), np.ones_like(far)
    for j in range(int(m.max(initial=1))):
        rest += np.where(j < at_least_one, np.where((at_least_one - j) % 2, 1.0, -1.0) * power, 0.0)
        power = power * far / (j + 1)
    flat = np.where(h <= _LONG, close, np.exp(-far) * rest)
    return np.where(h > 0, np.where(m == 0, np.exp(-2 * h), flat), 0.0)


# 2 sinh(y/2) above the threshold: the excess
EXCESS = Payoff(1, lambda h, m: damped_sinh(h, m + 1), lambda y: -np.expm1(-y))
# e^{y/2} above the threshold: the mass
MASS = Payoff(0, _damped_exponential, np.ones_like)
# e^{-y/2} above the threshold: the mass of the reflected law below, over e^x
DUAL_MASS = Payoff(0, damped_decay, lambda y: np.exp(-y), pole=-1.0)
# a unit mass at the threshold: the density
DENSITY = Payoff(-1, _damped_power, np.zeros_like)
