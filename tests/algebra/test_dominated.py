"""Mechanisms that need not attain their pair say so, whatever is asked and wherever they are composed or sampled."""

import math

import pytest

import logphi as lp
from logphi.answers.status import Status

REPORTS = lp.ShuffledReports(local_epsilon=1.0, records=100)
QUERIES = lp.SparseVector(query_scale=20, threshold_scale=10)
PARTITIONS = lp.StabilityThreshold(threshold=8, scale=1)


@pytest.mark.parametrize(
    "release",
    [
        REPORTS,
        QUERIES,
        PARTITIONS,
        3 * REPORTS,
        REPORTS + lp.Gaussian(5),
        QUERIES + lp.ExponentialMechanism(0.3),
        PARTITIONS.poisson(0.1),
    ],
    ids=str,
)
def test_narrow_answers_are_those_of_the_pair(release):
    for found in (release.epsilon(1e-2), release.delta(0.1), release.log_delta(0.1), release.tradeoff(0.1)):
        assert found.status is Status.DOMINATED
        assert found.status.met
    several = release.delta([0.05, 0.1])
    assert list(several.status) == [Status.DOMINATED] * 2
    account = release.explain(epsilon=0.1)
    assert account.bound.status is Status.DOMINATED
    assert "need not attain" in str(account)


def test_the_divergences_too():
    assert REPORTS.renyi(2).status is Status.DOMINATED
    assert QUERIES.zcdp().status is Status.DOMINATED


def test_the_release_may_be_below_the_lower_end():
    # a partition is old, with the noise alone, or new, and then seen or missed
    chance, at = math.exp(-7) / 2, 0.5
    old = 1 - math.exp((at - 1) / 2)
    found = PARTITIONS.delta(at)
    assert max(old, chance) < found.lower < old + chance


@pytest.mark.parametrize(
    "release",
    [
        lp.ShuffledReports(local_epsilon=0, records=10),
        lp.ShuffledReports(local_epsilon=1, records=1),
        lp.Gaussian(2) + lp.ExponentialMechanism(0.1),
        lp.PureDP(0.1),
    ],
    ids=str,
)
def test_what_is_attained_is_met(release):
    assert release.epsilon(1e-3).status is Status.MET


def test_a_bracket_stays_one():
    found = (REPORTS + lp.ZCDP(0.01)).epsilon(1e-5)
    assert found.status is Status.BRACKET
    assert not found.status.met
