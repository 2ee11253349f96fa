"""Attacks on shuffled reports: against all reports, counted one record after another."""

import math

import numpy as np
import pytest

import logphi as lp
from logphi.pairs.counted_reports import three_symbols, two_symbols

# what the joined cells may lose, relative to delta
LOST = 5e-3


def counted(laws):
    """The law of how often the first and the second symbol are reported, by convolution of one report after another."""
    found = np.ones((1, 1))
    for first, second in laws:
        grown = np.zeros((found.shape[0] + 1, found.shape[1] + 1))
        grown[1:, :-1] += first * found
        grown[:-1, 1:] += second * found
        grown[:-1, :-1] += (1 - first - second) * found
        found = grown
    return found.ravel()


def excess(pair, at, order=1):
    p, q = pair[::order]
    return float(np.maximum(np.asarray(p) - math.exp(at) * np.asarray(q), 0).sum())


@pytest.mark.parametrize(("epsilon", "records"), [(0.25, 2), (1.0, 1), (1.0, 12), (3.0, 30), (6.0, 9)])
def test_few_reports_are_counted(epsilon, records):
    two, three = 1 / (1 + math.exp(epsilon)), 1 / (2 + math.exp(epsilon))
    same = counted([(two, 0.0)] * records), counted([(two, 0.0)] * (records - 1) + [(1 - two, 0.0)])
    rest = [(three, three)] * (records - 1)
    mixed = counted([*rest, (1 - 2 * three, three)]), counted([*rest, (three, 1 - 2 * three)])
    for pair, exact in ((two_symbols(epsilon, records), same), (three_symbols(epsilon, records), mixed)):
        assert pair.omitted_mass < 1e-30
        assert math.fsum(pair.p) == pytest.approx(1, abs=1e-11)
        for order in (1, -1):
            for at in (-0.3 * epsilon, 0.0, 0.2 * epsilon, 0.8 * epsilon):
                found, truth = excess((pair.p, pair.q), at, order), excess(exact, at, order)
                assert truth * (1 - LOST) - 1e-12 <= found <= truth + 1e-12


@pytest.mark.parametrize(("epsilon", "records"), [(0.05, 3), (1.0, 20), (1.0, 3000), (2.5, 2000), (9.0, 50)])
def test_the_pair_of_the_clones_is_above(epsilon, records):
    mechanism = lp.ShuffledReports(epsilon, records)
    most = mechanism.epsilon(1e-9).upper
    for order in ("remove", "add"):
        places = np.array([0.0, 0.1, 0.5, 0.9]) * most
        found = mechanism.delta(places, direction=order)
        # the ends of a bracket are in order whatever the attack
        for pair in (two_symbols(epsilon, records), three_symbols(epsilon, records)):
            attained = [excess((pair.p, pair.q), at, 1 if order == "remove" else -1) for at in places.tolist()]
            assert (np.array(attained) <= found.upper).all()
        # and not far apart
        assert found.lower[0] > 0.45 * found.upper[0]


def test_the_range_of_parameters():
    # two laws that hardly meet, and two that hardly differ
    assert lp.ShuffledReports(300, 50).delta(1.0).lower > 1 - 1e-9
    least = lp.ShuffledReports(1e-6, 50).delta(0.0)
    assert 0.5 * least.upper < least.lower <= least.upper


@pytest.mark.slow
def test_a_billion_reports():
    found = lp.ShuffledReports(1.0, 10**9).epsilon(1e-6)
    assert 0.65 * found.upper < found.lower < found.upper
