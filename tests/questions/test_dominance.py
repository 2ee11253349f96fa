"""lp.dominates: proofs, counterexamples and what is left open, against profiles in 40 digits and against scans."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import logphi as lp
from logphi.convex.supporting_lines import below_on_cells
from logphi.questions.dominance import Verdict
from some import some

CONTAINED, FORM = "the first mechanism contains the second", "the terms of the losses are ordered by their form"
SAMPLED = lp.Gaussian(sigma=1).poisson(0.1)

PROVED = [
    (lp.Gaussian(sigma=1), lp.Gaussian(sigma=1)),
    (lp.Gaussian(sigma=1), lp.Gaussian(sigma=1.1)),
    (4 * lp.Gaussian(sigma=2), lp.Gaussian(sigma=1)),
    (lp.Gaussian(sigma=1), 4 * lp.Gaussian(sigma=2)),
    (lp.Gaussian(sigma=1), 3 * lp.Laplace(scale=10)),
    (lp.Gaussian(sigma=1), lp.Gaussian(sigma=1).poisson(0.5)),
    (10 * SAMPLED, 9 * SAMPLED),
    (10 * SAMPLED, 10 * lp.Gaussian(sigma=1).poisson(0.09)),
    (10 * SAMPLED, 10 * lp.Gaussian(sigma=1.2).poisson(0.1)),
    (lp.Gaussian(sigma=1) + lp.Laplace(scale=1), lp.Gaussian(sigma=1) + lp.Laplace(scale=2)),
    (lp.Gaussian(sigma=1) + lp.Laplace(scale=1), lp.Gaussian(sigma=1.1) + lp.Laplace(scale=2)),
    (lp.Laplace(scale=1), lp.Laplace(scale=2)),
    (lp.PureDP(epsilon=1), lp.Laplace(scale=1.5)),
    (lp.PureDP(epsilon=1), lp.RandomizedResponse(p=0.73)),
    (lp.ApproximateDP(epsilon=1, delta=1e-5), lp.Gaussian(sigma=5)),
    (lp.ApproximateDP(epsilon=1, delta=0.01), lp.Gaussian(sigma=3)),
    (
        lp.ApproximateDP(epsilon=1, delta=1e-2) + lp.Gaussian(sigma=1),
        lp.ApproximateDP(epsilon=1, delta=1e-3) + lp.Gaussian(sigma=1.2),
    ),
    (lp.Laplace(scale=1).poisson(0.5), lp.Laplace(scale=1).poisson(0.4)),
    (lp.Discrete([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]), lp.Discrete([0.45, 0.3, 0.25], [0.25, 0.3, 0.45])),
]
REFUTED = [
    (lp.Gaussian(sigma=1), lp.PureDP(epsilon=1)),
    (lp.Gaussian(sigma=1.1), lp.Gaussian(sigma=1)),
    (9 * SAMPLED, 10 * SAMPLED),
    (lp.Laplace(scale=1), lp.Gaussian(sigma=3)),
    (lp.PureDP(epsilon=2.5), lp.Gaussian(sigma=3.7)),
    (lp.RandomizedResponse(p=0.7), lp.RandomizedResponse(p=0.75)),
    (lp.Gaussian(sigma=1), lp.ApproximateDP(epsilon=0.1, delta=1e-6)),
    (lp.ApproximateDP(epsilon=2, delta=1e-6), lp.ApproximateDP(epsilon=1, delta=1e-3)),
    (2 * lp.Gaussian(sigma=1), lp.Gaussian(sigma=1) + lp.Laplace(scale=0.9)),
    (lp.Gaussian(sigma=0.3), lp.GaussianPair(0, 1, 0.1, 1.1)),
]
UNDECIDED = [
    (lp.DiscreteGaussian(sigma=1), lp.DiscreteGaussian(sigma=2)),
    (lp.PureDP(epsilon=1), lp.Laplace(scale=1)),
    (lp.FromRenyi(lambda order: order / 2), lp.Gaussian(sigma=1, adjacency="remove")),
]


def scanned(first, second):
    """Whether a grid of both profiles, in both directions, shows the second above the first."""
    at = np.concatenate([-np.geomspace(12, 1e-3, 30), np.geomspace(1e-3, 12, 60)])
    return any(
        np.any(second.delta(at, direction=one).lower > first.delta(at, direction=one).upper) for one in ("remove", "add")
    )


@pytest.mark.few(2)
@pytest.mark.parametrize(("first", "second"), PROVED, ids=repr)
def test_it_is_proved(first, second):
    found = lp.dominates(first, second)
    assert found.proved, str(found)
    assert bool(found)
    assert str(found).startswith("proved: ")
    assert not scanned(first, second)


@pytest.mark.few(2)
@pytest.mark.parametrize(("first", "second"), REFUTED, ids=repr)
def test_it_is_refuted_by_an_epsilon(first, second):
    found = lp.dominates(first, second)
    assert found.refuted, str(found)
    assert not found
    assert some(found.log_second).lower > some(found.log_first).upper
    direction = None if found.direction is lp.Direction.BOTH else found.direction
    own, other = (one.log_delta(found.epsilon, direction=direction) for one in (first, second))
    assert other.lower > own.upper
    assert "epsilon = " in str(found)


@pytest.mark.parametrize(("first", "second"), UNDECIDED)
def test_what_is_not_settled_is_left_open(first, second):
    found = lp.dominates(first, second)
    assert found.verdict is Verdict.UNDECIDED
    assert not found
    assert str(found).startswith("undecided: ")


def test_an_open_range_is_shown():
    found = lp.dominates(lp.DiscreteGaussian(sigma=1), lp.DiscreteGaussian(sigma=2))
    assert some(found.open_range)[1] == math.inf
    assert "not covered by a proof: epsilon from" in str(found)


def test_a_counterexample_holds_in_forty_digits():
    """A Gaussian mechanism against randomized response, [LT] Theorem 3.6 and Figure 1."""
    found = lp.dominates(lp.Gaussian(sigma=1), lp.PureDP(epsilon=1))
    with mpmath.workdps(40):
        e = mpmath.mpf(found.epsilon)
        gaussian = mpmath.ncdf(mpmath.mpf(1) / 2 - e) - mpmath.exp(e) * mpmath.ncdf(-mpmath.mpf(1) / 2 - e)
        response = (mpmath.e - mpmath.exp(e)) / (1 + mpmath.e)
        assert response > gaussian
        assert some(found.log_first).lower <= mpmath.log(gaussian) <= some(found.log_first).upper
        assert some(found.log_second).lower <= mpmath.log(response) <= some(found.log_second).upper


def test_why_is_told():
    assert lp.dominates(3 * SAMPLED, 2 * SAMPLED).reason == CONTAINED
    assert lp.dominates(lp.Gaussian(sigma=1), lp.Gaussian(sigma=2)).reason == FORM
    assert lp.dominates(lp.Gaussian(sigma=1), 0 * lp.Gaussian(sigma=1)).reason == CONTAINED


def test_order_survives_where_the_maximum_over_directions_has_it_only():
    """delta, the larger of both directions, is smaller everywhere, but not the profile of each direction."""
    base = lp.Discrete([0.6, 0.4], [0.1, 0.9])
    reflected = lp.Discrete([0.1, 0.9], [0.6, 0.4])
    at = np.linspace(0, 3, 31)
    np.testing.assert_allclose(base.delta(at).value, reflected.delta(at).value, atol=1e-12)
    assert lp.dominates(base, reflected).refuted
    assert lp.dominates(reflected, base).refuted


sigmas, rates, counts = st.floats(0.5, 5), st.floats(0.01, 0.99), st.integers(1, 20)


@settings(max_examples=25, derandomize=True)
@given(sigmas, sigmas, rates, rates, counts, counts)
def test_less_noise_more_releases_and_a_larger_rate_dominate(sigma, other, rate, less, count, fewer):
    strong = max(count, fewer) * lp.Gaussian(min(sigma, other)).poisson(max(rate, less))
    weak = min(count, fewer) * lp.Gaussian(max(sigma, other)).poisson(min(rate, less))
    assert lp.dominates(strong, weak).proved


@pytest.mark.slow
@settings(max_examples=15, derandomize=True)
@given(st.sampled_from([lp.Laplace, lp.Gaussian]), sigmas, sigmas, st.integers(1, 3))
def test_a_proof_and_a_scan_agree(kind, scale, other, count):
    first, second = count * kind(scale), lp.RandomizedResponse(1 / (1 + math.exp(-1 / other)))
    found = lp.dominates(first, second)
    if found.proved:
        assert not scanned(first, second)
    if found.refuted:
        assert scanned(first, second) or some(found.log_second).lower > some(found.log_first).upper


@pytest.mark.slow
@settings(max_examples=10, derandomize=True)
@given(st.lists(st.floats(0.6, 4), min_size=3, max_size=3))
def test_proofs_are_transitive(scales):
    first, second, third = (lp.Laplace(scale) + lp.PureDP(1 / scale) for scale in sorted(scales))
    if lp.dominates(first, second).proved and lp.dominates(second, third).proved:
        found = lp.dominates(first, third)
        assert not found.refuted, str(found)


@pytest.mark.parametrize(
    ("first", "second", "needles"),
    [
        (lp.Gaussian(1), 3, ["second", "3"]),
        ("Gaussian", lp.Gaussian(1), ["first", "'Gaussian'"]),
        (lp.Gaussian(1), lp.Gaussian(1, adjacency="replace"), ["'add_remove'", "'replace'"]),
    ],
)
def test_what_cannot_be_compared_is_refused(first, second, needles):
    with pytest.raises((TypeError, ValueError)) as caught:
        lp.dominates(first, second)
    assert all(needle in str(caught.value) for needle in needles)


@settings(max_examples=100, derandomize=True)
@given(st.lists(st.floats(0.01, 3), min_size=2, max_size=6), st.lists(st.floats(0.01, 3), min_size=2, max_size=6), st.data())
def test_no_cell_is_proved_that_a_scan_refutes(kinks, other_kinks, data):
    """For polygons of which everything is known, on cells that do not know their kinks."""

    def profile(places):
        return lambda x: np.mean([np.maximum(0, 1 - np.exp(x) / place) for place in places], axis=0)

    g, f = profile(kinks), profile(other_kinks)
    x = np.sort(data.draw(st.lists(st.floats(-3, 1.5), min_size=5, max_size=9, unique=True)))
    if np.diff(x).min() < 1e-3:
        return
    with np.errstate(divide="ignore"):
        logs = np.log(f(x)) + 1e-13, np.log(g(x)) - 1e-13, np.log(g(x)) + 1e-13
    for low, high, proved in zip(x[:-1], x[1:], below_on_cells(x, *logs), strict=True):
        fine = np.linspace(low, high, 200)
        assert not proved or np.all(f(fine) <= g(fine) + 1e-12)
