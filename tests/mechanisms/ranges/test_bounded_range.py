"""Compositions of exponential mechanisms: what the best adaptive picks attain, and what bounds it."""

import math

import mpmath
import numpy as np
import pytest

import logphi as lp
from adaptive_range import by_chords, fixed, on_grid
from logphi.algebra.asking import Questions
from logphi.algebra.by_others import DIVERGENCES, PROFILES, TAILS
from logphi.algebra.release import Mechanism
from logphi.pairs.pair import UnsupportedError

E = lp.ExponentialMechanism


@pytest.mark.parametrize(("epsilon", "count", "parts"), [(0.3, 4, 40), (1.5, 3, 60), (0.02, 5, 40)])
def test_delta_and_epsilon_hold_the_recursion(epsilon, count, parts):
    x, attained = on_grid(epsilon, count, parts)
    _, covered = by_chords(epsilon, count, parts)
    release = count * E(epsilon)
    for node in range(0, x.size, 17):
        bound = release.delta(float(x[node]))
        assert attained[node] * (1 - 1e-9) <= bound.upper
        assert bound.lower <= covered[node] * (1 + 1e-9)
        assert bound.width <= 1e-3 * bound.value + 1e-15
        if 1e-6 < attained[node] < 0.5 and x[node] > 0:
            assert release.epsilon(attained[node]).upper >= x[node] * (1 - 1e-9)
            assert release.epsilon(covered[node]).lower <= x[node] * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [1e-3, 0.4, 2.0])
def test_two_steps_by_a_search_over_the_pick(epsilon):
    with mpmath.workdps(30):
        e = mpmath.mpf(repr(epsilon))

        def one(x):
            if abs(x) < e:
                return (mpmath.exp(e / 2) - mpmath.exp(x / 2)) ** 2 / mpmath.expm1(e)
            return max(1 - mpmath.exp(x), mpmath.mpf(0))

        def picked(x, t):
            p = (1 - mpmath.exp(t - e)) / (1 - mpmath.exp(-e))
            return p * one(x - t) + (1 - p) * one(x - t + e)

        for share in (-0.4, 0.1, 0.5, 1.1):
            x = mpmath.mpf(repr(share * epsilon))
            best = max((e * i / 200 for i in range(201)), key=lambda t: picked(x, t))
            low, high = max(best - e / 200, mpmath.mpf(0)), min(best + e / 200, e)
            for _ in range(90):
                a, b = low + (high - low) / 3, high - (high - low) / 3
                low, high = (a, high) if picked(x, a) < picked(x, b) else (low, b)
            exact = picked(x, low)
            bound = (2 * E(epsilon)).delta(share * epsilon)
            assert bound.lower <= float(exact) * (1 + 1e-15)
            assert float(exact) * (1 - 1e-15) <= bound.upper
            assert bound.width <= 1e-5 * bound.value


def largest_moment(epsilon, order):
    """Log E e^{zL} over z, the largest over the picks, by a search."""
    with mpmath.workdps(40):
        e, z = mpmath.mpf(repr(epsilon)), mpmath.mpf(order) - 1

        def divergence(t):
            p = mpmath.expm1(t - e) / mpmath.expm1(-e)
            if z == 0:
                return p * t + (1 - p) * (t - e)
            return mpmath.log(p * mpmath.exp(z * t) + (1 - p) * mpmath.exp(z * (t - e))) / z

        low, high = mpmath.mpf(0), e
        for _ in range(150):
            a, b = low + (high - low) / 3, high - (high - low) / 3
            low, high = (a, high) if divergence(a) < divergence(b) else (low, b)
        return float(divergence(low))


@pytest.mark.few(24)
@pytest.mark.parametrize("epsilon", [1e-4, 0.1, 1.0, 6.0])
@pytest.mark.parametrize("order", [0.25, 0.5, 0.75, 1.0, 1.0000001, 2.0, 31.5, 1e4])
def test_divergences_are_those_of_the_best_pick(epsilon, order):
    exact = largest_moment(epsilon, order)
    one, many = E(epsilon).renyi(order), (7 * E(epsilon)).renyi(order)
    for bound, count in ((one, 1), (many, 7)):
        assert bound.status is lp.Status.MET
        assert bound.lower <= count * exact * (1 + 1e-12)
        assert count * exact * (1 - 1e-12) <= bound.upper
        assert bound.width <= 1e-9 * bound.value
        assert bound.upper <= count * epsilon**2 / 8 * max(order, 1) * (1 + 1e-12)


def test_divergences_of_orders_below_zero_and_at_the_ends():
    release = 3 * E(0.7)
    assert release.renyi(-1.5).value == pytest.approx(-0.6 * release.renyi(2.5).value, rel=1e-12)
    assert release.renyi(0) == 0
    assert release.max_divergence().value == pytest.approx(2.1, rel=1e-12)
    assert release.kl_divergence().same_as(release.renyi(1))
    assert release.renyi([1, 2.0]).value.tolist() == [release.renyi(1).value, release.renyi(2).value]
    assert release.renyi(2 + 0j).value == release.renyi(2).value
    with pytest.raises(ValueError, match="real order"):
        release.renyi(2 + 1j)


def test_zcdp_is_that_of_the_largest_divergences():
    for release, rho in [(E(1), E(1).kl_divergence().value), (50 * E(0.1), 50 * E(0.1).kl_divergence().value)]:
        bound = release.zcdp()
        assert bound.lower <= rho * (1 + 1e-12)
        assert rho * (1 - 1e-12) <= bound.upper
        assert bound.width <= 1e-6 * rho
    mixed = 20 * E(0.2) + 3 * lp.Gaussian(4)
    assert mixed.zcdp().upper <= (20 * 0.2**2 / 8 + 3 / 32) * (1 + 1e-6)
    orders = 1 + 2.0 ** np.arange(-8, 12)
    for xi in (0.0, 0.01):
        least = float(np.max((mixed.renyi(orders).lower - xi) / orders))
        bound = mixed.zcdp(xi)
        assert least <= bound.upper
        assert bound.lower <= max(least, bound.value)
        assert bound.width <= 1e-5 * bound.value


@pytest.mark.slow
def test_conversions_are_not_below_the_answer():
    """From E e^{zL} of the best picks: any such bound holds for the mechanism."""
    for epsilon, count, delta in [(0.1, 50, 1e-6), (1.0, 10, 1e-6), (0.05, 100, 1e-8)]:
        release = count * E(epsilon)
        z = np.linspace(0.5, 120, 400)
        log_moments = release.renyi(1 + z).upper * z
        converted = (log_moments - math.log(delta) + z * np.log(z) - (z + 1) * np.log1p(z)) / z
        assert release.epsilon(delta).lower <= converted.min()


@pytest.mark.parametrize(
    ("others", "direction"),
    [(lp.Gaussian(3), None), (5 * lp.Gaussian(1).poisson(0.1), "add"), (lp.RandomizedResponse(0.6), None)],
)
def test_with_other_releases_the_picks_come_last(others, direction):
    release = 6 * E(0.3) + others
    bound = release.epsilon(1e-5, direction=direction)
    assert bound.status is lp.Status.BRACKET
    assert bound.width < 1e-3 * bound.value
    # one pick for all, and what cannot be attained
    assert (6 * lp.RandomizedResponse(1 / (1 + math.exp(-0.15))) + others).epsilon(
        1e-5, direction=direction
    ).lower <= bound.upper
    assert bound.lower <= release.epsilon(1e-5, direction=direction, method="contour").upper


@pytest.mark.slow
def test_steps_that_leak_nearly_everything_compose_in_groups():
    steps = 1000 * E(1)
    alone, found = steps.epsilon(1e-6), (steps + lp.Gaussian(4)).epsilon(1e-6)
    assert alone.lower <= found.upper <= alone.upper * 1.02


def test_with_a_response_it_is_a_mean_of_profiles():
    p = 0.6
    odds = math.log(p / (1 - p))
    steps = 5 * E(0.4)
    found = (steps + lp.RandomizedResponse(p)).delta(0.5)
    parts = [(p, steps.delta(0.5 - odds)), (1 - p, steps.delta(0.5 + odds))]
    assert found.lower <= sum(share * one.upper for share, one in parts)
    assert sum(share * one.lower for share, one in parts) <= found.upper
    assert found.width <= 1e-4 * found.value


@pytest.mark.parametrize("release", [5 * E(0.5).poisson(0.2), E(0.2) + E(0.2).poisson(0.5), 6000 * E(0.01)])
def test_elsewhere_the_ends_are_of_different_things(release):
    bound = release.epsilon(1e-4)
    assert bound.status is lp.Status.BRACKET
    assert 0 < bound.lower < bound.upper <= release.max_divergence().upper
    assert bound.lower <= release.epsilon(1e-4, method="contour").upper


def test_several_on_one_sample_are_between():
    base = 5 * E(0.4)
    bound = base.poisson(0.1).epsilon(1e-5)
    whole = base.epsilon(1e-4).upper
    assert bound.upper <= math.log1p(0.1 * math.expm1(whole)) * (1 + 1e-6)
    assert bound.lower > 0.99 * bound.upper


def test_one_release_keeps_its_closed_profile():
    assert E(0.5).delta(0.2).method == "exact"
    assert (E(0.5) + lp.Gaussian(4)).delta(0.2).status is lp.Status.MET
    assert E(0.5).poisson(0.1).delta(0.01).status is lp.Status.MET


def test_trade_off_functions_are_those_of_the_profile():
    release = 8 * E(0.3)
    error = 0.2
    found = release.tradeoff(error)
    for x in np.linspace(-1, 1, 21):
        # (eps, delta) bounds the errors
        assert found.upper >= 1 - release.delta(x).upper - math.exp(x) * error - 1e-9
    assert release.inverse_tradeoff(found.value).value == pytest.approx(error, rel=1e-3)


def test_a_tolerance_makes_it_narrower():
    coarse, sharp = (30 * E(0.2)).epsilon(1e-6, rtol=1e-2), (30 * E(0.2)).epsilon(1e-6, rtol=1e-6)
    assert coarse.status is sharp.status is lp.Status.MET
    assert sharp.width < 1e-6 * sharp.value < coarse.width
    assert coarse.lower <= sharp.upper
    assert sharp.lower <= coarse.upper


def test_extreme_questions():
    release = 3 * E(0.5)
    assert release.epsilon(0).upper == pytest.approx(1.5, rel=1e-12)
    assert release.epsilon(1) == 0
    assert release.delta(1.6) == 0
    assert release.delta(-40).value == pytest.approx(1)
    assert release.epsilon([1e-3, 1e-60]).upper[1] <= 1.5 * (1 + 1e-12)
    assert (4 * E(0)).delta(0.0) == 0
    assert (2 * E(60)).epsilon(1e-6).upper <= 120 * (1 + 1e-12)


@pytest.mark.slow
def test_deltas_near_the_end_of_the_splines_are_left_to_the_grid():
    release = 60 * E(4.5)
    small, tiny = release.epsilon(1.1e-19), release.epsilon(9e-20)
    assert small.upper <= tiny.upper
    assert small.width < 1e-5 * small.upper


def test_views_that_know_the_hulls_only_make_no_claim_for_the_picks():
    release = 8 * E(0.3)
    explained = release.explain(epsilon=0.5)
    assert explained.bound.same_as(release.delta(0.5))
    assert release.risk.advantage().same_as(release.delta(0.0))
    assert release.risk.tpr(0.1).upper >= 1 - release.tradeoff(0.1).upper
    named = release.delta(0.5, method="contour")
    assert named.lower <= release.delta(0.5).upper <= named.upper
    with pytest.raises(ValueError, match="bounded range"):
        lp.dominates(release, lp.Gaussian(5))
    assert lp.dominates(lp.Laplace(3.0), E(0.3))


def test_calibration_finds_the_picks():
    found = lp.calibrate(lambda e: 20 * E(e), epsilon=1.0, delta=1e-5, rtol=1e-3)
    assert (20 * E(found.value)).epsilon(1e-5).upper <= 1.0
    assert (20 * E(found.value * 1.002)).epsilon(1e-5).lower > 1.0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(16))
def test_against_picks_from_the_definition(seed):
    draw = np.random.default_rng(seed)
    epsilon, count = 10 ** draw.uniform(-3, 0.7), int(10 ** draw.uniform(0.3, 3))
    threshold = draw.uniform(0, 3) * min(epsilon * count**0.5, epsilon * count / 3)
    bound = (count * E(epsilon)).delta(threshold)
    assert fixed(epsilon, count, threshold) <= bound.upper * (1 + 1e-9)
    if count <= 40:
        x, attained = on_grid(epsilon, count, 20)
        place = int(np.searchsorted(x, threshold))
        assert attained[place] <= (count * E(epsilon)).delta(float(x[place])).upper * (1 + 1e-9)


# what is the loss of the hull by its documentation, or has an answer of its own
OF_THE_HULL = {"phi", "log_phi", "loss", "dual_loss", "unit_pair", "risk", "renyi_orders"}


def test_every_question_is_answered_for_families():
    """A question that nobody lists would be answered by the hull alone, whose lower ends do not hold."""
    asked = {name for name in vars(Questions) if name[0] != "_" and name not in Mechanism._unlisted}
    assert asked == {*PROFILES, *TAILS, *DIVERGENCES, "explain", *OF_THE_HULL}


@pytest.mark.parametrize("release", [lp.ExponentialMechanism(1), 5 * lp.ExponentialMechanism(1) + lp.Gaussian(9), lp.ZCDP(0.1)])
def test_tails_of_families_are_refused(release):
    """One of the family: losses t and t - 1, whose first has nearly all of the mass where t is small."""
    q = (1 - math.exp(0.01 - 1)) / (math.exp(0.01) - math.exp(0.01 - 1))
    member = lp.Discrete([math.exp(0.01) * q, 1 - math.exp(0.01) * q], [q, 1 - q])
    assert member.pdp_delta(0.009).lower > 0.98
    for ask in (lambda: release.pdp_delta(0.009), lambda: release.pdp_epsilon(0.9)):
        with pytest.raises(UnsupportedError, match="one pair"):
            ask()


def test_what_no_double_holds_needs_no_bound_from_below():
    found = (16 * E(0.2277) + lp.Gaussian(4)).delta(40.0)
    assert (found.lower, found.upper) == (0, math.ulp(0.0))


def test_tiny_profiles_have_two_ends():
    release = 12 * E(0.125)
    (x, attained), (_, covered) = on_grid(0.125, 12, 16), by_chords(0.125, 12, 16)
    for share in (0.95, 0.97, 0.99):
        node = int(share * x.size)
        bound = release.delta(float(x[node]))
        assert 0 < bound.lower < bound.upper < 1.05 * bound.lower
        assert attained[node] * (1 - 1e-9) <= bound.upper
        assert fixed(0.125, 12, float(x[node])) <= bound.upper
        assert bound.lower <= covered[node] * (1 + 1e-9)


def test_tiny_profiles_with_another_release_have_two_ends():
    picks, p = 17 * E(0.125), 0.6
    loss = math.log(p / (1 - p))
    for x in (2.3, 2.5):
        bound = (picks + lp.RandomizedResponse(p=p)).delta(x)
        one, other = (picks.delta(x - side * loss) for side in (1, -1))
        assert 0 < bound.lower < bound.upper < 1.1 * bound.lower
        assert bound.lower <= (p * one.upper + (1 - p) * other.upper) * (1 + 1e-9)
        assert (p * one.lower + (1 - p) * other.lower) * (1 - 1e-9) <= bound.upper
