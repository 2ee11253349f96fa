"""Guesses of the profile of several random allocations, which decide about routes and accuracy; no bound depends on them.

notation as in :mod:`logphi.inversion.cut.several_epochs`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import gammaln, log_ndtr

from logphi.arrays import Array
from logphi.inversion.cut.one_epoch import Kind

# chosen: the logarithm of a factor by which a guess of an excess is rather too small
_LOW = -2.0
# chosen: the numbers of epochs with a large loss that are tried, and the shares of the threshold that such losses have together
_LARGE, _SHARES = 2 ** np.arange(1, 10), np.linspace(0.05, 1.0, 40)


def of_small(kinds: Sequence[Kind], x: Array) -> Array:
    """About the logarithm of the probability of a total loss above x, if no loss is large."""
    variance = _variance(kinds)
    return np.asarray(-(np.maximum(x - variance / 2, 0.0) ** 2) / (2 * variance))


def excess_of_small(kinds: Sequence[Kind], x: float) -> float:
    """About the logarithm of the profile, if no loss is large."""
    variance = _variance(kinds)
    # z standard deviations out it is about their size times e^{-z^2/2} / z^2
    size = 0.5 * math.log(min(variance, 1.0)) - math.log1p(max(x, 0.0) ** 2 / variance)
    return float(of_small(kinds, np.array([x]))[0]) + size + _LOW


def log_guess(kinds: Sequence[Kind], x: float) -> float:
    """About the logarithm of the profile at x >= 0: of small losses, of one variable Y that makes S exceed e^x, or several."""
    found = max(excess_of_small(kinds, x), _of_several_large(kinds, x))
    for one, number in kinds:
        m, t = one.mean.shift, one.mean.count
        log_k = math.log(t * math.expm1(x) + 1)
        d = m / 2 - log_k / m
        above, below = (float(log_ndtr(place)) for place in (d, d - m))
        share = -math.expm1(min(log_k + below - above, 0.0))
        if share > 0:
            found = max(found, above + math.log(share * number))
    return found


def _of_several_large(kinds: Sequence[Kind], x: float) -> float:
    """The same if some epochs have equally large losses, by one variable each, and the others small ones."""
    best = -math.inf
    rest = of_small(kinds, x * (1 - _SHARES))
    for one, number in kinds:
        m, t = one.mean.shift, one.mean.count
        large = _LARGE[: number.bit_length() - 1][:, None]
        if large.size:
            tails = log_ndtr(m / 2 - np.log(t * np.expm1(x * _SHARES / large) + 1) / m)
            choices = gammaln(number + 1) - gammaln(large + 1) - gammaln(number - large + 1)
            best = max(best, float((choices + large * tails + rest).max()))
    return best + _LOW


def _variance(kinds: Sequence[Kind]) -> float:
    return sum(one.variance * number for one, number in kinds)
