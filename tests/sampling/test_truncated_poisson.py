"""Poisson batches that are cut off: binomial tails, a published value, dp_accounting as a witness."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import logphi as lp
from logphi.answers.status import Status
from logphi.sampling.truncated_poisson import binomial_tail


def exact_tail(size: int, rate: Fraction, least: int) -> Fraction:
    terms = (math.comb(size, k) * rate**k * (1 - rate) ** (size - k) for k in range(least, size + 1))
    return sum(terms, Fraction(0))


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(1, 100), Fraction(99, 100)])
@pytest.mark.parametrize("least", [1, 4, 30, 59, 60])
def test_a_binomial_tail_lies_between_its_ends(rate, least):
    low, high = binomial_tail(60, rate, least)
    exact = exact_tail(60, rate, least)
    assert low <= exact <= high
    assert high - low <= min(exact, 1 - exact) / 10**50


@pytest.mark.parametrize(("size", "least"), [(2000, 1999), (3000, 2)])
def test_a_tail_that_is_out_of_reach_is_bounded(size, least):
    low, high = binomial_tail(size, Fraction(1, 2), least)
    exact = exact_tail(size, Fraction(1, 2), least)
    assert low <= exact <= high
    assert high - low == Fraction(1, 10**290)


def cut_off(size: int, **options: Any) -> Any:
    return lp.Gaussian(sigma=1).poisson(0.5, truncated_batch_size=2, dataset_size=size, **options)


@pytest.mark.slow
def test_the_published_value():
    """dp_accounting's test of its own: 17.904330 at 1e-6; the other order is a reference value."""
    release = 3 * cut_off(4) + 2 * cut_off(3)
    assert release.epsilon(1e-6).value == pytest.approx(17.9043301, abs=1e-6)
    assert release.epsilon(1e-6, direction="add").value == pytest.approx(17.723437, rel=1e-6)


@pytest.mark.slow
def test_dp_accounting_is_never_below():
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    found = pld.from_truncated_subsampled_gaussian_mechanism(1000, 0.05, 55, 2.0, value_discretization_interval=1e-4)
    own = lp.Gaussian(sigma=2).poisson(0.05, truncated_batch_size=55, dataset_size=1000)
    for epsilon in (0.05, 0.2, 0.5):
        theirs = found.self_compose(10).get_delta_for_epsilon(epsilon)
        assert (10 * own).delta(epsilon).lower <= theirs * (1 + 1e-9)
        assert (10 * own).delta(epsilon).value == pytest.approx(theirs, rel=1e-3)


def test_the_formula_by_exact_tails():
    n, q, batch = 40, Fraction(1, 5), 12
    tau = exact_tail(n - 1, q, batch)
    within = Fraction(batch, n) * exact_tail(n, q, batch + 1) / tau
    parts = lp.Gaussian(sigma=2).poisson(q), lp.Gaussian(sigma=2, sensitivity=2).poisson(within, adjacency="replace")
    own = lp.Gaussian(sigma=2).poisson(q, truncated_batch_size=batch, dataset_size=n)
    for direction in ("remove", "add"):
        deltas = [one.delta(0.4, direction=direction).value for one in parts]
        exact = float(1 - tau) * deltas[0] + float(tau) * deltas[1]
        assert own.delta(0.4, direction=direction).value == pytest.approx(exact, rel=1e-9)


def test_the_attack_on_a_full_batch_is_covered():
    """At rate 1 a batch of one of four records: the record takes the place of an opposite one with probability 1/4."""
    own = lp.Gaussian(sigma=1, adjacency="replace_special").poisson(1, truncated_batch_size=1, dataset_size=4)
    for epsilon in (0.5, 1.0, 3.0):
        # N(+1) with probability 1/4 and N(-1) else, against N(0) and N(-1): the last quarter moves, over its mean
        x = np.linspace(-12, 12, 200_001)
        p, q = (norm.pdf(x, to) / 4 + 3 * norm.pdf(x, -1) / 4 for to in (1, 0))
        attained = np.maximum(p - math.exp(epsilon) * q, 0).sum() * (x[1] - x[0])
        assert attained <= own.delta(epsilon).upper


def test_batches_that_are_never_cut_off_are_poisson_samples():
    plain = lp.Gaussian(sigma=1).poisson(0.5)
    assert lp.Gaussian(sigma=1).poisson(0.5, truncated_batch_size=4, dataset_size=4).loss_law() == plain.loss_law()
    far = lp.Gaussian(sigma=1).poisson(0.01, truncated_batch_size=900, dataset_size=1000)
    assert far.delta(1).value == pytest.approx(lp.Gaussian(sigma=1).poisson(0.01).delta(1).value, rel=1e-9)


def test_it_is_an_upper_bound():
    one = lp.Gaussian(sigma=2)
    assert (3 * one.poisson(0.1, truncated_batch_size=8, dataset_size=60)).delta(0.5).status is Status.DOMINATED
    assert one.poisson(0.1, truncated_batch_size=60, dataset_size=60).delta(0.5).status is Status.MET


def test_smaller_batches_leak_more():
    deltas = [
        lp.Gaussian(sigma=2).poisson(0.1, truncated_batch_size=b, dataset_size=100).delta(0.5).value for b in (30, 20, 14, 10)
    ]
    assert deltas == sorted(deltas)


def test_text_and_json():
    release = 2 * cut_off(4, adjacency="replace")
    assert release.adjacency is lp.Adjacency.REPLACE
    assert lp.parse(str(release)) == release == lp.from_json(release.to_json())
