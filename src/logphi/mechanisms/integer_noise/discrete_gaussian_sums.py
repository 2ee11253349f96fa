"""How close a sum of discrete Gaussians is to a single one, and a single one to a Gaussian that is rounded at random.

notation: N(s^2) is the discrete Gaussian, of probabilities proportional to e^{-x^2 / (2 s^2)} on the integers, and
w = e^{-2 pi^2 sigma^2}.

The sum of n draws from N(sigma^2), compared with N(n sigma^2). By Poisson summation the characteristic function of one draw is
proportional to the sum over integers k of e^{-sigma^2 (t + 2 pi k)^2 / 2}. Multiply n of them out, sort the terms by
j = k_1 + ... + k_n modulo n, and use sum (t + 2 pi k_i)^2 = n (t + 2 pi j/n)^2 + 4 pi^2 (sum k_i^2 - j^2/n). Term by term the
inverse transform is e^{-x^2 / (2 n sigma^2)} times a cosine: the ratio of the two probabilities of x is proportional to

    R(x) = sum over j modulo n of W_j cos(2 pi j x / n),    W_j = sum over k with k_1 + ... + k_n = j of w^{sum k_i^2 - j^2/n}.

All W_j are positive and W_0 is at least 1, from k = 0; so R lies within W_0 - S and W_0 + S, with S the sum of the other W_j.
The ratio has the mean 1 under N(n sigma^2), as both are laws, and the logarithm of the ratio stays on an interval of the length
t = log((1 + S) / (1 - S)) about zero. So does that of its reciprocal.

S is small: W_j is w^{-j^2/n} times the coefficient of u^j in F(u)^n, where F(u) = sum of w^{k^2} u^k is, by Jacobi's triple
product, at most the product over odd i of (1 + w^i u) (1 + w^i / u), and so, coefficient by coefficient, at most
e^{A (u + 1/u)} with A = w / (1 - w^2). The coefficient of u^j in e^{n A (u + 1/u)} is the Bessel function I_j(2 n A), at most
(n A)^j e^{(n A)^2 / (j+1)} / j!. S is the sum over j from 1 to n/2 of twice that, once for j = n/2.

Of few draws from a narrow law another bound may be smaller. The sum of draws from N(a^2) and N(b^2) has, by completing the
square, the probabilities of N(a^2 + b^2) times Theta(y) for some y, a sum over whole x of e^{-(x-y)^2 / (2 c^2)}, where
1/c^2 = 1/a^2 + 1/b^2. It is largest at 0 and smallest at 1/2, and by the triple product the quotient is that of squares of
products of (1 + u^i) and (1 - u^i) over odd i, u = e^{-2 pi^2 c^2}: its logarithm is at most 4 artanh(u) / (1 - u^2). Draws are
added one by one, and the intervals add up.

N(s^2 + r^2), shifted by an integer, compared with a Gaussian of variance s^2, shifted likewise, at y, and then a discrete
Gaussian of variance r^2 about y. With Theta(y) = sum over integers x of e^{-(x-y)^2 / (2 r^2)}, the probability of x in the
second is the integral of a normal density times e^{-(x-y)^2 / (2 r^2)} / Theta(y). Completing the square, that is e^{-x^2 / (2
(s^2 + r^2))}, shifted, times the mean of 1 / Theta(y) for a normal y of variance c^2 = s^2 r^2 / (s^2 + r^2) about some place
that depends on x. Again by Poisson summation Theta is a constant times 1 + 2 v cos(2 pi y) + ..., v = e^{-2 pi^2 r^2}, within e
= 2 v / (1 - v^3) of 1; so 1 / Theta has a mean of at least 1 / (1 + e) over a period, and no other Fourier coefficient above 2
e / (1 - e). The normal law multiplies the k-th by e^{-2 pi^2 c^2 k^2}. Hence the mean of 1 / Theta(y) varies with x by less
than a share of 4.01 v q on either side, q = e^{-2 pi^2 c^2}, where v < e^{-pi^2} and q < e^{-pi^2 / 2}; and the ratio of the
two laws, of mean 1, is at least 1 - 9 v q.
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
# derived: beyond this n A the sum S, which is at least about twice that, is not below one
_MOST = 1.0
# chosen: exceeds the rounding of integrals and of sums of two shares
_SLACK = 1e-12


@lru_cache(maxsize=1024)
def spread_of_sum(sigma: float, parties: int) -> float:
    """An upper bound of t, for the sum of this many draws."""
    return 0.0 if parties == 1 else min(_of_all(sigma, parties), _one_by_one(sigma, parties))


def _one_by_one(sigma: float, parties: int) -> float:
    k = np.arange(1, parties, dtype=float)
    exponents = -2 * (math.pi * sigma) ** 2 * k / (k + 1)
    u = np.exp(exponents * (1 - 16 * ULP)) * (1 + 4 * ULP)
    return float(np.sum(4 * np.arctanh(u) / (1 - u**2))) * (1 + 1e-9)


def _of_all(sigma: float, parties: int) -> float:
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
    terms = 2 * np.exp(np.minimum(logs, 0.0))
    if parties % 2 == 0:
        terms[-1] /= 2
    s = float(terms.sum()) * (1 + 1e-9)
    return (math.log1p(s) - math.log1p(-s)) * (1 + 8 * ULP) if s < 1 else math.inf


def rounding_variance(variance: float, probability: float) -> float:
    """A part r^2 of the variance s^2 + r^2 with which 9 v q is at most the probability; infinite for a variance too small."""
    # v q is e to minus 2 pi^2 times r^2 + c^2, which must be at least this
    least = max(1.0, math.log(9 / probability) / (2 * math.pi**2)) * (1 + 1e-9)
    # r^2 + c^2 = 2 r^2 - r^4 / (s^2 + r^2), and this r^2 is at least half of it
    # of a wide law the difference 1 - sqrt(1 - least / variance) would lose its digits
    return math.inf if least > 0.75 * variance else least / (1 + math.sqrt(1 - least / variance)) * (1 + 1e-9)


def shares_above(sigma: float, parties: int, shift: int) -> tuple[float, float] | None:
    """Shares of the integers above half of the shift: a lower bound for the moved sum, an upper one for the sum itself.

    None if they are not known.
    Sums of the decreasing probabilities of one discrete Gaussian are bounded by integrals, and those of the sum from below.
    """
    width, t = sigma * math.sqrt(parties), spread_of_sum(sigma, parties)
    if width < 1:
        return None
    first = shift // 2 + 1
    # Theta(0) is at most 1 + 6e-9 times its integral
    scale = 1 / (width * math.sqrt(2 * math.pi)) * (1 - 1e-8)

    def below(end: int) -> float:
        """A lower bound of the share of the numbers up to end - 1, for a positive end."""
        integral = (math.erf(end / (width * math.sqrt(2))) - math.erf(1 / (width * math.sqrt(2)))) / 2 * (1 - 1e-8)
        return 0.5 + scale / 2 + integral - _SLACK

    high, low = below(shift - first + 1) * math.exp(-t), 1 - below(first) * math.exp(-t)
    return (high, low) if high > low + _SLACK else None
