"""Matrix mechanisms are Gaussian mechanisms, banded ones compose sampled Gaussians; what has no proof is refused."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import logphi as lp
from logphi.strategies import Toeplitz, binary_tree, sensitivity, square_root
from logphi.text.written import exact
from refusals import refused

RUN = {"dataset_size": 1000, "batch_size": 20, "noise_multiplier": 2}


def test_a_matrix_mechanism_is_gaussian():
    release = lp.matrix_mechanism(binary_tree(15), sigma=3, participations=1)
    assert release == lp.Gaussian(3, sensitivity=2)
    assert release.delta(0.5).value == pytest.approx(lp.Gaussian(1.5).delta(0.5).value, rel=1e-14)
    assert lp.matrix_mechanism(np.eye(9), 1) == lp.Gaussian(1, sensitivity=3)
    strategy = square_root(100)
    found = lp.matrix_mechanism(strategy, 2, participations=2, separation=40)
    assert found.sensitivity == sensitivity(strategy, participations=2, separation=40).upper
    assert lp.parse(str(found)) == lp.from_json(found.to_json()) == found
    assert found.group(2) == lp.Gaussian(2, sensitivity=2 * found.sensitivity)
    # a tree begun anew in every epoch
    assert (4 * release).epsilon(1e-6).value == pytest.approx(lp.Gaussian(0.75).epsilon(1e-6).value, rel=1e-12)


def test_what_a_record_moves_under_each_relation():
    for relation in ("add_remove", "add", "remove", "replace_special"):
        assert lp.matrix_mechanism(np.eye(4), 1, adjacency=relation) == lp.Gaussian(1, sensitivity=2, adjacency=relation)
    strategy = square_root(7)
    one = lp.matrix_mechanism(strategy, 1).sensitivity
    replaced = lp.matrix_mechanism(strategy, 1, adjacency="replace")
    assert replaced.adjacency is lp.Adjacency.REPLACE
    assert exact(replaced.sensitivity) == 2 * Fraction(str(one))


def test_it_can_be_calibrated_and_certified():
    tree = binary_tree(64)
    found = lp.calibrate(lambda x: lp.matrix_mechanism(tree, x, participations=1), epsilon=1, delta=1e-6, rtol=1e-4)
    assert float(lp.matrix_mechanism(tree, found.value, participations=1).delta(1)) <= 1e-6
    pytest.importorskip("flint")
    certificate = lp.matrix_mechanism(tree, 3, participations=1).certify(epsilon=Fraction(1), digits=3)
    assert lp.verify(certificate)


@pytest.mark.parametrize("relation", ["add_remove", "add", "remove", "replace", "replace_special"])
def test_a_banded_run_composes_sampled_gaussians(relation):
    run = lp.banded_dp_sgd(Toeplitz([1, 1, 1, 1], 10), **RUN, adjacency=relation)
    base = lp.Gaussian(2, sensitivity=2, adjacency="add_remove" if relation == "replace" else relation)
    plain = 3 * base.poisson(Fraction(4 * 20, 1000), adjacency=relation)
    assert run.adjacency is lp.Adjacency(relation)
    assert run.epsilon(1e-5).same_as(plain.epsilon(1e-5))
    assert str(run) == str(plain)
    assert run.to_json() == plain.to_json()


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
        for direction, loss in (("remove", ratio - math.exp(epsilon)), ("add", 1 - math.exp(epsilon) * ratio)):
            sampled = np.maximum(loss, 0)
            spread = 5 * sampled.std() / math.sqrt(draws)
            answer = run.delta(epsilon, direction=direction)
            assert sampled.mean() <= answer.upper + spread
            # the column of the record has the largest norm, and the signs of a row do not matter
            assert sampled.mean() >= answer.lower - spread


def test_groups_of_a_banded_run_are_refused_also_in_compositions():
    run = lp.banded_dp_sgd(square_root(100, bands=5), **RUN)
    for release in (run, 2 * run, run + lp.Laplace(9)):
        refused(ValueError, lambda release=release: release.group(2), "group of 2", "banded_dp_sgd", "matrix_mechanism")
    assert run.group(1) == run


def test_bad_input_is_refused():
    strategy = square_root(100, bands=5)
    refused(ValueError, lambda: lp.banded_dp_sgd(strategy, **RUN, parts=4), "5 bands", "got 4")
    refused(ValueError, lambda: lp.banded_dp_sgd(binary_tree(8), **RUN), "lower triangular", "matrix_mechanism")
    refused(ValueError, lambda: lp.banded_dp_sgd(np.ones((3, 3)), **RUN), "lower triangular")
    refused(ValueError, lambda: lp.banded_dp_sgd(square_root(100), **RUN), "batch_size * parts", "1000", "20 * 100")
    refused(ValueError, lambda: lp.banded_dp_sgd(strategy, **{**RUN, "noise_multiplier": -1}), "noise_multiplier", "negative")
    refused(TypeError, lambda: lp.banded_dp_sgd(strategy, **{**RUN, "dataset_size": 10.5}), "dataset_size")
    refused(ValueError, lambda: lp.banded_dp_sgd(strategy, **{**RUN, "batch_size": 0}), "batch_size")
    refused(ValueError, lambda: lp.banded_dp_sgd(strategy, **RUN, adjacency="swap"), "adjacency", "swap")
    refused(TypeError, lambda: lp.banded_dp_sgd(strategy, **RUN, group_size=2), "group_size", "no bound of a group")
    refused(TypeError, lambda: lp.banded_dp_sgd(strategy, **RUN, steps=2), "steps", "Toeplitz")
    refused(ValueError, lambda: lp.matrix_mechanism(strategy, -1), "sigma", "negative")
    refused(TypeError, lambda: lp.matrix_mechanism(strategy, 1, 3), "participations=")
    refused(TypeError, lambda: lp.matrix_mechanism(strategy, 1, rate=0.1), "rate", "banded_dp_sgd")
    refused(TypeError, lambda: lp.matrix_mechanism(strategy, noise_multiplier=1), "noise_multiplier", "sigma=")
    refused(ValueError, lambda: lp.matrix_mechanism([1, 2], 1), "two dimensions")
    assert lp.matrix_mechanism(strategy, 0).delta(1).value == 1
    assert lp.matrix_mechanism([[0]], 1).delta(0).value == 0
