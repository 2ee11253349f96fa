"""The pair on [0, 1] of [AFA] Lemma 9: its profile by quadrature, its laws in closed form."""

import math

import mpmath
import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss

import logphi as lp

NODES, WEIGHTS = leggauss(6)
EDGES = np.concatenate([np.geomspace(1e-8, 0.5, 14), 1 - np.geomspace(1e-8, 0.5, 14)[::-1][1:]])
HALF = np.diff(EDGES)[:, None] / 2
X = (EDGES[:-1, None] + HALF * (NODES + 1)).ravel()
W = (HALF * WEIGHTS).ravel()

FINITE = lp.Discrete([0.5, 0.3, 0.2, 0], [0.2, 0.3, 0, 0.5])


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize(
    "mechanism",
    [lp.Gaussian(sigma=1), lp.Gaussian(sigma=1).poisson(0.3)],
    ids=repr,
)
def test_its_profile_is_that_of_the_mechanism(mechanism, direction):
    pair = mechanism.unit_pair(direction)
    density = pair.density(X, rtol=1e-6).value
    for epsilon in (-0.7, 0.0, 0.4):
        found = pair.atom.value + np.sum(W * np.maximum(density - math.exp(epsilon), 0))
        # a corner inside a cell of the quadrature costs its square
        assert abs(found - mechanism.delta(epsilon, direction=direction).value) < 2e-3
    assert abs(np.sum(W * density) + pair.atom.value - 1) < 1e-2


def test_a_density_of_zero_is_exactly_zero():
    found = lp.ApproximateDP(0.5, 0.2).unit_pair().density(0.01)
    assert (found.lower, found.upper) == (0, 0)


def test_the_first_law_of_a_gaussian():
    """Phi(Phi^-1(x) - mu), density e^{mu Phi^-1(x) - mu^2/2}."""
    pair, mu = lp.Gaussian(sigma=2).unit_pair(), 0.5
    for place in (-7.0, -3.1, -0.8, 0.0, 0.5, 3.1):
        with mpmath.workdps(40):
            x = float(mpmath.ncdf(place))
            at = mpmath.sqrt(2) * mpmath.erfinv(2 * mpmath.mpf(x) - 1)
            truth, log_density = float(mpmath.ncdf(at - mu)), float(mu * at - mu**2 / 2)
        found, log_found = pair.cdf(x), pair.log_density(x)
        assert found.lower <= truth * (1 + 1e-15)
        assert found.upper >= truth * (1 - 1e-15)
        assert found.width <= 1e-9 * truth + 1e-15
        assert log_found.lower <= log_density <= log_found.upper
        assert log_found.width < 1e-7


def test_the_steps_of_finitely_many_outcomes():
    """Likelihood ratios in order: 0 over [0, 0.5], 1 over the next 0.3, 2.5 over the last 0.2, and 0.2 at 1."""
    pair = FINITE.unit_pair()
    assert [round(pair.density(x).value, 9) for x in (0.2, 0.49, 0.6, 0.79, 0.9)] == [0, 0, 1, 1, 2.5]
    assert [round(pair.cdf(x).value, 9) for x in (0, 0.4, 0.65, 0.9, 1)] == [0, 0, 0.15, 0.55, 1]
    assert 0.2 in pair.atom
    assert FINITE.unit_pair("add").atom.value == pytest.approx(0.5, abs=1e-12)


@pytest.mark.parametrize("x", [-0.1, 1.1, math.nan])
def test_places_outside_are_refused(x):
    pair = lp.Gaussian(sigma=1).unit_pair()
    for question in (pair.cdf, pair.density, pair.log_density):
        with pytest.raises(ValueError, match="x must"):
            question(x)


@pytest.mark.parametrize("x", [0.0, 1.0])
def test_there_is_no_density_at_the_ends(x):
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        lp.Gaussian(sigma=1).unit_pair().density(x)
