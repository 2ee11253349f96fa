"""Skellam noise of a large variance in one coordinate: bounds of its tails, and what follows for a shift.

notation: mu the variance, s its root, p(x) = e^-mu I_x(mu), G(k) the mass from k on, phi_j = e^{-j^2 / (2 mu)}, and
E(x) = x asinh(x/mu) + mu - (x^2 + mu^2)^{1/2}.

Ratios (Amos 1974, (9) and (11)): with a = k + 1/2, the ratio r of I_{k+1} and I_k is at most U = e^{-asinh(a/mu)} and at least
L = mu / (a + (mu^2 + (a + 1)^2)^{1/2}). For r' = 1 - 2 a r / mu - r^2 and r(0) = 0, and U has the right-hand side 0 and
grows, while L' is at most its right-hand side: this is a + 1 <= (mu^2 + (a + 1)^2)^{1/2}.

Their product. log(U/L) is at most (k + 1) / mu^2. The sum of asinh((k + 1/2) / mu) over k < j is at least E(j), as asinh is
concave, and larger by at most j (j + 1) / (48 mu^3). From 1/mu - x^2 / (2 mu^3) <= E'' <= 1/mu follows E(j) <= j^2 / (2 mu) <=
E(j) + j^4 / (24 mu^3). Together, for j <= y s,

    -0.502 (y^2 + y/s) / mu  <=  log( p(j) / (p(0) phi_j) )  <=  y^4 / (24 mu).

The mass above y s is at most e^{-E(y s)} (Chernoff). Over all integers the phi_j sum to (2 pi mu)^{1/2}, and the j^2 phi_j to
mu, the j^4 phi_j to 3 mu^2 times this, but for e^{-2 pi^2 mu} (Poisson summation). So p(0) (2 pi mu)^{1/2} is within 1/mu of 1.

Sums. For j <= 11 s, phi_j differs from its integral over (j - 1/2, j + 1/2) by at most phi_j (1.1 y^2 + 1.2) / (24 mu).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.special import ndtr

from logphi.arrays import Array

# derived: from this variance on, the terms of higher order are below the rounded-up constants
LEAST_VARIANCE = 1e4
# chosen: the tail from so many standard deviations on is an amount, e^-E
_REACH = 10.0
# chosen: tests are tried up to here
_FARTHEST = 9.0
# derived: most of a tail is within so many standard deviations of its beginning
_NEAR = 2.0
# chosen: the number of tests, with which epsilon is smaller by less than 1e-3 of it
_TESTS = 512
# derived: far above the rounding of normal tails
_ROOM = 1e-12


@lru_cache(maxsize=64)
def errors_of_tests(variance: float, shift: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Upper bounds of both errors of tests whether noise is moved by a shift, which they claim from some integer on."""
    s = math.sqrt(variance)
    first, last = math.ceil(shift - _FARTHEST * s), math.floor(_FARTHEST * s)
    from_here = np.unique(np.rint(np.linspace(first, last, _TESTS)))
    one, two = _tail_above(from_here, variance), _tail_above(1 - (from_here - shift), variance)
    # where the bounds are no sharper than a guess, they tell nothing
    known = one + two < 1
    return (0.0, *one[known].tolist()), (1.0, *two[known].tolist())


def _tail_above(k: Array, variance: float) -> Array:
    """Upper bounds of G at integers."""
    positive = k > 0
    inner = np.where(positive, k, 1 - k)
    found: Array = np.where(positive, _tail(inner, variance, 1), 1 - _tail(inner, variance, -1))
    return np.minimum(found, 1.0)


def _tail(k: Array, variance: float, side: int) -> Array:
    """Bounds of G at positive integers, from above or, with a ``side`` of -1, from below."""
    s = math.sqrt(variance)
    y = (k - 0.5) / s
    # the last of the near integers may be half a step farther
    ends = np.array([y + _NEAR + 1 / s, np.full(y.shape, _REACH)])
    near, rest, last = ndtr(-y), ndtr(-y - _NEAR), float(ndtr(-_REACH))
    if side > 0:
        factors = np.exp((np.minimum(ends, _REACH) ** 4 + 1.1 * ends**2 + 30) / (24 * variance))
        exponent = _REACH * s * math.asinh(_REACH / s) - _REACH**2 / (1 + math.hypot(1, _REACH / s))
        found = (near - rest) * factors[0] + rest * factors[1] + math.exp(1e-9 - exponent)
    else:
        factors = np.exp(-0.55 * (ends**2 + ends / s + 3) / variance)
        found = (near - rest) * factors[0] + (rest - last) * factors[1]
    bounded: Array = np.maximum(found * (1 + side * _ROOM), 0.0)
    return bounded
