"""Two histograms with Gaussian noise ([PLC] Figure 6): one release by its roots, K by quadrature, many by another route."""

import math
from functools import cached_property
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import exp, log, mpf

import logphi as lp
from directions import OneDirection
from exact import dec
from logphi.arith.mp import MULTIPRECISION
from logphi.quadrature.mixtures.pair_envelope import log_pair_envelope
from refusals import untyped
from slowly import slowly

DIGITS = 30
PAIRS: list[tuple[Any, ...]] = [
    (1.0, [0, 1, 2], [0.5, 0.3, 0.2], [0.4, 0.4, 0.2]),
    (0.7, [-2, 0.5, 3, 1], [0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.25, 0.25]),
    (2.0, [0, 1, 5], [0.5, 0.5, 0], [0, 0.25, 0.75]),
    (1.5, [0, 1, 2], [0.5, 0.3, 0.2], [0.4995, 0.3005, 0.2]),
    (1.0, [0, 3], [0, 1], [1, 0]),
]


class Laws:
    """Both mixtures in many digits."""

    def __init__(self, sigma, values, p, q, rate=None):
        self.sigma, self.values = dec(sigma), [dec(v) for v in values]
        p, self.q = ([dec(w) / sum(dec(x) for x in weights) for w in weights] for weights in (p, q))
        self.p = p if rate is None else [(1 - dec(rate)) * b + dec(rate) * a for a, b in zip(p, self.q, strict=True)]

    def density(self, weights, x):
        return mpmath.fsum(w * mpmath.npdf(x, v, self.sigma) for w, v in zip(weights, self.values, strict=True))

    def mass(self, weights, low, high):
        ends = [[mpmath.ncdf(end, v, self.sigma) for v in self.values] for end in (low, high)]
        return mpmath.fsum(w * (b - a) for w, a, b in zip(weights, *ends, strict=True))

    def loss(self, x):
        return log(self.density(self.p, x)) - log(self.density(self.q, x))

    @cached_property
    def losses(self):
        """Points within twelve sigma of the values, and log P/Q there."""
        x = mpmath.linspace(min(self.values) - 12 * self.sigma, max(self.values) + 12 * self.sigma, 600)
        return x, [self.loss(one) for one in x]

    def above(self, epsilon):
        """The intervals in which log P/Q is above a threshold, within twelve sigma of the values."""

        def ahead(x):
            return self.loss(x) - epsilon

        x, losses = self.losses
        signs = [one - epsilon for one in losses]
        cuts = [
            mpmath.findroot(ahead, (x[i], x[i + 1]), solver="anderson", tol=1e-25)
            for i in range(len(x) - 1)
            if signs[i] * signs[i + 1] < 0
        ]
        edges = [x[0], *cuts, x[-1]]
        return [(a, b) for a, b in pairwise(edges) if ahead((a + b) / 2) > 0]

    def profile(self, epsilon):
        return mpmath.fsum(
            self.mass(self.p, low, high) - exp(epsilon) * self.mass(self.q, low, high) for low, high in self.above(epsilon)
        )


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("rate", [None, 0.3])
def test_one_release(pair: tuple[Any, Any, Any, Any], rate: Any) -> None:
    with mpmath.workdps(DIGITS):
        laws = Laws(*pair, rate)
        base = lp.GaussianMixturePair(*pair)
        mechanism = base if rate is None else base.poisson(rate)
        for epsilon in (-0.05, 0.0001, 0.1):
            found = mechanism.delta(epsilon, direction="remove")
            # the reference stops at twelve sigma
            expected = laws.profile(dec(epsilon))
            assert found.lower <= expected + mpf(10) ** -30
            assert found.upper >= expected
            assert found.upper - found.lower < 1e-8
            # delta of Q against P, from the other one at -epsilon
            reflected = mechanism.delta(epsilon, direction="add")
            other = 1 - exp(dec(epsilon)) + exp(dec(epsilon)) * laws.profile(-dec(epsilon))
            assert reflected.lower <= other + mpf(10) ** -30
            assert reflected.upper >= other - mpf(10) ** -25
            assert reflected.upper - reflected.lower < 1e-8


@pytest.mark.parametrize("rate", [None, 0.1])
def test_above_the_largest_loss_there_is_nothing(rate):
    """The ratio of two components is monotone: its supremum is that of their weights, in both orders."""
    base = lp.GaussianMixturePair(1, [0, 2], [0.3, 0.7], [0.6, 0.4])
    mechanism = base if rate is None else base.poisson(rate)
    q = 1 if rate is None else rate
    ends: dict[OneDirection, float] = {"remove": math.log(1 - q + q * 7 / 4), "add": -math.log(1 - q + q / 2)}
    for direction, largest in ends.items():
        within = mechanism.delta(largest - 1e-9, direction=direction)
        assert within.upper > 0
        above = mechanism.delta(largest + 1e-9, direction=direction)
        assert (above.lower, above.upper) == (0.0, 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("pair", [PAIRS[0], *(pytest.param(pair, marks=pytest.mark.slow) for pair in PAIRS[1:])])
@pytest.mark.parametrize("rate", [0.3, *slowly(None)])
def test_transform(pair, rate):
    """K by the formula, with many digits."""
    mechanism = lp.GaussianMixturePair(*pair)
    ((law, _),) = (mechanism if rate is None else mechanism.poisson(rate, adjacency="remove")).loss_law().terms
    z = np.array([0.4, -0.7, 3.0, 0.5 + 2j, -0.5 + 1j])
    found = law.log_transform(z)
    # of how much of M(c) is left
    share = np.exp(found.mid.real - law.log_transform(z.real).mid)
    assert np.all(found.radius * share < 1e-10)
    with mpmath.workdps(DIGITS):
        for point, mid, radius in zip(z, found.mid, found.radius, strict=True):
            assert abs(law.formula(MULTIPRECISION, mpmath.mpc(complex(point))) - mpmath.mpc(complex(mid))) <= radius


@pytest.mark.parametrize("pair", PAIRS)
def test_decay(pair):
    """The envelope is above the transform at and beyond each height, and it falls."""
    law: Any = lp.GaussianMixturePair(*pair).loss_law().terms[0][0]
    for c in (0.5, -0.5, 4.0):
        # in units of the spread of the loss, for which twice K says enough
        heights = np.geomspace(0.1, 200, 30) / math.sqrt(2 * law.log_transform(np.array([1.0])).mid[0])
        envelope = log_pair_envelope(law.ratio, c, heights)
        here = law.log_transform(c + 1j * heights)
        size = here.mid.real - law.log_transform(np.array([c])).mid[0]
        assert np.all(size <= envelope + here.radius + 1e-9)
        assert np.all(np.diff(envelope) <= 0)
        assert envelope[-1] < -0.1


@pytest.mark.parametrize("count", [1, 30, 1000])
def test_one_value_each_is_the_gaussian_mechanism(count):
    pair, plain = lp.GaussianMixturePair(4, [0, 1], [0, 1], [1, 0]), lp.Gaussian(4)
    for epsilon in (0.0, 0.3, 2.0):
        one, other = (count * pair).delta(epsilon), (count * plain).delta(epsilon)
        assert max(one.lower, other.lower) <= min(one.upper, other.upper)
        assert one.upper - one.lower < 1e-8


def test_zero_against_values_is_the_mixture():
    """Q a single value: what GaussianMixture is."""
    pair = lp.GaussianMixturePair(2, [0, 1, 3], [0.5, 0.3, 0.2], [1, 0, 0])
    mixture = lp.GaussianMixture(2, [0, 1, 3], [0.5, 0.3, 0.2])
    for count, epsilon in ((1, 0.2), (200, 1.0), (200, 4.0)):
        one, other = (count * pair).delta(epsilon), (count * mixture).delta(epsilon)
        assert max(one.lower, other.lower) <= min(one.upper, other.upper)
        assert one.upper - one.lower <= 1e-8 * one.upper


def histograms(apart):
    """A stand-in of the shape of [PLC] Figure 6: delays up to a second in cells of ten, noise of width 100."""
    values = np.arange(0, 1000, 10.0)

    def of(first, second):
        weights = np.exp(-(((values - first) / 150) ** 2) / 2) + second * np.exp(-(((values - 600) / 80) ** 2) / 2)
        return (weights / weights.sum()).tolist()

    return lp.GaussianMixturePair(100, values.tolist(), of(300, 0.3), of(300 + apart, 0.3 + 0.002 * apart))


def test_many_releases_of_two_histograms():
    """2^18 releases, against an estimate by quadrature on callables and the normal law of the same moments."""
    mechanism = histograms(1.0)
    found = (2**18 * mechanism).delta(0.0)
    assert found.status is lp.Status.MET
    ((law, _),) = mechanism.loss_law().terms
    x = np.linspace(-20, 25, 20001)
    points = law.ratio.at(x)
    p = np.exp(points.log_q + points.loss) * (x[1] - x[0])
    mean = float(p @ points.loss)
    spread = math.sqrt(float(p @ (points.loss - mean) ** 2))
    n = 2**18
    # E[(1 - e^{-L})_+] of a normal L with that mean and variance: the central limit theorem for small losses
    a, b = mean * math.sqrt(n) / spread, (mean - spread**2) * math.sqrt(n) / spread
    normal = 0.5 * math.erfc(-a / 2**0.5) - math.exp(-n * mean + n * spread**2 / 2) * 0.5 * math.erfc(-b / 2**0.5)
    assert found.value == pytest.approx(normal, abs=1e-4)


def test_the_largest_distance_dominates():
    pair, bound = PAIRS[1], lp.Gaussian(0.7, sensitivity=5)
    for count, epsilon in ((1, 0.2), (200, 30.0)):
        one, other = (count * lp.GaussianMixturePair(*pair)).delta(epsilon), (count * bound).delta(epsilon)
        assert one.lower <= other.upper


def test_alike_histograms_tell_nothing():
    assert (1000 * lp.GaussianMixturePair(1, [0, 1], [0.5, 0.5], [0.5, 0.5])).delta(0.0).upper == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((1, [0, 1], [0.5, 0.5], [1.0]), "have the same length"),
        ((1, [0, 0], [0.5, 0.5], [0.4, 0.6]), "distinct"),
        ((1, [0, 60], [0.5, 0.5], [0.4, 0.6]), "within 50 sigma"),
        ((1, [0, 1], [0.5, 0.6], [0.4, 0.6]), "sum to one"),
        ((1, [0, 1], [1e-300, 1.0], [0.4, 0.6]), "at least 1e-290"),
        ((-1, [0, 1], [0.5, 0.5], [0.4, 0.6]), "negative"),
        ((1, [[0, 1]], [0.5, 0.5], [0.4, 0.6]), "list"),
        ((1, [0, math.nan], [0.5, 0.5], [0.4, 0.6]), "NaN"),
    ],
)
def test_refused(arguments, words):
    with pytest.raises((ValueError, TypeError), match=words):
        lp.GaussianMixturePair(*arguments)


@pytest.mark.parametrize(("epsilon", "rate"), [(0.02, 0.3), (-0.03, 0.3), (0.1, 0.7)])
def test_a_subset_under_replace_is_estimated(epsilon, rate):
    sigma, values, p, q = PAIRS[0]
    answer = (
        lp.GaussianMixturePair(sigma, values, p, q, adjacency="replace")
        .subset(rate, adjacency="replace")
        .delta(epsilon, direction="remove")
    )
    x = np.linspace(-12, 14, 400_001)
    one, other = (
        sum(w * np.exp(-((x - v) ** 2) / 2) / math.sqrt(2 * math.pi) for v, w in zip(values, ws, strict=True)) for ws in (p, q)
    )
    # above zero the mixture against the second law, below it the first law against the other mixture
    pair = ((1 - rate) * other + rate * one, other) if epsilon >= 0 else (one, (1 - rate) * one + rate * other)
    exact = np.maximum(pair[0] - math.exp(epsilon) * pair[1], 0).sum() * (x[1] - x[0])
    assert answer.value == pytest.approx(exact, rel=1e-8)
    assert not answer.ledger.proved


@pytest.mark.slow
def test_its_certificate_agrees():
    pytest.importorskip("flint")
    mechanism = untyped(lp.GaussianMixturePair)(*PAIRS[0], adjacency="replace")
    found, bound = mechanism.certify(epsilon=0.1, digits=9), mechanism.delta(0.1)
    assert lp.verify(found)
    assert bound.lower <= float(found.upper)
    assert float(found.lower) <= bound.upper
