"""Rounds by splines: against single rounds from the definition, one pick for all steps, and the bounds on a grid."""

import math

import numpy as np
import pytest

from adaptive_range import fixed
from logphi.convex.smooth_chords import SmoothBounds, smooth_chords
from logphi.convex.spline_rounds import LEAST
from logphi.convex.symmetric_pair import pair_above, pair_below
from logphi.convex.widest_chords import in_any_order

FINE = 2048


def proved(width: float, rounds: int, fine: int) -> SmoothBounds:
    """Bounds that are there."""
    found = smooth_chords(width, rounds, fine)
    assert found is not None
    return found


def mirrored(bound, x):
    """A bound on the whole line."""
    right = bound(np.abs(x))
    return np.where(x < 0, -np.expm1(-np.abs(x)) + np.exp(-np.abs(x)) * right, right)


def best(bound, width, x):
    """The largest mean at x over many picks, and then over many near the best one."""
    low, high = np.zeros_like(x), np.full_like(x, width)
    means = np.zeros((1, x.size))
    for _ in range(3):
        picks = np.linspace(low, high, 401)
        p = np.expm1(picks - width) / math.expm1(-width)
        means = p * mirrored(bound, x - picks) + (1 - p) * mirrored(bound, x - picks + width)
        place = means.argmax(axis=0)
        low, high = (picks[np.clip(place + side, 0, 400), np.arange(x.size)] for side in (-1, 1))
    return means.max(axis=0)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("width", "rounds"),
    [
        (0.1, 47),
        (1.0, 60),
        (2.0, 130),
        (1e-5, 45),
        (0.01, 41),
        (0.1, 48),
        (0.3, 90),
        pytest.param(1.0, 400, marks=pytest.mark.slow),
        # most of it is nearly one
        pytest.param(1.0, 1000, marks=pytest.mark.slow),
    ],
)
def test_one_more_round_from_the_definition(width, rounds):
    now, after = (proved(width, count, FINE) for count in (rounds, rounds + 1))
    end = min(now.last * now.step - width, after.last * after.step)
    x = np.sort(np.random.default_rng(rounds).uniform(0, end, 300))
    # what is searched for is rounded
    assert (best(now.high, width, x) <= after.high(x) * (1 + 1e-13)).all()
    assert (after.low(x) <= best(now.low, width, x) * (1 + 1e-9)).all()
    # and the error of a round is small
    above, below = after.next_round.above.constant, after.last_round.below.constant
    added = above - now.next_round.above.constant + below - now.last_round.below.constant
    assert added < 1e-6


@pytest.mark.few(2)
@pytest.mark.parametrize(("width", "rounds"), [(1e-3, 60), (0.2, 100), (1.0, 80), (3.0, 60)])
def test_bounds_meet_those_of_a_grid(width, rounds):
    smooth = proved(width, rounds, FINE)
    below, above = (in_any_order(((width, rounds, 96),), above=side) for side in (False, True))
    x = np.arange(float(below.values.size)) * below.step
    seen = (below.values > 1e-22) & (x < smooth.last * smooth.step)
    x, low, high = x[seen], below.values[seen], above.values[: seen.size][seen] + above.truncated
    assert (smooth.low(x) <= high).all()
    assert (low <= smooth.high(x)).all()
    known = low > 1e-10
    found = smooth.high(x)[known] / smooth.low(x)[known] - 1
    assert found.max() < 0.05 * (high / low - 1)[known].max()


@pytest.mark.few(2)
@pytest.mark.parametrize(("width", "rounds"), [(0.05, 300), (1.0, 64), (1e-3, 100)])
def test_one_pick_for_all_steps_is_less(width, rounds):
    smooth = proved(width, rounds, FINE)
    for share in (0.0, 0.1, 0.3, 0.5):
        x = share * smooth.last * smooth.step
        assert fixed(width, rounds, x) <= float(smooth.high(np.array([x]))[0]) * (1 + 1e-10)


def test_after_the_last_place_the_bound_is_constant():
    smooth = proved(0.1, 60, FINE)
    end = smooth.last * smooth.step
    last, later = smooth.high(np.array([end, 2 * end]))
    assert last == later < 1000 * LEAST
    assert smooth.low(np.array([1.01 * end]))[0] == 0


@pytest.mark.slow
def test_what_is_not_smooth_is_not_proved():
    assert smooth_chords(30.0, 60, FINE) is None


def excess(pair, x):
    return math.fsum(np.maximum(pair[0] - math.exp(x) * pair[1], 0.0))


@pytest.mark.few(1)
@pytest.mark.parametrize(("width", "rounds"), [(0.1, 90), (0.01, 300)])
def test_pairs_are_on_their_sides_and_near(width, rounds):
    smooth = proved(width, rounds, FINE)
    high, low = pair_above(smooth.grid(3000), width * rounds, 3000), pair_below(smooth.lines(3000))
    for x in np.linspace(0, 0.5 * smooth.last * smooth.step, 40):
        floor, ceiling = float(smooth.low(np.array([x]))[0]), float(smooth.high(np.array([x]))[0])
        assert excess(low, x) <= ceiling
        assert floor <= excess(high, x) * (1 + 1e-12)
        assert excess(high, x) <= excess(low, x) * (1 + 1e-3)
        for pair in (low, high):
            assert abs(pair[0].sum() - 1) < 1e-12
            reflected = -math.expm1(-x) + math.exp(-x) * excess(pair, x)
            assert excess(pair, -x) == pytest.approx(reflected, rel=1e-9)
