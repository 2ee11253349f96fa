"""The accountant for dp-accounting: its own conformance tests, what its events mean, and its other accountants as witnesses."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
import types
from fractions import Fraction
from typing import Any
from unittest import mock

import numpy as np
import pytest

import logphi as lp

pytest.importorskip("dp_accounting")

import dp_accounting as dpa
from dp_accounting import dp_event, privacy_accountant_test
from dp_accounting.pld import pld_privacy_accountant, pld_privacy_accountant_test
from dp_accounting.rdp import rdp_privacy_accountant

from logphi.adapters.dp_accounting import LogPhiAccountant, mechanism_of

ADD_OR_REMOVE, REPLACE, SPECIAL = dpa.NeighboringRelation
GAUSSIAN, LAPLACE = dpa.GaussianDpEvent(2.0), dpa.LaplaceDpEvent(3.0)
DISCRETE = dp_event.DiscreteLaplaceDpEvent(0.5, 2)
RESPONSE = dpa.RandomizedResponseDpEvent(0.4, 3)
MIXTURE = dp_event.MixtureOfGaussiansDpEvent(2.0, [0.0, 1.0, 2.0], [0.5, 0.3, 0.2])
MIXED = lp.GaussianMixture(2, [0, 1, 2], [0.5, 0.3, 0.2])
ROUNDING = 1e-12


class ConformanceTest(privacy_accountant_test.PrivacyAccountantTest):  # type: ignore[misc]
    """What dp-accounting asks of every accountant."""

    def _make_test_accountants(self):
        return [LogPhiAccountant(relation) for relation in dpa.NeighboringRelation]


@pytest.mark.slow
class TestsOfThePldAccountant(pld_privacy_accountant_test.PldPrivacyAccountantTest):  # type: ignore[misc]
    """What dp-accounting asks of its own accountant of distributions, asked of ours."""

    def setUp(self):
        super().setUp()
        ours = types.SimpleNamespace(PLDAccountant=LogPhiAccountant, NeighborRel=dpa.NeighboringRelation)
        self.enter_context(mock.patch.object(pld_privacy_accountant_test, "pld_privacy_accountant", ours))

    # ours knows these two under REPLACE_ONE, where a record moves the sum by up to twice its norm
    test_composition_errors_for_neighboring_relation1 = None
    test_composition_errors_for_neighboring_relation3 = None
    # ours refuses truncated samples
    test_truncated_subsampled_gaussian_basic = None


@pytest.mark.parametrize(
    ("event", "relation", "meant"),
    [
        (GAUSSIAN, ADD_OR_REMOVE, lp.Gaussian(2)),
        (GAUSSIAN, REPLACE, lp.Gaussian(2, sensitivity=2, adjacency="replace")),
        (GAUSSIAN, SPECIAL, lp.Gaussian(2, adjacency="replace_special")),
        (LAPLACE, ADD_OR_REMOVE, lp.Laplace(3)),
        (LAPLACE, REPLACE, lp.Laplace(3, sensitivity=2, adjacency="replace")),
        (DISCRETE, ADD_OR_REMOVE, lp.DiscreteLaplace(2, sensitivity=2)),
        (DISCRETE, REPLACE, lp.DiscreteLaplace(2, sensitivity=4, adjacency="replace")),
        (RESPONSE, REPLACE, lp.KaryRandomizedResponse(3, 0.4)),
        (RESPONSE, SPECIAL, lp.KaryRandomizedResponse(3, 0.4, adjacency="replace_special")),
        (MIXTURE, ADD_OR_REMOVE, MIXED),
        (dpa.ZCDpEvent(0.25), REPLACE, lp.ZCDP(0.25, adjacency="replace")),
        (dpa.SelfComposedDpEvent(dpa.ZCDpEvent(0.25, 0.5), 3), ADD_OR_REMOVE, 3 * lp.ZCDP(0.25, xi=0.5)),
        (dpa.ZCDpEvent(0.0, 0.5), SPECIAL, lp.PureDP(0.5, adjacency="replace_special")),
        (dpa.SingleEpochTreeAggregationDpEvent(2.0, [7, 8]), SPECIAL, 4 * lp.Gaussian(2, adjacency="replace_special")),
        (dpa.PoissonSampledDpEvent(0.1, GAUSSIAN), ADD_OR_REMOVE, lp.Gaussian(2).poisson(0.1)),
        (dpa.PoissonSampledDpEvent(0.1, GAUSSIAN), REPLACE, lp.Gaussian(2).poisson(0.1, adjacency="replace")),
        (
            dpa.PoissonSampledDpEvent(0.1, RESPONSE),
            SPECIAL,
            lp.KaryRandomizedResponse(3, 0.4, adjacency="replace_special").poisson(0.1),
        ),
        (
            dpa.PoissonSampledDpEvent(0.1, MIXTURE),
            ADD_OR_REMOVE,
            MIXED.poisson(0.1),
        ),
        (
            dpa.PoissonSampledDpEvent(1.0, dpa.ComposedDpEvent([GAUSSIAN, LAPLACE])),
            ADD_OR_REMOVE,
            lp.Gaussian(2) + lp.Laplace(3),
        ),
        (dpa.PoissonSampledDpEvent(0.5, dpa.PoissonSampledDpEvent(0.5, LAPLACE)), ADD_OR_REMOVE, lp.Laplace(3).poisson(0.25)),
        # four releases of one sample are one with half the noise, and not four samples
        (
            dpa.PoissonSampledDpEvent(0.1, dpa.SelfComposedDpEvent(GAUSSIAN, 4)),
            ADD_OR_REMOVE,
            (4 * lp.Gaussian(2)).poisson(0.1),
        ),
        (
            dpa.PoissonSampledDpEvent(0.1, dpa.ComposedDpEvent([GAUSSIAN, LAPLACE])),
            ADD_OR_REMOVE,
            (lp.Gaussian(2) + lp.Laplace(3)).poisson(0.1),
        ),
        (
            dpa.SampledWithoutReplacementDpEvent(40, 10, GAUSSIAN),
            REPLACE,
            lp.Gaussian(2, sensitivity=2, adjacency="replace").subset(0.25, adjacency="replace"),
        ),
        (
            dpa.SampledWithoutReplacementDpEvent(40, 10, LAPLACE),
            ADD_OR_REMOVE,
            lp.Laplace(3, sensitivity=2, adjacency="replace").subset(0.25, adjacency="add_remove"),
        ),
    ],
)
def test_events_mean_what_their_documentation_says(event, relation, meant):
    assert mechanism_of(event, relation) == meant


@pytest.mark.parametrize(
    "event",
    [
        dpa.RandomizedResponseDpEvent(1.0, 3),
        dpa.RandomizedResponseDpEvent(0.0, 1),
        dp_event.DiscreteLaplaceDpEvent(1.0, 0),
        dpa.SampledWithoutReplacementDpEvent(10, 0, dpa.GaussianDpEvent(0.0)),
        dpa.ComposedDpEvent([]),
    ],
)
def test_what_tells_nothing_costs_nothing(event):
    accountant = LogPhiAccountant(REPLACE).compose(event)
    assert (accountant.get_epsilon(0.0), accountant.get_delta(0.0)) == (0.0, 0.0)


def test_sampling_under_replace_special_has_the_pair_of_add_remove():
    event = dpa.SelfComposedDpEvent(dpa.PoissonSampledDpEvent(0.1, GAUSSIAN), 50)
    special, absent = (LogPhiAccountant(relation).compose(event) for relation in (SPECIAL, ADD_OR_REMOVE))
    assert special.mechanism.adjacency is lp.Adjacency.REPLACE_SPECIAL
    assert special.get_epsilon(1e-5) == absent.get_epsilon(1e-5)
    assert special.compose(dpa.RandomizedResponseDpEvent(0.4, 3)).get_epsilon(1e-5) > absent.get_epsilon(1e-5)


def test_counts_are_never_lost():
    once = dpa.PoissonSampledDpEvent(0.01, GAUSSIAN)
    nested = dpa.SelfComposedDpEvent(dpa.ComposedDpEvent([LAPLACE, dpa.SelfComposedDpEvent(once, np.int64(10**12))]), 10**12)
    counts = dict(mechanism_of(dpa.ComposedDpEvent([nested, once])).counted())
    assert counts == {lp.Laplace(3): 10**12, lp.Gaussian(2).poisson(0.01): 10**24 + 1}
    five: Any = np.int32(5)
    response = LogPhiAccountant(REPLACE).compose(dpa.SelfComposedDpEvent(RESPONSE, 10)).compose(RESPONSE, five)
    assert response.mechanism == 15 * lp.KaryRandomizedResponse(3, 0.4)


def test_events_may_nest_deeper_than_python_recurses():
    event = GAUSSIAN
    for _ in range(5000):
        event = dpa.ComposedDpEvent([dpa.SelfComposedDpEvent(event, 1)])
    assert mechanism_of(event) == lp.Gaussian(2)


def test_repeated_events_may_nest_as_deep_and_count_in_numbers_of_numpy():
    event = GAUSSIAN
    for _ in range(5000):
        event = dpa.SelfComposedDpEvent(event, np.int64(1))
    accountant = LogPhiAccountant().compose(dpa.SelfComposedDpEvent(event, np.int64(3)))
    assert accountant.mechanism == 3 * lp.Gaussian(2)
    assert accountant.ledger == dpa.SelfComposedDpEvent(GAUSSIAN, 3)


def test_gaussians_on_one_sample_are_one_with_no_more_noise_than_they_have():
    inner = dpa.ComposedDpEvent([dpa.SelfComposedDpEvent(GAUSSIAN, 3), dpa.NoOpDpEvent(), dpa.GaussianDpEvent(1.0)])
    merged = mechanism_of(dpa.PoissonSampledDpEvent(0.1, inner))
    assert merged == (3 * lp.Gaussian(2) + lp.Gaussian(1)).poisson(0.1)
    alone = lp.Gaussian(1 / math.sqrt(Fraction(3, 4) + 1)).poisson(0.1)
    assert (100 * merged).delta(1).value == pytest.approx((100 * alone).delta(1).value, rel=ROUNDING)


class Subclass(dpa.GaussianDpEvent):  # type: ignore[misc]
    pass


@pytest.mark.parametrize(
    ("event", "relation", "reason"),
    [
        (dpa.UnsupportedDpEvent(), ADD_OR_REMOVE, "not known"),
        (Subclass(1.0), ADD_OR_REMOVE, "not one of dp-accounting"),
        ("GaussianDpEvent", ADD_OR_REMOVE, "not one of dp-accounting"),
        (dpa.GaussianDpEvent(-1.0), ADD_OR_REMOVE, "must not be negative"),
        (dpa.GaussianDpEvent(math.nan), ADD_OR_REMOVE, "NaN"),
        (dpa.GaussianDpEvent("1"), ADD_OR_REMOVE, "non-negative number"),
        (dpa.SelfComposedDpEvent(GAUSSIAN, -1), ADD_OR_REMOVE, "must not be negative"),
        (dpa.SelfComposedDpEvent(GAUSSIAN, 0), ADD_OR_REMOVE, "at least 1"),
        (dpa.SelfComposedDpEvent(GAUSSIAN, 2.5), ADD_OR_REMOVE, "integer"),
        (dpa.SelfComposedDpEvent(dpa.SelfComposedDpEvent(GAUSSIAN, 10**200), 10**200), ADD_OR_REMOVE, "at most 1e300"),
        (dpa.PoissonSampledDpEvent(1.5, GAUSSIAN), ADD_OR_REMOVE, r"in \[0, 1\]"),
        (dpa.PoissonSampledDpEvent(0.1, LAPLACE), REPLACE, "`ADD_OR_REMOVE_ONE` or `REPLACE_SPECIAL`"),
        (dpa.PoissonSampledDpEvent(0.1, RESPONSE), REPLACE, "neighboring_relation must be"),
        (
            dpa.PoissonSampledDpEvent(0.1, RESPONSE),
            ADD_OR_REMOVE,
            "neighboring_relation must be",
        ),
        (dpa.SampledWithoutReplacementDpEvent(9, 3, MIXTURE), ADD_OR_REMOVE, "this sample needs it under `REPLACE_ONE`"),
        (
            dpa.PoissonSampledDpEvent(0.1, dpa.SelfComposedDpEvent(dpa.PoissonSampledDpEvent(0.1, GAUSSIAN), 2)),
            ADD_OR_REMOVE,
            "sample of a sample",
        ),
        (
            dpa.PoissonSampledDpEvent(1e-200, dpa.PoissonSampledDpEvent(1e-200, GAUSSIAN)),
            ADD_OR_REMOVE,
            "too small for a double",
        ),
        (dpa.PoissonSampledDpEvent(np.array([1.0, 1.0]), GAUSSIAN), ADD_OR_REMOVE, "sampling_probability"),
        (dpa.PoissonSampledDpEvent(0.1, dpa.SelfComposedDpEvent(GAUSSIAN, 10**300)), ADD_OR_REMOVE, "1e-100 and 1e100"),
        (dpa.ComposedDpEvent(None), ADD_OR_REMOVE, "iterable"),
        (dpa.SampledWithoutReplacementDpEvent(10, 11, GAUSSIAN), REPLACE, "from 0 to 10"),
        (dpa.SampledWithoutReplacementDpEvent(10.5, 5, GAUSSIAN), REPLACE, "integer"),
        (dpa.SampledWithoutReplacementDpEvent(10, 5, GAUSSIAN), SPECIAL, "replace_special"),
        (dpa.SampledWithReplacementDpEvent(10, 5, GAUSSIAN), REPLACE, "with replacement"),
        (dpa.ZCDpEvent(-1.0), ADD_OR_REMOVE, "rho"),
        (dpa.ZCDpEvent(1.0, 1e9), ADD_OR_REMOVE, "xi must be at most 50"),
        (
            dpa.PoissonSampledDpEvent(0.1, dp_event.RepeatAndSelectDpEvent(GAUSSIAN, 5.0, 1.0)),
            ADD_OR_REMOVE,
            "sample of the best of several runs",
        ),
        (
            dp_event.RepeatAndSelectDpEvent(dp_event.RepeatAndSelectDpEvent(GAUSSIAN, 5.0, 1.0), 5.0, 1.0),
            ADD_OR_REMOVE,
            "repeated here itself",
        ),
        (dp_event.RepeatAndSelectDpEvent(GAUSSIAN, 0.5, 1.0), ADD_OR_REMOVE, "mean must be at least 1"),
        (dpa.TruncatedSubsampledGaussianDpEvent(10, 1.5, 5, 1.0), ADD_OR_REMOVE, "sampling_probability"),
        (dpa.TruncatedSubsampledGaussianDpEvent(10.5, 0.5, 5, 1.0), ADD_OR_REMOVE, "dataset_size"),
        (
            dpa.PoissonSampledDpEvent(0.1, dpa.TruncatedSubsampledGaussianDpEvent(10, 0.5, 5, 1.0)),
            ADD_OR_REMOVE,
            "cannot be sampled again",
        ),
        (dpa.SingleEpochTreeAggregationDpEvent(2.0, []), SPECIAL, "at least one"),
        (dpa.SingleEpochTreeAggregationDpEvent(2.0, 8), ADD_OR_REMOVE, "`REPLACE_SPECIAL`"),
    ],
)
def test_what_is_not_known_is_refused_with_the_reason_and_changes_nothing(event, relation, reason):
    accountant = LogPhiAccountant(relation).compose(GAUSSIAN)
    before = accountant.mechanism
    assert not accountant.supports(event)
    composed = dpa.ComposedDpEvent([GAUSSIAN, event])
    with pytest.raises(dpa.UnsupportedEventError, match=reason):
        accountant.compose(composed)
    assert accountant.mechanism == before
    with pytest.raises(ValueError, match=reason):
        mechanism_of(composed, relation)


def test_samples_of_samples_are_refused_however_deep_they_nest():
    event = GAUSSIAN
    for _ in range(5000):
        event = dpa.SampledWithoutReplacementDpEvent(2, 2, event)
    assert not LogPhiAccountant(REPLACE).supports(event)
    with pytest.raises(ValueError, match="inside a sample"):
        mechanism_of(event, REPLACE)


def test_counts_beyond_the_doubles_are_refused_before_they_are_composed():
    accountant = LogPhiAccountant().compose(GAUSSIAN, 10**300)
    for more, kind in ((1, dpa.UnsupportedEventError), (0, ValueError), (-1, ValueError), (10**301, ValueError)):
        with pytest.raises(kind, match=r"1e300|positive|negative"):
            accountant.compose(GAUSSIAN, more)
    assert accountant.mechanism == 10**300 * lp.Gaussian(2)
    twice_negative = dpa.SelfComposedDpEvent(dpa.SelfComposedDpEvent(GAUSSIAN, -2), -3)
    with pytest.raises(dpa.UnsupportedEventError, match="negative"):
        LogPhiAccountant().compose(twice_negative)


def test_of_what_is_not_private_only_the_upper_ends_are_claimed():
    # a tenth of all samples tell everything: epsilon is 0 at delta = 1/2, and delta 1/10 at large epsilons
    accountant = LogPhiAccountant().compose(dpa.PoissonSampledDpEvent(0.1, dpa.GaussianDpEvent(0.0)))
    assert 0 in accountant.bound_epsilon(0.5)
    assert 0.1 in accountant.bound_delta(50)


def test_an_event_that_is_not_private_leaves_no_mechanism():
    accountant = LogPhiAccountant().compose(GAUSSIAN).compose(dpa.PoissonSampledDpEvent(0.1, dpa.GaussianDpEvent(0.0)))
    assert (accountant.get_epsilon(0.5), accountant.get_delta(9.0)) == (math.inf, 1.0)
    with pytest.raises(ValueError, match="not private"):
        accountant.mechanism  # noqa: B018
    with pytest.raises(ValueError, match="not private"):
        mechanism_of(dpa.NonPrivateDpEvent())


@pytest.mark.parametrize(("question", "at"), [("get_epsilon", math.nan), ("get_epsilon", 1.5), ("get_delta", math.nan)])
def test_questions_must_be_numbers(question, at):
    with pytest.raises(ValueError, match="target_"):
        getattr(LogPhiAccountant().compose(GAUSSIAN), question)(at)


def test_the_relation_must_be_one_of_theirs():
    with pytest.raises(TypeError, match="NeighboringRelation"):
        LogPhiAccountant("add_remove")


def test_answers_are_the_upper_ends_of_bounds():
    accountant = LogPhiAccountant().compose(dpa.PoissonSampledDpEvent(0.01, GAUSSIAN), 1000)
    epsilon, delta = accountant.bound_epsilon(1e-5), accountant.bound_delta(1.0)
    assert accountant.get_epsilon(1e-5) == epsilon.upper > epsilon.lower
    assert accountant.get_delta(1.0) == delta.upper > delta.lower
    assert LogPhiAccountant().compose(LAPLACE).get_epsilon(0.0) == pytest.approx(1 / 3, rel=ROUNDING)


def test_a_guarantee_is_understood_where_dp_accounting_has_an_event_for_it(monkeypatch):
    class EpsilonDeltaDpEvent(dp_event.DpEvent):  # type: ignore[misc]
        epsilon, delta = 1.0, 1e-6

    guarantee = EpsilonDeltaDpEvent()
    assert not LogPhiAccountant().supports(guarantee)
    monkeypatch.setattr(dp_event, "EpsilonDeltaDpEvent", EpsilonDeltaDpEvent, raising=False)
    assert mechanism_of(guarantee, REPLACE) == lp.ApproximateDP(1, 1e-6, adjacency="replace")
    sampled = dpa.PoissonSampledDpEvent(0.1, guarantee)
    assert mechanism_of(sampled) == lp.ApproximateDP(1, 1e-6).poisson(0.1)
    assert mechanism_of(sampled, SPECIAL) == lp.ApproximateDP(1, 1e-6, adjacency="replace_special").poisson(0.1)


CUT_OFF = dpa.TruncatedSubsampledGaussianDpEvent(
    dataset_size=40, sampling_probability=0.2, truncated_batch_size=9, noise_multiplier=2.0
)


@pytest.mark.parametrize("relation", [ADD_OR_REMOVE, REPLACE, SPECIAL])
def test_poisson_samples_that_are_cut_off(relation):
    sizes: dict[str, Any] = {"truncated_batch_size": 9, "dataset_size": 40}
    base = lp.Gaussian(2, adjacency="replace_special") if relation is SPECIAL else lp.Gaussian(2)
    wanted = base.poisson(0.2, adjacency=mechanism_of(CUT_OFF, relation).adjacency, **sizes)
    assert mechanism_of(CUT_OFF, relation) == wanted
    assert mechanism_of(dpa.TruncatedSubsampledGaussianDpEvent(40, 0.2, 50, 2.0), relation).delta(0.5).value == pytest.approx(
        base.poisson(0.2, adjacency=wanted.adjacency).delta(0.5).value
    )
    for nothing in ((40, 0.0, 9, 2.0), (40, 0.2, 0, 2.0), (0, 0.2, 9, 2.0), (40, 0.0, 9, 0.0)):
        assert LogPhiAccountant(relation).compose(dpa.TruncatedSubsampledGaussianDpEvent(*nothing)).get_delta(0.0) == 0
    silent = dpa.TruncatedSubsampledGaussianDpEvent(40, 0.2, 9, 0.0)
    assert LogPhiAccountant(relation).compose(silent).get_epsilon(1e-5) == math.inf


@pytest.mark.slow
def test_the_published_figure_of_batches_that_are_cut_off():
    events = [
        dpa.SelfComposedDpEvent(dpa.TruncatedSubsampledGaussianDpEvent(4, 0.5, 2, 1.0), 3),
        dpa.SelfComposedDpEvent(dpa.TruncatedSubsampledGaussianDpEvent(3, 0.5, 2, 1.0), 2),
    ]
    assert LogPhiAccountant(ADD_OR_REMOVE).compose(dpa.ComposedDpEvent(events)).get_epsilon(1e-6) == pytest.approx(
        17.9043301, abs=1e-6
    )


def newer(monkeypatch, name, **parameters):
    """An event of newer releases of dp-accounting."""
    kind = type(name, (dp_event.DpEvent,), parameters)
    monkeypatch.setattr(dp_event, name, kind, raising=False)
    return kind()


@pytest.mark.parametrize(
    ("name", "parameters", "relation", "found"),
    [
        ("ExponentialMechanismDpEvent", {"epsilon": 0.5}, ADD_OR_REMOVE, lp.ExponentialMechanism(0.5)),
        ("ExponentialMechanismDpEvent", {"epsilon": 0.5}, REPLACE, lp.ExponentialMechanism(0.5, adjacency="replace")),
        ("PermuteAndFlipDpEvent", {"epsilon": 0.5}, ADD_OR_REMOVE, lp.PureDP(0.5)),
        ("PermuteAndFlipDpEvent", {"epsilon": 0.5}, SPECIAL, lp.PureDP(0.5, adjacency="replace_special")),
        (
            "DiscreteGaussianDpEvent",
            {"sigma": 3.0, "sensitivity": 2.0, "dimension": 1},
            ADD_OR_REMOVE,
            lp.DiscreteGaussian(3, sensitivity=2),
        ),
        (
            "DiscreteGaussianDpEvent",
            {"sigma": 3.0, "sensitivity": 1.5, "dimension": 1},
            REPLACE,
            lp.DiscreteGaussian(3, sensitivity=3, adjacency="replace"),
        ),
        # integers move by one coordinate
        (
            "DiscreteGaussianDpEvent",
            {"sigma": 3.0, "sensitivity": 1.0, "dimension": None},
            ADD_OR_REMOVE,
            lp.DiscreteGaussian(3, sensitivity=1),
        ),
    ],
)
def test_events_of_newer_releases(monkeypatch, name, parameters, relation, found):
    event = newer(monkeypatch, name, **parameters)
    assert mechanism_of(event, relation) == found
    assert lp.parse(str(found)) == found
    accountant = LogPhiAccountant(relation).compose(dpa.SelfComposedDpEvent(event, 3))
    assert accountant.mechanism == 3 * found
    if "Discrete" in name or relation is not ADD_OR_REMOVE:
        return
    # an epsilon under add/remove says nothing of a subset's records that are replaced
    assert not accountant.supports(dpa.SampledWithoutReplacementDpEvent(10, 5, event))
    assert mechanism_of(dpa.PoissonSampledDpEvent(0.1, event)) == found.poisson(0.1)


def test_norms_of_several_whole_numbers(monkeypatch):
    # of norm below the root of two is one coordinate only; of more coordinates the noise is known by bounds
    small = newer(monkeypatch, "DiscreteGaussianDpEvent", sigma=3.0, sensitivity=1.4, dimension=5)
    assert mechanism_of(small) == lp.DiscreteGaussian(3)
    assert mechanism_of(small, REPLACE) == lp.VectorDiscreteGaussian(3, 2.8, dimension=5, adjacency="replace")
    several = newer(monkeypatch, "DiscreteGaussianDpEvent", sigma=3.0, sensitivity=2.0, dimension=None)
    assert mechanism_of(several) == lp.VectorDiscreteGaussian(3, 2)
    narrow = newer(monkeypatch, "DiscreteGaussianDpEvent", sigma=0.01, sensitivity=2.0, dimension=5)
    assert not LogPhiAccountant().supports(narrow)


def test_permute_and_flip_has_no_bounded_range():
    """Its losses span more than epsilon: three candidates, whose scores move within a sensitivity of one."""
    epsilon = 1.0

    def chosen(scores):
        chances = [math.exp(epsilon / 2 * (score - max(scores))) for score in scores]
        found = [0.0] * len(scores)
        for order in itertools.permutations(range(len(scores))):
            left = 1.0
            for one in order:
                found[one] += left * chances[one] / math.factorial(len(scores))
                left *= 1 - chances[one]
        return found

    widest = 0.0
    for moved in itertools.product((-1, 0, 1), repeat=3):
        for scores in itertools.product(range(-6, 1), repeat=3):
            p, q = chosen(scores), chosen([a + b for a, b in zip(scores, moved, strict=True)])
            losses = [math.log(a / b) for a, b in zip(p, q, strict=True)]
            assert max(map(abs, losses)) <= epsilon + 1e-12
            widest = max(widest, max(losses) - min(losses))
    assert widest > 1.05 * epsilon


WITNESSED = [
    (dpa.SelfComposedDpEvent(CUT_OFF, 10), ADD_OR_REMOVE),
    (dpa.SelfComposedDpEvent(GAUSSIAN, 10), ADD_OR_REMOVE),
    (dpa.SelfComposedDpEvent(GAUSSIAN, 10), REPLACE),
    (dpa.SelfComposedDpEvent(LAPLACE, 10), ADD_OR_REMOVE),
    (dpa.SelfComposedDpEvent(LAPLACE, 10), SPECIAL),
    (dpa.SelfComposedDpEvent(DISCRETE, 5), ADD_OR_REMOVE),
    (RESPONSE, REPLACE),
    (RESPONSE, SPECIAL),
    pytest.param(dpa.SelfComposedDpEvent(MIXTURE, 5), ADD_OR_REMOVE, marks=pytest.mark.slow),
    (dpa.SelfComposedDpEvent(dpa.PoissonSampledDpEvent(0.1, GAUSSIAN), 20), ADD_OR_REMOVE),
    (dpa.SelfComposedDpEvent(dpa.PoissonSampledDpEvent(0.1, GAUSSIAN), 20), REPLACE),
    pytest.param(dpa.SelfComposedDpEvent(dpa.PoissonSampledDpEvent(0.1, LAPLACE), 20), SPECIAL, marks=pytest.mark.slow),
    (dpa.ComposedDpEvent([GAUSSIAN, LAPLACE, DISCRETE, dpa.PoissonSampledDpEvent(0.1, GAUSSIAN)]), ADD_OR_REMOVE),
]


@pytest.mark.few(1)
@pytest.mark.parametrize(("event", "relation"), WITNESSED)
def test_the_pessimistic_accountant_of_dp_accounting_is_never_below_ours(event, relation):
    theirs = pld_privacy_accountant.PLDAccountant(relation, value_discretization_interval=1e-3).compose(event)
    ours = LogPhiAccountant(relation).compose(event)
    for epsilon in (0.0, 0.5, 2.0):
        bound = ours.bound_delta(epsilon)
        assert bound.lower - ROUNDING <= theirs.get_delta(epsilon) <= bound.upper * 1.05 + ROUNDING
    bound = ours.bound_epsilon(1e-5)
    assert bound.lower - ROUNDING <= theirs.get_epsilon(1e-5) <= bound.upper + 0.05


@pytest.mark.parametrize(
    ("event", "relation"),
    [
        (dpa.SelfComposedDpEvent(GAUSSIAN, 10), ADD_OR_REMOVE),
        (dpa.PoissonSampledDpEvent(0.1, dpa.ComposedDpEvent([GAUSSIAN, dpa.SelfComposedDpEvent(GAUSSIAN, 3)])), ADD_OR_REMOVE),
        (dpa.SingleEpochTreeAggregationDpEvent(5.0, [100, 3]), SPECIAL),
        (dpa.SelfComposedDpEvent(RESPONSE, 10), REPLACE),
        # their noise multiplier is stated for the relation here, and not for the norm of a record
        pytest.param(
            dpa.SelfComposedDpEvent(dpa.SampledWithoutReplacementDpEvent(100, 5, GAUSSIAN), 10), REPLACE, marks=pytest.mark.slow
        ),
    ],
)
def test_the_renyi_accountant_of_dp_accounting_is_never_below_ours(event, relation):
    theirs = dpa.rdp.RdpAccountant(neighboring_relation=relation).compose(event)
    halved = relation is REPLACE and event.event is not RESPONSE
    twice = dpa.SelfComposedDpEvent(dpa.SampledWithoutReplacementDpEvent(100, 5, dpa.GaussianDpEvent(4.0)), 10)
    ours = LogPhiAccountant(relation).compose(twice if halved else event)
    assert ours.bound_epsilon(1e-5).lower <= theirs.get_epsilon(1e-5) <= 3 * ours.bound_epsilon(1e-5).upper


def test_dp_accounting_calibrates_with_it():
    def training(noise: float) -> dpa.DpEvent:
        return dpa.SelfComposedDpEvent(dpa.PoissonSampledDpEvent(0.01, dpa.GaussianDpEvent(noise)), 1000)

    noise = dpa.calibrate_dp_mechanism(LogPhiAccountant, training, target_epsilon=2.0, target_delta=1e-5)
    assert 1.9999 < LogPhiAccountant().compose(training(noise)).get_epsilon(1e-5) <= 2.0


def test_without_dp_accounting_the_adapter_says_what_to_install():
    code = "import sys; sys.modules['dp_accounting'] = None; import logphi.adapters.dp_accounting"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install dp-accounting" in result.stderr


@pytest.mark.slow
def test_the_best_of_several_runs_is_below_the_renyi_accountant():
    event = dpa.SelfComposedDpEvent(GAUSSIAN, 2)
    for mean, shape in ((10.0, 1.0), (4.0, np.inf)):
        best = dp_event.RepeatAndSelectDpEvent(event, mean, shape)
        assert mechanism_of(best) == mechanism_of(event).repeat_and_select(mean, shape)
        ours = LogPhiAccountant().compose(best).get_epsilon(1e-6)
        assert ours <= rdp_privacy_accountant.RdpAccountant().compose(best).get_epsilon(1e-6)
    assert mechanism_of(dp_event.RepeatAndSelectDpEvent(dpa.NoOpDpEvent(), 5.0, 1.0)).delta(0.0).upper == 0
    assert not LogPhiAccountant().compose(dp_event.RepeatAndSelectDpEvent(dpa.NonPrivateDpEvent(), 5.0, 1.0)).get_delta(1) < 1
