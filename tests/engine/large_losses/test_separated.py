"""Sampled Gaussians with hardly any noise: against integrals over outputs at 40 digits, and against other routes."""

import math

import mpmath
import pytest

import logphi as lp


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
