"""Many laws on one grid of losses: approximations beside proved values, and where the grid says that it is too coarse."""

import numpy as np
import pytest

import logphi as lp
from logphi.quadrature.sums.approximate_nodes import ApproximateNodes
from logphi.quadrature.sums.approximate_sums import ApproximateSums

KINDS = {
    "laplace": lambda i: lp.Laplace(scale=5.0 + i).poisson(0.002 * i),
    "discrete_gaussian": lambda i: lp.DiscreteGaussian(sigma=2.0 + i / 3).poisson(0.002 * i),
    "discrete_laplace": lambda i: lp.DiscreteLaplace(scale=2.0 + i / 3).poisson(0.002 * i),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reflected", [False, True])
def test_many_laws_together_are_near_their_proved_sum(kind: str, reflected: bool) -> None:
    loss = lp.compose([KINDS[kind](i) for i in range(1, 15)]).loss_law()
    loss = loss.reflected() if reflected else loss
    c = np.array([-0.9, -0.5, 1e-3, 0.3, 2.0, 12.0, 70.0, 400.0])
    proved = loss.log_transform(c)
    assert np.isfinite(proved.mid).all()
    np.testing.assert_allclose(loss.approximate(c), proved.mid, rtol=1e-4)


def test_the_two_atoms_of_a_response_by_hand() -> None:
    laws = [
        (ApproximateNodes(np.array([-e, e]), np.array([np.log(1 / (1 + np.exp(-e))), -np.log1p(np.exp(e))])), n)
        for e, n in [(0.3, 2), (1.1, 5)]
    ]
    sums = ApproximateSums.of(laws)
    assert sums is not None
    c = np.array([-0.5, 0.5, 3.0])
    by_hand = sum(
        n * np.log((np.exp((1 + c) * e - e) + np.exp(-(1 + c) * e)) / (1 + np.exp(-e))) for e, n in [(0.3, 2), (1.1, 5)]
    )
    found, known = sums.at(c)
    assert known.all()
    np.testing.assert_allclose(found, by_hand, rtol=1e-5)


def test_far_out_the_grid_is_too_coarse_and_says_so() -> None:
    law = ApproximateNodes(np.array([-0.1, 3.0]), np.array([np.log(0.999), np.log(1e-3)]))
    sums = ApproximateSums.of([(law, 1)])
    assert sums is not None
    _, known = sums.at(np.array([1.0, 100.0, 1e4]))
    assert known.tolist() == [[True, False, False]]


def test_laws_without_losses_have_no_grid() -> None:
    assert ApproximateSums.of([(ApproximateNodes(np.zeros(1), np.zeros(1)), 3)]) is None
