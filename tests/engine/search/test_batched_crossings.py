"""Epsilon of many trainings at once: what is answered is what each has alone, and the rest is left to be asked alone."""

import math
from typing import Any

import numpy as np
import pytest

import logphi as lp
from logphi.engine.search.batched_crossings import Repeated, epsilons
from logphi.inputs.tolerance import DEFAULT, Tolerance
from logphi.sweeps.sharing import EpsilonOfMany

# as of the first line of the README, to the digits of its certificate
SPENT, SPENT_DELTA = 2.381596921, 1e-5


def training(sigma, rate, steps):
    return steps * lp.Gaussian(sigma=sigma).poisson(rate)


def repeated(mechanism):
    found = Repeated.of(mechanism._loss())
    assert found is not None
    return found


def test_they_are_what_each_has_alone():
    releases = [training(s, q, n) for s in (0.9, 1.4) for q in (0.005, 0.01) for n in (3000, 14000)]
    for delta in (1e-3, 1e-9):
        found = epsilons([repeated(one) for one in releases], delta, DEFAULT)
        assert sum(bound is not None for bound in found) >= 7
        for release, bound in zip(releases, found, strict=True):
            if bound is None:
                continue
            alone = release.epsilon(delta)
            assert max(alone.lower, bound.lower) <= min(alone.upper, bound.upper)
            assert bound.width <= DEFAULT.aim * max(1.0, bound.value)
            assert bound.status is lp.Status.MET
            assert bound.direction is alone.direction
            assert bound.ledger.proved


def test_the_ends_are_proved_by_the_profile_alone():
    releases = [training(1.1, 256 / 60000, 14062), training(1.0, 0.01, 5000)]
    for release, bound in zip(releases, epsilons([repeated(one) for one in releases], SPENT_DELTA, DEFAULT), strict=True):
        assert bound is not None
        assert release.delta(bound.upper).lower <= SPENT_DELTA <= release.delta(bound.lower).upper
    assert bound is not None
    first = epsilons([repeated(one) for one in releases], SPENT_DELTA, DEFAULT)[0]
    assert first is not None
    assert first.value == pytest.approx(SPENT, abs=5e-10)


def test_the_order_that_decides_is_known():
    """Nearly normal releases, whose two orders are close: an answer of the wrong order would be too small."""
    releases = [training(sigma, 0.05, 20000) for sigma in np.linspace(2.5, 4.0, 8).tolist()]
    for release, bound in zip(releases, epsilons([repeated(one) for one in releases], 1e-5, DEFAULT), strict=True):
        if bound is not None:
            assert bound.upper >= release.epsilon(1e-5, direction="add").lower


@pytest.mark.parametrize("delta", [0.0, 0.3, 1.0])
def test_deltas_that_need_care_are_asked_alone(delta):
    assert epsilons([repeated(training(1.1, 0.01, 1000))] * 3, delta, DEFAULT) == [None] * 3


def test_what_is_no_repeated_sampled_gaussian_is_none():
    for release in (
        10 * lp.Gaussian(sigma=1.0),
        training(1.1, 0.01, 10) + lp.Gaussian(sigma=3.0),
        training(1.1, 0.01, 1 << 60),
        100 * lp.Gaussian(sigma=0.05).poisson(0.01),
        5 * lp.Laplace(2.0).poisson(0.1),
        10 * lp.Gaussian(sigma=100).poisson(1e-200),
    ):
        assert Repeated.of(release._loss()) is None


def test_wild_families_raise_no_warning():
    rng = np.random.default_rng(1)
    releases = [
        training(10 ** rng.uniform(-0.8, 1.5), 10 ** rng.uniform(-5, -0.01), int(10 ** rng.uniform(0, 7))) for _ in range(40)
    ]
    many = EpsilonOfMany(1e-6, Tolerance.of(1e-6))
    answered = 0
    for batch in many.batches(releases):
        for place, bound in zip(batch, many.answers([releases[one] for one in batch]), strict=True):
            answered += bound is not None
            assert bound is None or (0 < bound.lower <= bound.upper < math.inf), releases[place]
    assert answered >= 8


def test_a_sweep_answers_many_points_together():
    grid: dict[str, list[Any]] = {"sigma": [0.9, 1.2, 1.6, 2.0], "rate": [0.005, 0.01], "steps": [3000, 9000, 20000]}
    found = lp.sweep(training, grid, delta=1e-5)
    for place in ((0, 0, 0), (1, 1, 2), (3, 0, 1)):
        sigma, rate, steps = (grid[name][k] for name, k in zip(grid, place, strict=True))
        alone, own = training(sigma, rate, steps).epsilon(1e-5), found[place]
        assert max(alone.lower, own.lower) <= min(alone.upper, own.upper)
    assert (found.status == lp.Status.MET).all()
