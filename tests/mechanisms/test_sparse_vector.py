"""The sparse vector technique: against the answers to random queries, integrated over the noise of the threshold."""

import math
from itertools import pairwise

import numpy as np
import pytest

import logphi as lp
from refusals import refused

# nodes of the integral over the noise of the threshold, and what its rule may be off by
NODES = 1001
QUADRATURE = 2e-5
# measured: by how much two hulls of one profile may differ, relative to delta
HULL = 2e-2


def above(x):
    """The probability that Laplace noise of scale one is at least x."""
    return np.where(x > 0, np.exp(-np.abs(x)) / 2, 1 - np.exp(-np.abs(x)) / 2)


class Asked:
    """Queries that are picked by the answers before them, and the probabilities of all answers under both laws."""

    def __init__(self, rng, kind, *, scale, width, c, length, monotone):
        self.rng, self.c, self.scale, self.monotone = rng, c, scale, monotone
        u = np.linspace(-1, 1, NODES)
        if kind == "laplace":
            # half of the mass on either side, as nodes of equal weight
            t = (np.arange(NODES) + 0.5) / NODES
            self.z = width * np.where(t < 0.5, np.log(2 * t), -np.log(2 * (1 - t)))
            self.weight = np.full(NODES, 1 / NODES)
        else:
            self.z = width * 8 * u
            density = np.exp(-((8 * u) ** 2) / 2)
            self.weight = density / density.sum()
        self.p, self.q = [], []
        one = np.ones(NODES)
        self.ask(length, c, one, one, rng.choice([-1.0, 1.0]))

    def ask(self, left, c, p, q, lean):
        if left == 0 or c == 0:
            self.p.append(float((self.weight * p).sum()))
            self.q.append(float((self.weight * q).sum()))
            return
        level = self.rng.normal() * 1.5 * self.scale
        if self.monotone:
            moved = self.rng.choice([0.0, 1.0, 1.0])
        else:
            moved = lean if self.rng.random() < 0.7 else self.rng.uniform(-1, 1)
        of_p, of_q = above((self.z - level - moved) / self.scale), above((self.z - level) / self.scale)
        self.ask(left - 1, c, p * (1 - of_p), q * (1 - of_q), lean)
        self.ask(left - 1, c - 1, p * of_p, q * of_q, lean)

    def excess(self, epsilon):
        """In both orders."""
        p, q = np.array(self.p), np.array(self.q)
        factor = math.exp(epsilon)
        return float(np.maximum(p - factor * q, 0).sum()), float(np.maximum(q - factor * p, 0).sum())


@pytest.mark.few(1)
@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize(("scale", "width", "c"), [(4.0, 2.0, 1), (1.0, 1.0, 2)])
def test_answers_to_random_queries_leak_less(monotone, kind, scale, width, c):
    noise = {"threshold_scale": width} if kind == "laplace" else {"threshold_sigma": width}
    mechanism = lp.SparseVector(query_scale=scale, answers=c, monotone=monotone, **noise)
    places = np.array([-0.5, 0.0, 0.1, 0.3, 0.6]) * (1 / width + 2 * c / scale)
    # with a record more, P is the law of the larger queries
    known = [np.asarray(mechanism.delta(places, direction=order).upper) for order in ("remove", "add")]
    rng = np.random.default_rng(round(100 * scale + 10 * c + monotone))
    largest = np.zeros((2, places.size))
    for _ in range(12):
        asked = Asked(rng, kind, scale=scale, width=width, c=c, length=6, monotone=monotone)
        found = np.array([asked.excess(epsilon) for epsilon in places.tolist()]).T
        largest = np.maximum(largest, found)
        assert (found <= np.array(known) + QUADRATURE).all()
    # the bound is not far off: a factor in delta, of what random queries tell
    assert (largest.max(axis=0)[1:3] > 0.05 * known[1][1:3]).all()


@pytest.mark.slow
def test_no_losses_above_the_pure_guarantee_and_less_than_it_for_many_answers():
    for c, monotone in ((1, False), (20, True)):
        pure = 1 / 8 + c * (1 if monotone else 2) / 32
        mechanism = lp.SparseVector(query_scale=32, threshold_scale=8, answers=c, monotone=monotone)
        assert mechanism.epsilon(0).upper == pytest.approx(pure, rel=1e-9)
        assert mechanism.epsilon(1e-6).upper < (1 if c == 1 else 0.9) * pure


@pytest.mark.slow
def test_more_answers_and_less_noise_leak_more():
    found = [lp.SparseVector(query_scale=20, threshold_sigma=20, answers=c).epsilon(1e-6) for c in (1, 10)]
    assert all(fewer.upper < more.upper for fewer, more in pairwise(found))
    one = lp.SparseVector(query_scale=20, threshold_sigma=20)
    assert one.epsilon(1e-6).upper < lp.SparseVector(query_scale=20, threshold_sigma=10).epsilon(1e-6).upper
    counts = lp.SparseVector(query_scale=20, threshold_sigma=20, monotone=True)
    assert counts.epsilon(1e-6).upper < one.epsilon(1e-6).upper
    # where a record takes another value, either neighbour may have the larger queries
    replaced = lp.SparseVector(query_scale=20, threshold_sigma=20, monotone=True, adjacency="replace")
    for order in ("remove", "add"):
        assert replaced.delta(0.1, direction=order).upper >= (1 - HULL) * counts.delta(0.1, direction="add").upper


@pytest.mark.slow
def test_one_record_more_tells_no_threshold_noise_in_one_order():
    counts = lp.SparseVector(query_scale=4, threshold_scale=1, monotone=True)
    assert counts.epsilon(0, direction="remove").upper == pytest.approx(1 / 4, rel=1e-9)
    assert counts.epsilon(0, direction="add").upper == pytest.approx(1 + 1 / 4, rel=1e-9)


def test_groups_samples_and_text():
    one = lp.SparseVector(query_scale=8, threshold_scale=4, answers=2)
    assert one.group(2) == lp.SparseVector(query_scale=8, threshold_scale=4, sensitivity=2, answers=2)
    assert one.poisson(0.1).epsilon(1e-6).upper < one.epsilon(1e-6).upper
    for release in (one, lp.SparseVector(query_scale=8, threshold_sigma=4, monotone=True, adjacency="replace")):
        assert lp.parse(f"{release}") == release or release.adjacency is not one.adjacency
        assert lp.from_json(release.to_json()) == release
    assert "monotone=True" in str(lp.SparseVector(8, threshold_sigma=4, monotone=True))


def test_ends_of_the_range():
    assert lp.SparseVector(1, threshold_scale=1, sensitivity=0).delta(0.0).upper == 0
    assert lp.SparseVector(0, threshold_scale=1).delta(5.0).lower == 1
    assert lp.SparseVector(1, threshold_sigma=0).delta(5.0).lower == 1
    # beyond the range of what is computed every answer has the largest loss
    assert lp.SparseVector(1e8, threshold_scale=1).epsilon(0).upper == pytest.approx(1, rel=1e-6)
    assert lp.SparseVector(0.02, threshold_scale=1).epsilon(0).upper == pytest.approx(101, rel=1e-9)


@pytest.mark.slow
def test_calibration():
    def release(b):
        return lp.SparseVector(query_scale=4 * b, threshold_scale=b, answers=3)

    found = lp.calibrate(release, epsilon=1, delta=1e-6, rtol=0.2)
    assert found.answer.upper <= 1 < release(0.75 * found.value).epsilon(1e-6).upper


@pytest.mark.parametrize(
    ("arguments", "kind", "needles"),
    [
        ({"query_scale": -1, "threshold_scale": 1}, ValueError, ["query_scale", "negative"]),
        ({"query_scale": 1}, ValueError, ["exactly one", "threshold_scale", "threshold_sigma"]),
        ({"query_scale": 1, "threshold_scale": 1, "threshold_sigma": 1}, ValueError, ["exactly one", "Laplace or Gaussian"]),
        ({"query_scale": 1, "threshold_sigma": -2}, ValueError, ["threshold_sigma", "negative"]),
        ({"query_scale": 1, "threshold_scale": 1, "answers": 0}, ValueError, ["answers", "from 1"]),
        ({"query_scale": 1, "threshold_scale": 1, "answers": 1.5}, TypeError, ["answers", "integer"]),
        ({"query_scale": 1, "threshold_scale": 1, "monotone": 1}, TypeError, ["monotone", "True or False"]),
        ({"query_scale": 1, "threshold_scale": 1, "c": 3}, TypeError, ["answers="]),
        ({"query_scale": 1e-300, "threshold_scale": 1}, ValueError, ["sensitivity / query_scale"]),
    ],
)
def test_bad_input_is_refused_by_name(arguments, kind, needles):
    refused(kind, lambda: lp.SparseVector(**arguments), *needles)
