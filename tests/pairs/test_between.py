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


def sampled_laplace(rate: float, epsilon: float) -> float:
    """The profile of Laplace noise of scale 2 on a sample, P being the mixture."""
    if math.expm1(epsilon) <= -rate:
        return -math.expm1(epsilon)
    return rate * laplace(0.5, math.log1p(math.expm1(epsilon) / rate))


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


def test_an_atom_beside_a_node_is_not_left_out():
    # the losses of this response are known to 1e-12, and a share of a cell to no better than that over its width
    release = lp.RandomizedResponse(p=0.999954) + lp.Gaussian(sigma=1.3)
    below, above = between(release.loss_law())
    assert above.omitted_mass < 1e-20
    for epsilon in (0.0, 3.0, 9.98):
        exact = beside_response(lambda x: float(gaussian_profile(1 / 1.3)(x)), 0.999954, epsilon)
        low, high = excess(below, epsilon, reverse=False), excess(above, epsilon, reverse=False)
        assert low - 1e-13 <= exact <= high * (1 + above.relative_error) + above.omitted_mass + 1e-13
        assert high <= exact * (1 + 1e-4)
        assert low >= exact * (1 - 5e-3)


def test_a_response_beside_sampled_laplace_noise_is_between():
    release = lp.Laplace(scale=2).poisson(0.3) + lp.RandomizedResponse(p=0.7)
    below, above = between(release.loss_law())
    for epsilon in EPSILONS:
        exact = beside_response(lambda x: sampled_laplace(0.3, x), 0.7, epsilon)
        low, high = excess(below, epsilon, reverse=False), excess(above, epsilon, reverse=False)
        assert low - 1e-13 <= exact <= high * (1 + above.relative_error) + above.omitted_mass + 1e-13
        assert high - low <= 1e-3 * exact + 1e-12
        # D of the reversed pair at -x is e^{-x} (D(x) - 1 + e^x)
        other = math.exp(-epsilon) * (exact + math.expm1(epsilon))
        low, high = excess(below, -epsilon, reverse=True), excess(above, -epsilon, reverse=True)
        assert low - 1e-13 <= other <= high * (1 + above.relative_error) + above.omitted_mass + 1e-13


def two_shifts(sigma: float) -> tuple[np.ndarray, np.ndarray]:
    """Discrete Gaussian noise around one and around zero."""
    x = np.arange(-40, 42)
    p, q = (np.exp(-((x - shift) ** 2) / (2 * sigma**2)) for shift in (1, 0))
    return p / p.sum(), q / q.sum()


@pytest.mark.parametrize(("sigma", "truth", "count"), [(0.382, 0.790206, 3), (0.943, 0.999954, 1)])
def test_few_losses_are_known_as_they_are(sigma, truth, count):
    release = count * lp.DiscreteGaussian(sigma=sigma) + lp.RandomizedResponse(p=truth)
    below, above = between(release.pair().loss())
    assert below is above
    with_it, without = np.array([truth, 1 - truth]), np.array([1 - truth, truth])
    for _ in range(count):
        p, q = two_shifts(sigma)
        with_it, without = np.outer(with_it, p).ravel(), np.outer(without, q).ravel()
        likely = np.maximum(with_it, without) > 1e-40
        with_it, without = with_it[likely], without[likely]
    assert above.omitted_mass < 1e-55
    for epsilon in (-1.0, 0.0, 0.7, 3.5, 20.0):
        exact = math.fsum(np.maximum(with_it - math.exp(epsilon) * without, 0).tolist())
        found = excess(above, epsilon, reverse=False)
        assert abs(found - exact) <= 3 * above.relative_error * exact + 1e-15
        assert above.relative_error < 1e-9


def test_many_losses_are_put_on_nodes():
    release = lp.DiscreteGaussian(sigma=20) + lp.DiscreteGaussian(sigma=20.1) + lp.DiscreteGaussian(sigma=20.2)
    below, above = between(release.pair().loss())
    assert below is not above


def test_masses_sum_to_one_and_infinite_losses_stay():
    release = lp.ApproximateDP(epsilon=0.5, delta=1e-3) + lp.Laplace(scale=1)
    for pair in between(release.pair().loss()):
        assert math.fsum(pair.p) == pytest.approx(1, abs=1e-12)
        assert math.fsum(pair.q) == pytest.approx(1, abs=1e-12)
        assert math.fsum(a for a, b in zip(pair.p, pair.q, strict=True) if b == 0) == pytest.approx(1e-3, rel=1e-9)


def test_what_has_no_cells_is_not_known():
    unknown = (lp.DiscreteGaussian(sigma=2) + lp.Laplace(scale=1)).loss_law()
    assert not is_known(unknown)
    with pytest.raises(NotBetweenError, match="grid cells"):
        between(unknown)
