"""Calibration: the value meets its target, the next one does not, and both are where independent values say."""

from __future__ import annotations

import functools
import json
import math
import operator
from statistics import NormalDist
from typing import Any

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import logphi as lp
from cases import load
from logphi import CalibrationStatus
from logphi.calibration.scale import Reals, Wholes
from logphi.calibration.target import excess
from logphi.expression import parse, unknowns
from profiles import gaussian_profile
from refusals import untyped
from slowly import slowly
from some import some

# the tolerance of a calibration, unless it is given
RTOL = 1e-6
# what float targets move a crossing by, at most
ROUNDING = 1e-11
# what a closed form of 40 digits and a double may differ by
TEXT = 1e-12
# what a training run may cost: each takes about three milliseconds
FEW = 16


def around(found, truth):
    """The crossing lies between the value and its nearest miss, which are as near as promised."""
    low, high = sorted((found.value, found.nearest_miss))
    assert low * (1 - ROUNDING) <= truth <= high * (1 + ROUNDING)
    assert found.status is CalibrationStatus.TIGHT
    assert high - low == 1 if isinstance(found.value, int) else high - low <= 1.001 * RTOL * truth
    assert float(found.answer) <= found.limit
    assert found.slack == found.limit - float(found.answer)
    assert some(found.nearest_miss_answer).lower >= found.limit


# by how much a target is relaxed for integers
NUDGE = 1e-7
WHOLE = ("sensitivity=x", "group_size=x", "k=x")
REFERENCE = {
    "p003": ("scale=2", "scale=x", 2),
    "p004": ("epsilon=0.3", "epsilon=x", 0.3),
    "p007": ("sigma=2", "sigma=x", 2),
    "p009": ("sensitivity=2", "sensitivity=x", 2),
    "p010": ("group_size=3", "group_size=x", 3),
    "p012": ("poisson(0.05)", "poisson(x)", 0.05),
    "p013": ("scale=10", "scale=x", 10),
    "p014": ("1000*", "x*", 1000),
    "p018": ("sigma=500000", "sigma=x", 500000),
    "p019": ("sigma=1.1", "sigma=x", 1.1),
    "p028": ("k=4", "k=x", 4),
    "p030": ("subset(0.1", "subset(x", 0.1),
    "p032": ("delta=0.000001", "delta=x", 1e-6),
    "p040": ("epsilon=0.1", "epsilon=x", 0.1),
    "p045": ("sigma=5", "sigma=x", 5),
    "p050": ("epsilon=1", "epsilon=x", 1),
    "p055": ("sigma=1", "sigma=x", 1),
    "p071": ("poisson(0.02)", "poisson(x)", 0.02),
    "p073": ("poisson(0.001)", "poisson(x)", 0.001),
    "p074": ("sigma=1.1", "sigma=x", 1.1),
    "p076": ("1500*", "x*", 1500),
    "p084": ("sensitivity=3", "sensitivity=x", 3),
}


@pytest.mark.few(2)
@pytest.mark.parametrize("name", REFERENCE)
def test_the_parameters_of_reference_values_are_found_again(name):
    """Values of 32 digits by other methods: what calibrates to them is what they were computed for."""
    case = next(case for case in load() if case.id == name)
    old, new, truth = REFERENCE[name]
    assert case.expression.count(old) == 1
    text = case.expression.replace(old, new)
    at, value = float(case.at), float(case.value)
    epsilon, delta = (at, value) if case.query == "delta" else (value, at)
    if (isinstance(truth, int) and "=x" not in new) or new in WHOLE:
        # an integer that meets the target exactly may not be told from one that just misses it
        delta *= 1 + NUDGE
    around(lp.calibrate(lambda x: parse(text, variables={"x": x}), epsilon=epsilon, delta=delta), truth)


@pytest.mark.slow
@given(st.integers(1, 10**6), st.floats(0.01, 20), st.floats(-60, -0.5))
@settings(max_examples=15)
def test_gaussian_noise_inverts_the_closed_form(count, epsilon, log_delta):
    with mpmath.workdps(40):
        level = mpmath.exp(log_delta)
        low, high = mpmath.mpf("1e-4"), mpmath.mpf(60)
        for _ in range(80):
            middle = mpmath.sqrt(low * high)
            low, high = (middle, high) if gaussian_profile(middle)(epsilon) < level else (low, middle)
        truth = float(mpmath.sqrt(count) / low)
    around(lp.calibrate(lambda sigma: count * lp.Gaussian(sigma), epsilon=epsilon, delta=float(level)), truth)


def test_closed_forms_of_single_releases():
    epsilon, delta = 1.5, 1e-4
    target: dict[str, Any] = {"epsilon": epsilon, "delta": delta}
    around(lp.calibrate(lp.PureDP, **target), math.log((delta + math.exp(epsilon)) / (1 - delta)))
    around(lp.calibrate(lp.Laplace, **target), 1 / (epsilon - 2 * math.log1p(-delta)))
    response = lp.calibrate(lp.RandomizedResponse, lower=0.5, **target)
    around(response, (delta + math.exp(epsilon)) / (1 + math.exp(epsilon)))
    symmetric = lp.calibrate(lp.RandomizedResponse, upper=0.5, **target)
    around(symmetric, 1 - (delta + math.exp(epsilon)) / (1 + math.exp(epsilon)))


def training(sigma=1.1, steps=14062, rate=256 / 60000):
    return steps * lp.Gaussian(sigma).poisson(rate)


def test_there_and_back():
    """The epsilon that was claimed for some steps allows these steps."""
    for steps in (1, 14062):
        claimed = float(training(steps=steps).epsilon(1e-5))
        assert lp.calibrate(lambda n: training(steps=n), epsilon=claimed, delta=1e-5).value == steps


@pytest.mark.parametrize("name", ["sigma", *slowly("steps", "rate")])
def test_training_takes_few_evaluations(name):
    found = lp.calibrate(lambda x: training(**{name: x}), epsilon=2, delta=1e-5)
    assert found.evaluations <= FEW
    assert isinstance(found.value, int) == (name == "steps")
    assert float(found.answer) <= 2 <= some(found.nearest_miss_answer).lower
    assert float(training(**{name: found.value}).delta(2)) <= 1e-5 < training(**{name: found.nearest_miss}).delta(2).lower
    assert float(found.mechanism.epsilon(1e-5)) <= 2 + 1e-9


@pytest.mark.slow
def test_a_parameter_may_stand_twice():
    found = lp.calibrate(lambda x: 100 * lp.Gaussian(x).poisson(x / 1000), epsilon=2, delta=1e-5)
    assert found.status is CalibrationStatus.TIGHT
    assert found.value > found.nearest_miss


def test_digits_give_the_last_decimal_that_meets_the_target():
    sigma = lp.calibrate(lambda x: training(sigma=x), epsilon=2, delta=1e-5, digits=4)
    assert (sigma.value, sigma.nearest_miss, sigma.status) == (1.225, 1.224, CalibrationStatus.TIGHT)
    rate = lp.calibrate(lambda x: training(rate=x), epsilon=2, delta=1e-5, digits=3)
    assert (rate.value, rate.nearest_miss, rate.status) == (0.00364, 0.00365, CalibrationStatus.TIGHT)
    steps = lp.calibrate(lambda x: training(steps=x), epsilon=2, delta=1e-5, digits=2)
    assert steps.value == 10207


def test_pure_privacy():
    found = lp.calibrate(lambda b: 20 * lp.Laplace(b), epsilon=2, delta=0)
    around(found, 10)
    assert "b = 10.000003 meets epsilon <= 2.0 at delta = 0" in str(found)


def test_what_is_attained_is_told_in_the_unit_that_was_asked():
    """Epsilon for an epsilon, whatever was compared inside: the closed form of Balle & Wang 2018, Theorem 8."""
    found = lp.calibrate(lambda sigma: 30 * lp.Gaussian(sigma), epsilon=2, delta=1e-5, digits=3)
    with mpmath.workdps(40):
        for sigma, answer in ((found.value, found.answer), (found.nearest_miss, some(found.nearest_miss_answer))):
            profile = gaussian_profile(mpmath.sqrt(30) / sigma)
            epsilon = mpmath.findroot(lambda x: mpmath.log(profile(x)) - mpmath.log(mpmath.mpf("1e-5")), 2)  # noqa: B023
            assert answer.lower <= epsilon * (1 + TEXT)
            assert answer.upper >= epsilon * (1 - TEXT)
            assert answer.width < 1e-9
    assert (found.name, found.limit, found.slack) == ("sigma", 2.0, 2.0 - found.answer.upper)
    assert found.answer.upper < 2 < some(found.nearest_miss_answer).lower
    assert str(found).startswith("sigma = 11 meets epsilon <= 2.0 at delta = 1e-05\n  attained: 1.98")
    assert repr(found).startswith("Calibration(value=11.0, nearest_miss=10.9, target='epsilon <= 2.0 at delta = 1e-05'")
    assert found.to_dict()["name"] == "sigma"


def test_a_target_at_the_edge_of_what_is_told_stays_within():
    """The epsilon that was claimed is met again, and never exceeded by the width of its own bound."""
    claimed = (20 * lp.Gaussian(3)).epsilon(1e-5).value
    for steps in (20, 21):

        def capped(n, most=steps):
            return min(n, most) * lp.Gaussian(3)

        found = lp.calibrate(capped, epsilon=claimed, delta=1e-5, upper=25)
        assert float(found.answer) <= claimed
        assert found.nearest_miss_answer is None or some(found.nearest_miss_answer).lower >= claimed


def test_other_questions_are_told_in_their_own_unit():
    delta = lp.calibrate(lp.Gaussian, question=lambda m: m.delta(2), limit=1e-5, digits=3)
    assert delta.limit == 1e-5
    assert 9e-6 < delta.answer.value < 1e-5 < some(delta.nearest_miss_answer).lower
    advantage = lp.calibrate(lp.Gaussian, question=lambda m: m.risk.advantage(), limit=0.1, digits=3)
    # erf(1 / (2 sqrt(2) sigma)), of a Gaussian
    assert math.erf(1 / advantage.value / 8**0.5) == pytest.approx(advantage.answer.value, rel=1e-9)
    assert str(advantage).startswith("sigma = 3.98 meets the answer within 0.1\n  attained: 0.09997")


@pytest.mark.parametrize(
    ("family", "name"),
    [
        (lambda steps: steps * lp.Gaussian(5), "steps"),
        (lp.Gaussian(10).poisson, "rate"),
        (lp.Gaussian, "sigma"),
        (lambda *parameters: 2 * lp.Gaussian(*parameters), "value"),
        (functools.partial(lp.Laplace, sensitivity=2), "scale"),
    ],
)
def test_a_parameter_has_the_name_that_the_family_gives_it(family, name):
    found = lp.calibrate(family, epsilon=2, delta=1e-2, rtol=1e-2)
    assert found.name == name
    assert str(found).startswith(f"{name} = ")


def test_other_questions_have_the_side_of_their_bound():
    rho = lp.calibrate(lambda x: 20 * lp.Gaussian(x), question=lambda m: m.zcdp(), limit=0.1)
    around(rho, 10)
    normal = NormalDist()
    error = lp.calibrate(lp.Gaussian, question=lambda m: m.tradeoff(0.05), limit=0.9)
    truth = 1 / (normal.inv_cdf(0.95) - normal.inv_cdf(0.9))
    assert error.nearest_miss <= truth * (1 + ROUNDING)
    assert truth * (1 - ROUNDING) <= error.value <= truth * (1 + 2 * RTOL)
    assert float(error.answer) >= 0.9 > some(error.nearest_miss_answer).upper
    assert error.slack == float(error.answer) - 0.9 >= 0


def test_where_the_domain_ends_the_edge_is_the_answer():
    found = lp.calibrate(lp.Gaussian(10).poisson, epsilon=2, delta=1e-5)
    assert (found.value, found.nearest_miss, found.status) == (1.0, None, CalibrationStatus.EDGE)
    assert found.status.met
    assert "1.0 meets" in str(found)
    limited = lp.calibrate(lambda x: 1000 * lp.Gaussian(20).poisson(x), epsilon=2, delta=1e-5, upper=0.3)
    assert (limited.value, limited.status) == (0.3, CalibrationStatus.EDGE)
    few = lp.calibrate(lambda n: n * lp.Gaussian(20), epsilon=2, delta=1e-5, upper=7)
    assert (few.value, type(few.value), few.status) == (7, int, CalibrationStatus.EDGE)
    # no probability at all is left there
    assert lp.calibrate(lp.PureDP, epsilon=2, delta=1e-5, upper=1.5).value == 1.5


def test_no_step_may_be_one_too_many():
    found = lp.calibrate(lambda n: n * lp.Gaussian(0.1), epsilon=2, delta=1e-5)
    assert (found.value, found.nearest_miss, found.status) == (0, 1, CalibrationStatus.TIGHT)


@pytest.mark.parametrize(
    "family",
    [
        lambda n: n * lp.Gaussian(5),
        lambda n: parse("n * Gaussian(5)", variables={"n": n}),
        lambda n: lp.compose([lp.Gaussian(5) for _ in range(n)]) if n else 0 * lp.Gaussian(5),
    ],
)
def test_whole_numbers_are_found_out(family):
    found = lp.calibrate(family, epsilon=2, delta=1e-5)
    assert (found.value, found.nearest_miss) == (6, 7)
    assert type(found.value) is int


def test_whole_numbers_may_be_asked_for():
    found = lp.calibrate(lambda x: 10 * lp.Gaussian(float(x)), epsilon=2, delta=1e-5, integer=True)
    assert (found.value, found.nearest_miss, type(found.value)) == (7, 6, int)
    least = lp.calibrate(lambda k: lp.KaryRandomizedResponse(k, 0.5), epsilon=2, delta=1e-5)
    assert (least.value, least.nearest_miss) == (6, 7)
    with pytest.raises(TypeError, match="integer"):
        lp.calibrate(lambda n: n * lp.Gaussian(5), epsilon=2, delta=1e-5, integer=False)


def test_two_branches_are_refused_until_one_is_chosen():
    with pytest.raises(
        ValueError, match=r"met at 0\.5 and missed on both sides of it.*choose a branch by upper=0\.5 or by low"
    ):
        lp.calibrate(lp.RandomizedResponse, epsilon=12, delta=1e-5)
    with pytest.raises(ValueError, match=r"missed at 1\.0 and met on both sides"):
        lp.calibrate(lambda x: lp.Gaussian(1 + 10 * abs(math.log(x))), epsilon=2, delta=1e-5)


def test_a_turn_among_the_trials_is_told():
    def bumpy(x):
        return lp.Gaussian(20 * x if 2 < x < 7.9 else x)

    found = lp.calibrate(bumpy, epsilon=0.5, delta=1e-4)
    assert found.status is CalibrationStatus.TURNING
    assert not found.status.met
    assert float(found.answer) <= 0.5 < some(found.nearest_miss_answer).lower


def test_bounds_that_do_not_tell_are_told():
    def rough(mechanism):
        sharp = mechanism.delta(1.0)
        return lp.Bound(sharp.lower * 0.99, sharp.value, min(sharp.upper * 1.01, 1.0))

    found = lp.calibrate(lp.Gaussian, question=rough, limit=1e-5)
    assert found.status is CalibrationStatus.WIDE
    truth = float(lp.calibrate(lp.Gaussian, epsilon=1, delta=1e-5))
    assert found.nearest_miss < truth < found.value < 1.01 * found.nearest_miss


@pytest.mark.slow
def test_estimates_are_told():
    found = lp.calibrate(lambda x: lp.GaussianPair(0, x, 1, x * 1.2).poisson(0.1), epsilon=1, delta=1e-2, rtol=1e-2)
    assert found.status is CalibrationStatus.ESTIMATED
    assert not found.status.met


def test_what_nothing_meets_is_refused_with_the_closest():
    with pytest.raises(ValueError, match=r"no value .*closest is .*attains inf.*infinite loss has probability 0\.001"):
        lp.calibrate(lambda x: lp.Gaussian(x) + lp.ApproximateDP(0.1, 1e-3), epsilon=2, delta=1e-5)
    with pytest.raises(ValueError, match="no value that was tried"):
        lp.calibrate(lambda _: lp.Gaussian(1), epsilon=2, delta=1e-5)
    with pytest.raises(ValueError, match="none that misses it was found"):
        lp.calibrate(lambda _: lp.Gaussian(10), epsilon=2, delta=1e-5)
    with pytest.raises(ValueError, match="the closest is"):
        lp.calibrate(lp.Gaussian, epsilon=2, delta=0)


@pytest.mark.parametrize(
    ("arguments", "error", "reason"),
    [
        ({"epsilon": 1}, ValueError, "the target is an epsilon and a delta"),
        ({"delta": 1e-5}, ValueError, "the target is an epsilon and a delta"),
        ({"epsilon": -1, "delta": 1e-5}, ValueError, "epsilon must not be negative"),
        ({"epsilon": math.nan, "delta": 1e-5}, ValueError, "not NaN"),
        ({"epsilon": "1", "delta": 1e-5}, TypeError, "epsilon must be"),
        ({"epsilon": 1, "delta": 1}, ValueError, "below 1"),
        ({"epsilon": 1, "delta": -1e-5}, ValueError, r"\[0, 1\]"),
        ({"epsilon": 1, "delta": 1e-5, "rtol": 0}, ValueError, "rtol must be positive"),
        ({"epsilon": 1, "delta": 1e-5, "digits": 0}, ValueError, "digits"),
        ({"epsilon": 1, "delta": 1e-5, "digits": 2.5}, TypeError, "digits"),
        ({"epsilon": 1, "delta": 1e-5, "lower": 3, "upper": 2}, ValueError, "lower must not be above upper"),
        ({"epsilon": 1, "delta": 1e-5, "lower": -3}, ValueError, "lower must be positive"),
        ({"question": lambda m: m.zcdp()}, ValueError, "go together"),
        ({"limit": 1}, ValueError, "go together"),
        ({"question": lambda m: m.zcdp(), "limit": 1, "epsilon": 1}, ValueError, "not both"),
        ({"question": "zcdp", "limit": 1}, TypeError, "function of a mechanism"),
        ({"question": lambda _: 1.0, "limit": 1}, TypeError, "one Bound"),
        ({"question": lambda m: m.delta([1, 2]), "limit": 1}, TypeError, "one Bound"),
    ],
)
def test_bad_targets(arguments, error, reason):
    with pytest.raises(error, match=reason):
        lp.calibrate(lp.Gaussian, **arguments)


@pytest.mark.parametrize(
    ("family", "error", "reason"),
    [
        (lp.Gaussian(1), TypeError, r"m\.delta\(epsilon\)"),
        (3, TypeError, "function of one number"),
        (lambda x: x, TypeError, "must return a mechanism"),
        (lambda: lp.Gaussian(1), TypeError, "positional argument"),
        (lambda x: lp.Gaussian(-1 - x), ValueError, "refuses every value that was tried, at 1: sigma must not be negative"),
        (
            lambda x: lp.Gaussian(x).poisson(2),
            ValueError,
            r"no value makes a mechanism: rate must lie in \[0, 1\], got 2.0: a rate",
        ),
        (lambda x: untyped(operator.itemgetter(0))(lp.Gaussian(x)), TypeError, "not subscriptable"),
        (lambda x: {}[x], KeyError, "1"),
    ],
)
def test_bad_families(family, error, reason):
    with pytest.raises(error, match=reason):
        lp.calibrate(family, epsilon=1, delta=1e-5)


def test_holes_in_the_domain_are_told():
    def tens(x):
        if x not in (1, 2, 8, 1.5, 0.5):
            raise ValueError("powers only")
        return 10 * lp.Gaussian(x)

    with pytest.raises(ValueError, match=r"allows both smaller and larger values .*powers only.*integer=True"):
        lp.calibrate(tens, epsilon=2, delta=1e-5)


def test_what_is_printed_is_rounded_to_the_private_side():
    found = lp.calibrate(lambda x: training(sigma=x), epsilon=2, delta=1e-5, rtol=1e-3)
    shown = str(found).split()[2]
    assert found.value <= float(shown) <= found.value * (1 + 1e-3)
    assert "epsilon <= 2.0 at delta = 1e-05" in str(found)
    assert float(found) == found.value
    assert "<table>" in found._repr_html_()
    assert "epsilon &lt;= 2.0" in found._repr_html_()
    rate = lp.calibrate(lambda x: training(rate=x), epsilon=2, delta=1e-5, rtol=1e-3)
    assert float(str(rate).split()[2]) <= rate.value


@given(st.floats(0, 1e300), st.floats(1e-300, 1e300))
def test_the_sign_of_an_excess_is_exact(answer, limit):
    gap = excess(answer, limit)
    assert (gap > 0, gap == 0) == (answer > limit, answer == limit)


@given(st.integers(0, 10**30), st.integers(0, 10**30), st.floats(0, 1))
def test_whole_numbers_between_others(one, other, share):
    found, middle = Wholes().between(one, other, share), Wholes().middle(one, other)
    for number in (found, middle):
        assert (number is None) == (abs(one - other) < 2)
        assert number is None or min(one, other) < number < max(one, other)


@given(st.floats(1e-300, 1e300), st.floats(1e-300, 1e300))
def test_halving_ends_at_neighbouring_numbers(one, other):
    steps = 0
    while (middle := Reals().middle(one, other)) is not None:
        assert min(one, other) < middle < max(one, other)
        other, steps = middle, steps + 1
        assert steps < 80
    assert abs(other - one) <= 4 * math.ulp(max(one, other))


def test_the_names_of_an_expression():
    assert unknowns("x*Gaussian(sigma=x).poisson(rate=y) + Laplace(1e5)") == ["x", "y"]
    assert unknowns("Gaussian(1)") == []
    assert json.dumps(unknowns("n * lp.Gaussian(2)")) == '["n"]'


def test_where_bounds_do_not_tell_the_ends_that_decide_are_looked_for():
    def shift(release):
        # an answer that is known to one part in a hundred thousand
        return lp.Bound(1 / release.sigma / (1 + 1e-5), 1 / release.sigma, 1 / release.sigma * (1 + 1e-5))

    found = lp.calibrate(lp.Gaussian, question=shift, limit=0.3, rtol=1e-9)
    assert found.status is lp.CalibrationStatus.WIDE
    assert found.value == pytest.approx((1 + 1e-5) / 0.3, rel=1e-9)
    assert found.nearest_miss == pytest.approx(1 / (1 + 1e-5) / 0.3, rel=1e-9)
    assert found.evaluations <= FEW


def test_whole_numbers_beyond_the_doubles_are_told_apart():
    found = lp.calibrate(lambda n: n * lp.Gaussian(sigma=1e9), question=lambda m: m.epsilon(1e-5), limit=1.0)
    assert float(found.answer) <= 1.0 < some(found.nearest_miss_answer).lower
    assert 0 < found.nearest_miss - found.value < 1e-12 * found.value


def test_an_answer_that_may_be_zero_is_an_answer():
    """A bracket whose lower end is 0, as the epsilon of shuffled batches may be: it was asked whether it is zero."""

    def bracket(release):
        return lp.Bound(0.0, 1 / release.sigma, 1 / release.sigma)

    found = lp.calibrate(lp.Gaussian, question=bracket, limit=0.3, digits=3)
    assert found.value == 3.34
    assert found.status is not lp.CalibrationStatus.TIGHT
