"""Composition theorems: against the exact composition, their formulas and published figures."""

import itertools
import math

import mpmath
import pytest
from mpmath import mpf

import logphi as lp
from exact import dec
from logphi.classical import composition, concentrated
from logphi.classical.composition import Advanced, Guarantee
from logphi.classical.concentrated import Concentrated


def exact_guarantees(parts, epsilon):
    """The exact composition of guarantees, over all subsets: Murtagh & Vadhan."""
    listed = [(dec(e), dec(d)) for e, d, count in parts for _ in range(count)]
    total = mpf(0)
    for signs in itertools.product((1, -1), repeat=len(listed)):
        up = sum(e for (e, _), sign in zip(listed, signs, strict=True) if sign > 0)
        down = sum(e for (e, _), sign in zip(listed, signs, strict=True) if sign < 0)
        total += max(mpf(0), mpmath.exp(up) - mpmath.exp(dec(epsilon) + down))
    pure = total / mpmath.fprod(1 + mpmath.exp(e) for e, _ in listed)
    return 1 - mpmath.fprod(1 - d for _, d in listed) * (1 - pure)


PARTS = [[(0.1, 0.0, 8)], [(0.3, 1e-3, 3), (0.5, 0.0, 2), (0.05, 1e-6, 4)], [(2.0, 0.1, 1)], [(0.01, 1e-9, 10)]]


@pytest.mark.few(1)
@pytest.mark.parametrize("parts", PARTS)
def test_composition_is_above_the_exact_one(parts):
    guarantees = [Guarantee(*part) for part in parts]
    with mpmath.workdps(40):
        for epsilon in (0.0, 0.1, 0.31, 0.8, 2.2, 5.0):
            exact = exact_guarantees(parts, epsilon)
            claims = [composition.basic_delta(guarantees, epsilon)]
            claims += [composition.advanced_delta(guarantees, epsilon, theorem) for theorem in Advanced]
            assert all(mpf(one.value) >= exact for one in claims)
        for delta in (1e-12, 1e-5, 0.01, 0.2, 0.6):
            for theorem in Advanced:
                found = composition.advanced_epsilon(guarantees, delta, theorem).value
                assert found == math.inf or exact_guarantees(parts, found) <= mpf(delta)
            found = composition.basic_epsilon(guarantees, delta).value
            assert found == math.inf or exact_guarantees(parts, found) <= mpf(delta)


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("delta", [1e-4, 0.15, 0.5])
def test_advanced_composition_is_its_formula_and_both_forms_agree(parts, delta):
    guarantees = [Guarantee(*part) for part in parts]
    with mpmath.workdps(40):
        survival = mpmath.fprod((1 - dec(d)) ** count for _, d, count in parts)
        slack = 1 - (1 - dec(delta)) / survival
        squares = sum(count * dec(e) ** 2 for e, _, count in parts)
        drifts = (squares / 2, sum(count * dec(e) * mpmath.tanh(dec(e) / 2) for e, _, count in parts))
        for theorem, drift in zip(Advanced, drifts, strict=True):
            found = composition.advanced_epsilon(guarantees, delta, theorem)
            if slack < 0:
                assert found.value == math.inf
                continue
            truth = min(drift + mpmath.sqrt(2 * squares * mpmath.log(1 / slack)), sum(count * dec(e) for e, _, count in parts))
            assert truth <= mpf(found.value) <= truth * (1 + mpf("1e-13"))
            back = composition.advanced_delta(guarantees, found.value, theorem)
            assert back.value == pytest.approx(delta, rel=1e-11) or (back.value < delta and "sum" in back.note)


def test_published_figures_of_composition():
    hundred = [Guarantee(0.1, count=100)]
    assert composition.basic_epsilon(hundred, 1e-6).value == pytest.approx(10)
    assert composition.advanced_epsilon(hundred, 1e-6).value == pytest.approx(5.756522, abs=1e-6)
    ten = [Guarantee(1.0, count=10)]
    # the tail alone gives 20.174271 here
    assert composition.advanced_epsilon(ten, 1e-5).value == 10
    assert concentrated.tail_epsilon(10 * Concentrated.of_pure(1.0), 1e-5).value == pytest.approx(20.174271, abs=1e-6)
    many = [Guarantee(0.1, 1e-7, count=20), Guarantee(0.3, 1e-8, count=5)]
    assert composition.advanced_epsilon(many, 1e-5).value == pytest.approx(3.5, rel=1e-15)
    assert composition.advanced_delta(many, 3.6).value == pytest.approx(20e-7 + 5e-8, rel=1e-6)
    # the slack is what is left of delta
    spent = [Guarantee(0.1, 1e-8, count=100)]
    assert composition.advanced_epsilon(spent, 2e-6).value == pytest.approx(5.756522, abs=1e-5)


def test_corners_of_composition():
    assert composition.basic_epsilon([], 0.0).value == 0
    assert composition.basic_delta([], 0.0).value == 0
    assert composition.advanced_epsilon([], 0.0).value == 0
    assert composition.basic_epsilon([Guarantee(0.3, 1e-5)], 1e-5).value == 0.3
    assert composition.basic_delta([Guarantee(0.3, 1e-5)], 0.3).value == 1e-5
    assert composition.basic_delta([Guarantee(0.3, 1e-5)], 0.29).value == 1
    assert composition.advanced_epsilon([Guarantee(0.3)], 0.0).value == 0.3
    assert composition.advanced_epsilon([Guarantee(0.3, 1e-3)], 1e-4).value == math.inf
    assert composition.advanced_epsilon([Guarantee(0.0, 1.0)], 0.5).value == math.inf
    assert composition.advanced_epsilon([Guarantee(0.0, 1.0)], 1.0).value == 0
    assert composition.advanced_delta([Guarantee(0.3)], -1.0).value == 1
    for bad in ((-0.1, 0), (math.inf, 0), (1.0, 1.5), (1.0, -0.1), (1.0, 0.1, -1)):
        with pytest.raises(ValueError, match=r"must|finite"):
            Guarantee(*bad)
    with pytest.raises(TypeError, match="only guarantees compose here"):
        composition.basic_delta([(0.1, 0.0)], 1.0)  # type: ignore[list-item]


def test_optimal_composition_is_that_of_known_guarantees():
    """Between the engine's exact answer for mechanisms that are guarantees, and advanced composition; and its inverse."""
    guarantees = [Guarantee(0.2, 1e-4, count=12), Guarantee(0.5, 0.0, count=3)]
    release = 12 * lp.ApproximateDP(epsilon=0.2, delta=1e-4) + 3 * lp.PureDP(epsilon=0.5)
    for at in (0.0, 0.7, 2.5):
        found = composition.optimal_delta(guarantees, at).value
        assert found == pytest.approx(release.delta(at).value, rel=1e-9)
        assert found >= release.delta(at).lower
        assert found <= composition.advanced_delta(guarantees, at).value
    level = composition.optimal_epsilon(guarantees, 0.01)
    assert level.value == pytest.approx(release.epsilon(0.01).value, abs=1e-8)
    assert level.value >= release.epsilon(0.01).lower
    assert composition.optimal_epsilon(guarantees, 1e-4).value == math.inf
    with pytest.raises(ValueError, match="delta"):
        composition.optimal_epsilon(guarantees, math.nan)
