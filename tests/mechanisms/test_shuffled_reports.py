"""Shuffled reports: against clones counted one by one, and against a randomizer whose shuffled reports are counted."""

import math
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.stats import binom

import logphi as lp
from exact import contains, dec
from logphi.laws.atomic.binomial import log_binomial, log_chernoff
from refusals import refused

DIGITS = 40
# what the lattice of losses may add to epsilon, and to delta where it is not far out
ADDED = 1e-7


def counted(epsilon, records):
    """Probabilities of clones of the two kinds and of the record's own report under P and Q: every step by itself."""
    others, e = records - 1, mpmath.exp(dec(epsilon))
    clone, truth = 1 / e, e / (1 + e)
    p: dict[tuple[int, int], Any] = {}
    q: dict[tuple[int, int], Any] = {}
    for c in range(others + 1):
        chance = math.comb(others, c) * clone**c * (1 - clone) ** (others - c)
        for a in range(c + 1):
            mass = chance * math.comb(c, a) / dec(2) ** c
            for kind, own in ((1, truth), (0, 1 - truth)):
                place = (a + kind, c - a + 1 - kind)
                p[place] = p.get(place, 0) + mass * own
                q[place] = q.get(place, 0) + mass * (1 - own)
    return p, q


def excess(p, q, epsilon):
    factor = mpmath.exp(dec(epsilon))
    return sum(max(mass - factor * q[place], 0) for place, mass in p.items())


@pytest.mark.parametrize(("epsilon", "records"), [(1.0, 1), (0.25, 2), (1.0, 7), (3.0, 12), (8.0, 30), (1.0, 20)])
@pytest.mark.parametrize("at", [-0.5, 0.0, 0.125, 0.75])
def test_few_reports_are_the_clones(epsilon, records, at):
    with mpmath.workdps(DIGITS):
        p, q = counted(epsilon, records)
        exact = excess(p, q, at * epsilon)
    found = lp.ShuffledReports(epsilon, records).delta(at * epsilon)
    assert contains(found, exact)
    assert found.width <= 1e-9 * found.value


def test_two_rounds_are_the_product():
    with mpmath.workdps(DIGITS):
        p, q = counted(1.0, 6)
        pairs = list(product(p, p))
        exact = excess({ab: p[ab[0]] * p[ab[1]] for ab in pairs}, {ab: q[ab[0]] * q[ab[1]] for ab in pairs}, 0.4)
    assert contains((2 * lp.ShuffledReports(1.0, 6)).delta(0.4), exact)


@pytest.mark.parametrize(("epsilon", "records"), [(1.0, 60), (0.5, 300), (4.0, 1000)])
def test_many_reports_are_the_clones_or_hardly_more(epsilon, records):
    c = np.arange(records)[:, None]
    a = np.arange(records)
    mass = binom.pmf(c, records - 1, math.exp(-epsilon)) * binom.pmf(a, c, 0.5)
    truth = 1 / (1 + math.exp(-epsilon))
    p, q = (np.zeros((records, records + 1)) for _ in range(2))
    for vector, own in ((p, truth), (q, 1 - truth)):
        vector[:, 1:] += own * mass
        vector[:, :-1] += (1 - own) * mass
    mechanism = lp.ShuffledReports(epsilon, records)
    reach = 4 / math.sqrt(1 + (records - 1) * math.exp(-epsilon))
    for at in (0.0, 0.1 * min(reach, epsilon), 0.5 * min(reach, epsilon)):
        exact = float(np.maximum(p - math.exp(at) * q, 0).sum())
        found = mechanism.delta(at)
        assert found.upper >= exact * (1 - 1e-9)
        assert found.lower <= exact * (1 + 20 * ADDED)


def test_rounds_of_many_reports():
    """Losses of two thousand reports, rounded to the nearest of many places and convolved by one Fourier transform."""
    records, rounds, at = 2000, 10, 0.3
    mean, wide = records * math.exp(-1), 10 * math.sqrt(records * math.exp(-1))
    c = np.arange(round(mean - wide), round(mean + wide))[:, None]
    a = c // 2 + np.arange(-round(wide), round(wide))
    mass = binom.pmf(c, records - 1, math.exp(-1)) * binom.pmf(a, c + 1, 0.5)
    loss = np.log((a + math.exp(-1) * (c + 1 - a)) / (math.exp(-1) * a + c + 1 - a))
    mass = mass * 2 * (a + math.exp(-1) * (c + 1 - a)) / ((1 + math.exp(-1)) * (c + 1))
    step, size = 4e-6, 1 << 21
    place = np.rint(loss / step).astype(int) % size
    sums = np.fft.irfft(np.fft.rfft(np.bincount(place.ravel(), mass.ravel(), size)) ** rounds, size)
    losses = np.fft.fftfreq(size, 1 / size) * step
    exact = float((sums * np.maximum(-np.expm1(at - losses), 0)).sum())
    found = (rounds * lp.ShuffledReports(1.0, records)).delta(at)
    assert found.value == pytest.approx(exact, rel=1e-6)
    assert found.width <= 1e-8 * found.value


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [2, 10, 1000])
def test_rounds_of_a_billion_reports_are_narrow(rounds):
    """Rounds add variances, as records do: many rounds leak about as much as one with fewer records."""
    found = (rounds * lp.ShuffledReports(1.0, 10**9)).epsilon(1e-6)
    assert found.width <= 1e-7 * found.value
    assert found.value == pytest.approx(lp.ShuffledReports(1.0, 10**9 // rounds).epsilon(1e-6).value, rel=1e-4)


@pytest.mark.parametrize("records", [1, 2, 5, 9])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_randomized_responses_that_are_counted_leak_less(records, epsilon):
    """The others hold all values in turn; the number of ones is all that the shuffled reports tell."""
    truth = 1 / (1 + math.exp(-epsilon))
    mechanism = lp.ShuffledReports(epsilon, records)
    for ones in range(records):
        others = np.convolve(
            binom.pmf(np.arange(ones + 1), ones, truth), binom.pmf(np.arange(records - ones), records - 1 - ones, 1 - truth)
        )
        p, q = (np.convolve(others, own) for own in ([1 - truth, truth], [truth, 1 - truth]))
        for at in (0.0, 0.2, 0.9 * epsilon):
            worst = max(np.maximum(p - math.exp(at) * q, 0).sum(), np.maximum(q - math.exp(at) * p, 0).sum())
            assert worst <= mechanism.delta(at).upper + 1e-15


@pytest.mark.slow
def test_more_reports_hide_more_up_to_a_billion():
    found = [lp.ShuffledReports(2.0, records).epsilon(1e-8) for records in (10, 1000, 10**4)]
    assert all(fewer.lower > more.upper for fewer, more in pairwise(found))
    assert lp.ShuffledReports(2.0, 10**4).epsilon(0.0).upper == pytest.approx(2.0, abs=1e-9)


@pytest.mark.slow
def test_a_billion_reports():
    """Between those of ten times fewer and what is known of their scale: epsilon falls with the root of their number."""
    many, more = (lp.ShuffledReports(1.0, records).epsilon(1e-6) for records in (10**8, 10**9))
    assert many.value / more.value == pytest.approx(math.sqrt(10), rel=0.5)
    assert more.upper < many.lower
    assert lp.ShuffledReports(1.0, 10**9).delta(0.0).value == pytest.approx(
        math.tanh(0.5) * math.sqrt(2 / math.pi / (10**9 * math.exp(-1))), rel=1e-5
    )


def test_the_ends_of_the_range():
    assert lp.ShuffledReports(0, 1000).delta(0.0).upper == 0
    assert lp.ShuffledReports(1, 1).delta(0.5).value == pytest.approx(lp.PureDP(1).delta(0.5).value, rel=1e-11)
    assert lp.ShuffledReports(300, 50).delta(1.0).lower > 1 - 1e-9
    assert lp.ShuffledReports(1e-6, 50).epsilon(0).upper <= 1e-6 * (1 + 1e-5)


@pytest.mark.parametrize(
    ("arguments", "kind", "needles"),
    [
        ((-1, 10), ValueError, ["local_epsilon", "negative"]),
        ((1e-9, 10), ValueError, ["local_epsilon", "1e-06", "PureDP"]),
        ((400, 10), ValueError, ["local_epsilon", "300"]),
        ((1, 0), ValueError, ["records", "from 1"]),
        ((1, 2.5), TypeError, ["records", "integer"]),
        ((1, 10**10), ValueError, ["records", "1000000000"]),
        (("1", 10), TypeError, ["local_epsilon"]),
    ],
)
def test_bad_input_is_refused_by_name(arguments, kind, needles):
    refused(kind, lambda: lp.ShuffledReports(*arguments), *needles)


def test_samples_and_groups_are_refused():
    one = lp.ShuffledReports(1, 20)
    refused(ValueError, lambda: one.poisson(0.1), "number is random", "upper bound")
    refused(ValueError, lambda: one.group(2), "group of 2 records")


@pytest.mark.parametrize("size", [1, 3, 15, 16, 40, 1000, 10**6])
def test_binomial_probabilities_and_their_chernoff_bounds(size):
    rng = np.random.default_rng(size)
    for p in (0.5, float(rng.random()), 1e-5, 1 - 2.0**-20):
        counts = {
            0,
            size,
            *(int(np.clip(round(size * p + d * math.sqrt(size * p * (1 - p))), 0, size)) for d in (-5, -1, 0, 0.3, 6)),
        }
        for k in counts:
            away = float(k - Fraction(p) * size)
            log, error = log_binomial(np.array([float(size)]), np.array([float(k)]), np.array([away]), p)
            with mpmath.workdps(DIGITS):
                exact = (
                    mpmath.log(math.comb(size, k))
                    if size < 10**5
                    else sum(s * mpmath.loggamma(m + 1) for s, m in ((1, size), (-1, k), (-1, size - k)))
                )
                exact += k * mpmath.log(mpmath.mpf(p)) + (size - k) * mpmath.log(1 - mpmath.mpf(p))
                assert abs(exact - float(log[0])) <= float(error[0]) < 1e-9 * (1 + abs(exact))
            depth = float(log_chernoff(np.array([float(size)]), np.array([away]), p)[0][0])
            tail = binom.sf(k - 1, size, p) if away > 0 else binom.cdf(k, size, p)
            assert tail <= math.exp(-depth) * (1 + 1e-9)
