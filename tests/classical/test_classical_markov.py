"""Markov's bounds of the tail of a loss: against their theorem, and between two conversions."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import logphi as lp
from cauchy import cauchy
from logphi.classical import markov, renyi
from logphi.classical.divergence_curve import DivergenceCurve
from refusals import untyped


def by_the_theorem(log_moment, epsilon, points):
    """[PLC] Theorem 3 as its proof has it, T by a search."""
    y = [epsilon, *points]

    def tail(at):
        found = minimize_scalar(lambda t: log_moment(math.exp(t)) - math.exp(t) * at, bounds=(-8, 8), method="bounded")
        return min(1.0, math.exp(found.fun))

    tails = [tail(at) for at in y]
    return tails[-1] + sum((1 - math.exp(epsilon - y[i])) * (tails[i - 1] - tails[i]) for i in range(1, len(y)))


@pytest.mark.parametrize("points", [[], [2.0], [1.5, 2.0, 3.0, 4.5, 6.0], list(np.linspace(1.01, 8, 200))])
def test_the_markov_bound_is_its_theorem(points):
    def log_moment(z):
        up = 1 / (1 + math.exp(-0.1))
        return 100 * math.log(up * math.exp(0.1 * z) + (1 - up) * math.exp(-0.1 * z))

    found = markov.delta(100 * lp.PureDP(0.1), 1.0, points=points)
    truth = by_the_theorem(log_moment, 1.0, points)
    assert truth * (1 - 1e-6) <= found.value <= truth * 1.02


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("release", "epsilon"),
    [
        (lp.Gaussian(1.0), 2.0),
        (500 * lp.Laplace(40.0), 0.7),
        (100 * lp.ApproximateDP(0.1, 1e-6), 1.0),
        (30 * lp.RandomizedResponse(0.6), 2.0),
        (lp.GaussianPair(0, 1, 0, 2), 1.0),
        (4096 * lp.Gaussian(4.0).poisson(0.01), 0.7),
        (10**6 * lp.Gaussian(9e5), 1e-3),
    ],
    ids=repr,
)
def test_the_markov_bound_is_between_two_conversions(release, epsilon):
    found = markov.delta(release, epsilon)
    assert release.delta(epsilon).upper <= found.value
    assert renyi.delta(release, epsilon, conversion="canonne").value * (1 - 1e-9) <= found.value
    assert found.value <= renyi.delta(release, epsilon, conversion="mironov").value * (1 + 1e-9)
    level = found.value if found.value < 0.5 else 0.1
    back = markov.epsilon(release, level)
    assert back.value >= release.epsilon(level).lower
    assert markov.delta(release, back.value).value <= level * 1.01


def test_corners_of_the_markov_bound():
    assert lp.Gaussian(1.0).delta(-3.0).upper <= markov.delta(lp.Gaussian(1.0), -3.0).value <= 1
    assert markov.delta(0 * lp.Gaussian(1.0), 0.5).value <= 1e-290
    assert markov.epsilon(lp.Gaussian(1.0), 1.0).value == 0
    assert markov.epsilon(lp.Gaussian(1.0), 0.0).value == math.inf
    assert markov.epsilon(lp.ApproximateDP(0.1, 0.01), 0.01).value == math.inf
    assert markov.delta(cauchy(), 1.0).value == 1
    few = markov.delta(DivergenceCurve.at([2.0, 8.0], [0.1, 0.4]), 2.0)
    assert few.value <= math.exp(7 * (0.4 - 2.0)) * (1 + 1e-9)
    assert few.value >= renyi.delta(DivergenceCurve.at([2.0, 8.0], [0.1, 0.4]), 2.0, conversion="canonne").value


def test_bad_input_of_the_markov_bound():
    for wrong in (math.nan, math.inf, "1"):
        with pytest.raises((ValueError, TypeError), match="epsilon"):
            untyped(markov.delta)(lp.Gaussian(1.0), wrong)
        with pytest.raises((ValueError, TypeError), match="points"):
            markov.delta(lp.Gaussian(1.0), 1.0, points=[2.0, wrong])
    with pytest.raises(ValueError, match="delta"):
        markov.epsilon(lp.Gaussian(1.0), 2.0)
    with pytest.raises(TypeError, match="a mechanism"):
        untyped(markov.delta)(3.0, 1.0)
