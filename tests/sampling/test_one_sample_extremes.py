"""Several releases on one sample whose losses no grid of doubles resolves: there are answers, if wide ones."""

from __future__ import annotations

import numpy as np
import pytest

import logphi as lp
from logphi.pairs.between import NotBetweenError, between

EXTREMES = [
    # losses of thousands, of which Q has no mass that a double holds
    lp.Gaussian(sigma=0.01) + lp.Laplace(scale=1000),
    lp.Gaussian(sigma=0.001) + lp.RandomizedResponse(p=0.6),
    # losses smaller than the rounding of those around one
    3 * lp.Gaussian(sigma=1e69) + lp.Laplace(scale=1e69),
]


@pytest.mark.parametrize("base", EXTREMES, ids=str)
def test_no_grid_holds_these_losses(base: lp.Mechanism) -> None:
    with pytest.raises(NotBetweenError):
        between(base.pair().loss())


@pytest.mark.few(1)
@pytest.mark.parametrize("base", EXTREMES, ids=str)
def test_samples_of_them_are_answered(base: lp.Mechanism) -> None:
    found = (10 * base.poisson(0.03)).delta(1e-3)
    assert 0 <= found.lower <= found.upper <= 1
    if base is not EXTREMES[2]:
        # a sample with the record leaks all: at least this share of all runs, nearly
        assert found.upper >= (1 - 0.97**10) * 0.99


def test_small_losses_are_put_on_a_coarser_grid():
    base = 3 * lp.Gaussian(sigma=1e6) + lp.Laplace(scale=1e6)
    below, above = between(base.pair().loss())
    # the distance of the two laws of the Gaussians alone, and of all of them together at most
    least, most = 3**0.5 * 1e-6 / (2 * 3.14159265) ** 0.5, 3**0.5 * 1e-6 / (2 * 3.14159265) ** 0.5 + 5e-7
    low, high = (sum(max(p - q, 0.0) for p, q in zip(pair.p, pair.q, strict=True)) for pair in (below, above))
    assert low <= most
    assert high + above.omitted_mass >= least
    assert high <= 1.01 * most


@pytest.mark.parametrize("order", [-2.2757548613222478e19, 4.0e9])
def test_at_huge_orders_the_transform_of_a_sample_is_unknown(order: float) -> None:
    """The poles have distances that no doubles hold, or there are billions of them."""
    law = (lp.Laplace(scale=2) + lp.RandomizedResponse(p=0.7)).poisson(0.3).loss_law().terms[0][0]
    assert np.isinf(law.log_transform(np.array([order])).radius).all()


def test_tiny_deltas_of_samples_of_samples_are_answered() -> None:
    seldom = lp.DiscreteLaplace(scale=2.79, sensitivity=2).poisson(0.001)
    often = lp.DiscreteGaussian(sigma=0.595, sensitivity=2).poisson(0.5)
    release = (seldom + often).poisson(0.854)
    assert 0 <= release.epsilon(1e-12).lower <= release.epsilon(1e-300).upper
