"""Spans that lattices have in common, and lattice compositions against exact sums."""

import math

import mpmath
import pytest
from mpmath import exp, log, mpf

import logphi as lp
from exact import contains, dec
from logphi.arith.protocol import Plain
from logphi.laws.atomic.finite import Finite
from logphi.laws.flat.two_point import TwoPoint
from logphi.laws.log_phi import LogPhi
from logphi.laws.spans import common_span

DIGITS = 60
# the promised width, and what the rounding of the exponents may add to it in far tails
RTOL = 1e-9


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([1.0], 1.0),
        ([2.0, 3.0], 1.0),
        ([0.5, 0.75, 1.0], 0.25),
        ([math.log(2), math.log(4), math.log(8)], math.log(2)),
        ([0.1, 0.3], 0.1),
        ([1e-6, 7e-6], 1e-6),
        ([4.0, 6.0, 10.0], 2.0),
    ],
)
def test_common_span(spans, expected):
    found = common_span([(span, 4e-16 * span) for span in spans])
    assert found is not None
    span, wrong = found
    assert span == pytest.approx(expected, rel=1e-14)
    for own in spans:
        assert abs(own - round(own / span) * span) <= wrong
    assert wrong <= 1e-14 * max(spans)


@pytest.mark.parametrize("spans", [[1.0, math.sqrt(2)], [1.0, 1 + 1e-9], [math.log(2), math.log(3)], [1.0, 1 / 30011]])
def test_incommensurable_spans_have_none(spans):
    assert common_span([(span, 4e-16 * span) for span in spans]) is None


def test_no_span_is_infinite():
    assert common_span([]) == (math.inf, 0.0)


def binomial_profile(p, n, eps):
    """E_P[(1 - e^{eps - L})_+] over Binomial(n, p) answers that are the truth: L = (2 j - n) log(p/(1-p))."""
    # products of n factors lose digits
    with mpmath.extradps(10):
        odds, at, total = p / (1 - p), exp(eps), mpf(0)
        # e^{-L} and the probability of one outcome, for j = 0, 1 ...
        falls, chance = odds**n, (1 - p) ** n
        for j in range(n + 1):
            if at * falls < 1:
                total += math.comb(n, j) * chance * (1 - at * falls)
            falls, chance = falls / odds**2, chance * odds
    return +total


def shares(n):
    return [-0.999, -0.4, -0.03, 0.0, 0.02, 0.3, 0.7, 0.95, 1 - 1e-3 / n]


@pytest.mark.few(2)
@pytest.mark.parametrize("p", [0.75, 0.500001, 0.2, 0.99])
@pytest.mark.parametrize("n", [1, 2, 3, 10, 99])
@pytest.mark.parametrize("method", [None, "lattice"])
def test_randomized_response_equals_binomial_sums(p, n, method):
    release = n * lp.RandomizedResponse(p=p)
    top = n * abs(math.log(p / (1 - p)))
    with mpmath.workdps(DIGITS):
        for share in shares(n):
            epsilon = share * top
            exact = binomial_profile(max(dec(p), 1 - dec(p)), n, dec(epsilon))
            bound = release.delta(epsilon, method=method)
            assert contains(bound, exact), (epsilon, mpmath.nstr(exact, 20))
            # where p is next to 1/2, and next to the end of the support, half an ulp of p and of epsilon is felt
            if method is None and exact > 1e-250 and p != 0.500001:
                assert bound.upper - bound.lower <= (20 if share > 0.99 else 2) * RTOL * float(exact), (epsilon, bound)


@pytest.mark.few(1)
@pytest.mark.parametrize(("p", "n"), [(0.6, 500), pytest.param(0.52, 2000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("share", [-0.9, -0.1, 0.01, 0.1, 0.3, 0.6, 0.9])
def test_many_responses_down_to_small_deltas(p, n, share):
    release = n * lp.RandomizedResponse(p=p)
    epsilon = share * n * math.log(p / (1 - p))
    with mpmath.workdps(900):  # next to 1 the logarithm is that of a very small gap
        exact = binomial_profile(dec(p), n, dec(epsilon))
        bound, log_bound = release.delta(epsilon), release.log_delta(epsilon)
        assert contains(bound, exact)
        assert contains(log_bound, log(exact))
        if exact > 1e-250:
            assert bound.upper - bound.lower <= 2 * RTOL * float(exact)


@pytest.mark.parametrize("n", [1, 2, 7, 150])
def test_thresholds_on_and_next_to_lattice_points(n):
    p = 0.7
    release = n * lp.RandomizedResponse(p=p)
    with mpmath.workdps(DIGITS):
        for j in {0, 1, n // 2, n - 1, n}:
            exact_point = (2 * j - n) * log(dec(p) / (1 - dec(p)))
            for epsilon in (float(exact_point), float(exact_point) * (1 + 1e-13), float(exact_point) * (1 - 1e-9)):
                exact = binomial_profile(dec(p), n, dec(epsilon))
                for method in (None, "lattice"):
                    bound = release.delta(epsilon, method=method)
                    assert contains(bound, exact), (epsilon, method, mpmath.nstr(exact, 20))


def test_beyond_the_support():
    release = 10 * lp.RandomizedResponse(p=0.7)
    top = 10 * math.log(0.7 / 0.3)
    assert release.delta(top * 1.0001).upper == 0
    below = release.delta(-top * 1.01)
    with mpmath.workdps(DIGITS):
        assert contains(below, 1 - exp(dec(-top * 1.01)))


@pytest.mark.parametrize(("counts", "epsilon"), [((30, 20), 1.5), ((3, 2), -0.5), ((200, 5), 20.0), ((1, 1), 0.05)])
def test_commensurable_guarantees_share_a_lattice(counts, epsilon):
    release = counts[0] * lp.PureDP(epsilon=0.1) + counts[1] * lp.PureDP(epsilon=0.25)
    assert release.delta(epsilon).method in ("lattice", "exact")
    with mpmath.workdps(DIGITS):
        one, two = (1 / (1 + exp(-dec(e))) for e in (0.1, 0.25))
        exact = mpf(0)
        for i in range(counts[0] + 1):
            for j in range(counts[1] + 1):
                loss = (2 * i - counts[0]) * dec(0.1) + (2 * j - counts[1]) * dec(0.25)
                if loss > dec(epsilon):
                    mass = mpmath.binomial(counts[0], i) * one**i * (1 - one) ** (counts[0] - i)
                    mass *= mpmath.binomial(counts[1], j) * two**j * (1 - two) ** (counts[1] - j)
                    exact += mass * (1 - exp(dec(epsilon) - loss))
        for method in (None, "lattice"):
            assert contains(release.delta(epsilon, method=method), exact)


@pytest.mark.parametrize("epsilon", [-3.0, 0.0, 0.5, 4.0, 9.0])
def test_failures_compose_with_the_lattice(epsilon):
    n, e, d = 12, 0.8, 1e-6
    release = n * lp.ApproximateDP(epsilon=e, delta=d)
    with mpmath.workdps(DIGITS):
        survives = (1 - dec(d)) ** n
        exact = 1 - survives + survives * binomial_profile(1 / (1 + exp(-dec(e))), n, dec(epsilon))
        bound = release.delta(epsilon)
        assert contains(bound, exact)
        assert bound.upper - bound.lower <= 2 * RTOL * float(exact)


def test_smallest_and_largest_epsilons_of_a_guarantee():
    for e in (1e-12, 1e-3, 50.0, 600.0):
        release = 4 * lp.PureDP(epsilon=e)
        with mpmath.workdps(300):
            for share in (-0.5, 0.1, 0.9):
                exact = binomial_profile(1 / (1 + exp(-dec(e))), 4, dec(share * 4 * e))
                assert contains(release.delta(share * 4 * e), exact), (e, share)


def test_lattices_of_sums():
    fine = LogPhi.of([(TwoPoint(Plain(0.1)), 3), (TwoPoint(Plain(0.25)), 2)]).support.lattice
    assert fine is not None
    assert fine.span == pytest.approx(0.1)
    assert fine.offset == pytest.approx(-0.8)
    assert LogPhi.of([(TwoPoint(Plain(1.0)), 1), (TwoPoint(Plain(math.pi)), 1)]).support.lattice is None
    cells = Finite((0.5, 0.25, 0.25), (0.25, 0.5, 0.25)).support.lattice
    assert cells is not None
    assert cells.span == pytest.approx(math.log(2))


@pytest.mark.parametrize("delta", [1e-3, 1e-12, 1e-100, 1e-200])
def test_epsilon_inverts_the_exact_profile(delta):
    n, p = 400, 0.6
    bound = (n * lp.RandomizedResponse(p=p)).epsilon(delta)
    with mpmath.workdps(DIGITS):
        assert binomial_profile(dec(p), n, mpf(bound.upper)) <= dec(delta)
        assert binomial_profile(dec(p), n, mpf(bound.lower)) >= dec(delta)
    # below the mass of the last atom, 1e-89, epsilon is next to the end of the support
    if delta > 1e-80:
        assert bound.width <= RTOL * max(1, bound.value)
