"""How close sums of discrete Gaussians are to one discrete Gaussian, and one to a Gaussian that is rounded at random.

notation: N(s^2) is the discrete Gaussian, of probabilities proportional to e^{-x^2 / (2 s^2)} on the whole numbers; w = e^{-2 pi^2 sigma^2}.

The sum of n draws from N(sigma^2), beside N(n sigma^2). By Poisson summation the characteristic function of one draw is
proportional to the sum over whole k of e^{-sigma^2 (t + 2 pi k)^2 / 2}. Multiply n of them out, sort the terms by
j = k_1 + ... + k_n modulo n, and use sum (t + 2 pi k_i)^2 = n (t + 2 pi j/n)^2 + 4 pi^2 (sum k_i^2 - j^2/n). Term by term the
inverse transform is e^{-x^2 / (2 n sigma^2)} times a cosine: the ratio of the two probabilities of x is proportional to

    R(x) = sum over j modulo n of W_j cos(2 pi j x / n),    W_j = sum over k with k_1 + ... + k_n = j of w^{sum k_i^2 - j^2/n}.

All W_j are positive and W_0 is at least 1, from k = 0; so R lies within W_0 - S and W_0 + S, with S the sum of the other W_j.
The ratio has the mean 1 under N(n sigma^2), as both are laws, and the logarithm of the ratio stays on an interval of the length
log((1 + S) / (1 - S)) about zero.

S is small: W_j is w^{-j^2/n} times the coefficient of u^j in F(u)^n, where F(u) = sum of w^{k^2} u^k is, by Jacobi's triple
product, at most the product over odd i of (1 + w^i u) (1 + w^i / u), and so, coefficient by coefficient, at most e^{A (u + 1/u)}
with A = w / (1 - w^2). The coefficient of u^j in e^{n A (u + 1/u)} is the Bessel function I_j(2 n A), at most
(n A)^j e^{(n A)^2 / (j+1)} / j!. S is twice the sum over j from 1 to n/2.

N(s^2 + r^2), moved by any number, beside a Gaussian of variance s^2, moved likewise, at y, and then a discrete Gaussian of variance
r^2 about y. With Theta(y) = sum over whole x of e^{-(x-y)^2 / (2 r^2)}, the probability of x in the second is an integral of a normal
density, times e^{-(x-y)^2 / (2 r^2)} / Theta(y). Were Theta constant, it would be proportional to e^{-x^2 / (2 (s^2 + r^2))}, moved, by
convolution. Theta is largest at 0 and smallest at 1/2, so that the ratio of the two probabilities, of mean 1, is at least
Theta(1/2) / Theta(0), which is at least (1 - 2 v) / (1 + 2 v / (1 - v^3)), v = e^{-2 pi^2 r^2}, again by Poisson summation.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.special import gammaln

from logphi.arith.floats import ULP

# derived: a smaller w gives sums far below rounding, and this one is a double to any power below one
_LEAST_LOG = -600.0
# derived: relative errors of logarithms and of log-gamma, with room
_ROOM = 64 * ULP


@lru_cache(maxsize=1024)
def spread_of_sum(sigma: float, parties: int) -> float:
    """An upper bound of the largest |log| of the ratio of the sum of so many draws to one draw; infinite if none is known."""
    if parties == 1:
        return 0.0
    exponent = -2 * (math.pi * sigma) ** 2
    log_w = max(exponent * (1 - 8 * ULP), _LEAST_LOG)
    log_a = log_w - math.log1p(-math.exp(2 * log_w))
    own = parties * math.exp(log_a)
    if own > _MOST:
        return math.inf
    j = np.arange(1, parties // 2 + 1, dtype=float)
    # j - j^2/n of the powers of w together, so that nothing cancels
    parts = np.array(
        [j * (parties - j) / parties * log_w, j * (log_a - log_w), j * math.log(parties), -gammaln(j + 1), own**2 / (j + 1)]
    )
    logs = parts.sum(axis=0) + _ROOM * np.abs(parts).sum(axis=0)
    s = 2 * float(np.exp(np.minimum(logs, 0.0)).sum()) * (1 + 1e-9)
    return (math.log1p(s) - math.log1p(-s)) * (1 + 8 * ULP) if s < 1 else math.inf


# derived: S is at least about twice this
_MOST = 1.0


def rounding_variance(probability: float) -> float:
    """The variance r^2, at least 1/2, of a rounding that misses no more than this probability."""
    # for v below e^-pi^2 the logarithm of the bound is above -5 v
    return max(0.5, math.log(5 / probability) / (2 * math.pi**2) * (1 + 1e-12))
