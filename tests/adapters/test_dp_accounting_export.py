"""Exported privacy loss distributions lie on their side of the truth, and those who read them get conservative answers."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import logphi as lp
from profiles import gaussian_profile
from refusals import untyped

pytest.importorskip("dp_accounting")

from logphi.adapters.dp_accounting import to_privacy_loss_distribution

EPSILONS = (-3.0, -0.7, -0.01, 0.0, 0.013, 0.5, 1.0, 1.99995, 2.7)
# what thirty digits of a reference lose
REFERENCE = 1e-25
# a loss that is rounded down by it lowers delta by no more
INTERVAL = 1e-4
# what dp-accounting's Fourier transforms lose
TRANSFORM = 1e-13


def _gaussian(sigma, epsilon):
    return gaussian_profile(1 / mpmath.mpf(sigma))(mpmath.mpf(epsilon))


def _sampled(sigma, rate, epsilon):
    """The larger of the two directions, from the base; delta(eps) = 1 - e^eps + e^eps delta'(-eps) turns one into the other."""

    def removed(x):
        inside = 1 + mpmath.expm1(x) / mpmath.mpf(rate)
        return rate * _gaussian(sigma, mpmath.log(inside)) if inside > 0 else -mpmath.expm1(x)

    epsilon = mpmath.mpf(epsilon)
    return max(removed(epsilon), 1 - mpmath.exp(epsilon) + mpmath.exp(epsilon) * removed(-epsilon))


def _response(p, count, epsilon):
    """Every number of true answers, one by one."""
    truth, epsilon = mpmath.mpf(p), mpmath.mpf(epsilon)
    terms = (
        math.comb(count, k)
        * (truth**k * (1 - truth) ** (count - k) - mpmath.exp(epsilon) * truth ** (count - k) * (1 - truth) ** k)
        for k in range(count + 1)
    )
    return mpmath.fsum(max(term, 0) for term in terms)


# a release, its profile by another way, how far above an export may lie: relatively, and absolutely next to the largest loss
CASES = [
    (lp.Gaussian(1.0), lambda x: _gaussian(1.0, x), 1e-3, 1e-17),
    (lp.Gaussian(0.7).poisson(0.25), lambda x: _sampled(0.7, 0.25, x), 2e-3, 1e-17),
    (40 * lp.RandomizedResponse(0.625), lambda x: _response(0.625, 40, x), 1e-3, 1e-17),
    (lp.PureDP(2.0), lambda x: _response(1 / (1 + mpmath.exp(-2)), 1, x), 1e-3, 1e-4),
]


@pytest.mark.few(1)
@pytest.mark.parametrize(("mechanism", "truth", "above", "beside"), CASES, ids=[str(case[0]) for case in CASES])
def test_the_truth_lies_between_the_two_exports(mechanism, truth, above, beside):
    high, low = (to_privacy_loss_distribution(mechanism, pessimistic=side, points=300) for side in (True, False))
    with mpmath.workdps(30):
        for epsilon in EPSILONS:
            exact = truth(epsilon)
            assert low.get_delta_for_epsilon(epsilon) <= exact * (1 + REFERENCE) + REFERENCE
            assert high.get_delta_for_epsilon(epsilon) >= exact * (1 - REFERENCE) - REFERENCE
            assert high.get_delta_for_epsilon(epsilon) <= exact * (1 + above) + beside
            assert low.get_delta_for_epsilon(epsilon) >= exact * (1 - 2 * above) - INTERVAL


MECHANISMS = [
    1000 * lp.Gaussian(sigma=1.1).poisson(0.01),
    lp.ApproximateDP(1.0, 1e-4) + 3 * lp.Laplace(2.0),
    pytest.param(lp.DiscreteGaussian(sigma=2.0, truncation=6).poisson(0.2), marks=pytest.mark.slow),
    5 * lp.KaryRandomizedResponse(4, 0.5, adjacency="replace_special"),
]


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
def test_exports_lie_on_their_side_of_the_bounds_of_every_kind_of_loss(mechanism):
    high, low = (to_privacy_loss_distribution(mechanism, pessimistic=side, points=300) for side in (True, False))
    for epsilon in EPSILONS:
        bound = mechanism.delta(epsilon)
        assert low.get_delta_for_epsilon(epsilon) <= bound.upper
        assert high.get_delta_for_epsilon(epsilon) >= bound.lower
        assert high.get_delta_for_epsilon(epsilon) <= bound.upper * 1.01 + 1e-17
        assert low.get_delta_for_epsilon(epsilon) >= bound.lower * 0.98 - INTERVAL
    delta = 1e-3
    bound = mechanism.epsilon(delta)
    assert low.get_epsilon_for_delta(delta) <= bound.upper
    assert bound.lower - TRANSFORM <= high.get_epsilon_for_delta(delta) <= bound.upper + 0.01


def test_both_distributions_of_a_pessimistic_export_are_those_of_one_pair():
    mechanism = 20 * lp.Gaussian(1.0).poisson(0.1)
    exported = to_privacy_loss_distribution(mechanism, points=50, value_discretization_interval=1e-2)
    remove, add = exported._pmf_remove.to_dense_pmf(), exported._pmf_add.to_dense_pmf()
    shared = {place + remove._lower_loss: p for place, p in enumerate(remove._probs) if p}
    reflected = {-(place + add._lower_loss): q for place, q in enumerate(add._probs) if q}
    assert shared.keys() == reflected.keys()
    for place, p in shared.items():
        assert reflected[place] == pytest.approx(p * math.exp(-place * 1e-2), rel=1e-9)


@pytest.mark.slow
def test_composed_exports_stay_above():
    step = lp.Gaussian(sigma=1.1).poisson(0.05)
    exported = to_privacy_loss_distribution(step, points=300).self_compose(50)
    exported = exported.compose(to_privacy_loss_distribution(lp.Laplace(4.0), points=300))
    release = 50 * step + lp.Laplace(4.0)
    for epsilon in (0.0, 0.5, 1.0, 2.0):
        bound = release.delta(epsilon)
        assert bound.lower - TRANSFORM <= exported.get_delta_for_epsilon(epsilon) <= bound.upper * 1.05 + TRANSFORM


@pytest.mark.slow
def test_composed_optimistic_exports_stay_below():
    step = lp.Gaussian(sigma=1.1).poisson(0.05)
    exported = to_privacy_loss_distribution(step, pessimistic=False, points=300).self_compose(50)
    for epsilon in (0.0, 0.5, 1.0, 2.0):
        assert exported.get_delta_for_epsilon(epsilon) <= (50 * step).delta(epsilon).upper + TRANSFORM


def test_nothing_released_is_nothing_lost():
    nothing = 0 * lp.Gaussian(1.0)
    assert to_privacy_loss_distribution(nothing).get_delta_for_epsilon(0.0) <= TRANSFORM
    assert to_privacy_loss_distribution(nothing, pessimistic=False).get_delta_for_epsilon(0.0) == 0.0


def test_infinite_losses_are_exported_as_such():
    guarantee = lp.ApproximateDP(1.0, 0.125)
    high, low = (to_privacy_loss_distribution(guarantee, pessimistic=side, points=100) for side in (True, False))
    assert low.get_delta_for_epsilon(math.inf) <= 0.125 <= high.get_delta_for_epsilon(math.inf) <= 0.125 * (1 + 1e-9)
    assert low.get_delta_for_epsilon(math.inf) >= 0.125 * (1 - 1e-9)
    assert high.get_epsilon_for_delta(0.1) == math.inf


@pytest.mark.few(1)
@pytest.mark.parametrize("mechanism", [lp.Gaussian(1.0), *MECHANISMS[:3]], ids=str)
def test_riskcal_reads_conservative_risks_from_a_pessimistic_export(mechanism):
    analysis = pytest.importorskip("riskcal").analysis
    exported = to_privacy_loss_distribution(mechanism, points=300)
    advantage = mechanism.delta(0.0)
    assert advantage.lower <= analysis.get_advantage_from_pld(exported) <= advantage.upper + 1e-4
    false_positives = np.array([1e-3, 0.01, 0.1, 0.4, 0.8])
    truth = mechanism.tradeoff(false_positives)
    found = analysis.get_beta_from_pld(exported, alpha=false_positives)
    assert np.all(found <= truth.upper + TRANSFORM)
    # both orders as one curve where they cross, which is lower
    assert np.all(found >= truth.lower - 0.02)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"value_discretization_interval": 0.0}, "positive"),
        ({"value_discretization_interval": 2.0}, "between 1e-06 and 1"),
        ({"value_discretization_interval": 1e-6, "mechanism": lp.Gaussian(0.1)}, "larger value_discretization_interval"),
        ({"tail_mass": 0.5}, "between 1e-290 and 0.1"),
        ({"points": 1}, "from 2 to"),
        ({"mechanism": lp.Gaussian(1.0, adjacency="remove")}, "both directions"),
        ({"mechanism": lp.GaussianPair(0, 1, 1, 2).poisson(0.1)}, "estimates"),
    ],
)
def test_what_cannot_be_exported_is_refused(arguments, reason):
    mechanism = arguments.pop("mechanism", lp.Gaussian(1.0))
    with pytest.raises(ValueError, match=reason):
        to_privacy_loss_distribution(mechanism, **arguments)


def test_only_mechanisms_are_exported():
    with pytest.raises(TypeError, match="only a mechanism"):
        untyped(to_privacy_loss_distribution)("Gaussian(sigma=1)")


def test_exact_fractions_are_exported_too():
    exported = to_privacy_loss_distribution(lp.RandomizedResponse(Fraction(3, 4)), points=10)
    assert exported.get_delta_for_epsilon(0.0) == pytest.approx(0.5, rel=1e-9)
