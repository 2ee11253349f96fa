"""The sum of several discrete Gaussians in one coordinate: its probabilities, and the pair of a shift.

notation: by completing the square, the sum of n draws has the probabilities e^{-x^2 / (2 n sigma^2)} Theta_n(x), but for a
factor, with Theta_n(x) the sum of e^{-sum (x_i - x/n)^2 / (2 sigma^2)} over whole x_i that sum to x. It has the period n. For
a + b = n, and c^2 = sigma^2 a b / n,

    Theta_n(x) = sum over whole y of Theta_a(y) Theta_b(x - y) e^{-(y - a x / n)^2 / (2 c^2)}.

All terms are positive, so that errors stay relative. The sum is log-concave, as each of its draws is.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from logphi.arith.floats import ULP
from logphi.arrays import Array
from logphi.inputs.arguments import frozen
from logphi.mechanisms.integer_noise.listed_shift import DEEPEST, LARGEST_VARIANCE, ListedShift, reaches
from logphi.text.written import meant

# chosen: more parties take longer than some tenths of a second
MOST_PARTIES = 1000
# measured: of narrower noise, what is not listed counts at large orders, where the bounds by divergences are sharper
_FARTHER = 8
# derived: with a smaller Theta, relative to the largest, terms may underflow
_LEAST = 1e-100
# derived: e to minus this is a quarter of a rounding
_NEGLIGIBLE = 38.0


@frozen
class DiscreteGaussianShift(ListedShift):
    """The sum of several discrete Gaussians, shifted by an integer, against the sum."""

    sigma: float
    parties: int

    @staticmethod
    def known(sigma: float, parties: int, shift: int) -> bool:
        """Whether the outcomes of a shift are listed."""
        if parties > MOST_PARTIES or parties * sigma**2 > LARGEST_VARIANCE:
            return False
        noise = probabilities(meant(sigma), parties)
        return noise is not None and reaches(noise[0], _FARTHER * shift)

    def noise(self) -> tuple[tuple[float, ...], float]:
        """The probabilities of the sum of all draws."""
        found = probabilities(meant(self.sigma), self.parties)
        if found is None:
            raise ArithmeticError("internal error: these outcomes are not listed; please report it")
        return found


@lru_cache(maxsize=16)
def probabilities(sigma: Fraction, parties: int) -> tuple[tuple[float, ...], float] | None:
    """The probabilities of 0, 1, 2, ..., and a bound of their relative errors.

    None where the sum is too far from a discrete Gaussian.
    """
    found = theta(float(sigma), parties)
    if found is None:
        return None
    periodic, error = found
    variance = parties * sigma**2
    last = math.isqrt(math.floor(2 * variance * (Fraction(DEEPEST) + 20))) + 1
    weights = []
    for x in range(last + 1):
        exponent = Fraction(x * x) / (2 * variance)
        near = float(exponent)
        # the rest of the exponent is far below one
        weights.append(math.exp(-near) * (1 - float(exponent - Fraction(near))) * float(periodic[x % parties]))
    total = math.fsum([*weights, *weights[1:]])
    shares = tuple(share for weight in weights if (share := weight / total) > math.exp(-DEEPEST))
    # derived: 16 ulps of roundings in each of a weight and the sum of all weights, besides the errors of theta in both
    return shares, 2 * error + 32 * ULP


def theta(sigma: float, parties: int) -> tuple[Array, float] | None:
    """Theta at 0, ..., parties - 1, but for a factor, and a bound of its relative error."""
    if parties == 1:
        return np.ones(1), 0.0
    half = parties // 2
    one, other = theta(sigma, half), theta(sigma, parties - half)
    if one is None or other is None:
        return None
    (first, first_error), (second, second_error) = one, other
    share = half / parties
    inverse = 1 / (2 * sigma**2 * share * (1 - share) * parties)
    low = float(first.min() * second.min() / (first.max() * second.max()))
    if low < _LEAST:
        return None
    # the nearest term is at most half a step away; what is left out is at most a geometric series beside it
    reach = math.ceil(math.sqrt((_NEGLIGIBLE - math.log(low)) / inverse + 0.25) + 1 / math.sqrt(inverse)) + 1
    x = np.arange(parties)[:, None]
    near = half * x // parties
    steps = np.arange(-reach, reach + 1)
    # integers, and so without rounding
    apart = (steps + near) * parties - half * x
    y = near + steps
    exponent = (apart / parties) ** 2 * inverse
    terms = first[y % half] * second[(x - y) % (parties - half)] * np.exp(-exponent)
    found = np.array([math.fsum(row) for row in terms])
    if not found.min() > _LEAST * found.max():
        return None
    # what is left out is far below a rounding; exponents are rounded more than other factors
    rounding = float(((terms * (8 + 12 * exponent)).sum(axis=1) / found).max()) + 1
    return found / found.max(), first_error + second_error + rounding * ULP
