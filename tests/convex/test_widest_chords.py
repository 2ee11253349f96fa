import math
from itertools import pairwise

import numpy as np
import pytest

from adaptive_range import by_chords, fixed, on_grid
from logphi.convex.symmetric_pair import pair_above, pair_below
from logphi.convex.widest_chords import both_sides, in_any_order

CASES = [(0.003, 4, 24), (0.1, 6, 16), (0.7, 3, 24), (1.0, 8, 12), (4.0, 5, 16)]


@pytest.mark.parametrize(("width", "rounds", "parts"), CASES)
def test_both_bounds_hold_the_recursion_from_the_definition(width, rounds, parts):
    below, above = (in_any_order(((width, rounds, parts),), above=side) for side in (False, True))
    x, attained = on_grid(width, rounds, parts)
    _, covered = by_chords(width, rounds, parts)
    right = x >= -1e-12
    sizes = min(below.values.size, above.values.size, int(right.sum()))
    attained, covered = attained[right][:sizes], covered[right][:sizes]
    # the first pick is not held to the grid
    assert (attained <= below.values[:sizes] * (1 + 1e-11) + 1e-28).all()
    assert (below.values[:sizes] <= covered * (1 + 1e-11) + 1e-15).all()
    high = above.values[:sizes] + above.truncated
    assert (attained <= high).all()
    # no pick gives more, were it from a much finer grid
    assert (covered <= high * (1 + 1e-12) + 1e-15).all()
    # what is added from above is a few times that at most
    seen = covered > 1e-9
    assert ((high - covered)[seen] <= 4 * (covered - attained)[seen].max() + 2e-3 * covered[seen]).all()


def test_one_round_is_the_closed_form():
    below, above = (in_any_order(((0.8, 1, 32),), above=side) for side in (False, True))
    x = np.arange(33) * 0.025
    exact = (math.exp(0.4) - np.exp(x / 2)) ** 2 / math.expm1(0.8)
    for bounds in (below, above):
        assert np.allclose(bounds.values, exact, rtol=1e-10, atol=1e-18)
    assert (below.values <= exact * (1 + 1e-15)).all()
    assert (exact <= above.values * (1 + 1e-15)).all()


@pytest.mark.parametrize(("width", "rounds"), [(0.05, 60), (1.0, 12), (3.0, 7), (1e-3, 100)])
def test_one_pick_for_all_steps_is_less(width, rounds):
    above = in_any_order(((width, rounds, 32),), above=True)
    for share in (0.0, 0.1, 0.3, 0.5):
        node = int(share * above.values.size)
        assert fixed(width, rounds, node * above.step) <= above.values[node] + above.truncated


def test_finer_grids_are_narrower():
    widths = []
    for parts in (32, 64, 128, 256):
        below, above = (in_any_order(((0.2, 25, parts),), above=side) for side in (False, True))
        node = 4 * parts
        widths.append(float(above.values[node] - below.values[node]))
    ratios = [one / other for one, other in pairwise(widths)]
    assert all(3.5 < ratio < 4.5 for ratio in ratios), ratios


def excess(pair, x):
    p, q = pair
    return float(np.maximum(p - math.exp(x) * q, 0.0).sum())


@pytest.mark.parametrize(
    ("width", "rounds", "parts"), [(0.1, 30, 128), (1.0, 9, 256), (2e-3, 12, 128), (5.0, 4, 512), (0.3, 2, 999)]
)
def test_pairs_are_on_their_sides_and_near(width, rounds, parts):
    below, above = (in_any_order(((width, rounds, parts),), above=side) for side in (False, True))
    high, low = pair_above(above, width * rounds, 500), pair_below(below.lines(500))
    for pair in (high, low):
        assert abs(pair[0].sum() - 1) < 1e-12
        assert np.array_equal(pair[0], pair[1][::-1])
    for node in np.linspace(0, 0.6 * below.values.size, 57).astype(int).tolist():
        x = node * below.step
        for place, floor, ceiling in [
            (x, below.values[node], above.values[node] + above.truncated),
            (-x, *(-math.expm1(-x) + math.exp(-x) * h for h in (below.values[node], above.values[node] + above.truncated))),
        ]:
            assert excess(low, place) <= ceiling * (1 + 1e-12)
            assert floor * (1 - 1e-12) <= excess(high, place)
            assert excess(low, place) <= floor * (1 + 2e-12) + (0 if rounds > 2 else 1e-9)
            assert excess(high, place) - excess(low, place) <= 1e-2 * ceiling + 1e-15


@pytest.mark.parametrize(("width", "rounds", "parts"), [(4.0, 100, 40), (2.5, 200, 40)])
def test_where_the_functions_are_one_to_rounding(width, rounds, parts):
    below, above = (in_any_order(((width, rounds, parts),), above=side) for side in (False, True))
    size = min(below.values.size, above.values.size)
    low, high = below.values[:size], above.values[:size] + above.truncated
    assert (low <= high).all()
    assert (high <= 1 + 1e-9).all()
    seen = low > 1e-6
    assert ((high - low)[seen] <= 0.5 * low[seen]).all()


def test_far_out_the_bound_from_above_reaches_farther():
    # its chords begin where the bound from below has no nodes: there was an index error
    low, high = both_sides(19.1, 40, 240, error=1e-15, cut=1e-34)
    size = min(low.values.size, high.values.size)
    assert low.values.size < high.values.size
    assert (low.values[:size] <= high.values[:size] + high.truncated).all()
