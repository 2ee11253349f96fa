"""Sampled Renyi divergences in closed form: each bound against exact sums, and each inequality behind one on a hostile grid."""

import math
from fractions import Fraction
from functools import partial
from operator import mul

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mpf

from finite import divergence
from logphi.answers.status import Side
from logphi.classical import Concentrated, Guarantee, mean_estimation, sampled_bounds, sampled_renyi
from logphi.classical.sampled_renyi import sampled_concentrated, sampled_divergence


def pair(seed, cells=5):
    p, q = np.random.default_rng(seed).dirichlet(np.full(cells, 0.6), size=2) * 0.98 + 0.02 / cells
    return p, q


def whole_sum(rho, rate, order):
    """log E[e^{rho B(B-1)}] / (order - 1), B binomial: Theorem 34 for rho-zCDP, at forty digits."""
    with mpmath.workdps(40):
        q, r = mpf(rate), mpf(rho)
        terms = [
            mpmath.binomial(order, k) * q**k * (1 - q) ** (order - k) * mpmath.expm1(r * k * (k - 1))
            for k in range(2, order + 1)
        ]
        return mpmath.log1p(mpmath.fsum(terms)) / (order - 1)


# ---------------------------------------------------------------------------------------------- Theorem 35


@pytest.mark.few(13)
@pytest.mark.parametrize("rate", [0.0, 1e-30, 1e-9, 0.02, 0.4, 0.7, 0.99, 1 - 1e-9, 1.0])
@pytest.mark.parametrize("order", [1.0001, 1.3, 2.0, 2.5, 17.0, 300.0])
def test_the_inequality_of_theorem_35(rate, order):
    with mpmath.workdps(80):
        q, a = mpf(rate), mpf(order)
        share = (2 * a - 1) * q / ((2 * a - 1) * q + 3 * (1 - q))
        slope = (1 - share) * a * q + share * (1 - a * q) - (1 - a) * q
        for power in [*np.linspace(-50, 50, 51), *np.linspace(-0.3, 0.3, 13), 1e-3, -1e-3, 1e-6]:
            x = mpmath.exp(mpf(power))
            w = 1 - q + q * x
            left, right = (1 - share) * w**a + share * x * (1 - q + q / x) ** a, w ** (1 - a)
            assert left - right >= slope * (x - 1) - mpf(10) ** -60 * (1 + left)


def test_the_step_below_order_two():
    """Lemma 36 to a negative power fails; the identity that is used in its place holds exactly."""
    p, x = Fraction(1, 2), Fraction(4)
    assert float((1 - p + p / x) * (1 - p + p * x)) ** (1.5 - 2) == pytest.approx(0.8)
    for rate in (Fraction(0), Fraction(1, 7), Fraction(1, 2), Fraction(9, 10), Fraction(1)):
        for r in (Fraction(1, 50), Fraction(2, 3), Fraction(1), Fraction(5, 3), Fraction(30)):
            w, s = 1 - rate + rate * r, rate + (1 - rate) * r
            gap = w**2 - (1 - 3 * (1 - rate) * (r - 1)) * r**2 * s
            assert gap == (1 - rate) * (r - 1) ** 2 * (3 * (1 - rate) * r**2 + 2 * r + 1 - rate) >= 0


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), rate=st.floats(1e-6, 1), order=st.floats(1.01, 20))
def test_the_reversed_order_holds_of_pairs(seed, rate, order):
    p, q = pair(seed)
    mixed, other = rate * p + (1 - rate) * q, rate * q + (1 - rate) * p
    forward, swapped = divergence(mixed, q, order), divergence(other, p, order)
    found = sampled_bounds.reversed_divergence(max(forward, 0), max(swapped, 0), order, rate)
    assert divergence(q, mixed, order) - 1e-12 <= found.value <= max(forward, swapped, 0) + 1e-15


# ---------------------------------------------------------------------------------------------- Propositions 41 and 42


@pytest.mark.slow
@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), rate=st.floats(1e-6, 0.632), order=st.floats(1.01, 20), more=st.floats(1, 5))
def test_closed_bounds_hold_of_pairs(seed, rate, order, more):
    p, q = pair(seed)
    truth = divergence(rate * p + (1 - rate) * q, q, order)

    def base(a):
        return max(divergence(p, q, a), 0) * (1 + 1e-12)

    found = [
        sampled_bounds.analytic_divergence(base, order, rate),
        sampled_bounds.analytic_divergence(base, order, rate, last=order * more),
        sampled_bounds.large_order_divergence(base(order), order, rate),
    ]
    assert all(one.side is Side.UPPER and one.value >= truth - 1e-12 for one in found)
    least = sampled_bounds.least_divergence(max(divergence(p, q, order), 0) * (1 - 1e-12), order, rate)
    assert least.side is Side.LOWER
    assert least.value <= truth + 1e-12


def test_proposition_41_is_its_formula():
    rho, rate = 0.5, 0.05
    for order, last in ((1.5, 3.0), (3.0, 4.0), (6.0, 6.0)):
        tail = ((order - 1) * rate) ** last * math.exp((last - 1) * rho * last)
        inner = 1 + math.e / 2 * order * (order - 1) * rate**2 * math.expm1(2 * rho) + tail
        found = sampled_bounds.analytic_divergence(lambda a: rho * a, order, rate, last=last).value
        assert found == pytest.approx(math.log(inner) / (order - 1), rel=1e-12)
        # the second line of the proposition is weaker
        weaker = order * math.e / 2 * rate**2 * math.expm1(2 * rho)
        weaker += rate * ((order - 1) * rate * math.exp(rho * last)) ** (last - 1)
        assert found <= weaker
        best = sampled_bounds.analytic_divergence(lambda a: rho * a, order, rate).value
        assert best <= found


def test_the_best_last_order_is_that_of_the_parabola():
    """omega log((a-1) p) + (omega - 1) omega rho is least at (1 + log(1/((a-1) p)) / rho) / 2."""
    for rho, rate, order in ((0.5, 0.05, 2.5), (0.01, 1e-3, 7.0), (1e-4, 0.01, 3.0)):
        last = max(order, (1 - math.log((order - 1) * rate) / rho) / 2)
        best = sampled_bounds.analytic_divergence(partial(mul, rho), order, rate).value
        known = sampled_bounds.analytic_divergence(partial(mul, rho), order, rate, last=last).value
        assert best == pytest.approx(known, rel=1e-6)


def test_large_orders_meet_their_limit():
    gaps = []
    for order in (20.0, 50.0, 200.0):
        upper = sampled_bounds.large_order_divergence(0.5 * order, order, 0.05).value
        lower = sampled_bounds.least_divergence(0.5 * order, order, 0.05).value
        exact = float(whole_sum(0.5, 0.05, int(order)))
        assert lower <= exact <= upper
        gaps.append(upper - lower)
    assert gaps[0] > gaps[1] > gaps[2] < 1e-12


def test_closed_bounds_at_the_ends():
    for rate, value in ((0.0, 0.0), (1.0, 2.0)):
        assert sampled_bounds.large_order_divergence(2.0, 3.0, rate).value == value
        assert sampled_bounds.least_divergence(2.0, 3.0, rate).value == value
    assert sampled_bounds.analytic_divergence(lambda a: a, 3.0, 0.0).value == 0
    assert sampled_bounds.analytic_divergence(lambda a: math.inf, 3.0, 0.1).value == math.inf
    assert sampled_bounds.large_order_divergence(math.inf, 3.0, 0.1).value == math.inf
    assert sampled_bounds.large_order_divergence(0.0, 3.0, 0.1).value == 0
    assert sampled_bounds.reversed_divergence(0.1, math.inf, 3.0, 0.1).value == math.inf
    assert sampled_bounds.large_order_divergence(1e5, 3.0, 1e-300).value < 1e5
    for bad in (1.0, 0.5, math.nan):
        with pytest.raises(ValueError, match="order"):
            sampled_bounds.large_order_divergence(1.0, bad, 0.1)
    with pytest.raises(ValueError, match="1 - 1/e"):
        sampled_bounds.analytic_divergence(lambda a: a, 3.0, 0.7)
    with pytest.raises(ValueError, match="at least the order"):
        sampled_bounds.analytic_divergence(lambda a: a, 3.0, 0.1, last=2.0)
    with pytest.raises(ValueError, match="never negative"):
        sampled_bounds.least_divergence(-1.0, 3.0, 0.1)


# ------------------------------------------------------------------------------------------------------- Theorem 38

HOSTILE = [
    (rho, rate)
    for rho in (1e-6, 1e-4, 0.01, 0.0999, 0.1, 0.2, 0.5, 0.99, 1.0)
    for rate in (0.5, 0.49, 0.3, math.exp(-2), 0.05, 1e-3, 1e-6, 1e-20, 1e-200)
]


@pytest.mark.few(4)
@pytest.mark.parametrize(("rho", "rate"), HOSTILE)
def test_the_wider_theorem_38(rho, rate):
    """Whole orders up to L + 1, with the constant 7 of the proof, and real ones by chords."""
    last = math.log(1 / rate) / (4 * rho)
    top = min(math.floor(last + 1), 400)
    for order in {2, 3, 4, 5, 7, 30, top // 2, top - 1, top}:
        if 2 <= order <= top:
            assert whole_sum(rho, rate, order) <= 7 * mpf(rate) ** 2 * mpf(rho) * order
    if last > 1:
        curve = sampled_concentrated(Concentrated(rho), rate)
        assert curve.interval[1] == pytest.approx(last, rel=1e-12)
        for order in np.linspace(1, min(last, 30), 7)[1:-1]:
            low = math.floor(order)
            below, above = (0 if a == 1 else (a - 1) * whole_sum(rho, rate, a) for a in (low, low + 1))
            chord = ((low + 1 - order) * below + (order - low) * above) / (order - 1)
            assert chord <= mpf(curve.divergence(float(order)))
            assert mpf(curve.divergence(float(order))) >= 10 * mpf(rate) ** 2 * mpf(rho) * mpf(float(order))


@pytest.mark.parametrize("rate", [0.5, 0.3, math.exp(-2), 0.01, 1e-12])
def test_the_steps_of_the_proof_for_weak_budgets(rate):
    """E'[e^{2 rho B} - 1] under the tilted binomial law, against its bound."""
    for rho in (1e-4, 0.01, 0.0999):
        last = math.log(1 / rate) / (4 * rho)
        for m in {1, 2, math.floor(min(last, 300))}:
            if not 1 <= m <= last:
                continue
            with mpmath.workdps(30):
                q = mpf(rate)
                law = [mpmath.binomial(m, k) * q**k * (1 - q) ** (m - k) * mpmath.exp(rho * k * (k - 1)) for k in range(m + 1)]
                mean = mpmath.fsum(w * mpmath.expm1(2 * rho * k) for k, w in enumerate(law)) / mpmath.fsum(law)
                assert mean <= mpmath.expm1(2 * rho) * m * q * mpmath.exp(mpf("0.91"))


def test_figure_2_has_an_answer():
    """p = 0.05 and rho = 0.5 are outside the hypothesis of Theorem 38, and inside what is proved here."""
    curve = sampled_concentrated(Concentrated(0.5), 0.05)
    for order in (1.1, 1.49):
        assert sampled_divergence([1.0], 0.05).value <= curve.divergence(order)
    assert curve.limit(np.array([0.6])) == math.inf
    # beyond the last order nothing is promised
    assert curve.divergence(curve.interval[1]) == curve.divergence(100.0) == curve.divergence(1.0) == math.inf
    with pytest.raises(ValueError, match="tilt = 0"):
        sampled_concentrated(Concentrated(0.5, tilt=0.1), 0.05)


def test_orders_next_to_the_largest_double():
    found = sampled_bounds.analytic_divergence(lambda order: 0.5 * order, 1.7e308, 0.05)
    assert found.value >= sampled_bounds.least_divergence(0.5 * 1.7e308, 1.7e308, 0.05).value


# ------------------------------------------------------------------------------------------------- Theorem 25


def test_theorem_25_is_its_formula():
    found = mean_estimation.mean_error(Guarantee(1.0, 1e-8), 1000, 1_000_000)
    assert found.side is Side.LOWER
    assert found.value == pytest.approx(1000 / (16 * 1000 * math.expm1(1)), rel=1e-13)
    assert mean_estimation.mean_error(Guarantee(0.0), 10, 1).value < mpf(1) / 10
    assert mean_estimation.mean_error(Guarantee(1e-300), 10, 1).value == pytest.approx(0.1)
    # both hypotheses, at their last allowed value and beyond
    assert mean_estimation.mean_error(Guarantee(math.log(2), 1e-4), 100, 20_000).value == pytest.approx(math.sqrt(2) / 16)
    with pytest.raises(ValueError, match="implied_mean_error"):
        mean_estimation.mean_error(Guarantee(math.log(2), 1e-4), 100, 19_999)
    with pytest.raises(ValueError, match="implied_mean_error"):
        mean_estimation.mean_error(Guarantee(math.log(2), 1.01e-4), 100, 20_000)
    with pytest.raises(ValueError, match="compose them first"):
        mean_estimation.mean_error(Guarantee(0.1, count=2), 100, 20_000)
    with pytest.raises(ValueError, match="records"):
        mean_estimation.mean_error(Guarantee(0.1), 0, 20_000)


@pytest.mark.parametrize("epsilon", [1e-9, 0.01, 0.5, 1.0, 3.0])
@pytest.mark.parametrize(
    ("records", "queries", "delta"), [(10, 1, 0.0), (1000, 10**6, 1e-6), (50, 10**9, 1e-3), (7, 100, 0.01)]
)
def test_the_implied_error_solves_the_inequality_of_the_proof(epsilon, records, queries, delta):
    with mpmath.workdps(40):
        c, n, k, d = mpmath.expm1(mpf(epsilon)), mpf(records), mpf(queries), mpf(delta)

        def gap(x):
            return n * c * mpmath.sqrt((2 * x + 1 / (3 * n)) / k) - (mpf(1) / 6 - 2 * x - 4 * n * d)

        truth = mpf(0)
        if gap(0) < 0:
            low, high = mpf(0), mpf(1)
            for _ in range(140):
                low, high = ((low + high) / 2, high) if gap((low + high) / 2) < 0 else (low, (low + high) / 2)
            truth = mpmath.sqrt(low)
        found = mean_estimation.implied_mean_error(Guarantee(epsilon, delta), records, queries).value
        assert found <= truth * (1 + mpf("1e-30"))
        assert found == pytest.approx(float(truth), rel=1e-9)


def test_the_implied_error_is_never_below_the_theorem():
    for epsilon in (0.01, 0.3, 1.0):
        for records in (10, 1000):
            queries = math.ceil(200 * math.expm1(epsilon) ** 2 * records) + 1
            for factor in (1, 100, 10**5):
                simple = mean_estimation.mean_error(Guarantee(epsilon, 1e-6), records, queries * factor).value
                assert simple <= mean_estimation.implied_mean_error(Guarantee(epsilon, 1e-6), records, queries * factor).value


def test_no_mechanism_beats_the_bound():
    """The constant 1/2 is private for free and errs by 1/2; Gaussian noise with a budget errs by sigma."""
    assert mean_estimation.implied_mean_error(Guarantee(0.0), 10, 5).value == pytest.approx(1 / math.sqrt(12))
    for rho, records, queries in ((0.5, 1000, 10**6), (0.01, 100, 10**5), (2.0, 50, 10**4)):
        # replacing a record moves the mean by sqrt(k) / n
        sigma = math.sqrt(queries) / records / math.sqrt(2 * rho)
        found = mean_estimation.concentrated_mean_error(Concentrated(rho), records, queries).value
        assert 0 <= found <= min(sigma, 0.5)
    assert mean_estimation.concentrated_mean_error(Concentrated(0.0), 10, 5).value == pytest.approx(1 / math.sqrt(12))
    assert mean_estimation.concentrated_mean_error(Concentrated(1e-14), 10, 5).value <= 1 / math.sqrt(12)
    with pytest.raises(ValueError, match="both directions"):
        mean_estimation.concentrated_mean_error(Concentrated(0.1, both=False), 10, 5)


def test_all_orders_of_a_sample():
    from logphi.classical.divergence_curve import between_orders

    curve = between_orders(sampled_renyi.sampled_curve(lambda a: 0.5 * a, 0.05, 12))
    for order in (1.5, 2.5, 7.25):
        exact = mpmath.quad(
            lambda y, a=order: mpmath.npdf(y) * (0.95 + 0.05 * mpmath.exp(y - 0.5)) ** a, [-12, 0, 4, order, order + 12]
        )
        assert curve.divergence(order) >= mpmath.log(exact) / (order - 1)
        # the next whole order is what the document takes
        assert curve.divergence(order) <= sampled_divergence([0.5 * a for a in range(2, math.ceil(order) + 1)], 0.05).value
