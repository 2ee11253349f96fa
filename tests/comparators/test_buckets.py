"""Buckets contain the truth, by brute force and by the default route, and are as wide as they are said to be."""

import itertools
import math

import numpy as np
import pytest
from mpmath import exp, fsum, log, mpf, workdps

import logphi as lp
from exact import contains, dec
from logphi.arith.protocol import Plain
from logphi.comparators import buckets
from logphi.comparators.buckets import Buckets, RoundedSum
from logphi.comparators.output_cells import REACH, cells_of
from logphi.engine.routes.route import NotApplicableError
from logphi.expression import parse
from logphi.laws.atomic.integers import NormalOnIntegers
from logphi.laws.flat.uniform import Uniform, UniformWithAtoms
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal.mixed_normal import MixedNormal
from logphi.laws.normal.normal import Normal
from profiles import gaussian_profile
from some import some

# expression, epsilon, and how wide the bounds are at most, relative to delta
QUESTIONS = [
    ("Gaussian(sigma=1)", 0.5, 0.01),
    ("Gaussian(sigma=1)", -1.5, 0.01),
    ("20 * Gaussian(sigma=5)", 1.0, 0.2),
    ("5 * Gaussian(sigma=0.3)", 30.0, 0.05),
    ("3 * Gaussian(sigma=1.1).poisson(0.2)", 0.7, 0.04),
    ("100 * Gaussian(sigma=1).poisson(0.01)", 0.3, 5.0),
    ("2 * Gaussian(sigma=0.5).poisson(0.99)", 2.0, 0.02),
    ("Gaussian(sigma=0.2).poisson(0.0000001)", 1.0, 10.0),
    ("20 * Laplace(scale=5)", 2.0, 0.5),
    ("Laplace(scale=1)", -0.5, 0.01),
    ("50 * RandomizedResponse(p=0.52)", 1.0, 0.8),
    ("10 * ApproximateDP(epsilon=0.1, delta=0.00001)", 0.5, 0.5),
    ("ExponentialMechanism(epsilon=0.4) + 3 * Gaussian(sigma=4)", 0.5, 0.1),
    ("30 * DiscreteLaplace(scale=10, sensitivity=3)", 4.0, 0.6),
    ("10 * KaryRandomizedResponse(k=4, p=0.9, adjacency='replace_special')", 1.0, 0.6),
    ("3 * Discrete(p=[0.5, 0.3, 0.2, 0], q=[0.2, 0.3, 0, 0.5])", 0.1, 0.2),
    ("5 * DistanceToInstability(epsilon=1, delta=0.001)", 2.0, 0.1),
]


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize(("text", "epsilon", "widest"), QUESTIONS)
def test_buckets_contain_the_default_route(text, epsilon, widest, direction):
    release = parse(text)
    wide = release.delta(epsilon, direction=direction, method="buckets")
    sharp = release.delta(epsilon, direction=direction)
    assert wide.lower <= sharp.lower * (1 + 1e-9)
    assert sharp.upper <= wide.upper * (1 + 1e-9)
    assert wide.width <= widest * sharp.value
    assert wide.ledger.proved


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_buckets_contain_every_path(count, epsilon):
    p, q = [0.5, 0.3, 0.2], [0.2, 0.3, 0.5]
    with workdps(30):
        paths = itertools.product(range(3), repeat=count)
        pairs = [(math.prod(dec(p[i]) for i in path), math.prod(dec(q[i]) for i in path)) for path in paths]
        exact = fsum(max(a - exp(dec(epsilon)) * b, 0) for a, b in pairs)
        assert contains((count * lp.Discrete(p, q)).delta(epsilon, method="buckets"), exact)


@pytest.mark.few(5)
@pytest.mark.parametrize("seed", range(25))
def test_buckets_contain_random_sums(seed):
    random = np.random.default_rng(seed)
    makers = [
        lambda: lp.Gaussian(sigma=float(10 ** random.uniform(-0.5, 1.5))),
        lambda: lp.Gaussian(sigma=float(10 ** random.uniform(-0.3, 0.7))).poisson(float(random.uniform(0.001, 0.999))),
        lambda: lp.Laplace(scale=float(10 ** random.uniform(-0.5, 1.5))),
        lambda: lp.RandomizedResponse(p=float(random.uniform(0.1, 0.9))),
        lambda: lp.ExponentialMechanism(epsilon=float(10 ** random.uniform(-2, 0.7))),
        lambda: lp.ApproximateDP(epsilon=float(random.uniform(0, 1)), delta=float(10 ** random.uniform(-9, -1))),
    ]
    release = lp.compose(int(random.integers(1, 6)) * makers[i]() for i in random.integers(0, len(makers), 3))
    epsilon = float(random.normal(0, 2))
    wide, sharp = release.delta(epsilon, method="buckets"), release.delta(epsilon)
    assert wide.lower <= sharp.upper
    assert sharp.lower <= wide.upper
    assert wide.lower <= sharp.value * (1 + 1e-6)
    assert sharp.value <= wide.upper * (1 + 1e-6)


def test_one_normal_release_in_many_digits():
    with workdps(30):
        for sigma, epsilon in ((1.0, 0.5), (0.2, 20.0), (30.0, -0.01)):
            exact = gaussian_profile(1 / dec(sigma))(dec(epsilon))
            assert contains(lp.Gaussian(sigma=sigma).delta(epsilon, method="buckets"), exact)


def test_the_width_grows_with_the_releases_and_falls_with_the_buckets():
    law = LogPhi.of([(Normal(Plain(0.1)), 100)])
    widths = [(found.high - found.low) for found in (buckets.prepare(law, 1.0, most)(1.0) for most in (512, 1024, 2048))]
    assert widths[0] == pytest.approx(2 * widths[1], rel=0.2)
    assert widths[1] == pytest.approx(2 * widths[2], rel=0.2)
    few = buckets.prepare(LogPhi.of([(Normal(Plain(0.2)), 25)]), 1.0, 2048)(1.0)
    assert widths[2] == pytest.approx(4 * (few.high - few.low), rel=0.2)


def test_epsilon_is_bisected_between_the_profiles():
    release = 20 * lp.Gaussian(sigma=5)
    wide, sharp = release.epsilon(1e-3, method="buckets"), release.epsilon(1e-3)
    assert wide.lower <= sharp.value <= wide.upper
    assert 0 < wide.width < 0.5


@pytest.mark.parametrize("law", [Uniform(Plain(3.0)), UniformWithAtoms(Plain(0.2)), MixedNormal(Plain(2.0), Plain(0.3))])
def test_buckets_hold_the_whole_law(law):
    found = Buckets.of(law)
    assert found.least.sum() <= 1 <= found.most.sum()
    assert found.most.sum() - found.least.sum() < 1e-7
    assert (found.low <= found.high).all()


def test_the_window_moves_mass_outward():
    mass = np.zeros(3 * buckets.NODES)
    mass[[0, 5000, 5001, -1]] = [0.125, 0.25, 0.5, 0.125]
    up, down = (RoundedSum(mass, 7, 0.0, upper).windowed() for upper in (True, False))
    for line in (up, down):
        assert line.mass.size == buckets.NODES
    assert up.mass.sum() + up.infinite == 1
    assert up.infinite == 0.125
    assert down.mass.sum() == 0.875
    assert up.mass[0] >= 0.125
    assert down.mass[-1] >= 0.125


def test_too_many_roundings_leave_nothing():
    line = RoundedSum(np.array([1.0]), 5, 0.0, True, 10**18)
    assert line.excess(0.0, 1.0) == 1
    assert RoundedSum(np.array([1.0]), 5, 0.0, False, 10**18).excess(0.0, 1.0) == 0


def test_refusals():
    with pytest.raises(NotApplicableError, match="'buckets' does not apply: the probabilities of intervals"):
        lp.DiscreteGaussian(sigma=2).delta(0.5, method="buckets")
    with pytest.raises(ValueError, match="probabilities of intervals of some loss are not known"):
        Buckets.of(NormalOnIntegers(2.0, 1))
    with pytest.raises(NotApplicableError, match="'buckets' supports up to"):
        (10**13 * lp.Gaussian(sigma=1e6)).delta(0.5, method="buckets")


@pytest.mark.parametrize("rate", [1 - 2.0**-33, 0.999, 0.5, 1e-6])
@pytest.mark.parametrize("shift", [0.3, 1.0, 3.0])
def test_half_an_ulp_of_the_rate_is_in_every_edge(shift, rate):
    cells = some(cells_of(MixedNormal(Plain(shift), Plain(rate)), 42))
    # the edges between the two ends, equally spaced in the normal variable
    places = np.linspace(-REACH, REACH + shift, 41)
    with workdps(40):
        for sign in (-1, 1):
            q = mpf(rate) * (1 + sign * mpf(2) ** -53)
            for y, edge, error in zip(places, cells.edges[1:-1], cells.edge_error[1:-1], strict=True):
                exact = log(1 - q + q * exp(shift * mpf(y) - mpf(shift) ** 2 / 2))
                assert abs(exact - mpf(edge)) <= error
            assert abs(log(1 - q) - mpf(cells.edges[0])) <= cells.edge_error[0]
