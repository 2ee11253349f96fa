"""ZCDP and RenyiDP: against events that keep all divergences, found without the library, and members of the family."""

import math

import numpy as np
import pytest

import logphi as lp
from logphi.classical import renyi
from logphi.classical.divergence_curve import DivergenceCurve
from refusals import refused

LIST = ([2, 3, 8.5, 32], [0.02, 0.03, 0.085, 0.32])


def allowed(p, q, z, bound):
    """Whether the two-point pair of this event, in both orders, keeps z D_{1+z} <= bound at every z."""

    inside, outside = math.log(p) - math.log(q), math.log1p(-p) - math.log1p(-q)
    forward = np.logaddexp(math.log(p) + z * inside, math.log1p(-p) + z * outside)
    backward = np.logaddexp(math.log(q) - z * inside, math.log1p(-q) - z * outside)
    return bool((forward <= bound).all() and (backward <= bound).all())


def most(z, bound, epsilon):
    """The largest p - e^eps q of an event that is allowed, nearly: such a pair is itself a mechanism that keeps the curve."""

    def gain(log_q):
        q = math.exp(log_q)
        low, high = log_q, -1e-12
        for _ in range(45):
            middle = (low + high) / 2
            low, high = (middle, high) if allowed(math.exp(middle), q, z, bound) else (low, middle)
        return math.exp(low) - math.exp(epsilon) * q

    places = np.linspace(-40, -0.3, 41)
    best = places[int(np.argmax([gain(x) for x in places]))]
    low, high = best - 1, min(best + 1, -0.2)
    for _ in range(25):
        one, other = low + (high - low) * 0.382, low + (high - low) * 0.618
        low, high = (low, other) if gain(one) > gain(other) else (one, high)
    return gain((low + high) / 2)


@pytest.mark.few(1)
@pytest.mark.parametrize(("rho", "xi", "epsilon"), [(0.1, 0.0, 0.6), (0.1, 0.0, 2.2), (2.0, 0.0, 5.0), (0.1, 0.25, 1.0)])
def test_zcdp_is_what_its_events_attain(rho, xi, epsilon):
    z = np.concatenate([np.geomspace(1e-5, 0.3, 40), np.geomspace(0.31, 60, 900)])
    attained = most(z, z * (xi + rho * (1 + z)), epsilon)
    found = lp.ZCDP(rho, xi).delta(epsilon)
    assert found.lower < attained * (1 - 1e-6)
    # the orders between those of the list exclude a little more
    assert attained * (1 - 1e-4) <= found.upper <= attained * (1 + 1e-3)
    assert found.status.name == "BRACKET"


@pytest.mark.parametrize("epsilon", [0.1, 0.5])
def test_a_list_is_what_its_events_attain(epsilon):
    z = np.array(LIST[0]) - 1.0
    attained = most(z, z * np.array(LIST[1]), epsilon)
    found = lp.RenyiDP(*LIST).delta(epsilon)
    assert attained * (1 - 1e-9) <= found.upper <= attained * (1 + 1e-3)


@pytest.mark.few(1)
@pytest.mark.parametrize("rho", [1e-6, 0.01, 1.0, 20.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12])
def test_no_worse_than_the_accountant(rho, delta):
    """By another proof of the same conversion, in interval arithmetic."""
    found = lp.ZCDP(rho).epsilon(delta)
    known = float(renyi.epsilon(lambda order: rho * order, delta))
    assert found.upper <= known + 1e-5 * max(known, math.sqrt(rho))
    assert found.lower == pytest.approx(lp.Gaussian(sigma=math.sqrt(0.5 / rho)).epsilon(delta).lower, rel=1e-9)


def test_lists_add_before_they_are_converted():
    ten = 10 * lp.RenyiDP(*LIST)
    known = float(renyi.epsilon(10 * DivergenceCurve.at(*LIST), 1e-6))
    assert ten.epsilon(1e-6).upper == pytest.approx(known, rel=2e-5)
    assert [ten.renyi(order).upper for order in LIST[0]] == pytest.approx([10 * e for e in LIST[1]], rel=1e-12)


@pytest.mark.slow
def test_declared_releases_are_one():
    parts = lp.ZCDP(0.05) + 2 * lp.ZCDP(0.02, xi=0.125) + lp.ZCDP(0.01)
    whole = lp.ZCDP(0.1, xi=0.25)
    assert parts.epsilon(1e-6).upper == pytest.approx(whole.epsilon(1e-6).upper, rel=1e-9)
    assert parts.zcdp(xi=0.25).upper == pytest.approx(0.1, rel=1e-5)
    mixed = lp.ZCDP(0.01) + lp.RenyiDP(*LIST)
    assert mixed.renyi(8.5).upper == pytest.approx(0.17, rel=1e-12)


def test_divergences_are_as_declared():
    one = lp.ZCDP(0.1)
    assert one.zcdp().status.name == "MET"
    for order in (1, 1.5, 7, 300):
        found = one.renyi(order)
        assert found.lower <= 0.1 * order <= found.upper
        assert found.width <= 1e-12 * order
    offset = lp.ZCDP(0.1, xi=0.25)
    assert offset.renyi(3).upper == pytest.approx(0.55, rel=1e-12)
    assert offset.zcdp(xi=0.25).upper == pytest.approx(0.1, rel=1e-5)
    known = lp.RenyiDP(*LIST)
    # K lies below the chord from (2, 0.06) to (7.5, 0.6375)
    assert known.renyi(5.5).upper == pytest.approx((0.06 + 0.5775 * 2.5 / 5.5) / 4.5, rel=1e-12)
    assert known.renyi(1.5).upper == pytest.approx(0.02, rel=1e-12)
    assert known.renyi(32.5).upper == math.inf
    assert known.zcdp().upper == math.inf
    assert one.renyi(0.5).upper <= 0.1 * (1 + 1e-12)
    assert one.renyi(-1.0).lower == pytest.approx(-0.1, rel=1e-12)


def test_a_bound_that_follows_from_others_is_left_out():
    useless = lp.RenyiDP([2, 3, 4], [0.5, 0.9, 0.2])
    assert useless.renyi(2).upper == pytest.approx(0.2, rel=1e-12)
    assert useless.epsilon(1e-6).upper == lp.RenyiDP([4], [0.2]).epsilon(1e-6).upper


@pytest.mark.slow
@pytest.mark.parametrize(
    "exact",
    [
        lp.Gaussian(sigma=2),
        pytest.param(5 * lp.Laplace(scale=4), marks=pytest.mark.slow),
        pytest.param(200 * lp.Gaussian(sigma=1).poisson(0.01), marks=pytest.mark.slow),
        pytest.param(3 * lp.ExponentialMechanism(0.3), marks=pytest.mark.slow),
    ],
    ids=["gaussian", "laplace", "sampled", "selections"],
)
def test_the_sharper_of_two_bounds_beside_other_releases(exact):
    found = (lp.ZCDP(0.1) + exact).epsilon(1e-6)
    member = (lp.Gaussian(sigma=math.sqrt(5)) + exact).epsilon(1e-6)
    assert member.lower * (1 - 1e-9) <= found.upper
    assert found.lower <= member.upper
    by_orders = renyi.epsilon(lambda order: 0.1 * order + exact.renyi(order).upper, 1e-6, conversion="canonne")
    assert found.upper <= float(by_orders) * (1 + 1e-3)


@pytest.mark.slow
def test_beside_infinite_losses_the_converted_pair_composes():
    found = (lp.ZCDP(0.1) + lp.ApproximateDP(1, 1e-7)).epsilon(1e-6)
    assert found.lower >= lp.ZCDP(0.1).epsilon(1e-6).lower
    assert found.upper <= 1 + lp.ZCDP(0.1).epsilon(9e-7).upper


def test_samples_of_the_converted_pair():
    found = lp.ZCDP(0.1).poisson(0.01).delta(0.05)
    whole = 0.01 * lp.ZCDP(0.1).delta(math.log1p(math.expm1(0.05) / 0.01)).upper
    assert found.upper == pytest.approx(whole, rel=1e-2)
    assert found.upper >= whole * (1 - 1e-4)


def test_groups():
    assert lp.ZCDP(0.1).group(3) == lp.ZCDP(0.9)
    refused(ValueError, lambda: lp.ZCDP(0.1, xi=1).group(2), "ZCDP")
    refused(ValueError, lambda: lp.RenyiDP([2], [1]).group(2), "RenyiDP")


def test_nothing_leaks_without_divergences():
    for none in (lp.ZCDP(0), lp.RenyiDP([2, 3], [0.5, 0])):
        assert none.delta(0.0).upper == 0
        assert (none + lp.Gaussian(1)).epsilon(1e-6).upper == pytest.approx(lp.Gaussian(1).epsilon(1e-6).upper, rel=1e-12)


@pytest.mark.slow
def test_rho_is_calibrated():
    found = lp.calibrate(lp.ZCDP, epsilon=1.0, delta=1e-6, rtol=1e-2)
    assert 0.99 <= lp.ZCDP(found.value).epsilon(1e-6).upper <= 1


def test_written_and_read():
    for one in (lp.ZCDP(0.1, xi=0.5), 3 * lp.RenyiDP(*LIST) + lp.Gaussian(sigma=2)):
        assert lp.parse(str(one)) == one
        assert lp.from_json(one.to_json()) == one


def test_refusals():
    refused(ValueError, lambda: lp.ZCDP(rho=-1), "rho", "-1.0")
    refused(ValueError, lambda: lp.ZCDP(rho=51), "rho", "51.0", "2 sigma^2")
    refused(ValueError, lambda: lp.ZCDP(rho=0, xi=1), "xi", "PureDP")
    refused(ValueError, lambda: lp.ZCDP(rho=1, xi=51), "xi", "50")
    refused(ValueError, lambda: lp.ZCDP(rho=1, adjacency="add"), "add_remove")
    refused(ValueError, lambda: lp.RenyiDP([2, 3], [1]), "orders and epsilons", "(2,)")
    refused(ValueError, lambda: lp.RenyiDP([1, 3], [1, 1]), "order=1.0", "index 0")
    refused(ValueError, lambda: lp.RenyiDP([2, 2], [1, 1]), "repeat")
    refused(ValueError, lambda: lp.RenyiDP([2], [-1]), "negative")
    refused(ValueError, lambda: lp.RenyiDP([2], [1e-15]), "1e-12")
    refused(ValueError, lambda: lp.RenyiDP([], []), "at least one")
    refused(ValueError, lambda: lp.RenyiDP([2], [1], adjacency="remove"), "add_remove")
    refused(ValueError, lambda: lp.RenyiDP([math.inf], [1]), "orders", "finite")


def test_a_composed_rho_of_hundreds():
    """The bound of Bun and Steinke is an upper one; its epsilon is near 430, where a pair of places at doubles q has no end."""
    found = (30 * lp.ZCDP(10)).epsilon(1e-6)
    assert found.lower < found.upper < 300 + 2 * math.sqrt(300 * math.log(1e6))
    assert found.width < 0.03 * found.value
