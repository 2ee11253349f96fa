"""The outcomes of a sampled discrete Gaussian: their probabilities, and their ratios, against many digits."""

import math

import mpmath
import numpy as np
import pytest
from mpmath import mpf

import logphi as lp
from logphi.pairs.finite import FinitePair

DIGITS = 50
# half an ulp of a double, to which a probability is rounded
HALF_AN_ULP = mpf(2) ** -53


@pytest.mark.parametrize("side", [-1, 0, 1])
@pytest.mark.parametrize(("sigma", "shift", "truncation"), [(0.3, 1, None), (5.64, 1, None), (3.7, 4, 22), (41.9, 2, None)])
def test_errors_hold_for_every_sigma_that_is_written_so(sigma, shift, truncation, side):
    pair = lp.DiscreteGaussian(sigma, shift, truncation).pair()
    assert isinstance(pair, FinitePair)
    last = math.floor(40 * sigma) + 9 if truncation is None else truncation
    with mpmath.workdps(DIGITS):
        # a decimal that is written as this double lies within half an ulp
        own = mpf(sigma) + side * mpf(math.ulp(sigma)) / 2
        total = mpmath.fsum(mpmath.exp(-(mpf(x) ** 2) / (2 * own**2)) for x in range(-last, last + 1))
        # the outcomes are consecutive, and symmetric around half the shift
        first = (shift - len(pair.p) + 1) // 2
        chosen = np.unique(np.linspace(0, len(pair.p) - 1, 25).astype(int))
        for i in (i for i in chosen if pair.p[i] and pair.q[i]):
            p, q = (mpmath.exp(-(mpf(first + int(i) - moved) ** 2) / (2 * own**2)) / total for moved in (shift, 0))
            of_p, of_q, of_ratio = (one[i] for one in pair.cell_errors)
            assert abs(pair.p[i] / p - 1) <= of_p + HALF_AN_ULP
            assert abs(pair.q[i] / q - 1) <= of_q + HALF_AN_ULP
            assert abs(mpmath.log(mpf(pair.p[i]) / mpf(pair.q[i])) - mpmath.log(p / q)) <= of_ratio


def test_the_ratio_of_rare_outcomes_is_known_more_sharply_than_their_probabilities():
    pair = lp.DiscreteGaussian(5.64).pair()
    assert isinstance(pair, FinitePair)
    of_p, _, of_ratio = (one[0] for one in pair.cell_errors)
    assert of_ratio < of_p / 5
