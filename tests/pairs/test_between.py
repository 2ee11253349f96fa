"""Two finite pairs around several releases on one sample, by enumeration and by closed forms of one release."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import logphi as lp
from logphi.pairs.between import NotBetweenError, between, is_known
from logphi.pairs.finite import FinitePair
from profiles import gaussian_profile


def excess(pair: FinitePair, epsilon: float, *, reverse: bool) -> float:
    p, q = np.array(pair.p), np.array(pair.q)
    if reverse:
        p, q = q, p
    return math.fsum(np.maximum(p - math.exp(epsilon) * q, 0.0).tolist())


def laplace(width: float, epsilon: float) -> float:
    """The profile of Laplace noise with largest loss ``width``."""
    if epsilon >= width:
        return 0.0
    return 1 - math.exp((epsilon - width) / 2) if epsilon > -width else 1 - math.exp(epsilon)


def beside_response(profile: Callable[[float], float], truth: float, epsilon: float) -> float:
    """The profile together with a randomized response: a mean over its outcomes."""
    loss = math.log(truth / (1 - truth))
    return truth * profile(epsilon - loss) + (1 - truth) * profile(epsilon + loss)


EPSILONS = (-1.0, 0.0, 0.3, 1.1, 1.7)


@pytest.mark.parametrize(
    ("mechanism", "profile", "share"),
    [
        (lp.Gaussian(sigma=1) + lp.RandomizedResponse(p=0.7), lambda x: float(gaussian_profile(1.0)(x)), 2e-4),
        (lp.Gaussian(sigma=4) + lp.RandomizedResponse(p=0.7), lambda x: float(gaussian_profile(0.25)(x)), 5e-3),
        (lp.Laplace(scale=2) + lp.RandomizedResponse(p=0.7), lambda x: laplace(0.5, x), 2e-3),
    ],
)
def test_a_response_beside_noise_is_between(mechanism, profile, share):
    below, above = between(mechanism.loss_law())
    for epsilon in EPSILONS:
        exact = beside_response(profile, 0.7, epsilon)
        for reverse in (False, True):
            # both pairs are symmetric
            low, high = excess(below, epsilon, reverse=reverse), excess(above, epsilon, reverse=reverse)
            assert low - 1e-13 <= exact <= high * (1 + above.relative_error) + above.omitted_mass + 1e-13
            assert high - low <= share * exact + 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_two_finite_mechanisms_are_between(seed):
    rng = np.random.default_rng(seed)
    drawn = [(rng.dirichlet(np.ones(size)), rng.dirichlet(np.ones(size))) for size in (6, 9)]
    first, second = (lp.Discrete(p.tolist(), q.tolist()) for p, q in drawn)
    release = 2 * first + second
    (p, q), (r, s) = drawn
    with_it, without = (np.einsum("i,j,k", a, a, b).ravel() for a, b in ((p, r), (q, s)))
    below, above = between(release.loss_law())
    for epsilon in EPSILONS:
        for reverse in (False, True):
            one, other = (without, with_it) if reverse else (with_it, without)
            exact = math.fsum(np.maximum(one - math.exp(epsilon) * other, 0).tolist())
            low, high = excess(below, epsilon, reverse=reverse), excess(above, epsilon, reverse=reverse)
            assert low - 1e-13 <= exact <= high * (1 + above.relative_error) + above.omitted_mass + 1e-13
            assert high - low <= 2e-3


def test_masses_sum_to_one_and_infinite_losses_stay():
    release = lp.ApproximateDP(epsilon=0.5, delta=1e-3) + lp.Laplace(scale=1)
    for pair in between(release.pair().loss()):
        assert math.fsum(pair.p) == pytest.approx(1, abs=1e-12)
        assert math.fsum(pair.q) == pytest.approx(1, abs=1e-12)
        assert math.fsum(a for a, b in zip(pair.p, pair.q, strict=True) if b == 0) == pytest.approx(1e-3, rel=1e-9)


def test_what_has_no_cells_is_not_known():
    unknown = (lp.DiscreteGaussian(sigma=2) + lp.Laplace(scale=1)).loss_law()
    assert not is_known(unknown)
    with pytest.raises(NotBetweenError, match="cell masses"):
        between(unknown)
