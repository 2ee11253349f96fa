"""The pair of a symmetric relation: subsets under replace of any two densities, and one pair of Poisson samples.

The profile of one release is that of (1-g) Q + g P against Q from epsilon 0 on and that of P against (1-g) P + g Q below.
"""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import integrate
from scipy.optimize import brentq
from scipy.stats import norm

import logphi as lp
from directions import DIRECTIONS

REPLACE: dict[str, Any] = {"adjacency": "replace"}
# what SciPy's quadrature is good for
CLOSE = 1e-9


def normals(means, weights):
    return lambda x: sum(w * norm.pdf(x, m) for m, w in zip(means, weights, strict=True))


def logistic(x):
    return -np.abs(x) - 2 * np.log1p(np.exp(-np.abs(x)))


# mechanism, its two densities, and what may cut the line
PAIRS = {
    "pair": (
        lp.GaussianPair(mean_p=0, sigma_p=2, mean_q=1, sigma_q=3, **REPLACE),
        norm(0, 2).pdf,
        norm(1, 3).pdf,
        (-25.0, 25.0),
    ),
    "mixture": (
        lp.GaussianMixture(sigma=2, sensitivities=[0, 1, 2], probabilities=[0.5, 0.3, 0.2], **REPLACE),
        normals((0, 0.5, 1), (0.5, 0.3, 0.2)),
        norm.pdf,
        (-10.0, 12.0),
    ),
    "densities": (
        lp.FromDensities(lambda x: logistic(x - 0.5), logistic, (-np.inf, np.inf), **REPLACE),
        lambda x: np.exp(logistic(x - 0.5)),
        lambda x: np.exp(logistic(x)),
        (-40.0, 40.0),
    ),
}


def positive_part(function, span):
    """The integral of f_+, cut where f changes its sign."""
    x = np.linspace(span[0], span[1], 4001)
    signs = np.sign(function(x))
    roots = [brentq(function, x[i], x[i + 1], xtol=1e-14) for i in np.flatnonzero(signs[1:] * signs[:-1] < 0)]
    edges = [span[0], *roots, span[1]]
    kept = [(a, b) for a, b in pairwise(edges) if function((a + b) / 2) > 0]
    return sum(integrate.quad(function, a, b, epsabs=1e-13, epsrel=1e-12, limit=400)[0] for a, b in kept)


def profile(p, q, rate, epsilon, span):
    a = math.exp(epsilon)
    if epsilon >= 0:
        return positive_part(lambda x: (1 - rate) * q(x) + rate * p(x) - a * q(x), span)
    return positive_part(lambda x: p(x) - a * ((1 - rate) * p(x) + rate * q(x)), span)


@pytest.mark.slow
@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("rate", [0.05, 0.6])
def test_the_profile_of_a_subset_is_spliced(name, rate):
    mechanism, p, q, span = PAIRS[name]
    sampled = mechanism.subset(rate, adjacency="replace")
    for epsilon in (-0.3, 0.0, 0.02, 0.2):
        for direction, (one, other) in zip(DIRECTIONS, ((p, q), (q, p)), strict=True):
            found = sampled.delta(epsilon, direction=direction)
            assert found.value == pytest.approx(profile(one, other, rate, epsilon, span), rel=CLOSE, abs=1e-11)
            assert found.status in (lp.Status.ESTIMATED, lp.Status.MET)
            assert found.width <= 1e-9


@pytest.mark.slow
def test_a_subset_of_a_mixture_under_add_and_remove():
    mechanism, p, q, span = PAIRS["mixture"]
    sampled = mechanism.subset(0.2, adjacency="add_remove")
    for epsilon in (-0.2, 0.0, 0.1):
        a = math.exp(epsilon)
        added = positive_part(lambda x: p(x) - a * (0.8 * p(x) + 0.2 * q(x)), span)  # noqa: B023
        assert sampled.delta(epsilon, direction="add").value == pytest.approx(added, rel=CLOSE, abs=1e-11)
        removed = positive_part(lambda x: 0.8 * p(x) + 0.2 * q(x) - a * p(x), span)  # noqa: B023
        assert sampled.delta(epsilon, direction="remove").value == pytest.approx(removed, rel=CLOSE, abs=1e-11)
    whole = mechanism.subset(1.0, adjacency="add_remove").delta(0.1)
    assert whole.ledger.proved
    assert whole.value == pytest.approx(mechanism.delta(0.1).value, rel=1e-12)
    assert mechanism.subset(1.0, adjacency="replace").delta(0.1).ledger.proved
    assert mechanism.subset(0.0, adjacency="replace").delta(0.1).upper == 0


def test_parts_of_a_mixture_that_are_far_apart_are_all_found():
    far = lp.GaussianMixture(sigma=1, sensitivities=[0, 30, 1000], probabilities=[0.5, 0.3, 0.2], **REPLACE)
    # half of the outputs tell everything; one in five takes part
    assert far.subset(0.2, adjacency="replace").delta(0.1).value == pytest.approx(0.1, abs=1e-10)


def by_densities(shift):
    constant = math.log(2 * math.pi) / 2
    return lp.FromDensities(
        lambda x: -((x - shift) ** 2) / 2 - constant, lambda x: -(x**2) / 2 - constant, (-np.inf, np.inf), **REPLACE
    )


@pytest.mark.parametrize("count", [1, *(pytest.param(count, marks=pytest.mark.slow) for count in (2, 100))])
@pytest.mark.slow
def test_quadrature_agrees_with_the_proved_law(count):
    """Two normal densities by samples, and the law of the sampled Gaussian with its proof."""
    sampled = count * by_densities(1.0).subset(0.2, adjacency="replace")
    proved = count * lp.Gaussian(1.0, **REPLACE).subset(0.2, adjacency="replace")
    one, other = sampled.delta(0.3), proved.delta(0.3)
    assert max(one.lower, other.lower) <= min(one.upper, other.upper) * (1 + 1e-12)
    assert not one.ledger.proved
    assert other.ledger.proved
    assert sampled.renyi(3.0).value == pytest.approx(proved.renyi(3.0).value, rel=1e-10)


@pytest.mark.slow
def test_outputs_that_tell_everything_do_so_at_the_rate():
    """Uniform on (0, 1) against uniform on (1/2, 3/2): half of either is foreign to the other."""

    def uniform(low):
        return lambda x: np.where((x > low) & (x < low + 1), 0.0, -np.inf)

    base = lp.FromDensities(uniform(0), uniform(0.5), (0, 1.5), breakpoints=[0.5, 1.0], **REPLACE)
    sampled = base.subset(0.2, adjacency="replace")
    for epsilon in (0.0, 1.0, 5.0):
        assert sampled.delta(epsilon).value == pytest.approx(0.1, abs=1e-12)
    assert (3 * sampled).delta(5.0).value == pytest.approx(1 - 0.9**3, abs=1e-10)
    # P - a ((1-g) P + g Q) is 1 - 0.8 a and 1 - a on the two halves
    assert sampled.delta(-0.1).value == pytest.approx(0.5 * (1 - 0.8 * math.exp(-0.1)) + 0.5 * (1 - math.exp(-0.1)), abs=1e-12)


# ------------------------------------------------------------------------------------------ one pair for Poisson samples

SYMMETRIC = [
    lp.Gaussian(1.3),
    lp.Laplace(1.5),
    lp.RandomizedResponse(0.75),
    lp.ApproximateDP(0.8, 0.01),
    lp.DiscreteGaussian(2.0),
    lp.ExponentialMechanism(1.0),
]


@pytest.mark.few(1)
@pytest.mark.parametrize("base", SYMMETRIC, ids=lambda base: type(base).__name__)
@pytest.mark.slow
def test_one_pair_has_the_larger_profile_of_both_orders(base):
    """Of one release; composed, the two orders by themselves are never worse."""
    one, apart = base.poisson(0.3, one_pair=True), base.poisson(0.3)
    for epsilon in (-0.2, 0.0, 0.1, 0.25):
        assert one.delta(epsilon).value == pytest.approx(apart.delta(epsilon).value, rel=1e-9, abs=1e-15)
        exact = 0.3 * base.delta(math.log1p(math.expm1(abs(epsilon)) / 0.3)).value
        if epsilon < 0:
            exact = 1 - math.exp(epsilon) + math.exp(epsilon) * exact
        assert one.delta(epsilon).value == pytest.approx(exact, rel=1e-9)
    assert one.delta(0.1, direction="remove").value == pytest.approx(one.delta(0.1, direction="add").value, rel=1e-9)
    assert (4 * one).delta(0.3).upper >= (4 * apart).delta(0.3).lower


def test_one_pair_is_the_hull_of_the_profile():
    """The pair built from points of max(H, H), as the corollary has it, comes down to it as points are added."""
    base = lp.RandomizedResponse(0.75).poisson(0.3)
    epsilons = [s * math.log(1 + 0.3 * (odds - 1)) for s in (-1, 1) for odds in (3,)] + [0.0]
    hull = lp.FromProfile(epsilons, [base.delta(e).upper for e in epsilons])
    one = lp.RandomizedResponse(0.75).poisson(0.3, one_pair=True)
    assert (6 * hull).delta(0.4).value == pytest.approx((6 * one).delta(0.4).value, rel=1e-9)
    assert (6 * one).delta(0.4).value > 1.001 * (6 * base).delta(0.4).value


def test_one_pair_at_the_ends_and_in_words():
    base = lp.Gaussian(1.0)
    assert base.poisson(0.0, one_pair=True).delta(0.0).upper == 0
    assert base.poisson(1.0, one_pair=True).delta(0.5).value == pytest.approx(base.delta(0.5).value, rel=1e-12)
    one = base.poisson(0.1, one_pair=True)
    assert repr(one) == "Gaussian(sigma=1.0).poisson(0.1, one_pair=True)"
    assert one != base.poisson(0.1)
    assert one == eval(repr(one), {"Gaussian": lp.Gaussian})
