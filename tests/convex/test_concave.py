"""Suprema of concave functions from chords, and where a function with steps falls below zero."""

import math

import numpy as np
import pytest

from logphi.bracketing import fall
from logphi.convex.concave import Known, ceiling


def known(function, places, noise=0.0):
    return [Known(x, function(x) - noise, function(x) + noise) for x in places]


def test_a_kink_between_straight_pieces_is_met():
    def roof(x):
        return min(2 * x, 3 - x)

    found = ceiling(known(roof, [0.0, 0.5, 1.7, 2.0]))
    assert found.height == pytest.approx(2, rel=1e-8)
    assert found.at == pytest.approx(1, rel=1e-8)
    assert found.height >= 2


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(10))
def test_never_below_the_supremum(seed):
    """Random minima of lines, enclosed with noise, at random places."""
    rng = np.random.default_rng(seed)
    slopes, heights = rng.normal(0, 1, 12), rng.uniform(0, 1, 12)
    slopes[:2] = 1.5, -1.5

    def function(x):
        return float(np.min(slopes * x + heights))

    fine = max(function(x) for x in np.linspace(-5, 5, 20001))
    for noise in (0.0, 1e-9, 0.01, 10.0):
        found = ceiling(known(function, [-5.0, -4.0, *rng.uniform(-3, 3, 6), 4.0, 5.0], noise))
        assert found.height >= fine
        assert (found.height == math.inf) == (noise == 10.0)


def test_nothing_is_claimed_without_both_sides():
    assert ceiling([]).height == math.inf
    assert ceiling(known(lambda x: x, [0.0, 1.0, 2.0])).height == math.inf
    assert ceiling(known(lambda x: -x, [0.0, 1.0, 2.0])).height == math.inf


def test_close_points_around_a_smooth_top():
    found = ceiling(known(lambda x: 1 - x * x, [-4e-6, -1e-6, 1e-6, 4e-6]))
    assert 1 <= found.height <= 1 + 1e-11


@pytest.mark.parametrize("start", [-30.0, 0.9, 1.0, 70.0])
def test_falls(start):
    functions = [lambda x: 1 - x, lambda x: math.copysign(1, 1 - x), lambda x: math.inf if x < 1 else -math.inf]
    functions += [lambda x: (1 - x) ** 3, lambda x: math.floor(10 * (1 - x)) + 0.5, lambda x: -math.expm1(3 * (x - 1))]
    for function in functions:
        # a flat zero is found where the values vanish
        room = 2e-2 if function is functions[3] else 1e-6
        assert fall(function, start, 0.1, -100.0, 100.0, 1e-6) == pytest.approx(1, abs=room)


def test_falls_at_an_end():
    assert fall(lambda x: 1.0, 0.0, 0.1, -1.0, 2.0, 1e-6) == 2
    assert fall(lambda x: -1.0, 0.0, 0.1, -1.0, 2.0, 1e-6) == -1
