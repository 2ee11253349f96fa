"""Matrix mechanisms are Gaussian mechanisms, banded ones compose sampled Gaussians; what has no proof is refused."""

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import logphi as lp
from directions import DIRECTIONS
from logphi.strategies import BinaryTree, Toeplitz, sensitivity, square_root
from logphi.testing import check_mechanism
from logphi.text.written import exact
from refusals import refused, untyped

RUN: dict[str, Any] = {"dataset_size": 1000, "batch_size": 20, "noise_multiplier": 2}


def test_a_matrix_mechanism_is_gaussian():
    release = lp.matrix_mechanism(BinaryTree(15), sigma=3, participations=1)
    assert release == lp.Gaussian(3, sensitivity=2)
    assert release.delta(0.5).value == pytest.approx(lp.Gaussian(1.5).delta(0.5).value, rel=1e-14)
    assert lp.matrix_mechanism(np.eye(9), 1) == lp.Gaussian(1, sensitivity=3)
    strategy = square_root(100)
    found = lp.matrix_mechanism(strategy, 2, participations=2, separation=40)
    assert found.sensitivity == sensitivity(strategy, participations=2, separation=40).upper
    assert lp.parse(str(found)) == lp.from_json(found.to_json()) == found
    assert found.group(2) == lp.Gaussian(2, sensitivity=2 * found.sensitivity)
    # a tree begun again in every epoch
    assert (4 * release).epsilon(1e-6).value == pytest.approx(lp.Gaussian(0.75).epsilon(1e-6).value, rel=1e-12)


def test_what_a_record_moves_under_each_relation():
    for relation in ("add_remove", "add", "remove", "replace_special"):
        assert lp.matrix_mechanism(np.eye(4), 1, adjacency=relation) == lp.Gaussian(1, sensitivity=2, adjacency=relation)
    strategy = square_root(7)
    one = lp.matrix_mechanism(strategy, 1).sensitivity
    replaced = lp.matrix_mechanism(strategy, 1, adjacency="replace")
    assert replaced.adjacency is lp.Adjacency.REPLACE
    assert exact(replaced.sensitivity) == 2 * Fraction(str(one))


@pytest.mark.slow
def test_what_is_made_conforms():
    check_mechanism(lp.matrix_mechanism(BinaryTree(16), 2, participations=1))
    check_mechanism(lp.banded_dp_sgd(square_root(40, bands=4), **RUN))


def test_it_can_be_calibrated_and_certified():
    tree = BinaryTree(64)
    found = lp.calibrate(lambda x: lp.matrix_mechanism(tree, x, participations=1), epsilon=1, delta=1e-6, rtol=1e-4)
    assert float(lp.matrix_mechanism(tree, found.value, participations=1).delta(1)) <= 1e-6
    pytest.importorskip("flint")
    certificate = lp.matrix_mechanism(tree, 3, participations=1).certify(epsilon=Fraction(1), digits=3)
    assert lp.verify(certificate)


@pytest.mark.few(4)
@pytest.mark.parametrize("relation", ["add_remove", "add", "remove", "replace", "replace_special"])
def test_a_banded_run_composes_sampled_gaussians(relation):
    run = lp.banded_dp_sgd(Toeplitz([1, 1, 1, 1], 10), **RUN, adjacency=relation)
    base = lp.Gaussian(2, sensitivity=2, adjacency="add_remove" if relation == "replace" else relation)
    plain = 3 * base.poisson(Fraction(4 * 20, 1000), adjacency=relation)
    assert run.adjacency is lp.Adjacency(relation)
    assert run.epsilon(1e-5).same_as(plain.epsilon(1e-5))
    assert str(run) == str(plain)[:-1] + ", cyclic=True)"
    for again in (lp.parse(str(run)), lp.from_json(run.to_json())):
        assert again == run != plain
        # what is read back remembers how a group is drawn
        if relation != "replace":
            assert again.group(2).epsilon(1e-5).same_as(run.group(2).epsilon(1e-5))


def test_one_band_is_dp_sgd():
    run = lp.banded_dp_sgd(np.eye(50), **RUN)
    plain = lp.dp_sgd(dataset_size=1000, batch_size=20, noise_multiplier=2, steps=50)
    assert run.epsilon(1e-5).same_as(plain.epsilon(1e-5))
    # more parts than bands: fewer steps at a larger rate
    apart = lp.banded_dp_sgd(np.eye(50), **RUN, parts=5)
    assert apart.epsilon(1e-5).same_as((10 * lp.Gaussian(2).poisson(Fraction(1, 10))).epsilon(1e-5))
    assert apart.epsilon(1e-5).lower > run.epsilon(1e-5).upper


def test_the_whole_run_leaks_what_the_blocks_do():
    """All patterns of one record's coins against none, in all coordinates at once: what is attained, and by adaptive rows."""
    matrix, sigma, rate = np.array([[1, 0, 0, 0], [0.5, 1, 0, 0], [0, 0.5, 1, 0], [0, 0, 0.5, 1]]), 0.8, Fraction(1, 4)
    run = lp.banded_dp_sgd(matrix, dataset_size=8, batch_size=1, noise_multiplier=sigma)
    rng, draws, epsilon = np.random.default_rng(22), 400_000, 0.5
    noise = sigma * rng.normal(size=(draws, 4))
    for adaptive in (False, True):
        # with the sum of its first block, a record may choose how it moves the second
        sign = np.where(noise[:, 0] + noise[:, 1] > 0, 1.0, -1.0) if adaptive else np.ones(draws)
        ratio = np.zeros(draws)
        for first, second in itertools.product((0, 1), repeat=2):
            weight = math.prod(float(rate) if coin else 1 - float(rate) for coin in (first, second))
            moved = first * matrix[:, 0] + second * np.outer(sign, matrix[:, 2])
            ratio += weight * np.exp((noise * moved - moved**2 / 2).sum(axis=1) / sigma**2)
        for direction, loss in zip(DIRECTIONS, (ratio - math.exp(epsilon), 1 - math.exp(epsilon) * ratio), strict=True):
            sampled = np.maximum(loss, 0)
            spread = 5 * sampled.std() / math.sqrt(draws)
            answer = run.delta(epsilon, direction=direction)
            assert sampled.mean() <= answer.upper + spread
            # the column of the record has the largest norm, and the signs of a row do not matter
            assert sampled.mean() >= answer.lower - spread


def test_a_group_may_be_of_several_parts():
    strategy = square_root(40, bands=4)
    run = lp.banded_dp_sgd(strategy, **RUN)
    base = lp.Gaussian(2, sensitivity=sensitivity(strategy, participations=1).upper)
    shares = 20 * base._share(2).poisson(Fraction(8, 100))
    grouped = run.group(2)
    assert grouped.epsilon(1e-5).upper == shares.epsilon(1e-5).upper
    assert run.group(1) == run
    # a group of groups, and the groups of compositions, remember it
    assert grouped.group(3).epsilon(1e-5).value == pytest.approx(run.group(6).epsilon(1e-5).value, rel=1e-12)
    assert (2 * run).group(2) == 2 * grouped
    # plain samples of the same Gaussian have one part
    plain = 10 * base.poisson(Fraction(8, 100))
    assert run != plain
    for both in (run + plain, plain + run):
        assert both.epsilon(1e-5).same_as((2 * run).epsilon(1e-5))
        assert both.group(2).epsilon(1e-5).same_as((grouped + plain.group(2)).epsilon(1e-5))


def test_a_group_that_always_takes_part_is_covered():
    """At rate 1 there are no coins: two records, one of each of two parts, are in all steps together."""
    matrix = np.array([[1, 0, 0, 0], [0.5, 1, 0, 0], [0, 0.5, 1, 0], [0, 0, 0.5, 1]])
    run = lp.banded_dp_sgd(matrix, dataset_size=8, batch_size=4, noise_multiplier=2)
    moved = np.linalg.norm(matrix.sum(axis=1))
    assert run.group(2).delta(0.5).upper >= lp.Gaussian(2, sensitivity=moved).delta(0.5).lower


def test_a_group_of_two_parts_is_covered():
    matrix, sigma, rate, epsilon = np.array([[1, 0, 0, 0], [0.9, 1, 0, 0], [0, 0.9, 1, 0], [0, 0, 0.9, 1]]), 1.5, 0.25, 0.5
    run = lp.banded_dp_sgd(matrix, dataset_size=8, batch_size=1, noise_multiplier=sigma)
    rng = np.random.default_rng(24)
    noise = sigma * rng.normal(size=(200_000, 4))
    ratio = np.zeros(len(noise))
    for coins in itertools.product((0, 1), repeat=4):
        moved = matrix @ coins
        weight = rate ** sum(coins) * (1 - rate) ** (4 - sum(coins))
        ratio += weight * np.exp((noise @ moved - moved @ moved / 2) / sigma**2)
    grouped = run.group(2)
    for direction, loss in zip(DIRECTIONS, (ratio - math.exp(epsilon), 1 - math.exp(epsilon) * ratio), strict=True):
        sampled = np.maximum(loss, 0)
        assert sampled.mean() <= grouped.delta(epsilon, direction=direction).upper + 5 * sampled.std() / len(sampled) ** 0.5


def test_bad_input_is_refused():
    strategy = square_root(100, bands=5)
    refused(ValueError, lambda: lp.banded_dp_sgd(strategy, **RUN, parts=4), "5 bands", "got 4")
    refused(ValueError, lambda: lp.banded_dp_sgd(BinaryTree(8), **RUN), "lower triangular", "matrix_mechanism")
    refused(ValueError, lambda: lp.banded_dp_sgd(np.ones((3, 3)), **RUN), "lower triangular")
    refused(ValueError, lambda: lp.banded_dp_sgd(square_root(100), **RUN), "batch_size * parts", "1000", "20 * 100")
    refused(ValueError, lambda: lp.banded_dp_sgd(strategy, **{**RUN, "noise_multiplier": -1}), "noise_multiplier", "negative")
    refused(TypeError, lambda: lp.banded_dp_sgd(strategy, **{**RUN, "dataset_size": 10.5}), "dataset_size")
    refused(ValueError, lambda: lp.banded_dp_sgd(strategy, **{**RUN, "batch_size": 0}), "batch_size")
    refused(ValueError, lambda: untyped(lp.banded_dp_sgd)(strategy, **RUN, adjacency="swap"), "adjacency", "swap")
    refused(TypeError, lambda: untyped(lp.banded_dp_sgd)(strategy, **RUN, group_size=2), "group_size", "group(k)")
    refused(TypeError, lambda: untyped(lp.banded_dp_sgd)(strategy, **RUN, steps=2), "steps", "Toeplitz")
    refused(ValueError, lambda: lp.matrix_mechanism(strategy, -1), "sigma", "negative")
    refused(TypeError, lambda: untyped(lp.matrix_mechanism)(strategy, 1, 3), "participations=")
    refused(TypeError, lambda: untyped(lp.matrix_mechanism)(strategy, 1, rate=0.1), "rate", "banded_dp_sgd")
    refused(TypeError, lambda: untyped(lp.matrix_mechanism)(strategy, noise_multiplier=1), "noise_multiplier", "sigma=")
    refused(ValueError, lambda: lp.matrix_mechanism([1, 2], 1), "two dimensions")
    assert lp.matrix_mechanism(strategy, 0).delta(1).value == 1
    assert lp.matrix_mechanism([[0]], 1).delta(0).value == 0


def test_a_sample_of_parts_stays_one():
    one = lp.Gaussian(2).poisson(0.1, cyclic=True)
    assert one.poisson(0.5) == lp.Gaussian(2).poisson(0.05, cyclic=True)
    pytest.importorskip("flint")
    assert lp.verify((3 * one).certify(epsilon=Fraction(1), digits=3))


@pytest.mark.parametrize(
    "options", [{"group_size": 2}, {"one_pair": True}, {"truncated_batch_size": 9, "dataset_size": 99}, {"cyclic": 1}], ids=str
)
def test_what_samples_of_parts_are_not_known_with(options):
    with pytest.raises((ValueError, TypeError), match="cyclic"):
        lp.Gaussian(2).poisson(0.1, **{"cyclic": True, **options})
