"""Sampled Gaussians with hardly any noise: against integrals over outputs at 40 digits, and against other routes."""

import math

import mpmath
import numpy as np
import pytest

import logphi as lp
from logphi.engine.large_losses.separated import log_profile


def profile_of_one(m, q, x):
    """E_P (1 - e^{x - l})_+ of one sampled release, by the output at which l = x."""
    u = mpmath.e**x
    if u <= 1 - q:
        return 1 - u
    place = (mpmath.log((u - 1 + q) / q) + m * m / 2) / m
    tails = mpmath.ncdf(-place), mpmath.ncdf(m - place)
    return (1 - q) * tails[0] + q * tails[1] - u * tails[0]


def profile_of_two(m, q, x):
    """The same of two releases, as an integral over the output of one."""

    def integrand(y):
        p = (1 - q) * mpmath.npdf(y) + q * mpmath.npdf(y, m)
        loss = mpmath.log(1 - q + q * mpmath.e ** (m * y - m * m / 2))
        return p * profile_of_one(m, q, x - loss)

    # kinks: where the other release no longer matters, and where it alone must exceed the rest
    kinks = [(x - loss + mpmath.log(1 / q) + m * m / 2) / m for loss in (0, mpmath.log(1 - q))]
    return mpmath.quad(integrand, sorted({mpmath.mpf(place) for place in (*range(-12, int(m) + 15, 2), *kinks)}))


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("sigma", "rate", "epsilon"),
    [(0.05, 0.2, 0.5), (0.05, 1e-6, 3.0), (0.04, 0.3, 200.0), (0.03, 0.01, 700.0), (0.01, 0.5, 5100.0)],
)
def test_deltas_are_those_of_integrals_over_outputs(sigma, rate, epsilon):
    release = lp.Gaussian(sigma=sigma).poisson(rate)
    with mpmath.workdps(40):
        m, q, x = 1 / mpmath.mpf(repr(sigma)), mpmath.mpf(repr(rate)), mpmath.mpf(epsilon)
        truth = profile_of_two(m, q, x)
        found = (2 * release).delta(epsilon, direction="remove")
        assert found.lower <= truth <= found.upper
    assert found.width < 1e-9 * found.value


@pytest.mark.few(2)
@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize(
    "release",
    [
        6 * lp.Gaussian(sigma=0.05).poisson(0.2),
        2 * lp.Gaussian(sigma=0.05).poisson(0.1) + 3 * lp.Gaussian(sigma=0.06).poisson(0.02),
        3 * lp.Gaussian(sigma=0.05).poisson(0.1) + 5 * lp.Gaussian(sigma=1.0).poisson(0.05),
        2 * lp.Gaussian(sigma=0.05).poisson(0.1) + lp.RandomizedResponse(p=0.7),
    ],
    ids=repr,
)
def test_other_routes_agree(release, direction):
    for epsilon in (0.0, 0.3, 4.0, 30.0):
        found, other = (release.delta(epsilon, direction=direction, method=one) for one in (None, "discretized"))
        assert max(found.lower, other.lower) <= min(found.upper, other.upper)
        assert found.width <= 1e-8


def test_without_noise_delta_is_the_probability_to_take_part():
    release = 6 * lp.Gaussian(sigma=1e-8).poisson(0.25)
    taking_part = 1 - 0.75**6
    for epsilon in (0.0, 3.0, 1e6):
        found = release.delta(epsilon, direction="remove")
        assert found.lower <= taking_part <= found.upper
        assert found.width < 1e-11
    found = release.delta(1.0, direction="add")
    assert found.lower <= 1 - math.e * 0.75**6 <= found.upper


def test_epsilon_is_where_delta_is_the_given_one():
    release = 6 * lp.Gaussian(sigma=1e-4).poisson(0.2) + 2 * lp.Gaussian(sigma=1e-3).poisson(0.1)
    for delta in (1e-6, 0.01, 0.5):
        found = release.epsilon(delta)
        assert found.width < 1e-9 * found.value
        assert release.delta(found.upper).lower <= delta <= release.delta(found.lower).upper


def test_beside_a_response_delta_is_that_of_both():
    # nobody takes part with probability 0.512; otherwise everything shows
    release = 3 * lp.Gaussian(sigma=1e-8).poisson(0.2) + lp.RandomizedResponse(p=0.75)
    truth = 0.488 + 0.512 * max(0.75 - 0.25 * math.exp(1 - 3 * math.log(0.8)), 0.0)
    found = release.delta(1.0, direction="remove")
    assert found.lower * (1 - 1e-12) <= truth <= found.upper * (1 + 1e-12)


@pytest.mark.parametrize(("sigma", "rate", "epsilon"), [(0.02, 0.2, 1250.0), (0.01, 0.3, 5010.0), (1e-3, 0.01, 1e6)])
def test_far_out_beside_a_response_delta_is_that_of_integrals(sigma, rate, epsilon):
    release = 2 * lp.Gaussian(sigma=sigma).poisson(rate) + lp.RandomizedResponse(p=0.75)
    with mpmath.workdps(40):
        m, q, x = 1 / mpmath.mpf(repr(sigma)), mpmath.mpf(repr(rate)), mpmath.mpf(epsilon)
        odds = mpmath.log(3)
        truth = 3 * profile_of_pair(m, q, x - odds) / 4 + profile_of_pair(m, q, x + odds) / 4
        found = release.delta(epsilon)
        assert found.lower <= truth <= found.upper
    assert found.width < 1e-9 * found.value
    crossing = release.epsilon(found.value)
    assert crossing.lower <= epsilon * (1 + 1e-12)
    assert epsilon * (1 - 1e-12) <= crossing.upper
    assert crossing.width < 1e-9 * epsilon


def profile_of_pair(m, q, x):
    """The profile of two releases by who takes part, for thresholds at which an unclear output has a share below e^-500."""

    def normal(v, y):
        root = mpmath.sqrt(v)
        return mpmath.ncdf(root / 2 - y / root) - mpmath.e**y * mpmath.ncdf(-root / 2 - y / root)

    one, both = mpmath.log(q) + mpmath.log(1 - q), 2 * mpmath.log(q)
    return 2 * q * (1 - q) * normal(m * m, x - one) + q * q * normal(2 * m * m, x - both)


def test_two_responses_and_a_mass_at_infinity_beside_hardly_any_noise():
    release = 2 * lp.Gaussian(sigma=0.01).poisson(0.2) + lp.ApproximateDP(epsilon=0.0, delta=1e-3)
    with mpmath.workdps(40):
        truth = mpmath.mpf("0.001") + (1 - mpmath.mpf("0.001")) * profile_of_pair(mpmath.mpf(100), mpmath.mpf("0.2"), 5100)
        found = release.delta(5100)
        assert found.lower <= truth <= found.upper
    assert found.width < 1e-9 * found.value


def test_thresholds_far_above_all_losses_have_deltas_near_zero():
    release = 100 * lp.Gaussian(sigma=1e-6).poisson(0.3)
    assert release.log_delta(1e15).upper < -1e15
    assert (release + lp.Laplace(1)).delta(1e15).upper < 1e-300


@pytest.mark.parametrize("t", [-3e8, -2e6, -1e4, -37.0, -3.0, -0.05, 0.05, 2.0, 7.0])
@pytest.mark.parametrize("m", [40.0, 1e3, 1e7])
def test_logarithms_of_normal_profiles(m, t):
    x = (m / 2 - t) * m
    low, high = (float(one[0]) for one in log_profile(np.array([m * m]), np.array([x])))
    with mpmath.workdps(60):
        root = mpmath.sqrt(mpmath.mpf(m * m))
        own, other = (mpmath.log(mpmath.erfc((x / root + sign * root / 2) / mpmath.sqrt(2)) / 2) for sign in (-1, 1))
        truth = own + mpmath.log1p(-(mpmath.e ** (x + other - own)))
        assert low <= truth <= high
