"""Skellam noise of a large variance: against the recurrence of Bessel functions, and against normal noise."""

import math

import mpmath
import numpy as np
import pytest

import logphi as lp
from logphi.mechanisms.integer_noise import skellam_tails


def tails(variance):
    """G(k) for k = 0, 1, 2, ... up to twelve standard deviations: ratios from far above, in doubles, scaled by mpmath."""
    last = round(12.5 * math.sqrt(variance))
    ratios, ratio = [], 0.0
    for k in range(3 * last, 0, -1):
        ratio = 1 / (2 * k / variance + ratio)
        ratios.append(ratio)
    shares = np.cumprod(ratios[::-1])[:last]
    with mpmath.workdps(30):
        at_zero = float(mpmath.exp(-variance) * mpmath.besseli(0, mpmath.mpf(variance)))
    above = at_zero * np.cumsum(shares[::-1])[::-1]
    assert at_zero + 2 * above[0] == pytest.approx(1, rel=1e-10)
    return np.concatenate([[at_zero + above[0]], above])


@pytest.mark.parametrize("variance", [1e4, 62501.0, 1e6])
def test_tails_are_between_the_bounds(variance):
    truth, s = tails(variance), math.sqrt(variance)
    for y in (0.0, 0.3, 1.0, 2.5, 4.0, 6.0, 8.0, 9.0):
        k = max(1, round(y * s))
        low, high = (float(skellam_tails._tail(np.array([float(k)]), variance, side)[0]) for side in (-1, 1))
        assert low <= truth[k] * (1 + 1e-11)
        assert truth[k] <= high * (1 + 1e-11)
        # far below what a shift of one changes
        assert high - low <= 4 * (1 + y**4 / 24 + y**2) * 20 / variance * truth[k] + 1e-21


@pytest.mark.parametrize(("variance", "shift"), [(1e4, 30), (1e6, 400), (1e6, 1)])
def test_errors_of_tests_are_attained(variance, shift):
    truth = tails(variance)
    one, two = skellam_tails.errors_of_tests(variance, shift)
    # the share of the noise from k on under both laws, by the type I errors that are listed
    k = np.arange(-round(9 * math.sqrt(variance)), round(9 * math.sqrt(variance)))
    above = np.where(k > 0, truth[np.abs(k)], 1 - truth[np.abs(1 - k)])
    moved = np.where(k > shift, truth[np.abs(k - shift)], 1 - truth[np.abs(1 - k + shift)])
    for alpha, beta in list(zip(one, two, strict=True))[1::37]:
        # the best test of this level misses no more
        best = np.interp(alpha, above[::-1], (1 - moved)[::-1])
        assert best <= beta * (1 + 1e-9) + 1e-15


def test_a_large_variance_has_both_ends():
    for variance, norm in ((1e5, 30), (1e12, 1e5)):
        truth = lp.Gaussian(math.sqrt(variance), norm).epsilon(1e-6).value
        assert truth * (1 - 3e-3) <= lp.Skellam(variance, norm).epsilon(1e-6).lower <= truth * (1 + 3e-3)


@pytest.mark.slow
def test_several_coordinates_and_releases_too():
    several = lp.Skellam(1e8, 1000, l1_sensitivity=1200, dimension=9)
    assert (20 * several).epsilon(1e-6).lower > 0.97 * (20 * lp.Gaussian(1e4, 1000)).epsilon(1e-6).value
