"""Every mechanism of the catalogue, and every sampling of it, passes the conformance suite; wrong laws do not.

A mechanism joins by its row in ``tests/shared/one_of_each.py``; its samples, and other parameters, by rows below.
"""

import re
from dataclasses import dataclass, replace

import numpy as np
import pytest

import logphi as lp
from logphi import testing
from logphi.arith.protocol import Plain
from logphi.arith.scaled import Scaled
from logphi.expression import parse
from logphi.laws.atomic.finite import Finite
from logphi.laws.flat.two_point import TwoPoint
from logphi.laws.flat.uniform import UniformWithAtoms
from logphi.laws.normal.normal import Normal
from logphi.laws.support import Lattice, Support
from logphi.laws.traits import Traits
from logphi.laws.transform import LossTransform
from logphi.quadrature.values import Values
from one_of_each import EXAMPLES
from own import Own
from slowly import slowly
from some import some

SAMPLED_DENSITIES = EXAMPLES["FromDensities"]().poisson(0.2)
SAMPLED_PAIR = lp.GaussianPair(mean_p=0, sigma_p=1, mean_q=1, sigma_q=2).poisson(0.2)
MANY_MEANS = lp.GaussianMixture(sigma=3, sensitivities=[0, 1, 1, 20], probabilities=[0.2, 0.5, 0.299, 0.001])
FEW_OF_BOTH = lp.GaussianMixturePair(sigma=0.5, values=[0, 3, 1], p=[0.5, 0.5, 0], q=[0, 0.25, 0.75], adjacency="add")
SAMPLED_MIXTURES = lp.GaussianMixturePair(sigma=1, values=[0, 2], p=[0.3, 0.7], q=[0.6, 0.4]).poisson(0.1)

ROWS = [
    *(make() for make in EXAMPLES.values()),
    "Gaussian(sigma=1.1).poisson(0.01)",
    "DiscreteLaplace(scale=2.5, sensitivity=3).poisson(0.25)",
    "DiscreteGaussian(sigma=2, truncation=6)",
    "RandomizedResponse(p=0.7, adjacency='replace').subset(0.2, adjacency='replace')",
    "KaryRandomizedResponse(k=4, p=0.5, adjacency='replace_special')",
    "KaryRandomizedResponse(k=4, p=0.5, adjacency='replace_special').poisson(0.25)",
    "PureDP(epsilon=0.7).poisson(0.1)",
    "Discrete(p=[0.5, 0.3, 0.2, 0], q=[0.2, 0.3, 0, 0.5])",
    "GaussianPair(mean_p=0, sigma_p=3, mean_q=0, sigma_q=1)",
    "TruncatedLaplace(scale=1.5, truncation=0.8)",
    "FromProfile(epsilons=[0, 0.5, 1], deltas=[0.4, 0.2, 0.01]).poisson(0.3)",
]
# the same again with other parameters, what is sampled like a row above, and what takes long
SLOW_ROWS = [
    "Gaussian(sigma=1, sensitivity=2, adjacency='replace').subset(0.1, adjacency='add_remove')",
    "DiscreteGaussian(sigma=0.5).poisson(0.25)",
    "Laplace(scale=1.5, adjacency='replace').subset(0.2, adjacency='replace')",
    "Gaussian(sigma=1000)",
    "Gaussian(sigma=1, sensitivity=50)",
    "Gaussian(sigma=0.8, adjacency='remove').poisson(0.3)",
    "Gaussian(sigma=2, adjacency='add').poisson(0.9)",
    "Gaussian(sigma=5, sensitivity=2, adjacency='replace').subset(0.4, adjacency='add')",
    "Laplace(scale=0.05)",
    "Laplace(scale=400, adjacency='replace')",
    "DiscreteLaplace(scale=0.3)",
    "DiscreteLaplace(scale=9, sensitivity=40)",
    "DiscreteLaplace(scale=2, adjacency='replace').subset(0.3, adjacency='add_remove')",
    "DiscreteLaplace(scale=2, sensitivity=2, adjacency='replace').subset(0.3, adjacency='replace')",
    "DiscreteGaussian(sigma=0.4)",
    "DiscreteGaussian(sigma=30, sensitivity=7)",
    "DiscreteGaussian(sigma=1.5, truncation=9, adjacency='replace').subset(0.3, adjacency='replace')",
    "RandomizedResponse(p=0.51)",
    "RandomizedResponse(p=0.98).poisson(0.05)",
    "KaryRandomizedResponse(k=2, p=0.01)",
    "KaryRandomizedResponse(k=1000, p=0.9, adjacency='replace_special')",
    "KaryRandomizedResponse(k=5, p=0.5).subset(0.25, adjacency='add_remove')",
    "KaryRandomizedResponse(k=5, p=0.5).subset(0.25, adjacency='replace')",
    "ExponentialMechanism(epsilon=0.01)",
    "ExponentialMechanism(epsilon=12)",
    "PureDP(epsilon=0)",
    "PureDP(epsilon=3, adjacency='replace').subset(0.5, adjacency='replace')",
    "ApproximateDP(epsilon=0, delta=0.2)",
    "ApproximateDP(epsilon=0.4, delta=0.01).poisson(0.2)",
    "ApproximateDP(epsilon=0.4, delta=0.01, adjacency='replace').subset(0.2, adjacency='remove')",
    "DistanceToInstability(epsilon=0.1, delta=1e-8)",
    "DistanceToInstability(epsilon=6, delta=0.4)",
    "Discrete(p=[0.9, 0.1], q=[0.1, 0.9])",
    "Discrete(p=[0.25, 0.25, 0.5], q=[0.1, 0.7, 0.2]).poisson(0.4)",
    "Discrete(p=[0.25, 0.25, 0.5], q=[0.1, 0.7, 0.2], adjacency='replace').subset(0.4, adjacency='replace')",
    "3 * Gaussian(sigma=2) + Laplace(scale=3) + 2 * RandomizedResponse(p=0.6)",
    "100 * Gaussian(sigma=2).poisson(0.01) + ApproximateDP(epsilon=0.1, delta=1e-6)",
    "GaussianMixture(sigma=1, sensitivities=[0.001], probabilities=[1])",
    MANY_MEANS,
    "GaussianMixture(sigma=1, sensitivities=[1, 2], probabilities=[0.5, 0.5], adjacency='remove')",
    "GaussianMixture(sigma=50, sensitivities=[0, 1, 5], probabilities=[0.4, 0.3, 0.3], adjacency='add').poisson(0.7)",
    "Gaussian(sigma=1.5).poisson(0.1, group_size=3)",
    "Gaussian(sigma=2).poisson(1, group_size=4)",
    "Gaussian(sigma=0.5).poisson(0.5, adjacency='replace')",
    "Gaussian(sigma=30).poisson(0.01, adjacency='replace')",
    "Gaussian(sigma=2).poisson(1, adjacency='replace')",
    "Gaussian(sigma=1.3, adjacency='replace').subset(0.2, adjacency='replace')",
    "Gaussian(sigma=20, adjacency='replace').subset(0.01, adjacency='replace')",
    FEW_OF_BOTH,
    SAMPLED_MIXTURES,
    "TruncatedGaussian(sigma=1.3, truncation=3).poisson(0.2)",
    "TruncatedGaussian(sigma=1.3, truncation=3, adjacency='replace').subset(0.2, adjacency='replace')",
    "TruncatedGaussian(sigma=1000, truncation=20000)",
    "TruncatedGaussian(sigma=1, truncation=3, sensitivity=4)",
    "TruncatedLaplace(scale=1.5, truncation=4).poisson(0.2)",
    "TruncatedLaplace(scale=1.5, truncation=0.8).poisson(0.2)",
    "TruncatedLaplace(scale=1.5, truncation=4, adjacency='replace').subset(0.2, adjacency='replace')",
    "TruncatedLaplace(scale=1, truncation=500)",
    "GaussianPair(mean_p=1, sigma_p=1, mean_q=0, sigma_q=1.01)",
    "GaussianPair(mean_p=5, sigma_p=2, mean_q=-3, sigma_q=1.5)",
    "GaussianPair(mean_p=0.3, sigma_p=2, mean_q=0.1, sigma_q=2, adjacency='replace').subset(0.2, adjacency='replace')",
    SAMPLED_PAIR,
    "Laplace(scale=0.1).poisson(0.01)",
    "Laplace(scale=50).poisson(0.9)",
    "Laplace(scale=0.2, adjacency='replace').subset(0.9, adjacency='replace')",
    "Laplace(scale=2, adjacency='replace').subset(0.3, adjacency='add_remove')",
    "ExponentialMechanism(epsilon=8).poisson(0.5)",
    "ExponentialMechanism(epsilon=0.1).poisson(0.01)",
    "ExponentialMechanism(epsilon=6, adjacency='replace').subset(0.05, adjacency='replace')",
    "ExponentialMechanism(epsilon=2, adjacency='replace').subset(0.3, adjacency='remove')",
    "DistanceToInstability(epsilon=1, delta=0.001).poisson(0.2)",
    "DistanceToInstability(epsilon=1, delta=1e-6, adjacency='replace').subset(0.2, adjacency='replace')",
    "FromProfile(epsilons=[0.1], deltas=[1e-6])",
    "FromProfile(epsilons=[-1, 0, 1, 2, 4], deltas=[0.7, 0.5, 0.3, 0.2, 0.1], adjacency='remove')",
    "FromProfile(epsilons=[0, 0.5, 1], deltas=[0.4, 0.2, 0], adjacency='replace').subset(0.2, adjacency='replace')",
    "FromTradeoff(type_one_errors=[0, 0.6], type_two_errors=[1, 0], adjacency='replace').subset(0.2, adjacency='replace')",
    "FromTradeoff(type_one_errors=[0, 0.01, 0.2, 1], type_two_errors=[1, 0.9, 0.6, 0]).poisson(0.2)",
    SAMPLED_DENSITIES,
    "20 * Laplace(scale=3).poisson(0.1) + 10 * Gaussian(sigma=4).poisson(0.1)",
    "50 * Gaussian(sigma=3).poisson(0.1, group_size=3) + ExponentialMechanism(epsilon=0.3).poisson(0.5)",
]


def mechanism_of(row):
    return parse(row) if isinstance(row, str) else row


def name_of(row):
    """The row as it prints, without the addresses of functions."""
    return re.sub(r"<function (\w+) at \w+>", r"\1", str(row))


def covered(mechanism):
    """The checks that take three seconds or more and ask another row of the same law."""
    if isinstance(mechanism, (lp.ZCDP, lp.VectorDiscreteGaussian, lp.Skellam)):
        # hundreds of cells; `RenyiDP` has fewer, and its formula is compared in three arithmetics
        return [testing.check_balls, testing.check_symbolic]
    if mechanism == SAMPLED_DENSITIES:
        # a law of densities, as a sampled `GaussianPair`; that they are functions is told to the row that is not sampled
        return [testing.check_tradeoff, testing.check_distribution, testing.check_orders]
    if mechanism in (MANY_MEANS, FEW_OF_BOTH):
        # a quadrature in each of three arithmetics, one of which is left; rows of `EXAMPLES` have the formula in all of them
        return [testing.check_balls, testing.check_symbolic]
    if mechanism in (SAMPLED_PAIR, SAMPLED_MIXTURES):
        # of these laws, other subsets and the base have it
        return [testing.check_tradeoff]
    return []


@pytest.mark.few(1)
@pytest.mark.parametrize("row", [*ROWS, *slowly(*SLOW_ROWS)], ids=name_of)
def test_conforms(row):
    mechanism = mechanism_of(row)
    testing.check_mechanism(mechanism, without=covered(mechanism))


# ------------------------------------------------------------------------------------------ a user's own


@dataclass(frozen=True)
class Tail(LossTransform):
    """Exponential laws of rates 1 and 2: the loss is that of rate 1, less log 2, and has moments below one only."""

    strip = (-np.inf, 1.0)

    def formula(self, arith, z):
        return -arith.log1p(-z) - z * arith.log(arith.constant(2))

    def log_envelope(self, abscissa, heights, end=np.inf):
        return -0.5 * np.log1p((heights / (1 - abscissa)) ** 2)


class GuessedTail(Tail):
    """Errors that are estimates, and too small by a factor of four."""

    traits = Traits(estimated=True)
    factor = 0.25

    def log_transform(self, z, count=1):
        values = super().log_transform(z, count)
        return Values(values.mid + 0.9e-13, np.full(z.shape, 1e-13 * self.factor), values.inner)


class BadlyGuessedTail(GuessedTail):
    """Wrong by more than an order of magnitude beyond what is added."""

    def log_transform(self, z, count=1):
        values = super().log_transform(z, count)
        return Values(values.mid + 1e-7 * z**2, values.rounding, values.inner)


@pytest.mark.slow
def test_a_law_with_half_a_strip():
    # few of them decay slowly
    testing.check_mechanism(8 * Own(Tail()) + lp.ApproximateDP(epsilon=0.3, delta=0.01))


def test_estimates_are_taken_as_such():
    testing.check_multiprecision(Own(GuessedTail()))
    with pytest.raises(AssertionError, match="more than the declared"):
        testing.check_multiprecision(Own(BadlyGuessedTail()))
    with pytest.raises(AssertionError, match="more than the declared"):
        testing.check_multiprecision(Own(Certain()))


class Certain(GuessedTail):
    """The same errors, said to be proved."""

    traits = Traits()


# ------------------------------------------------------------------------------------ deliberately wrong


class Lopsided(Finite):
    """Says that it is symmetric."""

    traits = Traits(symmetric=True)


class Steep(Normal):
    """An envelope of twice the decay."""

    def log_envelope(self, abscissa, heights, end=np.inf):
        return 2 * super().log_envelope(abscissa, heights, end)


class Rising(Normal):
    def log_envelope(self, abscissa, heights, end=np.inf):
        return -1 / (1 + heights)


class Heavy(Normal):
    """A mass above one."""

    def formula(self, arith, z):
        return super().formula(arith, z) + arith.constant(0.01)


class Unequal(Normal):
    """A mass below one that the law does not own up to."""

    def formula(self, arith, z):
        return super().formula(arith, z) - arith.constant(0.01)


class Off(Normal):
    """Numbers that are not the formula, by a thousandth."""

    def log_transform(self, z, count=1):
        values = super().log_transform(z, count)
        return Values(values.mid * 1.001, values.rounding, values.inner)


class Proud(Normal):
    """Errors that are too small."""

    def log_transform(self, z, count=1):
        values = super().log_transform(z, count)
        return Values(values.mid * (1 + 1e-13), 1e-3 * values.rounding, values.inner)


class Concave(Normal):
    def formula(self, arith, z):
        return -super().formula(arith, z)


class Signed(Normal):
    """The transform of a law with negative parts: a normal one times a cosine that leads."""

    def formula(self, arith, z):
        return super().formula(arith, z) * (1 - z * (z + 1))


class Short(TwoPoint):
    """A support that ends too early."""

    @property
    def support(self):
        return Support.within(0.9 * super().support.upper)


class Astray(TwoPoint):
    """A lattice of the wrong span."""

    @property
    def support(self):
        return replace(super().support, lattice=Lattice(-self.location, 1.5 * self.location))


class Light(UniformWithAtoms):
    """Pieces without one of the atoms."""

    @property
    def support(self):
        pieces = some(super().support.pieces)
        fewer = replace(pieces, locations=pieces.locations[1:], log_weights=pieces.log_weights[1:])
        return replace(super().support, pieces=fewer)


class Closed(Normal):
    """A closed profile with a wrong constant."""

    def excess(self, x):
        return Scaled(0.0, 0.3 * float(np.exp(-abs(x))))


class Narrow(Normal):
    strip = (-1.0, 2.0)

    def reflected(self):
        return Normal(self.shift)


ONE = Plain(1.0)
WRONG = {
    "reflection": (Lopsided((0.5, 0.3, 0.2), (0.25, 0.25, 0.5)), "check_reflection", "says that it is symmetric"),
    "envelope": (Steep(ONE), "check_envelope", "is below log"),
    "rising envelope": (Rising(ONE), "check_envelope", "increases"),
    "mass above one": (Heavy(ONE), "check_masses", "a mass above one|further apart"),
    "mass not owned": (Unequal(ONE), "check_masses", "further apart than their errors"),
    "numbers": (Off(ONE), "check_multiprecision", "by the formula"),
    "errors": (Proud(ONE), "check_multiprecision", "more than the declared"),
    "concave": (Concave(ONE), "check_convexity", "not convex"),
    "signed": (Signed(ONE), "check_modulus", "no transform of a positive measure|above M"),
    "support": (Short(ONE), "check_convexity", "top of the support"),
    "lattice": (Astray(ONE), "check_pieces", "period of the lattice"),
    "pieces": (Light(ONE), "check_pieces", "do not add up"),
    "closed profile by routes": (Closed(ONE), "check_routes", "says"),
    "closed profile by divergence": (Closed(ONE), "check_divergence", "the divergence by the profile"),
    "strip": (Narrow(ONE), "check_reflection", "the reversed strip"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_laws_are_caught(name):
    law, check, text = WRONG[name]
    with pytest.raises(AssertionError, match=text):
        getattr(testing, check)(Own(law))


def test_all_failures_are_told_with_their_place():
    with pytest.raises(AssertionError, match="does not conform") as caught:
        testing.check_mechanism(Own(Heavy(ONE)), without=[testing.check_symbolic])
    text = str(caught.value)
    assert "check_masses: " in text
    assert "\n  check_" in text
    assert "check_symbolic" not in text


class Forgetful(lp.Gaussian):
    """Not equal to itself."""

    def __eq__(self, other):
        return False

    __hash__ = None  # type: ignore[assignment]


def test_values_that_are_none():
    with pytest.raises(AssertionError, match="check_value"):
        testing.check_mechanism(Forgetful(sigma=1.0), without=set(testing.CHECKS) - {testing.check_value})


def test_text_that_reads_back_as_another_mechanism(monkeypatch):
    monkeypatch.setattr(lp.Gaussian, "__repr__", lambda self: "Gaussian(sigma=7.0)")
    with pytest.raises(AssertionError, match="another mechanism"):
        testing.check_text(lp.Gaussian(sigma=1.0))


def test_every_check_is_listed():
    named = {name for name in vars(testing) if name.startswith("check_")} - {"check_mechanism"}
    assert named == {check.__name__ for check in testing.CHECKS}
