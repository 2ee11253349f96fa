"""Bounds of the Renyi divergences of samples: against those of sampled Gaussians and of random pairs."""

import math

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from finite import divergence, random_pairs
from logphi.classical import sampled_renyi
from logphi.classical.composition import Guarantee
from logphi.classical.concentrated import Concentrated


@pytest.mark.parametrize(("rate", "order", "sigma"), [(0.1, 4, 1.0), (0.02, 8, 2.0), (0.5, 3, 0.7)])
def test_sampled_divergence_is_that_of_the_sampled_gaussian(rate, order, sigma):
    found = sampled_renyi.sampled_divergence([k / (2 * sigma**2) for k in range(2, order + 1)], rate).value
    with mpmath.workdps(25):
        q, s = mpf(rate), mpf(sigma)

        def ratio(x):
            return 1 - q + q * mpmath.exp((x - mpf(1) / 2) / s**2)

        places = [-12 * s, 0, 1, order, order + 12 * s]
        for power, exact in ((order, True), (1 - order, False)):
            mean = mpmath.quad(lambda x, power=power: mpmath.npdf(x, 0, s) * ratio(x) ** power, places)
            truth = mpmath.log(mean) / (order - 1)
            assert found >= truth - mpf("1e-15")
            assert not exact or found == pytest.approx(float(truth), rel=1e-12)


def test_sampled_divergence_holds_of_random_pairs_in_both_orders():
    rng = np.random.default_rng(5)
    for p, q in random_pairs(300, seed=5):
        rate, order = float(rng.choice([0.01, 0.3, 0.9])), int(rng.integers(2, 9))
        base = [max(divergence(p, q, k), divergence(q, p, k)) for k in range(2, order + 1)]
        found = sampled_renyi.sampled_divergence(base, rate).value
        mixed = (1 - rate) * q + rate * p
        assert found >= max(divergence(mixed, q, order), divergence(q, mixed, order)) - 1e-13


@pytest.mark.parametrize("rate", [1e-6, 0.01, 0.3, 0.9, 0.999999])
@pytest.mark.parametrize("order", [2, 3, 7, 64])
def test_the_inequality_behind_the_reversed_order_of_a_sample(rate, order):
    with mpmath.workdps(60):
        q = mpf(rate)
        share = 3 * (1 - q) / (3 + 2 * (order - 2) * q)
        # the slopes agree at r = 1
        slope = (1 - order) * q - share * order * q - (1 - share) * (1 - order * q)
        for power in [*np.linspace(-60, 60, 61), *np.linspace(-0.5, 0.5, 21), 1e-4, -1e-4]:
            r = mpmath.exp(mpf(power))
            w = 1 - q + q * r
            assert w ** (1 - order) <= (
                share * w**order + (1 - share) * r * (1 - q + q / r) ** order + slope * (r - 1) + mpf(10) ** -50
            )


def test_the_analytic_form_is_above_the_sharp_one():
    for rho in (0.01, 0.1, 1.0):
        for rate in (1e-6, 1e-3, 0.01):
            simple = sampled_renyi.sampled_concentrated(Concentrated(rho), rate)
            last = simple.interval[1]
            for order in {2, 3, 5, 17, math.floor(last)}:
                if 2 <= order < min(last, 200):
                    sharp = sampled_renyi.sampled_divergence([rho * k for k in range(2, order + 1)], rate).value
                    assert sharp <= simple.divergence(float(order))
    with pytest.raises(ValueError, match="use sampled_curve"):
        sampled_renyi.sampled_concentrated(Concentrated(2.0), 0.01)
    with pytest.raises(ValueError, match="no order above 1"):
        sampled_renyi.sampled_concentrated(Concentrated(1.0), 0.5)


def test_sampling_at_the_ends_of_the_rate():
    assert sampled_renyi.sampled_divergence([1.0, 1.5], 0.0).value == 0
    assert sampled_renyi.sampled_divergence([1.0, 1.5], 1.0).value == pytest.approx(1.5)
    assert sampled_renyi.sampled_divergence([math.inf], 0.5).value == math.inf
    guarantee = sampled_renyi.sampled_guarantee(Guarantee(1.0, 1e-5, 3), 0.1)
    assert guarantee.count == 3
    assert guarantee.delta == pytest.approx(1e-6)
    assert guarantee.epsilon == pytest.approx(math.log1p(0.1 * math.expm1(1)))
