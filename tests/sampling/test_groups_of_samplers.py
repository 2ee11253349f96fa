"""Groups of records under every sampler: exact pairs by quadrature, upper bounds against all that a group may do."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import logphi as lp
from directions import DIRECTIONS
from logphi.answers.status import Status
from refusals import refused

PLACES = [-1.0, -0.2, 0.0, 0.3, 1.0, 2.5]
X = np.linspace(-60.0, 60.0, 240_001)
STEP = X[1] - X[0]


def normal(mean, sigma):
    return np.exp(-(((X - mean) / sigma) ** 2) / 2) / (sigma * math.sqrt(2 * math.pi))


def hockey_stick(p, q, epsilon, cell):
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum() * cell)


def binomial(size, rate):
    return [math.comb(size, i) * rate**i * (1 - rate) ** (size - i) for i in range(size + 1)]


@pytest.mark.few(2)
@pytest.mark.parametrize(("sigma", "rate", "size"), [(2.0, 0.1, 2), (1.5, 0.5, 3), (4.0, 0.01, 5)])
def test_a_group_under_replace_is_two_mixtures_to_both_sides(sigma, rate, size):
    weights = binomial(size, rate)
    p, q = (sum(w * normal(side * i, sigma) for i, w in enumerate(weights)) for side in (1, -1))
    group = lp.Gaussian(sigma).poisson(rate, group_size=size, adjacency="replace")
    for epsilon in PLACES:
        found = group.delta(epsilon)
        assert found.value == pytest.approx(hockey_stick(p, q, epsilon, STEP), abs=2e-8)
        assert found.upper - found.lower < 1e-8
    # a group of one is one record
    alone = lp.Gaussian(sigma).poisson(rate, adjacency="replace")
    assert alone.group(size) == group
    assert group.delta(0.3).lower > alone.delta(0.3).upper


@pytest.mark.slow
def test_nothing_that_a_group_may_hold_is_worse_under_replace():
    rng = np.random.default_rng(7)
    sigma, rate, size = 1.5, 0.3, 3
    group = lp.Gaussian(sigma).poisson(rate, group_size=size, adjacency="replace")
    bounds = {epsilon: group.delta(epsilon).upper for epsilon in PLACES}
    subsets = [subset for n in range(size + 1) for subset in itertools.combinations(range(size), n)]
    weights = [rate ** len(subset) * (1 - rate) ** (size - len(subset)) for subset in subsets]
    for _ in range(30):
        before, after = rng.uniform(-1, 1, (2, size)) if rng.random() < 0.5 else rng.choice([-1.0, 0.0, 1.0], (2, size))
        p, q = (
            sum(w * normal(held[list(subset)].sum(), sigma) for w, subset in zip(weights, subsets, strict=True))
            for held in (before, after)
        )
        for epsilon, bound in bounds.items():
            assert hockey_stick(p, q, epsilon, STEP) <= bound + 1e-9


def test_composed_groups_under_replace_agree_with_the_pair_of_both_histograms():
    weights = binomial(3, 0.25)
    pair = lp.GaussianMixturePair(2, list(range(-3, 4)), [0, 0, 0, *weights], [*weights[::-1], 0, 0, 0], adjacency="replace")
    group = lp.Gaussian(2).poisson(0.25, group_size=3, adjacency="replace")
    assert (20 * group).epsilon(1e-6).value == pytest.approx((20 * pair).epsilon(1e-6).value, rel=1e-9)
    # everybody takes part
    assert lp.Gaussian(2).poisson(1, group_size=3, adjacency="replace").delta(0.5).value == pytest.approx(
        lp.Gaussian(2, sensitivity=6).delta(0.5).value, rel=1e-12
    )


def test_two_records_in_two_batches_leak_less_than_two_allocations_with_half_of_the_noise():
    sigma = 1.5
    x = np.linspace(-12.0, 14.0, 1041)
    one, none, two = (np.exp(-(((x - mean) / sigma) ** 2) / 2) / (sigma * math.sqrt(2 * math.pi)) for mean in (1, 0, 2))
    together = (np.outer(two, none) + np.outer(none, two)) / 4 + np.outer(one, one) / 2
    absent = np.outer(none, none)
    group = lp.Gaussian(sigma).allocation(2).group(2)
    cell = (x[1] - x[0]) ** 2
    for epsilon in PLACES:
        for direction, (p, q) in zip(DIRECTIONS, ((together, absent), (absent, together)), strict=True):
            assert hockey_stick(p, q, epsilon, cell) <= group.delta(epsilon, direction=direction).upper + 1e-9
    # not by much
    assert group.delta(0.3).upper < 1.5 * hockey_stick(together, absent, 0.3, cell)
    assert lp.Gaussian(2).allocation(1).group(3) == lp.Gaussian(2, sensitivity=3)


def test_responses_of_a_group_are_allocated_by_themselves():
    one = lp.RandomizedResponse(0.6, adjacency="replace_special").allocation(4)
    assert one.group(3) == 3 * one


def answers(held, epsilon, batch):
    """P(1) of a response on whether two records of a uniform subset hold a one."""
    samples = list(itertools.combinations(held, batch))
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))
    return sum(truth if sum(sample) >= 2 else 1 - truth for sample in samples) / len(samples)


@pytest.mark.few(1)
@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_a_group_in_a_subset_leaks_less_than_its_bound(relation):
    records, batch, size = 6, 3, 2
    base = lp.PureDP(epsilon=1, adjacency="replace")
    group = base.subset(batch / records, adjacency=relation).group(size)
    assert str(group) == str(base.group(size).subset(1, adjacency=relation))
    small = lp.PureDP(epsilon=1, adjacency="replace").subset(0.25, adjacency=relation).group(size)
    for ones in range(records - size + 1):
        others = [1] * ones + [0] * (records - size - ones)
        for held in itertools.product((0, 1), repeat=size):
            before = answers([*others, *held], 1, batch)
            after = answers([*others, *(1 - one for one in held)] if relation == "replace" else others, 1, batch)
            for p, q in ((before, after), (after, before)):
                for epsilon in (0.0, 0.2, 0.8):
                    attained = max(p - math.exp(epsilon) * q, 0) + max(1 - p - math.exp(epsilon) * (1 - q), 0)
                    assert attained <= group.delta(epsilon).upper + 1e-12
    # of eight records two are drawn: the group is met with probability 13/28, and not more often than 1/2
    for epsilon in (0.0, 0.4):
        before, after = answers([1, 1, *[0] * 6], 1, 2), answers([0] * 8 if relation == "replace" else [0] * 6, 1, 2)
        assert max(before - math.exp(epsilon) * after, 0) <= small.delta(epsilon).upper


def test_a_group_of_shuffled_batches_has_the_cover_of_its_epochs():
    group, cover = (2 * lp.Gaussian(3).shuffled(10)).group(4), 2 * lp.Gaussian(3, sensitivity=4)
    assert str(group) == str(cover)
    assert group.delta(1).upper == cover.delta(1).upper


def test_groups_that_need_not_attain_their_bound_say_so():
    subset = lp.Gaussian(4, sensitivity=2, adjacency="replace").subset(0.01, adjacency="add_remove")
    for alone in (lp.Gaussian(2).allocation(5), subset, lp.Gaussian(3).shuffled(10), lp.Gaussian(2).poisson(0.1, cyclic=True)):
        # beside another release, the lower end is that of the other one
        both = (alone + lp.Laplace(5, adjacency=alone.adjacency)).group(2)
        assert both.epsilon(1e-5).status is Status.BRACKET
        for group in ((3 * alone).group(2), both, alone.group(2).group(3)):
            assert group is both or group.epsilon(1e-5).status is Status.DOMINATED
            # the text is that of the bound, which attains its own pair
            assert lp.parse(str(group)).epsilon(1e-5).upper == group.epsilon(1e-5).upper
            assert group.log_phi(0.5).value == pytest.approx(lp.parse(str(group)).log_phi(0.5).value, rel=1e-12)
    # these are known exactly
    for exact in (lp.Gaussian(2).poisson(0.1), lp.RandomizedResponse(0.6).allocation(4), lp.Gaussian(2)):
        assert exact.group(2).epsilon(1e-3).status is Status.MET


def test_training_of_a_group_by_every_sampler():
    sizes: dict[str, Any] = {"dataset_size": 1000, "batch_size": 100, "noise_multiplier": 3, "epochs": 2, "group_size": 2}
    for sampler in ("without_replacement", "balls_in_bins", "shuffled", "fixed_order"):
        alone = lp.dp_sgd(**{**sizes, "group_size": 1}, sampler=sampler)
        group = lp.dp_sgd(**sizes, sampler=sampler)
        assert group.epsilon(1e-5).same_as(alone.group(2).epsilon(1e-5))
        assert group.epsilon(1e-5).upper > alone.epsilon(1e-5).upper
        assert "a group of 2 records" in str(group)
    replaced = lp.dp_sgd(**sizes, adjacency="replace")
    assert replaced.step == lp.Gaussian(3).poisson(0.1, group_size=2, adjacency="replace")


@pytest.mark.parametrize(
    ("call", "needles"),
    [
        (lambda: lp.Gaussian(0.1).poisson(0.1, group_size=9, adjacency="replace"), ("2 * group_size", "50", "180")),
        (lambda: lp.Gaussian(99).poisson(1e-200, group_size=2, adjacency="replace"), ("1e-290", "group")),
        (lambda: lp.Laplace(2).poisson(0.1, group_size=2, adjacency="replace"), ("group_size", "Gaussian")),
        (lambda: lp.Discrete([0.5, 0.5], [0.25, 0.75]).allocation(3).group(2), ("Discrete", "2", "group")),
        (
            lambda: lp.Gaussian(2).poisson(0.1, truncated_batch_size=3, dataset_size=9).group(2),
            ("truncated", "2"),
        ),
        (
            lambda: lp.dp_sgd(
                dataset_size=100,
                batch_size=10,
                epochs=1,
                noise_multiplier=1,
                sampler="truncated_poisson",
                truncated_batch_size=12,
                group_size=2,
            ),
            ("truncated", "2"),
        ),
    ],
)
def test_groups_that_are_not_known_are_refused(call, needles):
    refused(ValueError, call, *needles)


def test_the_certificate_of_a_group_under_replace_agrees():
    pytest.importorskip("flint")
    group = lp.Gaussian(2).poisson(0.1, group_size=2, adjacency="replace")
    found, bound = group.certify(epsilon=1, digits=6), group.delta(1)
    assert lp.verify(found)
    assert float(found.lower) <= bound.upper
    assert bound.lower <= float(found.upper)
