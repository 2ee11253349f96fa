"""What a person counts and measures with: NumPy's numbers, data frames' and exact ones, as they come."""

import math
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

import logphi as lp
from logphi.mechanisms.catalogue import CATALOGUE
from one_of_each import EXAMPLES
from refusals import refused
from slowly import slowly

M = lp.Gaussian(sigma=2)
SAMPLED = 3 * lp.Gaussian(sigma=2).poisson(0.125)


class FromAFrame:
    """What a column of nullable integers holds: no int, but as good as one."""

    def __repr__(self):
        return "FromAFrame()"

    def __index__(self):
        return 100

    def __float__(self):
        return 100.0

    def is_integer(self):
        return True


HUNDRED = [
    100.0,
    np.float64(100),
    np.float32(100),
    np.int64(100),
    np.uint8(100),
    np.array(100),
    np.array(100.0),
    Fraction(200, 2),
    Decimal(100),
    Decimal("1e2"),
    FromAFrame(),
]
NOT_COUNTS = [
    (2.5, TypeError, "integer"),
    (-1.0, ValueError, "negative"),
    (math.nan, TypeError, "integer"),
    (math.inf, TypeError, "integer"),
    (Decimal("NaN"), TypeError, "integer"),
    (Decimal("sNaN"), TypeError, "integer"),
    (Decimal("-Infinity"), TypeError, "integer"),
    (Decimal("2.5"), TypeError, "integer"),
    (Decimal("1e-999999999"), TypeError, "integer"),
    (Decimal("1e999999999"), ValueError, "1e300"),
    (Fraction(1, 3), TypeError, "integer"),
    (2.0**54, ValueError, "give an int"),
    (np.float32(2**25), ValueError, "give an int"),
    (np.array(2.5), TypeError, "integer"),
    (True, TypeError, "integer"),
    (np.True_, TypeError, "integer"),
    (np.array(True), TypeError, "integer"),
    (np.timedelta64(3), TypeError, "integer"),
    (np.array([1, 2]), TypeError, "one by one"),
    (np.array([3]), TypeError, "one by one"),
    (None, TypeError, "integer"),
    (3 + 0j, TypeError, "integer"),
    (M.delta(1), TypeError, "integer"),
]


@pytest.mark.parametrize("count", HUNDRED, ids=repr)
def test_a_whole_number_of_any_kind_counts_releases(count):
    assert count * M == M * count == 100 * M
    assert isinstance(count * M, lp.Mechanism)


@pytest.mark.parametrize(("count", "kind", "needle"), NOT_COUNTS, ids=lambda value: f"{value!r:.30}")
def test_what_is_no_count_is_refused_from_either_side(count, kind, needle):
    refused(kind, lambda: M * count, "number of repetitions", needle)
    refused(kind, lambda: count * M, needle)


def test_a_large_exact_count_is_a_count():
    assert Decimal("1e20") * M == 10**20 * M
    assert 2.0**53 * M == 2**53 * M


@pytest.mark.parametrize("count", HUNDRED, ids=repr)
def test_counts_are_taken_everywhere(count):
    accountant = lp.Accountant()
    accountant.step(M, count=count)
    assert accountant.epsilon(1e-5).same_as((100 * M).epsilon(1e-5))
    assert lp.KaryRandomizedResponse(k=count, p=0.5) == lp.KaryRandomizedResponse(k=100, p=0.5)
    assert M.poisson(0.1, group_size=count) == M.poisson(0.1, group_size=100)
    run: dict[str, Any] = {"dataset_size": 1000, "batch_size": 100, "noise_multiplier": 1}
    assert lp.dp_sgd(**{**run, "batch_size": count}, steps=count) == lp.dp_sgd(**run, steps=100)
    assert lp.DiscreteGaussian(sigma=9, sensitivity=count) == lp.DiscreteGaussian(sigma=9, sensitivity=100)
    assert lp.classical.group.group_guarantee(lp.classical.Guarantee(0.1, 1e-9), count) is not None


MAKERS = [
    *(EXAMPLES[name] for name in CATALOGUE),
    partial(lp.DiscreteGaussian, sigma=1.25, sensitivity=2, truncation=10),
]


def numbers_as(kind, parameters):
    return {name: [*map(kind, one)] if isinstance(one, list) else kind(one) for name, one in parameters.items()}


QUESTIONS = {
    "delta": lambda f: SAMPLED.delta(f("0.5")),
    "deltas": lambda f: SAMPLED.delta([f("0.5"), f("0.75")]),
    "nested": lambda f: SAMPLED.delta([[f("0.5")], [f("0.75")]]),
    "object array": lambda f: SAMPLED.delta(np.array([f("0.5"), f("0.75")])),
    "log_delta": lambda f: SAMPLED.log_delta(f("0.5"), rtol=f("0.001")),
    "epsilon": lambda f: SAMPLED.epsilon(f("0.001"), rtol=f("0.001")),
    "renyi": lambda f: M.renyi([f("2.5"), f("3")], rtol=f("0.001")),
    "hockey_stick": lambda f: M.hockey_stick(f("1.5"), rtol=f("0.001")),
    "zcdp": lambda f: M.zcdp(f("0.01"), rtol=f("0.001")),
    "tradeoff": lambda f: M.tradeoff(f("0.25"), rtol=f("0.001")),
    "inverse_tradeoff": lambda f: M.inverse_tradeoff([f("0.25")]),
    "pdp_delta": lambda f: M.pdp_delta(f("0.25"), rtol=f("0.001")),
    "pdp_epsilon": lambda f: M.pdp_epsilon(f("0.25"), rtol=f("0.001")),
    "cdf": lambda f: M.loss.cdf(f("0.25"), rtol=f("0.001")),
    "quantile": lambda f: M.dual_loss.quantile(f("0.25"), rtol=f("0.001")),
    "cumulant": lambda f: M.loss.cumulant(f("3")),
    "tpr": lambda f: M.risk.tpr(f("0.25")),
    "ppv": lambda f: M.risk.ppv(f("0.25"), f("0.125")),
    "success": lambda f: M.risk.success(f("0.25")),
    "gaussian_mu": lambda f: M.risk.gaussian_mu(f("0.125"), rtol=f("0.001")),
    "explain": lambda f: M.explain(epsilon=f("0.5")).bound,
    "calibrate": lambda f: lp.calibrate(lp.Gaussian, epsilon=f("1"), delta=f("0.125"), digits=f("4")).value,
    "compare": lambda f: lp.compare(M, epsilon=f("1")),
    "dp_sgd": lambda f: lp.dp_sgd(dataset_size=f("9"), batch_size=f("3"), epochs=f("1.5"), noise_multiplier=f("1.25")).delta(1),
    "filter": lambda f: lp.PrivacyFilter(epsilon=f("1"), delta=f("0.125")).remaining,
    "basic": lambda f: lp.classical.composition.basic_delta([lp.classical.Guarantee(f("0.5"), f("0.125"), f("3"))], f("1.5")),
    "exact composition": lambda f: lp.classical.exact_composition.compose_guarantees(
        [(f("0.5"), f("0.125"), f("2"))], f("0.5")
    ),
    "renyi conversion": lambda f: lp.classical.renyi.delta(M, f("0.5")),
    "bound": lambda f: M.delta(0.5) * f("2"),
}
SLOW_QUESTIONS = {"compare", "renyi conversion"}


@pytest.mark.few(9)
@pytest.mark.parametrize("kind", [Decimal, Fraction])
@pytest.mark.parametrize("make", MAKERS, ids=lambda make: str(make()))
def test_every_parameter_may_be_a_decimal_or_a_fraction(make, kind):
    ours, floats = (make.func(**numbers_as(one, make.keywords)) for one in (kind, float))
    assert ours == floats
    assert repr(ours) == repr(floats)
    assert ours.delta(0.25).same_as(floats.delta(0.25))


@pytest.mark.few(6)
@pytest.mark.parametrize("name", [*sorted(QUESTIONS.keys() - SLOW_QUESTIONS), *slowly(*sorted(SLOW_QUESTIONS))])
def test_every_question_may_be_a_decimal_or_a_fraction(name):
    decimal, fraction, double = (repr(QUESTIONS[name](kind)) for kind in (Decimal, Fraction, float))
    assert decimal == fraction == double


def test_a_decimal_is_what_is_written():
    sigma: Any = lp.Gaussian(sigma=Decimal("1.1")).sigma
    assert sigma == 1.1
    assert sigma.exact == Fraction(11, 10)
    pair: Any = lp.Discrete([Decimal("0.1"), Decimal("0.9")], np.array([Decimal("0.9"), Decimal("0.1")]))
    assert pair.q[0].exact == Fraction(9, 10)
    pytest.importorskip("flint")
    ours, written = (lp.Gaussian(sigma=kind("1.1")).certify(epsilon=kind("0.3")) for kind in (Decimal, Fraction))
    assert ours.to_json() == written.to_json()
    assert ours.at == Fraction(3, 10)


@pytest.mark.parametrize("value", [Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), Decimal("1e999999999"), -Decimal(1)])
def test_decimals_that_are_no_parameters(value):
    refused(ValueError, lambda: lp.Gaussian(sigma=value), "sigma must")
    if not value.is_signed():
        refused((ValueError, TypeError), lambda: M.delta(value), "epsilon must")


def test_decimals_below_all_doubles_are_no_zeros():
    refused(ValueError, lambda: lp.Gaussian(sigma=Decimal("1e-999999999")), "sigma", "closer to zero")
