"""Renyi divergences on a complex line re-entered ([LT] eq. 37): against the native profile, and against what is none."""

import math

import mpmath
import numpy as np
import pytest

import logphi as lp
from profiles import gaussian_profile


def response(order):
    """Randomized response with epsilon 1, [LT] Theorem 3.5."""
    return np.log((np.exp(1 - order) + np.exp(order)) / (1 + math.e)) / (order - 1)


def gaussian_truth(mu, e):
    with mpmath.workdps(40):
        return float(gaussian_profile(mu)(e))


@pytest.mark.parametrize("epsilon", [-2.0, 0.0, 0.277, 1.0, 6.0])
@pytest.mark.parametrize("orders", [(1.0, math.inf), (-math.inf, math.inf)])
def test_a_plain_function_gives_the_profile(epsilon, orders):
    sigma = 0.8
    found = lp.FromRenyi(lambda order: order / (2 * sigma**2), orders).delta(epsilon)
    truth = gaussian_truth(1 / sigma, epsilon)
    assert found.lower * (1 - 1e-12) <= truth <= found.upper * (1 + 1e-12)
    assert found.width <= 1e-9 * truth
    assert found.status is lp.Status.ESTIMATED
    assert not found.ledger.proved


@pytest.mark.slow
def test_a_question_of_the_library_is_such_a_function():
    base = lp.Gaussian(sigma=1.5)
    assert lp.FromRenyi(base.renyi).delta(1.0).value == pytest.approx(base.delta(1.0).value, rel=1e-9)
    both = lp.Gaussian(sigma=1) + lp.Laplace(scale=3)
    own, exact = lp.FromRenyi(both.renyi), both.delta(1.0)
    found = own.delta(1.0, rtol=1e-2)
    assert found.lower <= exact.upper
    assert exact.lower <= found.upper


def test_atoms_are_wide_and_contained():
    found = lp.FromRenyi(response).delta(0.5, rtol=1e-3)
    exact = (math.e - math.exp(0.5)) / (1 + math.e)
    assert found.lower <= exact <= found.upper


def test_it_composes():
    found = (10 * lp.FromRenyi(lambda order: order / 20)).epsilon(1e-6)
    assert found.value == pytest.approx(lp.Gaussian(sigma=1).epsilon(1e-6).value, rel=1e-9)


def test_both_directions_need_orders_below_zero():
    found = lp.FromRenyi(lambda order: order / 2, (-math.inf, math.inf), "add_remove")
    assert found.delta(0.3, direction="add").value == pytest.approx(gaussian_truth(1, 0.3), rel=1e-9)


@pytest.mark.parametrize(
    ("divergence", "orders", "kind", "needles"),
    [
        (0.5, (1, math.inf), TypeError, ["function", "0.5"]),
        (lambda q: q, 2, TypeError, ["orders", "2"]),
        (lambda q: q, (2, 3), ValueError, ["above 1", "(2, 3)"]),
        (lambda q: q, (0.2, 1), ValueError, ["above 1"]),
        (lambda q: -q / 2, (1, math.inf), ValueError, ["negative", "sign"]),
        (lambda q: 1 / q**2, (1, math.inf), ValueError, ["convex"]),
        (lambda q: q * 1j, (1, math.inf), ValueError, ["real and finite"]),
        (abs, (1, math.inf), ValueError, ["largest real part", "modulus"]),
        (lambda q: q / 2 + 0.1j * np.imag(q) ** 2, (1, math.inf), ValueError, ["conjugate"]),
        (lambda q: math.inf, (1, math.inf), ValueError, ["real and finite", "narrow orders"]),
    ],
)
def test_what_is_no_divergence_is_refused(divergence, orders, kind, needles):
    with pytest.raises(kind) as caught:
        lp.FromRenyi(divergence, orders)
    assert "\n" not in str(caught.value)
    for needle in needles:
        assert needle in str(caught.value)


def test_a_sample_is_answered_and_composes():
    sampled = lp.FromRenyi(lambda order: order / 2, (-np.inf, np.inf), adjacency="add_remove").poisson(0.1)
    estimate, known = sampled.delta(0.5), lp.Gaussian(1).poisson(0.1).delta(0.5)
    assert not estimate.ledger.proved
    assert estimate.value == pytest.approx(known.value, rel=1e-6)
    assert not (2 * sampled).delta(0.5).ledger.proved
