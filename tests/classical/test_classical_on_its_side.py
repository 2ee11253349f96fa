"""Random compositions: every classical bound is on its side of the exact answer."""

import math

import numpy as np
import pytest

import logphi as lp
from finite import random_pairs
from logphi.algebra.families import hulls_are_loose, terms_of
from logphi.answers.status import Side
from logphi.classical import concentrated, loss_class, markov, renyi
from logphi.classical.concentrated import Concentrated
from logphi.classical.loss_class import LossClass
from logphi.classical.renyi import Conversion

CONVERSIONS = list(Conversion)


def primitives(rng):
    def between(low, high):
        return float(np.exp(rng.uniform(math.log(low), math.log(high))))

    p, q = next(random_pairs(1, seed=int(rng.integers(1 << 30))))
    return [
        lambda: lp.Gaussian(between(0.5, 100)),
        lambda: lp.Laplace(between(0.3, 100)),
        lambda: lp.RandomizedResponse(float(rng.uniform(0.501, 0.95))),
        lambda: lp.Gaussian(between(0.6, 5)).poisson(between(1e-3, 0.5)),
        lambda: lp.ApproximateDP(between(0.01, 2), between(1e-9, 0.01)),
        lambda: lp.Discrete(list(p / p.sum()), list(q / q.sum())),
        lambda: lp.DiscreteLaplace(between(0.5, 20)),
        lambda: lp.ExponentialMechanism(between(0.05, 2)),
        lambda: lp.DiscreteGaussian(between(1, 20)),
    ]


def compositions(number, seed):
    rng = np.random.default_rng(seed)
    for _ in range(number):
        kinds = rng.choice(9, size=int(rng.integers(1, 3)), replace=False)
        counts = [int(10 ** rng.uniform(0, 4)) for _ in kinds]
        yield lp.compose([count * primitives(rng)[kind]() for kind, count in zip(kinds, counts, strict=True)]), rng


def classes(release):
    return [LossClass.of(law) for law in {release.loss_law(), release.loss_law().reflected()}]


def sides(release):
    """A lower bound for the hulls is not one for mechanisms that are chosen adaptively."""
    return [side for side in Side if side is not Side.LOWER or not hulls_are_loose(terms_of(release))]


def claims_of(release, epsilon, conversions):
    """Every claim about delta; the larger of both orders of the pair where the claim is of one."""
    yield from (renyi.delta(release, epsilon, conversion=one) for one in conversions)
    yield markov.delta(release, epsilon)
    budget, known = Concentrated.of(release), classes(release)
    yield concentrated.tail_delta(budget, epsilon)
    yield concentrated.delta(budget, epsilon)
    for side in sides(release):
        for method in (loss_class.berry_esseen_delta, loss_class.nagaev_delta, loss_class.class_delta):
            yield max((method(one, epsilon, side) for one in known), key=float)


def claims_of_epsilon(release, delta, conversions):
    yield from (renyi.epsilon(release, delta, conversion=one) for one in conversions)
    budget, known = Concentrated.of(release), classes(release)
    yield concentrated.tail_epsilon(budget, delta)
    yield concentrated.epsilon(budget, delta)
    for side in sides(release):
        yield max((loss_class.berry_esseen_epsilon(one, delta, side) for one in known), key=float)


def on_their_side(claims, exact):
    for one in claims:
        if one.side is Side.UPPER:
            assert one.value >= exact.lower, one
        else:
            assert one.value <= exact.upper, one


QUICK = (Conversion.MIRONOV, Conversion.CANONNE)


def check_random(number, seed, conversions):
    for release, rng in compositions(number, seed):
        epsilon = float(rng.choice([0.0, rng.uniform(0, 10), 10 ** rng.uniform(-3, 1)]))
        on_their_side(claims_of(release, epsilon, conversions), release.delta(epsilon))


def check_random_epsilon(number, seed, conversions):
    for release, rng in compositions(number, seed):
        delta = float(10 ** rng.uniform(-12, -0.3))
        on_their_side(claims_of_epsilon(release, delta, conversions), release.epsilon(delta))


@pytest.mark.slow
def test_random_compositions():
    check_random(2, 11, QUICK)
    check_random_epsilon(1, 13, QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 104))
def test_many_random_compositions(seed):
    check_random(8, seed, CONVERSIONS)
    check_random_epsilon(3, seed + 1000, CONVERSIONS)


@pytest.mark.slow
def test_small_deltas_keep_their_side():
    for release in (lp.Gaussian(10.0), 100 * lp.Laplace(10.0), 10 * lp.Gaussian(2.0).poisson(0.01)):
        for epsilon in (0.5, 3.0, 8.0):
            exact = release.log_delta(epsilon)
            for one in CONVERSIONS:
                claimed = renyi.delta(release, epsilon, conversion=one).value
                assert claimed > 0
                assert math.log(claimed) >= exact.lower
