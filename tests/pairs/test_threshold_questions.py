"""Attacks on a sparse vector: against its answers, one question after another, summed over the noise of the threshold."""

import math
from typing import Any

import numpy as np
import pytest

import logphi as lp
from logphi.pairs.threshold_questions import Threshold, split, survival

# cells of the noise of the threshold, and what the sum over them may be off by
CELLS, OFF = 40_001, 2e-7
# what joined cells may lose, relative to delta(0)
LOST = 2e-3


def tail(x):
    return np.where(x > 0, np.exp(-np.abs(x)) / 2, 1 - np.exp(-np.abs(x)) / 2)


def noise(threshold):
    y = np.linspace(-9 if threshold.normal else -30, 9 if threshold.normal else 30, CELLS)
    density = np.exp(-y * y / 2) if threshold.normal else np.exp(-np.abs(y))
    return threshold.width * y, density / density.sum()


def longest_of(count):
    """From where on counts are one outcome."""
    return 2 * count + math.ceil(8 * math.sqrt(2 * count)) + 8


def until(above, count):
    """The law of how many are "below" before so many are "above", question by question; the last entry is all that is left."""
    longest = longest_of(count)
    # by the number of "below" so far, and of "above" still to come
    states = {(0, count): np.ones_like(above)}
    done = [np.zeros_like(above) for _ in range(longest + 1)]
    while states:
        coming: dict[tuple[int, int], Any] = {}
        for (below, more), mass in states.items():
            if more == 1:
                done[below] = done[below] + mass * above
            else:
                coming[below, more - 1] = coming.get((below, more - 1), 0) + mass * above
            place = (below + 1, more)
            if below + 1 == longest:
                done[longest] = done[longest] + mass * (1 - above)
            else:
                coming[place] = coming.get(place, 0) + mass * (1 - above)
        states = coming
    return np.array(done)


def survived(threshold, moves, answers, tests, level):
    z, weight = noise(threshold)
    z = z - level
    laws = []
    for test, asked in (moves, (0, 0)):
        early, alive = [], weight
        for _ in range(tests):
            above = tail(z - test)
            early.append((alive * above).sum())
            alive = alive * (1 - above)
        laws.append(np.array([*early, *(until(tail(z - asked), answers) @ alive)]))
    return laws


def counted_twice(threshold, moves, answers):
    z, weight = noise(threshold)
    laws = []
    for own in (moves, (0, 0)):
        first, second = (
            until(tail(z - move), count) for move, count in zip(own, (answers // 2, answers - answers // 2), strict=True)
        )
        laws.append(np.einsum("iz,jz,z->ij", first, second, weight, optimize=True).ravel())
    return laws


def excess(pair, at, order=1):
    p, q = pair[::order]
    return float(np.maximum(np.asarray(p) - math.exp(at) * np.asarray(q), 0).sum())


@pytest.mark.parametrize("normal", [False, True])
@pytest.mark.parametrize(
    ("width", "moves", "answers", "tests", "level"),
    [(0.5, (-0.25, 0.25), 1, 4, 0.0), (1.5, (0.0, 0.7), 2, 2, 2.0), (0.1, (0.4, 0.0), 3, 6, 0.5)],
)
def test_the_answers_one_after_another(normal, width, moves, answers, tests, level):
    threshold = Threshold(width, normal)
    tried = [(survival(threshold, moves, answers, tests, level), survived(threshold, moves, answers, tests, level))]
    if answers > 1:
        tried.append((split(threshold, moves, answers), counted_twice(threshold, moves, answers)))
    for pair, exact in tried:
        assert pair.omitted_mass == 0
        assert math.fsum(pair.p) == pytest.approx(1, abs=1e-10)
        for order in (1, -1):
            for at in (-0.2, 0.0, 0.1, 0.3):
                found, truth = excess((pair.p, pair.q), at, order), excess(exact, at, order)
                assert truth - LOST * excess(exact, 0.0) - OFF <= found <= truth + OFF


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(6))
def test_the_pair_of_the_questions_is_above(seed):
    rng = np.random.default_rng(seed)
    scale, width = float(np.exp(rng.uniform(-1, 4))), float(np.exp(rng.uniform(-1, 4)))
    answers, monotone = int(rng.integers(1, 4)), bool(seed % 2)
    given: dict[str, Any] = {"threshold_scale": width} if rng.random() < 0.6 else {"threshold_sigma": width}
    mechanism = lp.SparseVector(query_scale=scale, answers=answers, monotone=monotone, **given)
    most = mechanism.epsilon(1e-9).upper
    for order in ("remove", "add"):
        places = np.array([0.0, 0.2, 0.5, 0.9]) * most
        found = mechanism.delta(places, direction=order)
        # the ends of a bracket are in order whatever the attack
        for attack in mechanism._attacks():
            assert (np.asarray(attack.delta(places, direction=order).lower) <= found.upper).all()
        assert found.lower[0] > 0


def test_far_out_deltas_are_nearly_attained():
    release = lp.SparseVector(query_scale=20, threshold_scale=10)
    # if queries may move in either direction, the data sets may be exchanged
    for order in ("remove", "add"):
        found = release.epsilon(1e-6, direction=order)
        assert found.lower > 0.99 * found.upper


@pytest.mark.parametrize("answers", [3, 6, 7])
def test_where_few_answers_can_be_used_each_count_has_one(answers):
    # one answer for both counts gave probabilities with a sum of 2.67, and lower ends of one
    pair = split(Threshold(1000.0, False), (-600.0, 600.0), answers)
    for law in (pair.p, pair.q):
        assert math.fsum(law) == pytest.approx(1, abs=1e-9 + pair.omitted_mass)
    # answers without noise of their own show on which side of both queries, and of zero, the threshold is
    assert excess((pair.p, pair.q), 0.0) < 1 - math.exp(-0.6) + 0.01


def test_moves_that_are_far_above_the_noise_of_queries():
    found = lp.SparseVector(query_scale=1, threshold_scale=1e7, sensitivity=1e6, answers=3).delta(0.0)
    # noise of the threshold hides all but a tenth
    assert 0 < found.lower < 0.1


@pytest.mark.slow
def test_wide_and_narrow_noise():
    for scale, width, answers in ((1.0, 1000.0, 1), (2000.0, 1.0, 1000), (0.02, 0.02, 1), (1.0, 100.0, 100)):
        found = lp.SparseVector(query_scale=scale, threshold_scale=width, answers=answers).delta(0.0)
        assert 0 < found.lower <= found.upper
