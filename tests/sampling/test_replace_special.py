"""Poisson samples under replace_special: every sample and every output of tiny mechanisms, one by one, and dp-accounting."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from mpmath import exp, mpf

import logphi as lp
from directions import DIRECTIONS
from exact import contains, dec
from refusals import refused
from slowly import slowly

NOTHING = -1


def mixed(outputs, rate, data):
    """The law of the output on a Poisson sample: whoever is outside it counts as NOTHING."""
    total = 0
    for taken in itertools.product((False, True), repeat=len(data)):
        weight = math.prod(rate if one else 1 - rate for one in taken)
        total = total + weight * outputs(tuple(value if one else NOTHING for value, one in zip(data, taken, strict=True)))
    return total


def hockey_stick(p, q, epsilon):
    return sum(max(a - exp(epsilon) * b, mpf(0)) for a, b in zip(p, q, strict=True))


def reports(k, p):
    """The reports of all people, as one long vector of probabilities."""

    def outputs(data):
        cells = [mpf(1)]
        for value in data:
            own = [mpf(1) / k if value == NOTHING else p / k + (1 - p) * (value == symbol) for symbol in range(k)]
            cells = [a * b for a in cells for b in own]
        return np.array(cells)

    return outputs


@pytest.mark.parametrize(("k", "p", "rate"), [(2, 0.5, 0.1), (3, 0.4, 0.5), (5, 0.9, 0.01), (4, 0.05, 0.95)])
def test_reports_on_samples_equal_the_sum_over_samples_and_outputs(k, p, rate):
    sampled = lp.KaryRandomizedResponse(k, p, adjacency="replace_special").poisson(rate)
    assert sampled.adjacency is lp.Adjacency.REPLACE_SPECIAL
    with mpmath.workdps(40):
        outputs = reports(k, dec(p))
        # a second person, who is the same in both data sets, changes nothing
        present, absent = (mixed(outputs, dec(rate), (value, 1)) for value in (0, NOTHING))
        for epsilon in (-0.8, -0.02, 0.0, 0.03, 0.4, 1.5):
            remove, add = hockey_stick(present, absent, dec(epsilon)), hockey_stick(absent, present, dec(epsilon))
            assert contains(sampled.delta(epsilon, direction="remove"), remove)
            assert contains(sampled.delta(epsilon, direction="add"), add)
            assert contains(sampled.delta(epsilon), max(remove, add))


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(6))
def test_no_pair_of_data_sets_is_further_apart_than_the_sampled_pair(seed):
    """A mechanism that is any table of laws, and the profile of its worst neighbours, sampled."""
    random = np.random.default_rng(seed)
    values, rate = (0, 1, NOTHING), float(random.uniform(0.05, 0.95))
    table = {data: random.dirichlet(np.ones(4)) for data in itertools.product(values, repeat=2)}
    epsilons = np.linspace(-4, 4, 161)

    def apart(one, other):
        return np.maximum(one - np.exp(epsilons)[:, None] * other, 0).sum(axis=1)

    neighbours = [((x, y), (NOTHING, y)) for x in (0, 1) for y in values] + [
        ((y, x), (y, NOTHING)) for x in (0, 1) for y in values
    ]
    # a guarantee under this relation is one in both orders
    orders = [pair for one, other in neighbours for pair in ((one, other), (other, one))]
    worst = np.max([apart(table[one], table[other]) for one, other in orders], axis=0)
    sampled = lp.FromProfile(epsilons, worst + 1e-15, adjacency="replace_special").poisson(rate)
    for direction in ("remove", "add"):
        bound = sampled.delta(epsilons, direction=direction).upper
        for pair in neighbours:
            present, absent = (mixed(table.__getitem__, rate, data) for data in pair)
            own = apart(present, absent) if direction == "remove" else apart(absent, present)
            assert (own <= bound + 1e-14).all()


def test_dp_accounting_gives_the_same_for_one_and_for_many():
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    k, p, rate, count = 4, 0.5, 0.1, 30
    truth, uniform = 1 - p + p / k, 1 / k
    sampled_truth = (1 - rate) * uniform + rate * truth
    present = {0: math.log(sampled_truth), 1: math.log1p(-sampled_truth)}
    absent = {0: math.log(uniform), 1: math.log1p(-uniform)}
    release = count * lp.KaryRandomizedResponse(k, p, adjacency="replace_special").poisson(rate)
    for direction, (upper, lower) in zip(DIRECTIONS, ((present, absent), (absent, present)), strict=True):
        theirs = [
            pld.from_two_probability_mass_functions(lower, upper, pessimistic, 1e-5).self_compose(count)
            for pessimistic in (False, True)
        ]
        for epsilon in (0.2, 0.7):
            low, high = (one.get_delta_for_epsilon(epsilon) for one in theirs)
            ours = release.delta(epsilon, direction=direction)
            assert low <= ours.upper
            assert ours.lower <= high
            assert high - low < 2e-3 * high


@pytest.mark.parametrize(
    "make",
    [
        lambda **relation: lp.Gaussian(1.3, **relation),
        lambda **relation: lp.Laplace(2, **relation),
        lambda **relation: lp.DiscreteLaplace(2, sensitivity=2, **relation),
        *slowly(lambda **relation: lp.DiscreteGaussian(2, **relation)),
        lambda **relation: lp.GaussianMixture(2, [0, 1], [0.5, 0.5], **relation),
        lambda **relation: lp.RandomizedResponse(0.7, **relation),
        lambda **relation: lp.ApproximateDP(1, 1e-4, **relation),
        lambda **relation: lp.Discrete([0.5, 0.3, 0.2], [0.2, 0.2, 0.6], **relation),
    ],
)
def test_nothing_and_absence_have_one_pair(make):
    special, absent = (3 * make(adjacency=relation).poisson(0.2) for relation in ("replace_special", "add_remove"))
    for direction in ("remove", "add"):
        assert special.delta(0.4, direction=direction).same_as(absent.delta(0.4, direction=direction))
    assert special.adjacency is lp.Adjacency.REPLACE_SPECIAL


def test_a_group_of_values_becomes_nothing():
    special, absent = (
        lp.Gaussian(2, adjacency=relation).poisson(0.1, group_size=3) for relation in ("replace_special", "add_remove")
    )
    assert (20 * special).epsilon(1e-5).same_as((20 * absent).epsilon(1e-5))


def test_relations_that_do_not_follow_are_refused():
    special = lp.KaryRandomizedResponse(3, 0.5, adjacency="replace_special")
    for wanted in ("add_remove", "add", "remove", "replace"):
        refused(ValueError, lambda wanted=wanted: special.poisson(0.1, adjacency=wanted), "no pair under", wanted)
    refused(
        ValueError, lambda: lp.Gaussian(1).poisson(0.1, adjacency="replace_special"), "state the base under 'replace_special'"
    )
    refused(ValueError, lambda: lp.KaryRandomizedResponse(3, 0.5).poisson(0.1), "add/remove or 'replace_special'", "subset")


def test_a_report_says_what_is_taken_for_granted():
    special = lp.KaryRandomizedResponse(3, 0.5, adjacency="replace_special").poisson(0.1)
    said = " ".join(str(lp.report(special, delta=1e-5)).split())
    assert "a record which is not in a sample has the same effect there as one with the value 'nothing'" in said
    plain = " ".join(str(lp.report(lp.Gaussian(1).poisson(0.1), delta=1e-5)).split())
    assert "same effect" not in plain
