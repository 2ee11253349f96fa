"""Chernoff's bound without rare large losses: above the truth, and not far above it."""

import math

import mpmath
import numpy as np
import pytest

import logphi as lp
from logphi.inversion.bent.clipped_ceiling import log_ceiling
from two_samples import two_deltas


def one_delta(m, q, x, *, reflected=False):
    """The logarithm of the profile of one sampled normal pair, by normal masses."""
    with mpmath.workdps(60):
        m, q, x = mpmath.mpf(m), mpmath.mpf(q), mpmath.mpf(x)
        if reflected:
            if 1 - mpmath.exp(-x) >= q:
                return -math.inf
            place = mpmath.log((mpmath.exp(-x) - 1 + q) / q) / m + m / 2
            found = mpmath.ncdf(place) * (1 - mpmath.exp(x) * (1 - q)) - mpmath.exp(x) * q * mpmath.ncdf(place - m)
        else:
            place = mpmath.log((mpmath.exp(x) - 1 + q) / q) / m + m / 2
            found = q * mpmath.ncdf(m - place) - (mpmath.exp(x) - 1 + q) * mpmath.ncdf(-place)
        return float(mpmath.log(found))


@pytest.mark.few(29)
@pytest.mark.parametrize("m", [0.05, 0.7, 3.0, 9.0, 40.0, 100.0])
@pytest.mark.parametrize("q", [1e-6, 1e-3, 0.3])
@pytest.mark.parametrize("reflected", [False, True])
def test_it_is_above_the_profile_of_one_release(m, q, reflected):
    """And within a few units of its logarithm, or below every double, however rare the losses are."""
    end = -math.log1p(-q)
    for x in np.array([0.1, 0.5, 0.99]) * end if reflected else [1e-3 * m, 0.2, 2.0, 20.0]:
        truth = one_delta(m, q, x, reflected=reflected)
        found = log_ceiling(((m, q, 0.0, 0.0, 1),), float(x), reflected=reflected)
        assert truth <= found
        assert reflected or found < max(truth + 9 + 0.03 * abs(truth), -740)


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 2.0])
def test_it_is_above_the_profile_of_two_releases(epsilon):
    """By quadrature over the outputs of one of them."""
    first, second = (1 / 1.1, 1e-3), (1 / 0.6, 0.02)
    truth = math.log(two_deltas(first, second, epsilon))
    found = log_ceiling(tuple((1 / s, q, 1e-16, 0.0, 1) for s, q in (first, second)), epsilon)
    assert truth <= found <= truth + 8


@pytest.mark.parametrize(
    ("sigma", "rate", "count", "epsilon"), [(1.1, 0.004, 14062, 2.0), (0.9, 1e-4, 10**6, 1.5), (4.0, 0.1, 500, 3.0)]
)
def test_it_is_above_contours(sigma, rate, count, epsilon):
    """In both orders."""
    release = count * lp.Gaussian(sigma=sigma).poisson(rate)
    for direction in ("remove", "add"):
        terms = ((1 / sigma, rate, 1e-16, 0.0, count),)
        truth = release.log_delta(epsilon, direction=direction)
        assert truth.lower <= log_ceiling(terms, epsilon, reflected=direction == "add") <= truth.upper + 8


def test_it_says_nothing_where_nothing_is_known():
    """Left of zero, at rates that round to one, for shifts whose squares lose their digits."""
    assert log_ceiling(((1.0, 0.1, 0.0, 0.0, 3),), 0.0) == 0
    assert log_ceiling(((1.0, 1 - 2.0**-53, 0.0, 0.0, 3),), 1.0) == 0
    assert log_ceiling(((1e3, 0.1, 0.0, 0.0, 3),), 1.0) == 0


@pytest.mark.parametrize(
    ("release", "epsilon"),
    [
        (3248069 * lp.Gaussian(9.676963386696496).poisson(2.256824703711736e-07), 0.04523482176599947),
        (181542920 * lp.Gaussian(164.48891904679493).poisson(1.77381017510934e-07), 1.0110159683573614),
        (6 * lp.Gaussian(7.367556).poisson(0.0013258) + 104 * lp.Gaussian(14.1342).poisson(3.286e-05), 1.0424255694581328),
    ],
)
def test_what_is_below_every_double_is_said_to_be(release, epsilon):
    """The moments of the whole loss do not tell."""
    bound = release.delta(epsilon)
    assert bound.upper < 1e-323
    assert bound.status is lp.Status.MET
