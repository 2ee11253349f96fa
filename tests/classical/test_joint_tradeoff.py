"""The trade-off function that Renyi bounds imply: against roots at many digits, mechanisms that obey them, and exact curves."""

import math

import mpmath
import numpy as np
import pytest
from mpmath import mpf

import logphi as lp
from exact import dec
from logphi.answers.status import Side
from logphi.classical import DivergenceCurve, renyi
from refusals import untyped

# orders of the oracle; its steps leave less than this
ORDERS = [*np.linspace(0.1, 0.9, 9), *(1 + np.geomspace(0.05, 30, 16))]
COARSE = 2e-2
ANSWER = math.e / (1 + math.e)


def least_error(order, divergence, alpha):
    """The least y with D(P||Q) and D(Q||P) of Bernoulli(1 - y) and Bernoulli(alpha) below the bound, by halving."""

    def size(p, q):
        return p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order)

    def excluded(y):
        values, bound = (size(1 - y, alpha), size(alpha, 1 - y)), mpmath.exp((order - 1) * divergence)
        return max(values) > bound if order > 1 else min(values) < bound

    low, high = mpf(10) ** -40, 1 - alpha
    if not excluded(low):
        return mpf(0)
    for _ in range(70):
        middle = (low + high) / 2
        low, high = (middle, high) if excluded(middle) else (low, middle)
    return low


def both_sides(slope):
    return DivergenceCurve(lambda order: slope * order, interval=(0, math.inf))


@pytest.mark.few(1)
@pytest.mark.parametrize("slope", [0.5, 0.02])
@pytest.mark.parametrize("alpha", [0.01, 0.3, 0.8])
def test_the_curve_of_all_orders(slope, alpha):
    with mpmath.workdps(60):
        best = max(least_error(dec(order), dec(slope) * dec(order), dec(alpha)) for order in ORDERS)
    found = renyi.tradeoff(both_sides(slope), alpha)
    assert found.side is Side.LOWER
    assert best * (1 - 1e-9) <= found.value <= best * (1 + COARSE)


@pytest.mark.parametrize("order", [0.5, 0.75, 1.5, 2.0, 30.0])
@pytest.mark.parametrize("alpha", [1e-6, 0.1, 0.7])
def test_one_order_alone(order, alpha):
    with mpmath.workdps(60):
        exact = least_error(dec(order), dec(0.25), dec(alpha))
    found = renyi.tradeoff(DivergenceCurve.at([order], [0.25]), alpha)
    assert found.value <= exact
    assert found.value == pytest.approx(float(exact), rel=1e-8)


def test_orders_below_one_sharpen_it():
    for alpha, gain in ((0.3, 0.003), (1 - ANSWER, 0.007)):
        above, all_orders = (renyi.tradeoff(one, alpha).value for one in (lambda order: order / 2, both_sides(0.5)))
        assert above + gain < all_orders
    # Figure 1b: what the response, which has all these divergences, attains, and below it what they imply
    for alpha in np.linspace(0.05, 0.95, 7):
        implied = renyi.tradeoff(both_sides(0.5), alpha).value
        assert implied < max(1 - math.e * alpha, (1 - alpha) / math.e)
        assert renyi.tradeoff(lp.Gaussian(1.0), alpha).value == pytest.approx(implied, rel=1e-8)


@pytest.mark.parametrize("alpha", [0.0, 1e-9, 0.1, 1 - ANSWER, 0.6, 0.999, 1.0])
def test_nothing_is_lost_of_a_two_point_pair(alpha):
    response = lp.RandomizedResponse(ANSWER)
    found, exact = renyi.tradeoff(response, alpha), response.tradeoff(alpha)
    assert found.value <= exact.upper
    assert found.value == pytest.approx(exact.value, rel=1e-6)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "release",
    [
        lp.Gaussian(100.0),
        lp.Gaussian(0.1),
        1000 * lp.Gaussian(30.0).poisson(0.01),
        lp.GaussianPair(0, 1, 1, 2),
        lp.GaussianPair(0, 2, 1, 1),
        lp.ApproximateDP(1.0, 1e-3),
        lp.DistanceToInstability(1.0, 1e-2),
        lp.Discrete([0.5, 0.3, 0.2, 0.0], [0.2, 0.3, 0.4, 0.1]),
    ],
    ids=repr,
)
def test_it_is_below_the_exact_curve(release):
    for direction in (None, "remove", "add"):
        for alpha in (0.0, 1e-9, 0.1, 0.6, 0.9999):
            found, exact = renyi.tradeoff(release, alpha, direction=direction), release.tradeoff(alpha, direction=direction)
            assert 0 <= found.value <= exact.upper
            # what is lost are a few factors, in the middle of the curve
            if alpha == 0.1:
                assert found.value > 0.5 * exact.value or exact.value < 1e-9


def test_infinite_losses_are_kept_apart():
    """P keeps a tenth to itself: no type I error is needed to tell these outputs."""
    pair = lp.Discrete([0.1, 0.9, 0.0], [0.0, 0.8, 0.2])
    assert renyi.tradeoff(pair, 0.0, direction="remove").value == pytest.approx(0.9, rel=1e-12)
    # nine tenths against eight tenths of one output: the test can only be blind there
    assert renyi.tradeoff(pair, 0.4, direction="remove").value == pytest.approx(0.45, rel=1e-6)
    assert renyi.tradeoff(pair, 0.8, direction="remove").value < 1e-6
    assert renyi.tradeoff(pair, 0.9, direction="remove").value == 0


def test_ends_and_refusals():
    curve = both_sides(0.5)
    assert renyi.tradeoff(curve, 0.0).value == 1
    assert renyi.tradeoff(curve, 1.0).value == 0
    # all that an order below one says of tests without a type I error
    half = renyi.tradeoff(DivergenceCurve.at([0.5], [0.25]), 0.0).value
    assert half == pytest.approx(math.exp(-0.25), rel=1e-8)
    assert half <= math.exp(-0.25)
    assert renyi.tradeoff(DivergenceCurve.at([2.0], [math.inf]), 0.3).value == 0
    for bad in (-0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match="type_one_error"):
            renyi.tradeoff(curve, bad)
    with pytest.raises(TypeError, match="mechanism"):
        untyped(renyi.tradeoff)(0.5, 0.1)
