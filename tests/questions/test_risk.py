"""What attacks attain: closed forms, every test of finite pairs, and Gaussian curves touched by dense search."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import exp, mpf, ncdf

import logphi as lp
from directions import DIRECTIONS
from exact import contains, dec
from logphi.normal.quantile import shift_of_ends
from logphi.questions.risk import AttackRisk
from slowly import slowly

DIGITS = 30
SHARP = 1e-9
# relative, of an equivalent mu
MU = 1e-4
# what bisection in DIGITS leaves
EXACT = mpf(10) ** -20


def quantile(level):
    """The normal quantile; 2 p - 1 loses as many digits as p is small."""
    with mpmath.extradps(15):
        return mpmath.sqrt(2) * mpmath.erfinv(2 * mpf(level) - 1)


def written(numbers):
    return [Fraction(repr(float(number))) for number in numbers]


def operating_points(p, q):
    """FPR and TPR of every test of a finite pair that is not randomised."""
    cells = list(zip(p, q, strict=True))
    for chosen in itertools.product([False, True], repeat=len(cells)):
        claimed = [cell for cell, claim in zip(cells, chosen, strict=True) if claim]
        yield sum((b for _, b in claimed), Fraction(0)), sum((a for a, _ in claimed), Fraction(0))


def best_tpr(points, fpr):
    """The largest TPR of a mixture of two tests at a FPR."""
    best = max(tpr for at, tpr in points if at <= fpr)
    for (low, one), (high, other) in itertools.product(points, points):
        if low < fpr < high:
            best = max(best, one + (other - one) * (fpr - low) / (high - low))
    return best


def least_mu(points, slack=0.0):
    """The mu of the worst test: mixtures of tests are below a concave curve that is above them, those of the reverse too."""
    worst = mpf(0)
    for fpr, tpr in points:
        for level, power in ((fpr, tpr), (1 - tpr, 1 - fpr)):
            a, b = mpf(level.numerator) / level.denominator, mpf(power.numerator) / power.denominator - mpf(slack)
            if b <= 0 or b <= a:
                continue
            if a == 0 or b >= 1:
                return mpmath.inf
            worst = max(worst, quantile(b) - quantile(a))
    return worst


def exactly(bound, truth, rtol=SHARP):
    truth = mpf(truth.numerator) / truth.denominator if isinstance(truth, Fraction) else truth
    assert contains(bound, truth), (bound, truth)
    assert bound.width <= rtol * bound.upper
    assert float(bound) == bound.upper
    assert bound.ledger.proved


@pytest.mark.few(3)
@pytest.mark.parametrize("mu", ["0.02", "1", "3"])
@pytest.mark.parametrize("fpr", [1e-12, 1e-4, 0.03, 0.5, 0.97])
def test_attacks_on_a_gaussian_mechanism(mu, fpr):
    risk = (4 * lp.Gaussian(sigma=2, sensitivity=float(mu))).risk
    with mpmath.workdps(DIGITS):
        tpr = ncdf(quantile(mpf(fpr)) + mpf(mu))
        exactly(risk.tpr(fpr), tpr)
        exactly(risk.reconstruction(fpr), tpr)
        exactly(risk.ppv(fpr, prior=0.25), tpr / (tpr + 3 * mpf(fpr)))
        exactly(risk.advantage(), 2 * ncdf(mpf(mu) / 2) - 1)
        # the likelihood ratio passes the odds of the prior at x
        prior = mpf(fpr)
        x = mpmath.log((1 - prior) / prior) / mpf(mu) + mpf(mu) / 2
        exactly(risk.success(fpr), prior * ncdf(mpf(mu) - x) + (1 - prior) * ncdf(x))
        exactly(risk.gaussian_mu(), mpf(mu))


PAIRS = [
    ([0.5, 0.3, 0.2], [0.1, 0.2, 0.7]),
    ([0.05, 0.15, 0.3, 0.5], [0.25, 0.35, 0.3, 0.1]),
    ([0.9, 0.1], [0.85, 0.15]),
    ([0.3, 0.3, 0.25, 0.1, 0.05], [0.28, 0.27, 0.3, 0.13, 0.02]),
]


@pytest.mark.few(2)
@pytest.mark.parametrize(("p", "q"), PAIRS)
@pytest.mark.parametrize("fpr", [1e-6, 0.05, 0.25, 0.6, 0.99])
def test_no_test_of_a_finite_pair_does_better_and_one_does_as_well(p, q, fpr):
    risk = lp.Discrete(p, q).risk
    forth = list(operating_points(written(p), written(q)))
    back = [(tpr, at) for at, tpr in forth]
    prior, level = Fraction(1, 8), Fraction(fpr)
    best = {"remove": best_tpr(forth, level), "add": best_tpr(back, level), None: None}
    best[None] = max(best["remove"], best["add"])
    for direction, tpr in zip((*DIRECTIONS, None), best.values(), strict=True):
        exactly(risk.tpr(fpr, direction=direction), tpr)
        exactly(risk.ppv(fpr, prior=0.125, direction=direction), prior * tpr / (prior * tpr + (1 - prior) * level))
    exactly(risk.reconstruction(fpr), best["remove"])
    for direction, points in zip(DIRECTIONS, (forth, back), strict=True):
        right = max(level * tpr + (1 - level) * (1 - at) for at, tpr in points)
        exactly(risk.success(fpr, direction=direction), right)
    exactly(risk.advantage(), max(tpr - at for at, tpr in forth))


@pytest.mark.parametrize(("p", "q"), PAIRS)
def test_the_largest_share_of_right_claims_is_that_of_the_rarest(p, q):
    risk = lp.Discrete(p, q).risk
    points = [(at, tpr) for at, tpr in operating_points(written(p), written(q)) if at > 0]
    prior = Fraction(1, 100)
    best = max(prior * tpr / (prior * tpr + (1 - prior) * at) for at, tpr in points)
    found = risk.ppv(0, prior=0.01, direction="remove")
    truth = mpf(best.numerator) / best.denominator
    assert found.upper >= float(best) * (1 - SHARP)
    # the prior is a decimal, which is no double
    assert abs(mpf(found.value) - truth) < SHARP
    shares = risk.ppv([0, 1e-3, 0.1, 0.5, 1], prior=0.01)
    assert (np.diff(shares.upper) <= SHARP).all()
    assert shares[-1].value == pytest.approx(0.01)


def test_infinite_losses_are_seen_without_false_positives():
    risk = lp.Discrete([0.25, 0.75, 0.0], [0.0, 0.875, 0.125]).risk
    exactly(risk.tpr(0, direction="remove"), Fraction(1, 4))
    exactly(risk.tpr(0, direction="add"), Fraction(1, 8))
    exactly(risk.ppv(0, prior=1e-3), mpf(1))
    exactly(risk.tpr(1), mpf(1))
    assert lp.Discrete([0.5, 0.5], [0.5, 0.5]).risk.tpr(0.3).value == pytest.approx(0.3)
    assert risk.gaussian_mu().status is lp.Status.UNBOUNDED
    assert math.isinf(risk.gaussian_mu(slack=0.2).upper)


def test_the_directions_tell_presence_and_absence_apart():
    risk = lp.Gaussian(sigma=1).poisson(0.1).risk
    m, rate, x = 1, mpf("0.1"), mpf("1.5")
    with mpmath.workdps(DIGITS):
        present, absent = rate * ncdf(m - x) + (1 - rate) * ncdf(-x), ncdf(-x)
        tolerance = 1e-12
        assert abs(risk.tpr(float(absent), direction="remove").value - present) < tolerance
        assert abs(risk.tpr(1 - float(present), direction="add").value - (1 - absent)) < tolerance
    both = risk.tpr(float(absent))
    assert float(both) == float(risk.tpr(float(absent), direction="remove"))
    assert both.direction is lp.Direction.REMOVE


@pytest.mark.parametrize(("k", "p"), [(4, 0.5), (10, 0.125), (3, 0.75)])
def test_a_report_is_the_best_reconstruction_of_itself(k, p):
    """With k equally likely values the best guess is the report; the bound is attained."""
    risk = lp.KaryRandomizedResponse(k, p, adjacency="replace_special").risk
    truth = 1 - Fraction(p) + Fraction(p) / k
    assert abs(risk.reconstruction(1 / k).value - float(truth)) < 1e-15 * k
    exactly(risk.reconstruction(0.25 if k == 4 else 1.0), truth if k == 4 else mpf(1))


@pytest.mark.slow
@settings(max_examples=5)
@given(
    st.lists(st.tuples(st.integers(1, 50), st.integers(1, 50)), min_size=2, max_size=5),
    st.integers(1, 63),
)
def test_guesses_between_two_values_obey_the_bound_under_replace(weights, share):
    p, q = (np.array(side) / sum(side) for side in zip(*weights, strict=True))
    prior = share / 64
    right = sum(max(prior * a, (1 - prior) * b) for a, b in zip(p, q, strict=True))
    risk = lp.Discrete(p, q, adjacency="replace").risk
    bound = risk.reconstruction(max(prior, 1 - prior))
    assert right <= bound.upper * (1 + 1e-12)
    assert bound.lower >= float(risk.tpr(max(prior, 1 - prior)).lower)


def test_reconstruction_needs_outputs_with_the_record_against_outputs_without():
    with pytest.raises(ValueError, match="stated under adjacency 'add'"):
        lp.Gaussian(sigma=1, adjacency="add").risk.reconstruction(0.1)
    lp.Gaussian(sigma=1, adjacency="remove").risk.reconstruction(0.1)


@pytest.mark.few(2)
@pytest.mark.parametrize(("p", "q"), PAIRS)
@pytest.mark.parametrize("slack", [0.0, 1e-9, 1e-3, 0.05])
def test_the_gaussian_that_leaks_no_less_than_a_finite_pair(p, q, slack):
    with mpmath.workdps(DIGITS):
        truth = least_mu(list(operating_points(written(p), written(q))), slack)
    found = lp.Discrete(p, q).risk.gaussian_mu(slack)
    if truth > 1e-9:
        exactly(found, truth, MU)
    else:
        assert found.lower <= truth <= found.upper < 1e-9


def steepest(gap, low, high, pieces=60):
    """The largest value of a function on an interval, by a grid and a golden section."""
    grid = [low + (high - low) * i / pieces for i in range(pieces + 1)]
    middle = max(range(1, pieces), key=lambda i: gap(grid[i]))
    a, b = grid[middle - 1], grid[middle + 1]
    golden = (mpmath.sqrt(5) - 1) / 2
    for _ in range(60):
        c, d = b - golden * (b - a), a + golden * (b - a)
        a, b = (a, d) if gap(c) > gap(d) else (c, b)
    return gap((a + b) / 2)


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize(("sigma", "rate", "slack"), [(1.0, 0.1, 1e-4), (0.5, 0.02, 1e-3), (2.0, 0.5, 1e-6)])
def test_the_gaussian_that_leaks_no_less_than_a_sampled_one(sigma, rate, slack):
    with mpmath.workdps(DIGITS):
        m, q, s = 1 / dec(sigma), dec(rate), mpf(slack)

        def forth(x):
            power = (1 - q) * ncdf(-x) + q * ncdf(m - x) - s
            return quantile(power) - quantile(ncdf(-x)) if power > 0 else mpf(0)

        def back(x):
            power = ncdf(x) - s
            return quantile(power) - quantile((1 - q) * ncdf(x) + q * ncdf(x - m)) if power > 0 else mpf(0)

        truth = max(steepest(forth, mpf(-2), mpf(6)), steepest(back, mpf(-6), mpf(6)))
    found = lp.Gaussian(sigma=sigma).poisson(rate).risk.gaussian_mu(slack)
    exactly(found, truth, MU)


def test_without_slack_sampling_does_not_help_against_the_far_tail():
    found = (2000 * lp.Gaussian(sigma=9.4).poisson(0.328)).risk.gaussian_mu()
    with mpmath.workdps(DIGITS):
        exactly(found, mpmath.sqrt(2000) / mpf("9.4"))


def test_without_slack_a_laplace_mechanism():
    def gap(x):
        # tests that reject above x, between the two modes
        return quantile(1 - exp(x - 1) / 2) - quantile(exp(-x) / 2)

    with mpmath.workdps(DIGITS):
        truth = steepest(gap, mpf("0.001"), mpf("0.999"))
        exactly(lp.Laplace(scale=1).risk.gaussian_mu(), truth, MU)


def test_where_nothing_is_known_of_the_far_tail_the_upper_end_says_so():
    found = lp.DiscreteGaussian(sigma=2).risk.gaussian_mu()
    assert found.lower > 0.5
    assert math.isinf(found.upper)
    assert found.status is lp.Status.WIDE
    exactly(lp.DiscreteGaussian(sigma=2).risk.gaussian_mu(1e-9), mpf(found.lower), MU)


RELEASES = [
    100 * lp.Gaussian(sigma=3).poisson(0.05),
    pytest.param(20 * lp.Laplace(scale=5), marks=pytest.mark.slow),
    30 * lp.RandomizedResponse(p=0.6),
    lp.ApproximateDP(epsilon=1, delta=1e-7),
    pytest.param(
        lp.Gaussian(sigma=1, sensitivity=2, adjacency="replace").subset(0.2, adjacency="replace"), marks=pytest.mark.slow
    ),
]


@pytest.mark.few(1)
@pytest.mark.parametrize("release", RELEASES, ids=str)
@pytest.mark.parametrize("slack", [1e-6, 1e-2])
def test_no_attack_beats_the_one_on_the_gaussian_mechanism_by_more_than_the_slack(release, slack):
    mu = float(release.risk.gaussian_mu(slack))
    rates = [1e-8, 1e-5, 1e-3, 0.02, 0.1, 0.3, 0.6, 0.9]
    for fpr, tpr in zip(rates, release.risk.tpr(rates), strict=True):
        assert tpr.lower <= ncdf(quantile(mpf(fpr)) + mpf(mu)) + slack


@pytest.mark.few(1)
@pytest.mark.parametrize(("sigma", "fpr"), [(0.6, 1e-4), (2.0, 0.2), (2.0, 0.9)])
@pytest.mark.slow
def test_more_noise_less_risk(sigma, fpr):
    loud, quiet = ((50 * lp.Gaussian(sigma=scale).poisson(0.2)).risk for scale in (1.1 * sigma, sigma))
    assert fpr < loud.tpr(fpr).upper < quiet.tpr(fpr).lower
    assert loud.advantage().upper < quiet.advantage().lower
    assert max(fpr, 1 - fpr) <= loud.success(fpr).upper <= quiet.success(fpr).upper
    assert loud.ppv(fpr, prior=0.3).upper < quiet.ppv(fpr, prior=0.3).lower
    assert loud.gaussian_mu(1e-6).upper < quiet.gaussian_mu(1e-6).lower


@pytest.mark.parametrize("adjacency", ["add", *slowly("remove")])
def test_both_orders_count_for_the_gaussian_whatever_the_relation(adjacency):
    one = lp.Gaussian(sigma=1, adjacency=adjacency).poisson(0.1).risk
    both = lp.Gaussian(sigma=1).poisson(0.1).risk
    for slack in (0.0, 1e-6):
        assert one.gaussian_mu(slack).same_as(both.gaussian_mu(slack))
    assert both.gaussian_mu().value == pytest.approx(1.0)


def test_laws_of_different_widths_are_like_no_gaussian_mechanism():
    found = lp.GaussianPair(mean_p=0, sigma_p=1, mean_q=1, sigma_q=2).risk.gaussian_mu()
    assert (found.lower, found.status) == (math.inf, lp.Status.DIVERGENT)


def test_a_larger_slack_asks_for_less():
    release = 50 * lp.Gaussian(sigma=2).poisson(0.1)
    found = [release.risk.gaussian_mu(slack) for slack in (0.0, 1e-9, 0.1, 0.9)]
    assert all(one.upper >= other.lower for one, other in itertools.pairwise(found))
    assert found[-1].upper == 0.0


def test_the_advantage_can_be_certified():
    pytest.importorskip("flint")
    found = (3 * lp.Gaussian(sigma=2)).risk.advantage(method="certified")
    assert found.method == "certified"
    with mpmath.workdps(DIGITS):
        # the parameters are doubles that are decimals too
        assert contains(found, 2 * ncdf(mpmath.sqrt(3) / 4) - 1)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(1, 60), st.integers(1, 60)), min_size=2, max_size=4))
def test_a_bounded_loss_is_within_the_shift_of_its_ends(weights):
    p, q = ([Fraction(w, sum(side)) for w in side] for side in zip(*weights, strict=True))
    ends = [math.log(a / b) for a, b in zip(p, q, strict=True)]
    bound = shift_of_ends(math.nextafter(min(ends), -1), math.nextafter(max(ends), 1e3))
    with mpmath.workdps(DIGITS):
        truth = least_mu(list(operating_points(p, q)))
        assert truth <= bound
        if len(p) == 2:
            assert bound <= truth + 1e-10


def test_shapes_and_options():
    risk = lp.Gaussian(sigma=1).risk
    assert isinstance(risk, AttackRisk)
    assert risk == lp.Gaussian(sigma=1).risk
    assert risk.tpr([[0.1, 0.2], [0.3, 0.4]]).shape == (2, 2)
    assert risk.reconstruction([0.1, 0.2]).shape == (2,)
    assert risk.success(0).value == 1


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (lambda risk: risk.tpr(1.5), r"fpr must lie in \[0, 1\]"),
        (lambda risk: risk.tpr("a"), "fpr must be a real number"),
        (lambda risk: risk.tpr(0.5, direction="up"), "direction must be"),
        (lambda risk: risk.ppv(0.1, prior=1), "prior must lie strictly between 0 and 1"),
        (lambda risk: risk.success(-0.1), r"prior must lie in \[0, 1\]"),
        (lambda risk: risk.reconstruction(2), r"baseline must lie in \[0, 1\]"),
        (lambda risk: risk.gaussian_mu(1), "slack must be below 1"),
        (lambda risk: risk.gaussian_mu(-0.1), r"slack must lie in \[0, 1\]"),
        (lambda risk: risk.tpr(0.5, rtol=0), "rtol must be positive"),
    ],
)
def test_bad_questions_are_refused(ask, text):
    with pytest.raises((ValueError, TypeError), match=text):
        ask(lp.Gaussian(sigma=1).risk)


@pytest.mark.parametrize("prior", [1e-310, 1e-300, 1e-9, 0.5, 1 - 2.0**-30, 1 - 2.0**-53])
def test_a_share_of_right_claims_is_sharp_at_every_prior(prior):
    # one release of randomized response, whose test claims by the report
    report, risk = Fraction(3, 4), lp.RandomizedResponse(p=0.75).risk
    for fpr, tpr in ((0.25, report), (1.0, Fraction(1))):
        claim = Fraction(prior)
        share = claim * tpr / (claim * tpr + (1 - claim) * Fraction(fpr))
        found = risk.ppv(fpr, prior=prior)
        assert Fraction(found.lower) <= share <= Fraction(found.upper)
        assert found.width <= SHARP * found.upper + 1e-323


def test_a_share_of_right_claims_is_right_where_odds_leave_the_doubles():
    prior, loss = 1e-308, 709.5
    odds = mpmath.exp(loss) * mpf(prior) / (1 - mpf(prior))
    found = lp.PureDP(epsilon=loss).risk.ppv(0, prior=prior)
    assert found.lower <= odds / (1 + odds) <= found.upper
