"""Mechanisms as values: their algebra, what they refuse, and profiles where parameters or thresholds are extreme."""

import math
import re
from typing import Any

import mpmath
import pytest
from mpmath import exp, mpf

import logphi as lp
from effort import calls
from exact import contains, dec
from logphi.expression import parse

DIGITS = 60

ONE = lp.Gaussian(sigma=2)
TWO = lp.Laplace(scale=3)
THREE = lp.RandomizedResponse(p=0.6)
SAMPLED = lp.Gaussian(sigma=1.1).poisson(0.01)
ALL = [
    ONE,
    TWO,
    THREE,
    SAMPLED,
    lp.PureDP(epsilon=0.1),
    lp.ApproximateDP(epsilon=0.1, delta=1e-6),
    lp.ExponentialMechanism(epsilon=0.3),
    lp.Discrete(p=[0.5, 0.3, 0.2], q=[0.2, 0.3, 0.5]),
    lp.Discrete(p=[0.5, 0.5], q=[0.25, 0.75]).poisson(0.3),
    lp.Gaussian(sigma=0.7, sensitivity=0.1, adjacency="replace"),
    lp.GaussianMixture(sigma=2, sensitivities=[0, 1, 3], probabilities=[0.5, 0.25, 0.25]),
    lp.GaussianMixture(sigma=2, sensitivities=[1, 3], probabilities=[0.5, 0.5]).poisson(0.1),
    lp.Gaussian(sigma=2).poisson(0.1, group_size=3),
    lp.DiscreteLaplace(scale=3),
    lp.DiscreteGaussian(sigma=2.5, sensitivity=3),
    lp.DiscreteGaussian(sigma=2.5, truncation=12),
    lp.DiscreteGaussian(sigma=0.5).poisson(0.25),
    lp.DiscreteLaplace(scale=2.5, sensitivity=3),
    lp.DiscreteLaplace(scale=2.5, sensitivity=3).poisson(0.25),
    lp.GaussianPair(mean_p=0.5, sigma_p=1, mean_q=0, sigma_q=1.5),
    lp.KaryRandomizedResponse(k=5, p=0.75),
    lp.KaryRandomizedResponse(k=3, p=0.5, adjacency="replace_special"),
]


@pytest.mark.parametrize("mechanism", ALL, ids=repr)
def test_repetition_and_sums(mechanism):
    assert 3 * mechanism == mechanism * 3 == mechanism + mechanism + mechanism == lp.compose([mechanism] * 3)
    assert hash(3 * mechanism) == hash(mechanism + mechanism + mechanism)
    assert 1 * mechanism == mechanism
    assert 2 * (3 * mechanism) == 6 * mechanism
    assert (10**30 * mechanism).counted() == ((mechanism, 10**30),)
    assert mechanism != 2 * mechanism


def test_order_is_irrelevant_and_counts_are_collected():
    left, right = 2 * ONE + TWO + 3 * THREE + ONE, THREE + TWO + 2 * THREE + 3 * ONE
    assert left == right
    assert hash(left) == hash(right)
    assert dict(left.counted()) == {ONE: 3, TWO: 1, THREE: 3}
    assert (left + right).loss_law().terms == (2 * left).loss_law().terms
    assert (ONE + TWO) + THREE == ONE + (TWO + THREE)
    assert left != right + ONE
    assert {left: "found"}[right] == "found"


@pytest.mark.parametrize("mechanism", [ONE, TWO, THREE, SAMPLED], ids=repr)
@pytest.mark.parametrize("nothing", [lambda one: 0 * one, lambda one: one.poisson(0) if one is ONE else 0 * one])
def test_nothing_leaks_nothing(mechanism, nothing):
    empty = nothing(mechanism)
    for epsilon in (0.0, 1e-9, 1.0, 100.0):
        bound = empty.delta(epsilon)
        assert bound.lower == bound.value == bound.upper == 0
    with mpmath.workdps(DIGITS):
        assert contains(empty.delta(-0.5), 1 - exp(mpf("-0.5")))
    for delta in (0.0, 1e-10, 0.5):
        assert empty.epsilon(delta).upper == 0
    assert (empty + mechanism).delta(0.3).value == pytest.approx(mechanism.delta(0.3).value, rel=1e-9)


@pytest.mark.slow
def test_composition_is_linear_in_the_number_of_terms():
    many = [lp.Gaussian(sigma=1 + i / 1000) for i in range(4000)]
    assert len(lp.compose(many).counted()) == 4000
    few = calls(lambda: lp.compose(many[:1000]))
    assert calls(lambda: lp.compose(many)) < 4.1 * few


@pytest.mark.parametrize("count", [2.5, "3", True, None, math.nan, [2]])
def test_counts_are_whole_numbers(count):
    with pytest.raises((TypeError, ValueError), match=r"integer|unsupported operand"):
        count * ONE
    with pytest.raises((TypeError, ValueError), match=r"integer|unsupported operand"):
        ONE * count


def test_foreign_operands():
    with pytest.raises(ValueError, match=r"must not be negative, got -1"):
        -1 * ONE
    for foreign in (1, "a", None):
        with pytest.raises(TypeError):
            ONE + foreign  # type: ignore[operator]
    with pytest.raises(TypeError):
        ONE * TWO  # type: ignore[operator]
    with pytest.raises(TypeError, match="only mechanisms compose, got 3"):
        lp.compose([ONE, 3])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="nothing to compose"):
        lp.compose([])


def test_relations_do_not_mix():
    replace = lp.Gaussian(sigma=2, adjacency="replace")
    for mixed in (lambda: ONE + replace, lambda: lp.compose([replace, TWO]), lambda: (2 * ONE) + (3 * replace)):
        with pytest.raises(
            ValueError, match=r"different relations.*add_remove.*replace|different relations.*replace.*add_remove"
        ):
            mixed()
    assert replace != ONE
    assert lp.Gaussian(sigma=2, adjacency=lp.Adjacency.REPLACE) == replace
    with pytest.raises(ValueError, match="direction 'add' does not exist under adjacency 'remove'"):
        lp.Gaussian(sigma=1, adjacency="remove").delta(1.0, direction="add")


POSITIVE = [
    (0, ValueError),
    (-1.5, ValueError),
    (math.nan, ValueError),
    (math.inf, ValueError),
    ("1", TypeError),
    (None, TypeError),
    (True, TypeError),
    (1j, TypeError),
    ([1.0], TypeError),
    (10**400, ValueError),
]
UNIT = [
    (-0.1, ValueError),
    (1.1, ValueError),
    (math.nan, ValueError),
    ("0.5", TypeError),
    (None, TypeError),
    (True, TypeError),
]
LISTS = [
    ([], ValueError),
    ([0.5, 0.6], ValueError),
    ([-0.5, 1.5], ValueError),
    ([math.nan, 1.0], ValueError),
    (["a", "b"], TypeError),
    (0.5, ValueError),
    ([[0.5, 0.5]], ValueError),
    (None, TypeError),
    ([True, False], TypeError),
]
WHOLE = [
    (-3, ValueError),
    (2.5, TypeError),
    (True, TypeError),
    ("2", TypeError),
    (None, TypeError),
    (10**400, ValueError),
]
FINITE = [case for case in POSITIVE[1:] if case[0] != math.inf]
# no tolerance is the default one
TOLERANCES = [case for case in POSITIVE if case[0] is not None]
# a maker, the parameter that it gives a value to, and values that are refused
BAD = [
    (lambda v: lp.Gaussian(sigma=v), "sigma", POSITIVE[1:]),
    (lambda v: lp.Gaussian(sigma=1, sensitivity=v), "sensitivity", POSITIVE[1:]),
    (lambda v: lp.Laplace(scale=v), "scale", POSITIVE[1:]),
    (lambda v: lp.Laplace(scale=1, sensitivity=v), "sensitivity", POSITIVE[1:]),
    (lambda v: lp.ExponentialMechanism(epsilon=v), "epsilon", POSITIVE[1:]),
    (lambda v: lp.PureDP(epsilon=v), "epsilon", FINITE),
    (lambda v: lp.ApproximateDP(epsilon=v, delta=0.1), "epsilon", FINITE),
    (lambda v: lp.ApproximateDP(epsilon=1, delta=v), "delta", UNIT),
    (lambda v: lp.RandomizedResponse(p=v), "p", UNIT),
    (lambda v: lp.KaryRandomizedResponse(k=3, p=v), "p", UNIT),
    (lambda v: lp.DiscreteLaplace(scale=v), "scale", POSITIVE[1:]),
    (lambda v: lp.DiscreteLaplace(scale=2, sensitivity=v), "sensitivity", WHOLE),
    (lambda v: lp.DiscreteGaussian(sigma=v), "sigma", POSITIVE[1:]),
    (lambda v: lp.DiscreteGaussian(sigma=2, sensitivity=v), "sensitivity", WHOLE),
    (lambda v: lp.DiscreteGaussian(sigma=2, truncation=v), "truncation", [case for case in WHOLE if case[0] is not None]),
    (lambda v: lp.KaryRandomizedResponse(k=v, p=0.5), "k", WHOLE),
    (lambda v: lp.Discrete(p=v, q=[0.5, 0.5]), "p", LISTS),
    (lambda v: lp.Discrete(p=[0.5, 0.5], q=v), "q", LISTS),
    (ONE.poisson, "rate", UNIT),
    (lambda v: lp.Gaussian(sigma=1, adjacency=v), "adjacency", [("both", ValueError), (None, TypeError), (3, TypeError)]),
    (ONE.epsilon, "delta", UNIT),
    (
        ONE.delta,
        "epsilon",
        [
            (math.nan, ValueError),
            (math.inf, ValueError),
            ("1", TypeError),
            (None, TypeError),
            (True, TypeError),
        ],
    ),
    (lambda v: ONE.delta(1.0, rtol=v), "rtol", TOLERANCES),
    (lambda v: ONE.epsilon(1e-5, rtol=v), "rtol", TOLERANCES),
    (lambda v: ONE.delta(1.0, method=v), "method", [("no", ValueError), ("Contour", ValueError)]),
    (lambda v: ONE.delta(1.0, direction=v), "direction", [("up", ValueError), (3, ValueError)]),
]


def refusal_of(make, value):
    try:
        make(value)
    except (TypeError, ValueError) as error:
        return error
    return None


@pytest.mark.parametrize(("make", "name", "cases"), BAD, ids=[f"{name}-{i}" for i, (_, name, _) in enumerate(BAD)])
def test_bad_arguments_are_named(make, name, cases):
    for value, kind in cases:
        error = refusal_of(make, value)
        assert isinstance(error, kind), f"{value!r:.20}"
        assert re.search(rf"\b{name}\b", str(error)), f"{value!r:.20}"
        assert "\n" not in str(error), f"{value!r:.20}"


def test_other_refusals():
    with pytest.raises(ValueError, match="same outcomes, got 2 and 3"):
        lp.Discrete(p=[0.5, 0.5], q=[0.2, 0.3, 0.5])
    with pytest.raises(ValueError, match="adjacency 'replace'"):
        lp.Gaussian(sigma=1, adjacency="replace").poisson(0.1)


@pytest.mark.parametrize("relation", ["add", "remove"])
@pytest.mark.parametrize("make", [lambda **own: lp.PureDP(1.0, **own), lambda **own: lp.ApproximateDP(1.0, 1e-3, **own)])
def test_a_guarantee_in_one_order_is_not_the_pair_of_both(make, relation):
    with pytest.raises(ValueError, match=r"bounds one direction.* FromProfile\(epsilons=\[1.0\], deltas="):
        make(adjacency=relation)


@pytest.mark.parametrize("relation", ["add", "remove"])
def test_what_is_named_instead_dominates_a_guarantee_in_one_order(relation):
    # always "yes" against "yes" with probability 1/e: ten losses of one
    named = lp.FromProfile(epsilons=[1.0], deltas=[0], adjacency=relation)
    assert -math.expm1(-0.1) in (10 * named).delta(9.9)


def test_reports_need_a_record_or_its_absence():
    for relation in ("add_remove", "add", "remove"):
        with pytest.raises(ValueError, match=f"adjacency must be 'replace' or 'replace_special'.*got '{relation}'"):
            lp.KaryRandomizedResponse(k=3, p=0.5, adjacency=relation)
    with pytest.raises(ValueError, match="p must be 0 or at least 1e-300 k, got p=5e-324 with k=3"):
        lp.KaryRandomizedResponse(k=3, p=5e-324)
    with pytest.raises(ValueError, match="Poisson sampling needs a base stated under add/remove"):
        lp.KaryRandomizedResponse(k=3, p=0.5).poisson(0.1)


def test_rate_one_is_the_identity():
    for base in (ONE, THREE, lp.PureDP(epsilon=1), ALL[7]):
        same, plain = (2 * base.poisson(1)).delta(0.2), (2 * base).delta(0.2)
        assert max(same.lower, plain.lower) <= min(same.upper, plain.upper)
        assert same.value == pytest.approx(plain.value, rel=1e-9)
        assert base.poisson(0).loss_law().terms == ()


def test_mechanisms_are_frozen():
    one: Any = ONE
    with pytest.raises(AttributeError):
        one.sigma = 3.0


@pytest.mark.parametrize("mechanism", [*ALL, 3 * ONE + TWO, 10**20 * SAMPLED + 2 * THREE], ids=repr)
def test_repr_is_read_back(mechanism):
    try:
        again = parse(repr(mechanism))
    except ValueError as refusal:
        pytest.skip(f"the language has no such text: {refusal}")
    assert again == mechanism


def test_logarithms_far_from_zero_are_rounded_outward():
    # below every loss but one of probability q failure, and above all others: 1 - e^eps, and the failure alone
    with mpmath.workdps(40):
        tiny = -1.4086151158859038e-13
        found = (
            lp.ExponentialMechanism(epsilon=0.13041367387868802)
            .poisson(1.011212720137675e-12)
            .log_delta(tiny, direction="remove")
        )
        assert contains(found, mpmath.log(-mpmath.expm1(dec(tiny))))
        for failure in (1.3e-290, 3.7e-123, 7e-13):
            found = lp.ApproximateDP(epsilon=1.0, delta=failure).log_delta(2.0)
            assert contains(found, mpmath.log(dec(failure)))
            assert found.upper - found.lower <= 2e-15 * abs(found.value)
