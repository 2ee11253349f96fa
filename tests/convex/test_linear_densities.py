"""Excesses of laws with linear densities, integrated at 40 digits, are on their sides of the bounds that they come from."""

import mpmath
import numpy as np
import pytest

from logphi.convex.excess_bounds import GridBounds, SplineBounds
from logphi.convex.linear_densities import CoarseError, Weights
from logphi.convex.smooth_chords import smooth_chords
from logphi.laws.combined.adaptive_two_points import parts_for
from some import some

CASES = [(0.03, 4), (0.25, 3), (0.9, 5), (0.4, 12), (2.0, 6)]


def grid(width, rounds, parts=None):
    return GridBounds(((width, rounds, parts or parts_for(rounds)),), 0.0, width * rounds)


def exact_weights(weights):
    a = {j: mpmath.mpf(float(one)) for j, one in enumerate(weights.weights)}
    if weights.last[0]:
        a[weights.last[0]] = mpmath.mpf(weights.last[1])
    return a


def excess(weights, x):
    """The sum over the cells above x of the integral of e^{y/2} (1 - e^{x-y}) times the tilted density, for x >= 0."""
    d, a = mpmath.mpf(weights.step), exact_weights(weights)
    x = mpmath.mpf(float(x))
    first = int(mpmath.floor(x / d))
    total = mpmath.mpf(0)
    for j in sorted({n + k for n in a for k in (-1, 0)}):
        if j < first:
            continue
        left, right, low = a.get(j, 0), a.get(j + 1, 0), max(x, j * d)
        slope = (right - left) / d**2
        level = left / d - slope * j * d

        def primitive(y, slope=slope, level=level):
            up = mpmath.exp(y / 2) * (2 * (level + slope * y) - 4 * slope)
            down = mpmath.exp(x - y / 2) * (-2 * (level + slope * y) - 4 * slope)
            return up - down

        total += primitive((j + 1) * d) - primitive(low)
    return total


def mass(weights):
    a = exact_weights(weights)
    d = mpmath.mpf(weights.step)
    whole = a[0] + 2 * mpmath.fsum(one * mpmath.cosh(j * d / 2) for j, one in a.items() if j)
    return whole * (mpmath.sinh(d / 4) / (d / 4)) ** 2


def places(bounds, weights, seed):
    """Nodes, places between them, and places next to the last weights."""
    rng = np.random.default_rng(seed)
    end = weights.step * (weights.weights.size + 0.5)
    return np.concatenate([[0.0], rng.uniform(0, min(end, bounds.end), 5), weights.step * np.array([1.0, 7.3])])


@pytest.mark.parametrize(("width", "rounds"), CASES)
def test_above_and_below_the_bounds_of_the_grid(width, rounds):
    bounds = grid(width, rounds)
    above, below = (bounds.weights(150, above=side) for side in (True, False))
    with mpmath.workdps(40):
        for weights in (above, below):
            assert abs(mass(weights) - 1) < 1e-12
        for x in places(bounds, above, 1).tolist():
            high, low = bounds.high(x), bounds.low(x)
            assert excess(above, x) >= high * (1 - 1e-13)
            assert excess(below, x) <= low * (1 + 1e-13)
            if high > 1e-3:
                assert excess(above, x) <= high * (1 + 1e-3)
                assert excess(below, x) >= low * (1 - 1e-3)


def test_above_and_below_the_splines():
    splines = some(smooth_chords(0.2, 100, 1024))
    bounds = SplineBounds(splines, grid(0.2, 100, 256))
    above, below = (bounds.weights(150, above=side) for side in (True, False))
    with mpmath.workdps(40):
        for x in places(bounds.grid, above, 2).tolist():
            assert excess(above, x) >= splines.high(np.array([x]))[0] * (1 - 1e-13)
            if x < splines.last * splines.step:
                assert excess(below, x) <= max(splines.low(np.array([x]))[0], 0.0) * (1 + 1e-13) + 1e-30


def test_the_excess_at_nodes_is_that_of_the_weights():
    weights = Weights(0.05, np.array([0.2, 0.15, 0.1, 0.05]), (7, 1e-3)).scaled(1.0)
    x = np.arange(0.0, 12.0) * 0.0125
    found = np.add(weights.excess(4)[:12], weights.beyond(x))
    with mpmath.workdps(40):
        exact = [excess(weights, one) for one in x]
        assert all(abs(mpmath.mpf(float(one)) / other - 1) < 1e-13 for one, other in zip(found, exact, strict=True))


def test_more_weights_are_nearer():
    bounds = grid(0.3, 9)
    near = [some_excess(bounds.weights(size, above=True), 0.4) for size in (100, 400)]
    assert near[0] > near[1] >= bounds.high(0.4)


def some_excess(weights, x):
    with mpmath.workdps(30):
        return float(excess(weights, x))


def test_where_there_is_none():
    with pytest.raises(CoarseError):
        grid(40.0, 5, 64).weights(500, above=True)
