"""Concentrated differential privacy: rho against the supremum over orders, and published figures."""

import math

import numpy as np
import pytest

import logphi as lp
from finite import random_pairs
from logphi.classical import concentrated, sampled_renyi
from logphi.classical.concentrated import Concentrated
from logphi.classical.renyi import Conversion
from logphi.pairs.pair import UnsupportedError


@pytest.mark.parametrize(
    ("release", "rho"),
    [
        (lp.Gaussian(2.0), 1 / 8),
        (lp.RandomizedResponse(0.75), math.log(3) / 2),
        (7 * lp.PureDP(0.3), 7 * 0.3 * math.tanh(0.15)),
        (lp.Laplace(2.0), 0.5 + math.exp(-0.5) - 1),
        (3 * lp.Laplace(1.0) + lp.Gaussian(1.0), 3 * math.exp(-1) + 0.5),
        (lp.Gaussian(1.0).poisson(0.01), 0.5),
        (lp.DiscreteGaussian(2.0), 1 / 8),
    ],
)
def test_rho_is_the_supremum_over_orders(release, rho):
    """Harrison & Manurangsi 2025: the supremum is the Kullback-Leibler divergence for Laplace and randomized response."""
    found = Concentrated.of(release).rho
    assert rho * (1 - 1e-12) <= found <= rho * (1 + 2e-4)


def test_rho_of_a_finite_pair_by_a_grid():
    for p, q in random_pairs(10, seed=3):
        orders = 1 + np.geomspace(1e-5, 1e4, 4000)
        log = np.log(np.array([p, q]))
        forward = np.logaddexp.reduce(orders[:, None] * log[0] + (1 - orders[:, None]) * log[1], axis=1)
        backward = np.logaddexp.reduce(orders[:, None] * log[1] + (1 - orders[:, None]) * log[0], axis=1)
        truth = (np.maximum(forward, backward) / (orders * (orders - 1))).max()
        found = Concentrated.of(lp.Discrete(list(p / p.sum()), list(q / q.sum()))).rho
        assert truth * (1 - 1e-9) <= found <= truth * (1 + 1e-3)


def test_a_budget_of_one_order_says_nothing_of_the_other():
    release = lp.Discrete([0.977, 0.023], [0.009, 0.991], adjacency="remove")
    budget = Concentrated.of(release)
    assert not (2 * budget + Concentrated(0.1)).both
    assert Concentrated.of(lp.Gaussian(sigma=1), "remove").both
    # H = p - e^eps q of the first cell
    least = 0.977 - math.exp(0.3) * 0.009
    for how in Conversion:
        assert concentrated.delta(budget, 0.3, conversion=how).value >= least
        assert concentrated.epsilon(budget, least * 0.999, conversion=how).value >= 0.3
    with pytest.raises(ValueError, match="both directions"):
        sampled_renyi.sampled_concentrated(Concentrated(0.1, both=False), 0.01)


def test_published_figures_of_concentration():
    for rho, delta, tail, best in ((0.1, 1e-6, 2.450788, 2.141939), (0.5, 1e-5, 5.298526, 4.728387)):
        budget = Concentrated(rho)
        assert concentrated.tail_epsilon(budget, delta).value == pytest.approx(tail, abs=1e-6)
        assert concentrated.epsilon(budget, delta).value == pytest.approx(best, abs=1e-6)
        assert concentrated.tail_delta(budget, tail).value == pytest.approx(delta, rel=1e-5)
        assert (
            concentrated.epsilon(budget, delta, conversion="tradeoff").value
            >= lp.Gaussian(1 / math.sqrt(2 * rho)).epsilon(delta).lower
        )


def test_corners_of_concentration():
    none = Concentrated(0.0)
    assert concentrated.tail_delta(none, 0.1).value == 0
    assert concentrated.tail_epsilon(none, 0.0).value == 0
    assert concentrated.tail_epsilon(Concentrated(0.1), 0.0).value == math.inf
    assert concentrated.tail_delta(Concentrated(0.1, xi=0.2), 0.25).value == 1
    assert (3 * Concentrated(0.1, xi=0.2) + Concentrated(1.0)).xi == pytest.approx(0.6)
    with pytest.raises(ValueError, match="must not be negative"):
        Concentrated(-0.1)
    with pytest.raises(UnsupportedError, match="no rho is known"):
        Concentrated.of(lp.GaussianPair(mean_p=0, sigma_p=1, mean_q=0, sigma_q=2))
