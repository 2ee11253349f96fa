"""Exponential mechanisms of different epsilons: the best adaptive picks, in the best order."""

import math
from itertools import permutations

import mpmath
import numpy as np
import pytest

import logphi as lp
from adaptive_range import in_any_order
from logphi.algebra.families import terms_of
from logphi.mechanisms.ranges import several_ranges
from logphi.mechanisms.ranges.several_ranges import SeveralRanges

E = lp.ExponentialMechanism


def steps(epsilons, counts):
    return lp.compose([count * E(epsilon) for epsilon, count in zip(epsilons, counts, strict=True)])


@pytest.mark.parametrize(
    ("parts", "counts", "step"),
    [((10, 30), (3, 2), 0.01), ((20, 24), (2, 3), 0.025), ((12, 18, 27), (2, 1, 2), 0.04), ((9, 60), (4, 1), 0.05)],
)
def test_the_recursion_from_its_definition_is_within(parts, counts, step):
    (x, attained), (_, covered) = (in_any_order(parts, counts, step, fine) for fine in (1, 8))
    release = steps([n * step for n in parts], counts)
    for node in range(x.size // 5, x.size, 23):
        bound = release.delta(float(x[node]))
        assert attained[node] * (1 - 1e-9) <= bound.upper
        assert bound.lower <= covered[node] * (1 + 1e-9)
        assert bound.width <= 1e-4 * bound.value + 1e-12


@pytest.mark.parametrize(("parts", "counts", "step"), [((10, 30), (3, 2), 0.01), ((12, 18, 27), (2, 1, 2), 0.04)])
def test_where_no_length_is_common_the_rest_of_each_width_is_left_out(parts, counts, step, monkeypatch):
    monkeypatch.setattr(several_ranges, "common_parts", lambda *_: None)
    (x, attained), (_, covered) = (in_any_order(parts, counts, step, fine) for fine in (1, 8))
    release = steps([n * step for n in parts], counts)
    for share in (0.6, 0.7, 0.8):
        node = int(share * x.size)
        bound = release.delta(float(x[node]))
        assert attained[node] * (1 - 1e-9) <= bound.upper
        assert attained[node] * 0.99 <= bound.lower <= covered[node] * (1 + 1e-9)


def test_pairs_of_batches_are_above_where_the_whole_recursion_takes_too_long(monkeypatch):
    monkeypatch.setattr(several_ranges, "MOST_ROUNDS", 200)
    parts, counts, step = (10, 14, 20, 26), (2, 1, 2, 2), 0.04
    release = steps([n * step for n in parts], counts)
    ((_, family, _),) = terms_of(release)
    assert isinstance(family, SeveralRanges)
    assert [own for _, own in family._batches()] == [1, 1]
    x, attained = in_any_order(parts, counts, step, 1)
    for share in (0.4, 0.6, 0.8):
        node = int(share * x.size)
        bound = release.delta(float(x[node]))
        assert attained[node] * (1 - 1e-9) <= bound.upper < 1.2 * attained[node]


def test_hundreds_of_different_ranges():
    drawn = np.sort(np.random.default_rng(1).uniform(0.01, 0.1, 200)).tolist()
    found = steps(drawn, [1] * 200).epsilon(1e-6)
    assert found.upper < 1.012 * found.lower
    # half of the steps, each no wider than one that is taken
    assert (100 * E(drawn[100])).epsilon(1e-6).lower < found.upper


@pytest.mark.parametrize(("narrow", "wide"), [(0.1, 0.3), (0.5, 0.6), (0.7, 3.0)])
def test_two_steps_by_a_search_over_the_picks_in_both_orders(narrow, wide):
    with mpmath.workdps(25):

        def one(x, e):
            if abs(x) < e:
                return (mpmath.exp(e / 2) - mpmath.exp(x / 2)) ** 2 / mpmath.expm1(e)
            return max(1 - mpmath.exp(x), mpmath.mpf(0))

        def best(x, first, last):
            def picked(t):
                p = (1 - mpmath.exp(t - first)) / (1 - mpmath.exp(-first))
                return p * one(x - t, last) + (1 - p) * one(x - t + first, last)

            centre = max((first * i / 200 for i in range(201)), key=picked)
            low, high = max(centre - first / 200, mpmath.mpf(0)), min(centre + first / 200, first)
            for _ in range(80):
                a, b = low + (high - low) / 3, high - (high - low) / 3
                low, high = (a, high) if picked(a) < picked(b) else (low, b)
            return picked(low)

        release, ranges = E(narrow) + E(wide), (mpmath.mpf(repr(narrow)), mpmath.mpf(repr(wide)))
        for share in (-0.4, 0.1, 0.5, 0.9):
            x = share * (narrow + wide)
            exact = float(max(best(mpmath.mpf(repr(x)), *order) for order in permutations(ranges)))
            bound = release.delta(x)
            assert bound.lower <= exact * (1 + 1e-14)
            assert exact * (1 - 1e-14) <= bound.upper
            assert bound.width <= 3e-5 * bound.value


def test_three_steps_of_one_range_are_not_best_taken_first():
    """The order in which the widest steps come last is not always the best one, and is known to be attained."""
    step = 0.5 / 40
    x, attained = in_any_order((40, 48), (1, 3), step)
    last = in_any_order((40, 48), (0, 3), step)[1]
    node = int(np.argmin(np.abs(x - 0.42)))
    shift = (x.size - last.size) // 2
    padded = np.concatenate([-np.expm1(x[:shift]), last, np.zeros(shift)])
    chords = []
    for pick in range(41):
        p = math.expm1((pick - 40) * step) / math.expm1(-40 * step)
        chords.append(p * padded[node - pick] + (1 - p) * padded[node - pick + 40])
    assert attained[node] > max(chords) * (1 + 1e-4)
    assert attained[node] <= (E(0.5) + 3 * E(0.6)).delta(float(x[node])).upper


def test_it_is_between_fewer_and_more():
    found = (4 * E(0.2) + 3 * E(0.4)).epsilon(1e-5)
    assert (7 * E(0.2)).epsilon(1e-5).lower < found.lower <= found.upper < (7 * E(0.4)).epsilon(1e-5).upper
    assert found.width < 1e-6 * found.value
    # hulls lose more
    assert found.upper < (4 * E(0.2) + 3 * E(0.4)).epsilon(1e-5, method="contour").upper * 0.97


def test_nearly_equal_ranges_are_equal():
    close = (3 * E(0.3) + 2 * E(0.3 * (1 + 1e-9))).epsilon(1e-6)
    equal = (5 * E(0.3)).epsilon(1e-6)
    assert close.lower <= equal.upper * (1 + 1e-9)
    assert equal.lower <= close.upper
    assert close.width < 1e-5


def test_with_other_releases_it_is_a_mean_of_profiles():
    p = 0.6
    odds = math.log(p / (1 - p))
    alone = 3 * E(0.4) + 2 * E(0.15)
    found = (alone + lp.RandomizedResponse(p)).delta(0.5)
    parts = [(p, alone.delta(0.5 - odds)), (1 - p, alone.delta(0.5 + odds))]
    assert found.lower <= sum(share * one.upper for share, one in parts)
    assert sum(share * one.lower for share, one in parts) <= found.upper
    assert found.width <= 1e-5 * found.value


def test_divergences_add():
    release = 3 * E(0.4) + 2 * E(0.15) + lp.Gaussian(3)
    for order in (0.3, 1.0, 2.5, 40.0):
        parts = [(3 * E(0.4)).renyi(order), (2 * E(0.15)).renyi(order), lp.Gaussian(3).renyi(order)]
        assert release.renyi(order).value == pytest.approx(sum(part.value for part in parts), rel=1e-12)
    assert release.zcdp().upper <= (3 * 0.16 + 2 * 0.0225) / 8 * (1 + 1e-6) + 1 / 18 * (1 + 1e-6)


def test_many_different_steps_share_fewer_pairs_above():
    epsilons = np.linspace(0.02, 0.1, 60).tolist()
    release = lp.compose([E(epsilon) for epsilon in epsilons])
    ((_, family, _),) = terms_of(release)
    assert isinstance(family, SeveralRanges)
    raised = family._raised()
    assert len(raised) < 20
    assert sum(own for _, _, own in raised) == 60
    # for each number of the widest steps, their new ranges are not below the old ones
    squares = [family.size() for _, family, own in raised for _ in range(own)]
    assert all(new >= epsilon**2 for new, epsilon in zip(sorted(squares), epsilons, strict=True))
    found = release.epsilon(1e-6)
    one_pick = lp.compose([lp.RandomizedResponse(1 / (1 + math.exp(-epsilon / 2))) for epsilon in epsilons])
    assert one_pick.epsilon(1e-6).lower <= found.upper <= release.epsilon(1e-6, method="contour").upper
    assert found.lower <= (60 * E(0.1)).epsilon(1e-6).upper
    assert found.width < 0.1 * found.upper


@pytest.mark.slow
def test_too_many_steps_compose_in_groups_above_and_in_an_order_below():
    release = 100 * E(0.02) + 100 * E(0.05)
    ((_, family, count),) = terms_of(release)
    assert isinstance(family, SeveralRanges)
    assert count == 1
    assert family.alone(1) is None
    found = release.epsilon(1e-5)
    assert (100 * E(0.02)).epsilon(1e-5).lower < found.lower <= found.upper < (200 * E(0.05)).epsilon(1e-5).upper
    assert found.width < 2e-3
    assert found.status is lp.Status.BRACKET


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_random_compositions_hold_what_is_attained(seed):
    draw = np.random.default_rng(seed)
    parts, counts = (
        tuple(int(n) for n in np.sort(draw.choice(np.arange(4, 31), 2, replace=False))),
        (
            int(draw.integers(1, 6)),
            int(draw.integers(1, 5)),
        ),
    )
    step = 10 ** draw.uniform(-3, -0.7)
    x, attained = in_any_order(parts, counts, step)
    release = steps([n * step for n in parts], counts)
    for node in draw.integers(x.size // 3, x.size, 6).tolist():
        assert attained[node] <= release.delta(float(x[node])).upper * (1 + 1e-9)
    level = float(attained[x.size // 2 + x.size // 8])
    if level > 1e-12:
        bound = release.epsilon(level)
        assert x[x.size // 2 + x.size // 8] <= bound.upper * (1 + 1e-9)
        assert release.delta(bound.lower * (1 - 1e-9)).upper >= level


def test_a_grid_that_leaves_out_much_gives_way_to_fixed_members():
    epsilons = [0.05 * (n + 1) / 1000 for n in range(1000)]
    found = lp.compose([E(epsilon) for epsilon in epsilons]).epsilon(1e-6)
    assert found.width < 0.01 * found.upper
    one_pick = lp.compose([lp.RandomizedResponse(1 / (1 + math.exp(-epsilon / 2))) for epsilon in epsilons])
    assert one_pick.epsilon(1e-6).lower <= found.upper


def test_steps_that_leak_nearly_everything_have_a_lower_end():
    """The recursion from below has no digits there, and fixed members tell more."""
    release = lp.ExponentialMechanism(0.02) + 170 * lp.ExponentialMechanism(3.3)
    found = release.epsilon(1e-6)
    assert 0.985 * found.upper < found.lower
    assert release.delta(1.0).lower > 1 - 1e-9
