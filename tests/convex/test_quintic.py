"""Splines of degree five against SciPy's, and their bounds against many places."""

import numpy as np
import pytest
from scipy.interpolate import BSpline

from logphi.convex.quintic import Quintic

DRAW = np.random.default_rng(3)


def scipys(coefficients, first=0):
    return BSpline(np.arange(-3.0, coefficients.size + 3) + first, coefficients, 5)


def test_values_and_derivatives():
    coefficients = DRAW.normal(size=30)
    spline, other = Quintic(-4, coefficients), scipys(coefficients, -4)
    x = DRAW.uniform(-2, 22, 200)
    cells = np.floor(x).astype(int)
    for order, found in enumerate(spline.at(spline.column(cells), x - cells)):
        assert np.allclose(found, other.derivative(order)(x) if order else other(x), rtol=0, atol=1e-13)


def test_quintics_are_their_own_splines():
    x = np.arange(-6.0, 30)
    spline = Quintic.through(-6, np.polyval([1e-5, -2e-4, 3e-3, 0.02, -1, 4], x))
    places = DRAW.uniform(0, 20, 50)
    cells = np.floor(places).astype(int)
    found = spline.at(spline.column(cells), places - cells)[0]
    assert np.allclose(found, np.polyval([1e-5, -2e-4, 3e-3, 0.02, -1, 4], places), rtol=1e-12)


@pytest.mark.parametrize("reach", [1, 2, 3])
def test_sizes_bound_the_derivatives(reach):
    coefficients = DRAW.normal(size=20)
    spline, other = Quintic(0, coefficients), scipys(coefficients)
    for place in range(15 - reach):
        x = np.linspace(place + 2, place + 2 + reach, 400)
        for order, sizes in zip((2, 3, 4), spline.sizes(reach), strict=True):
            seen = np.abs(other.derivative(order)(x)).max()
            assert seen <= sizes[place] * (1 + 1e-12)
        if reach != 2:
            assert spline.least_bend(reach)[place] <= other.derivative(2)(x).min() + 1e-12


@pytest.mark.parametrize("first", [-7, -8])
@pytest.mark.parametrize("last", [10, 21, 30])
def test_coarser_splines_are_within_their_distance(first, last):
    coefficients = DRAW.normal(size=60)
    spline = Quintic(first, coefficients)
    found, gap = spline.coarser(last)
    least = max(2 * (found.first + 2), first + 2)
    x = np.linspace(least, last, 2000)
    difference = np.abs(scipys(found.coefficients, found.first)(x / 2) - scipys(coefficients, first)(x)).max()
    assert difference <= gap * (1 + 1e-12)
