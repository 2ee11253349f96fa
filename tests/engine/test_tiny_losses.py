"""Many releases whose losses are tiny: K keeps its digits, so that the answer is that of the Gaussian in the limit."""

import math

import numpy as np
import pytest

import logphi as lp
from logphi.quadrature.mixtures.log_ratio import TwoComponents
from logphi.quadrature.mixtures.mixture_envelope import log_mixture_envelope
from logphi.quadrature.mixtures.mixture_trapezoid import approximate

# the profile of the limit differs by about the largest loss of one release
CLOSE = 1e-9


def same(found, limit):
    """Two enclosures of nearly the same number."""
    room = CLOSE * max(limit.upper, 1e-300)
    assert limit.lower - room <= found.upper
    assert found.lower <= limit.upper + room
    assert found.status is lp.Status.MET


@pytest.mark.parametrize(("sigma", "digits"), [(0.9, 12), (2.0, 16), (0.9, 20), (2.0, 40), (2.0, 100)])
def test_tiny_rates(sigma, digits):
    """The variance of the sum is n q^2 (e^{1/sigma^2} - 1), exactly as a polynomial in q up to terms that vanish."""
    release = 10 ** (2 * digits) * lp.Gaussian(sigma).poisson(10.0**-digits)
    limit = lp.Gaussian(1 / math.sqrt(math.expm1(sigma**-2)))
    same(release.delta(1.0), limit.delta(1.0))
    same(release.epsilon(1e-6), limit.epsilon(1e-6))


@pytest.mark.parametrize("digits", [10, 20, 40, 80])
def test_huge_noise(digits):
    release = 10 ** (2 * digits) * lp.Gaussian(10.0**digits).poisson(0.1)
    limit = lp.Gaussian(10.0)
    same(release.delta(1.0), limit.delta(1.0))
    same(release.epsilon(1e-6), limit.epsilon(1e-6))


@pytest.mark.parametrize(("shift", "rate"), [(0.5, 1e-20), (1e-12, 0.3), (1e-9, 1e-9)])
def test_approximate_values_and_envelope_keep_their_digits(shift, rate):
    """Against the second moment of the loss, which is all that is left of K."""
    count = (rate * shift) ** -2
    mixtures = TwoComponents(np.array([shift]), np.array([rate]), np.array([count]))
    variance = count * rate**2 * math.expm1(shift**2)
    c = np.array([-0.3, 0.5, 2.0, 9.0])
    assert approximate(mixtures, c) == pytest.approx(variance * c * (c + 1) / 2, rel=1e-3)
    heights = np.array([0.5, 1.0, 4.0])
    found = count * log_mixture_envelope(mixtures, 0.5, heights)[0]
    assert (found >= -variance * heights**2 / 2 * (1 + 1e-6)).all()
    assert (found <= -0.8 * variance * heights**2 / 2 + 0.01).all()


@pytest.mark.parametrize(
    ("release", "limit"),
    [
        # the variance of a sampled response, over q^2, is that of p/q - 1 under Q
        (10**20 * lp.RandomizedResponse(p=0.6).poisson(1e-10), math.sqrt(0.6**2 / 0.4 + 0.4**2 / 0.6 - 1)),
        (10**40 * lp.Laplace(1e20).poisson(0.1), 0.1),
    ],
    ids=["responses", "Laplace"],
)
def test_bounds_hold_where_few_digits_are_left(release, limit):
    found, exact = release.delta(1.0), lp.Gaussian(1 / limit).delta(1.0)
    assert found.lower <= exact.upper * (1 + 1e-6)
    assert exact.lower <= found.upper * (1 + 1e-6)


def test_an_envelope_below_every_double_is_no_warning():
    assert (10**300 * lp.Gaussian(1.0).allocation(10)).delta(1.0).lower == pytest.approx(1.0)


@pytest.mark.parametrize("release", [3 * lp.Gaussian(0.5).poisson(1e-4), 5 * lp.Laplace(2).poisson(1e-3)], ids=str)
def test_epsilon_is_zero_where_the_distances_add_up_to_less_than_delta(release):
    distance = float(release.terms[0][0].delta(0.0)) * release.terms[0][1]
    found = release.epsilon(distance * (1 + 1e-9))
    assert (found.lower, found.value, found.upper) == (0.0, 0.0, 0.0)
    assert release.delta(0.0).upper <= distance * (1 + 1e-9)
