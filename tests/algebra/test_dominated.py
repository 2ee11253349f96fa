"""Mechanisms that need not attain their pair: brackets between an attack and the pair, wherever they are composed."""

import math

import pytest

import logphi as lp
from logphi.answers.status import Status

REPORTS = lp.ShuffledReports(local_epsilon=1.0, records=10)
QUERIES = lp.SparseVector(query_scale=20, threshold_scale=10)
PARTITIONS = lp.StabilityThreshold(threshold=8, scale=1)
CHOICE = lp.RandomChoice([PARTITIONS, lp.Gaussian(3)], [0.5, 0.5])
# of a group it is not known whether it moves many partitions or few by much
GROUP = PARTITIONS.group(2)


@pytest.mark.parametrize(
    "release",
    [
        QUERIES,
        PARTITIONS,
        2 * QUERIES,
        PARTITIONS + REPORTS,
        QUERIES + lp.ExponentialMechanism(0.3),
        PARTITIONS.poisson(0.1),
        CHOICE,
        GROUP + lp.Gaussian(5),
    ],
    ids=str,
)
def test_answers_lie_between_an_attack_and_the_pair(release):
    for found in (
        release.epsilon(1e-2),
        release.delta(0.1),
        release.log_delta(0.1),
        release.tradeoff(0.1),
        release.risk.tpr(0.1),
    ):
        assert found.status is Status.BRACKET
        assert found.lower < found.upper
    several = release.delta([0.05, 0.1])
    assert list(several.status) == [Status.BRACKET] * 2
    account = release.explain(epsilon=0.1)
    assert account.bound.status is Status.BRACKET


@pytest.mark.parametrize("release", [GROUP, 3 * GROUP, GROUP.poisson(0.1), REPORTS], ids=str)
def test_without_an_attack_narrow_answers_are_those_of_the_pair(release):
    for found in (
        release.epsilon(0.5),
        release.delta(0.1),
        release.tradeoff(0.1),
        release.risk.tpr(0.1),
        release.risk.ppv(0.1, 0.5),
    ):
        assert found.status is Status.DOMINATED
        assert found.status.met
    assert "may leak less" in str(release.explain(epsilon=0.1))


def test_parts_without_an_attack_are_left_out_of_it():
    assert (3 * REPORTS).renyi(2).status is Status.DOMINATED
    found = (REPORTS + lp.Gaussian(5)).delta(0.1)
    assert found.status is Status.BRACKET
    assert found.lower == pytest.approx(lp.Gaussian(5).delta(0.1).value, rel=1e-9)


def test_a_group_reads_like_the_mechanism_that_it_is_at_most():
    assert str(GROUP) == "StabilityThreshold(threshold=8.0, scale=1.0, sensitivity=2.0, partitions=2)"
    assert lp.from_json(GROUP.to_json()).epsilon(0.5).upper == GROUP.epsilon(0.5).upper


@pytest.mark.parametrize("release", [QUERIES, QUERIES + lp.Gaussian(9)], ids=str)
def test_divergences_and_risks_too(release):
    for found in (release.renyi(2), release.kl_divergence(), release.zcdp(), release.risk.ppv(0.2, 0.5)):
        assert found.status is Status.BRACKET
        assert 0 < found.lower < found.upper


def test_the_ends_of_partitions():
    # a partition is old, with the noise alone, or new, and then seen or missed
    chance, at = math.exp(-7) / 2, 0.5
    old = 1 - math.exp((at - 1) / 2)
    found = PARTITIONS.delta(at)
    assert found.lower == pytest.approx(old, rel=1e-12)
    assert old < found.upper < old + chance
    late = (5 * PARTITIONS).delta(5.5)
    assert late.lower == pytest.approx(1 - (1 - chance) ** 5, rel=1e-9)
    # which other records are in a sample decides which partitions are old
    assert PARTITIONS.poisson(0.1).delta(at).lower == pytest.approx(0.1 * chance, rel=1e-9)


def test_a_choice_chooses_between_attacks():
    parts = [PARTITIONS.delta(0.3).lower, lp.Gaussian(3).delta(0.3).value]
    assert CHOICE.delta(0.3).lower == pytest.approx(sum(parts) / 2, rel=1e-9)


@pytest.mark.slow
def test_the_best_of_many_runs_of_one_attack():
    found = QUERIES.repeat_and_select(3).delta(0.05)
    assert QUERIES.delta(0.05).lower < found.lower < found.upper
    assert GROUP.repeat_and_select(3).delta(0.1).lower == 0


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


@pytest.mark.slow
def test_risks_beside_a_family():
    assert (PARTITIONS + lp.ZCDP(0.01)).risk.tpr(0.05).status is Status.BRACKET


@pytest.mark.slow
def test_random_allocation():
    assert QUERIES.allocation(3).delta(0.1).status is Status.BRACKET
    # a partition of a single record is seen in the one batch that holds it, and without it in none
    assert PARTITIONS.allocation(3).delta(0.1).lower == pytest.approx(math.exp(-7) / 2, rel=1e-9)


@pytest.mark.slow
def test_calibrated_noise_holds_for_the_pair():
    found = lp.calibrate(lambda b: lp.SparseVector(query_scale=2 * b, threshold_scale=b), epsilon=0.5, delta=1e-3, rtol=0.1)
    assert lp.SparseVector(2 * found.value, found.value).epsilon(1e-3).upper <= 0.5
