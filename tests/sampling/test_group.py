"""Groups of records: what is claimed, against all that k neighbours in a row may do."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp

import logphi as lp
from directions import DIRECTIONS
from finite import hockey_stick
from logphi.pairs.pair import UnsupportedError
from logphi.text.written import exactly
from own import Own
from profiles import gaussian_profile
from refusals import refused

PLACES = [0.0, 0.2, 0.6, 1.1, 2.3]


def equal(found, truth):
    assert found.lower - 1e-12 <= truth <= found.upper + 1e-12
    assert found.upper - found.lower < 1e-6


@pytest.mark.parametrize(
    ("one", "group"),
    [
        (lp.Gaussian(2, sensitivity=0.1), "Gaussian(sigma=2.0, sensitivity=0.3)"),
        (lp.Gaussian(2, adjacency="replace"), "Gaussian(sigma=2.0, sensitivity=3.0, adjacency='replace')"),
        (lp.Laplace(scale=2, sensitivity=Fraction(1, 7)), "Laplace(scale=2.0, sensitivity=3/7)"),
        (lp.DiscreteLaplace(scale=2, sensitivity=2), "DiscreteLaplace(scale=2.0, sensitivity=6)"),
        (lp.DiscreteGaussian(sigma=2, truncation=9), "DiscreteGaussian(sigma=2.0, sensitivity=3, truncation=9)"),
        (lp.TruncatedGaussian(sigma=2, truncation=9), "TruncatedGaussian(sigma=2.0, truncation=9.0, sensitivity=3.0)"),
        (lp.TruncatedLaplace(scale=2, truncation=9), "TruncatedLaplace(scale=2.0, truncation=9.0, sensitivity=3.0)"),
        (lp.ExponentialMechanism(epsilon=0.1), "ExponentialMechanism(epsilon=0.3)"),
        (lp.PureDP(epsilon=0.4), "DiscreteLaplace(scale=2.5, sensitivity=3)"),
        (lp.PureDP(epsilon=0), "PureDP(epsilon=0.0)"),
        (lp.RandomizedResponse(p=0.6), "3 * RandomizedResponse(p=0.6)"),
        (lp.KaryRandomizedResponse(k=4, p=0.6), "3 * KaryRandomizedResponse(k=4, p=0.6)"),
        (lp.Gaussian(2).poisson(0.1), "Gaussian(sigma=2.0).poisson(0.1, group_size=3)"),
        (lp.Gaussian(2).poisson(0.1, group_size=2), "Gaussian(sigma=2.0).poisson(0.1, group_size=6)"),
        (
            10 * lp.Gaussian(2) + 2 * lp.RandomizedResponse(p=0.6),
            "10 * Gaussian(sigma=2.0, sensitivity=3.0) + 6 * RandomizedResponse(p=0.6)",
        ),
        (0 * lp.Gaussian(2), "0 * Gaussian(sigma=1.0)"),
    ],
)
def test_a_group_of_three(one, group):
    assert str(one.group(3)) == group
    assert one.group(1) is one
    assert one.group(3).adjacency is one.adjacency
    assert exactly(one.group(2).group(3)) == exactly(one.group(6)) or isinstance(one, lp.PureDP)


def test_noise_moved_by_the_whole_group():
    for mechanism, weight in (
        (lp.DiscreteLaplace(scale=2), lambda x: math.exp(-abs(x) / 2)),
        (lp.DiscreteGaussian(sigma=1.5), lambda x: math.exp(-(x**2) / 4.5)),
    ):
        noise = np.array([weight(x) for x in range(-200, 201)])
        noise /= noise.sum()
        p, q = np.concatenate([np.zeros(4), noise]), np.concatenate([noise, np.zeros(4)])
        for epsilon in PLACES:
            equal(mechanism.group(4).delta(epsilon), hockey_stick(p, q, epsilon))
    x = np.linspace(-60, 64, 1_240_001)
    one, other = (np.exp(-np.abs(x - c) / 2) / 4 for c in (4, 0))
    for epsilon in PLACES:
        found = lp.Laplace(scale=2).group(4).delta(epsilon)
        assert hockey_stick(one, other, epsilon) * 1e-4 == pytest.approx(found.value, abs=1e-7)
        m = mp.mpf(4) / 2
        truth = gaussian_profile(m)(epsilon)
        equal(lp.Gaussian(sigma=2).group(4).delta(epsilon), float(truth))


def chain(rng, epsilon, size, cells):
    """Vectors of which each is within epsilon of the next; some walk as far as they can."""
    vectors = [rng.dirichlet(np.full(cells, 0.5 if rng.random() < 0.5 else 5.0)) + 1e-9]
    vectors[0] /= vectors[0].sum()
    target = rng.random(cells) < 0.5
    if target.all() or not target.any():
        target = np.arange(cells) == 0
    for _ in range(size):
        last = vectors[-1]
        # the mass of one set as far up as it may go: its ratio, and that of the rest
        inside = last[target].sum()
        most = min(inside * math.exp(epsilon), 1 - (1 - inside) * math.exp(-epsilon))
        if rng.random() < 0.2:
            most = inside + (most - inside) * rng.random()
        vectors.append(np.where(target, last * most / inside, last * (1 - most) / (1 - inside)))
        step = np.log(vectors[-1] / last)
        assert np.abs(step).max() <= epsilon + 1e-12
    return vectors


@pytest.mark.few(3)
@pytest.mark.parametrize(("epsilon", "size"), [(0.3, 2), (0.5, 3), (1.0, 2), (0.2, 8)])
def test_no_pure_mechanism_does_more_to_a_group_and_some_does_as_much(epsilon, size):
    rng = np.random.default_rng(size)
    group, plain = lp.PureDP(epsilon).group(size), lp.PureDP(size * epsilon)
    places = [*PLACES, size * epsilon]
    claimed = [group.delta(place).upper for place in places]
    for _ in range(300):
        first, *_, last = chain(rng, epsilon, size, int(rng.integers(2, 5)))
        for place, bound in zip(places, claimed, strict=True):
            assert max(hockey_stick(last, first, place), hockey_stick(first, last, place)) <= bound + 1e-12
    # two cells from the least mass that one walk takes to the middle
    for place, bound in zip(places, claimed, strict=True):
        best = 0.0
        for start in np.geomspace(1e-3, 0.5, 4000):
            mass = start
            for _ in range(size):
                mass = min(mass * math.exp(epsilon), 1 - (1 - mass) * math.exp(-epsilon))
            best = max(best, mass - math.exp(place) * start)
        assert best >= bound - 1e-3
        assert bound <= plain.delta(place).upper + 1e-12


def iterated(epsilon, delta, size, alpha):
    """1 - f iterated: the most that a test of level alpha detects ([f-DP] Theorem 2.14)."""
    for _ in range(size):
        alpha = min(1.0, delta + math.exp(epsilon) * alpha, 1 - math.exp(-epsilon) * (1 - delta - alpha))
    return alpha


@pytest.mark.few(14)
@pytest.mark.parametrize("epsilon", [1e-60, 1e-9, 0.1, 1.0, 3.0])
@pytest.mark.parametrize("size", [2, 3, 7])
def test_a_guarantee_of_a_group_is_that_of_its_curve(epsilon, size):
    delta = 1e-12
    group = lp.ApproximateDP(epsilon, delta).group(size)
    assert isinstance(group, lp.ApproximateDP)
    for place in [*PLACES, size * epsilon]:
        found = group.delta(place).upper
        for alpha in (*np.linspace(0, 1, 201), *np.geomspace(1e-9, 0.5, 100)):
            assert iterated(epsilon, delta, size, alpha) - math.exp(place) * alpha <= found + 1e-15
    with mp.workdps(50):
        truth = mp.mpf(delta) * sum(mp.exp(mp.mpf(epsilon) * i) for i in range(size))
        assert truth <= mp.mpf(group.guaranteed_delta) * (1 + mp.mpf(2) ** -52) <= truth * (1 + mp.mpf(10) ** -13)


def test_guarantees_of_large_groups():
    assert lp.ApproximateDP(0, 1e-15).group(10**9) == lp.ApproximateDP(0, 1e-6)
    assert lp.ApproximateDP(1e-9, 0).group(10**9) == lp.ApproximateDP(1, 0)
    assert lp.PureDP(0.001).group(10**6) == lp.PureDP(1000)
    for vacuous in ((1, 1e-5), (100, 1e-5), (1e90, 1e-300), (1, 0.5)):
        refused(ValueError, lambda given=vacuous: lp.ApproximateDP(*given).group(13), "guarantees nothing")
    tiny = lp.ApproximateDP(1e-9, 1e-20).group(10**9)
    assert isinstance(tiny, lp.ApproximateDP)
    assert tiny.guaranteed_delta == pytest.approx(1e-11 * math.expm1(1), rel=1e-8)


@pytest.mark.parametrize("epsilon", PLACES)
def test_the_responses_of_a_group(epsilon):
    size, p = 3, 0.7
    binary = lambda truth: [p if answer == truth else 1 - p for answer in (0, 1)]  # noqa: E731
    laws = {
        truths: [math.prod(binary(t)[a] for t, a in zip(truths, answers, strict=True)) for answers in BINARY]
        for truths in BINARY
    }
    worst = max(hockey_stick(laws[one], laws[other], epsilon) for one, other in itertools.product(BINARY, repeat=2))
    equal(lp.RandomizedResponse(p).group(size).delta(epsilon), worst)

    k, q = 3, 0.4
    rows = np.full((k + 1, k), q / k) + np.vstack([np.eye(k) * (1 - q), np.zeros(k)])
    rows[k] = 1 / k
    reports = {truths: joint([rows[t] for t in truths]) for truths in itertools.product(range(k + 1), repeat=2)}
    values = [truths for truths in reports if k not in truths]
    worst = max(hockey_stick(reports[one], reports[other], epsilon) for one, other in itertools.product(values, repeat=2))
    equal(lp.KaryRandomizedResponse(k, q).group(2).delta(epsilon), worst)
    nothing = reports[k, k]
    for direction in ("remove", "add"):
        pairs = [(reports[one], nothing) if direction == "remove" else (nothing, reports[one]) for one in values]
        group = lp.KaryRandomizedResponse(k, q, "replace_special").group(2)
        equal(group.delta(epsilon, direction=direction), max(hockey_stick(a, b, epsilon) for a, b in pairs))


BINARY = list(itertools.product((0, 1), repeat=3))


def joint(rows):
    """The law of independent reports."""
    law = np.ones(1)
    for row in rows:
        law = np.outer(law, row).ravel()
    return law


def test_losses_of_bounded_range_add_up():
    rng = np.random.default_rng(5)
    epsilon, size = 0.4, 3
    claimed = [lp.ExponentialMechanism(epsilon).group(size).delta(place).upper for place in PLACES]
    for _ in range(500):
        quality, moved = rng.normal(size=6), rng.random((size, 6)) * epsilon
        before = np.exp(quality) / np.exp(quality).sum()
        after = np.exp(quality + moved.sum(0)) / np.exp(quality + moved.sum(0)).sum()
        for place, bound in zip(PLACES, claimed, strict=True):
            assert hockey_stick(after, before, place) <= bound + 1e-12


@pytest.mark.parametrize("epsilon", PLACES[:3])
def test_every_record_of_a_group_is_drawn_by_itself(epsilon):
    x = np.linspace(-12, 16, 560_001)
    density = [np.exp(-((x - j) ** 2) / 2) / math.sqrt(2 * math.pi) for j in range(4)]
    mixed = sum(math.comb(3, j) * 0.2**j * 0.8 ** (3 - j) * density[j] for j in range(4))
    group = lp.Gaussian(1).poisson(0.2).group(3)
    for direction, (p, q) in zip(DIRECTIONS, ((mixed, density[0]), (density[0], mixed)), strict=True):
        truth = hockey_stick(p, q, epsilon) * (x[1] - x[0])
        assert group.delta(epsilon, direction=direction).value == pytest.approx(truth, abs=1e-8)


@pytest.mark.parametrize(
    ("mechanism", "needle"),
    [
        (lp.Discrete([0.5, 0.5], [0.4, 0.6]), "group_guarantee(guarantee, 4)"),
        (lp.DistanceToInstability(1, 1e-3), "group_guarantee"),
        (lp.GaussianMixture(1, [1, 2], [0.5, 0.5]), "group_guarantee"),
        (lp.GaussianPair(0, 1, 1, 2), "group_guarantee"),
        (lp.FromProfile([1], [1e-5]), "group_guarantee"),
        (lp.FromTradeoff([0, 0.5], [0.9, 0.1]), "group_guarantee"),
        (lp.Laplace(1).poisson(0.1), "1 - (1 - rate)^size"),
        (lp.Laplace(1).poisson(0.1, one_pair=True), "leave it out"),
        (lp.Discrete([0.5, 0.5], [0.4, 0.6], adjacency="replace").subset(0.1, adjacency="add_remove"), "Discrete"),
        (3 * lp.Gaussian(1) + lp.Discrete([0.5, 0.5], [0.4, 0.6]), "Discrete"),
        (Own(), "Own"),
    ],
)
def test_what_one_record_does_not_tell_of_several_is_refused(mechanism, needle):
    refused(UnsupportedError, lambda: mechanism.group(4), needle)
    assert mechanism.group(1) is mechanism


@pytest.mark.parametrize("size", [0, -1, 1.5, "4", True, None, 10**10])
def test_a_group_is_a_whole_number_of_records(size):
    refused((TypeError, ValueError), lambda: lp.Gaussian(1).group(size), "size")


def test_limits_of_the_group_itself():
    refused(ValueError, lambda: lp.DiscreteLaplace(1, 500).group(3), "sensitivity", "1000")
    # moved beyond its own ends, the noise tells everything
    assert lp.DiscreteGaussian(2, truncation=9).group(19).delta(1).lower == 1
    refused(ValueError, lambda: lp.Gaussian(1, 1e300).group(10**9), "sensitivity")
    refused(ValueError, lambda: (10**299 * lp.RandomizedResponse(0.6)).group(100), "1e300")
