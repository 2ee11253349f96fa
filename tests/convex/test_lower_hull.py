"""Hulls above and below a convex function of which bounds are known at some places."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from logphi.convex.hull import Hull
from logphi.convex.lower_hull import hull_below

WEIGHTS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=6)
PLACES = st.lists(st.fractions(Fraction(1, 50), 50, max_denominator=60), min_size=1, max_size=8, unique=True)
ERRORS = st.lists(st.tuples(st.fractions(0, Fraction(1, 9)), st.fractions(0, Fraction(1, 9))), min_size=8, max_size=8)


def _profile(weights, a):
    p_total, q_total = (sum(side) or 1 for side in zip(*weights, strict=True))
    return sum(max(Fraction(p, p_total) - a * Fraction(q, q_total), Fraction(0)) for p, q in weights)


def _value(hull, a):
    """Linear between the vertices, constant beyond the last."""
    vertices = hull.vertices
    for (one, high), (other, low) in pairwise(vertices):
        if a <= other:
            return high + (low - high) * (a - one) / (other - one)
    return vertices[-1][1]


@pytest.mark.slow
@settings(max_examples=20)
@given(WEIGHTS, PLACES, ERRORS)
def test_the_truth_lies_between_the_hull_of_upper_bounds_and_the_hull_below(weights, places, errors):
    weights = [(max(p, 1), max(q, 1)) for p, q in weights[:1]] + weights[1:]
    known = []
    for a, (less, more) in zip(sorted(places), errors, strict=False):
        truth = _profile(weights, a)
        known.append((a, truth * (1 - less), truth * (1 + more)))
    floor = _profile(weights, Fraction(10**9))
    fall = (1 - _profile(weights, Fraction(1, 10**9))) * 10**9
    below, above = hull_below(known, floor, fall), Hull.of([(a, high) for a, _, high in known])
    middles = [(one + other) / 2 for one, other in pairwise(sorted(places))]
    for a in (*places, *middles, Fraction(1, 100), Fraction(100)):
        assert _value(below, a) <= _profile(weights, a) <= _value(above, a)


def test_one_bend_between_two_pairs_of_places_is_found_exactly():
    weights = [(3, 1), (1, 3)]
    known = [(a, h, h) for a in map(Fraction, ("1/10", "1/5", "1/2", "1", "2", "4", "5")) for h in [_profile(weights, a)]]
    assert [a for a, _ in hull_below(known, Fraction(0), Fraction(1)).vertices] == [0, Fraction(1, 3), 3]


def test_a_pair_with_infinite_losses_keeps_them():
    weights = [(1, 0), (8, 9), (1, 1), (0, 5)]
    known = [(a, h, h) for a in map(Fraction, range(1, 9)) for h in [_profile(weights, a)]]
    below = hull_below(known, Fraction(1, 10), Fraction(10, 15))
    assert (below.vertices[-1][1], below.slopes[0]) == (Fraction(1, 10), Fraction(10, 15))
