"""Comparisons of bounds: a bool where the ends decide, an error where they do not."""

from __future__ import annotations

import copy
import math
import operator
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

import logphi as lp
from logphi import Bound, Status, UndecidedError
from some_bounds import bounds, doubles, spent, truths, wide


def test_a_comparison_is_a_bool_where_the_bounds_decide():
    assert (spent < 3) is True
    assert (spent > 3) is False
    assert (spent <= Fraction(3)) is True
    assert (spent >= Decimal("2.3")) is True
    three = 3
    assert (three > spent) is True
    assert (spent == 3) is False
    assert (spent != 3) is True
    assert spent != None  # noqa: E711
    assert spent != "2.38"


@pytest.mark.parametrize("ask", ["<", "<=", ">", ">=", "==", "!="])
@pytest.mark.parametrize("reflected", [False, True])
def test_what_lies_strictly_between_is_undecided_and_says_so(ask, reflected):
    middle = 2.381597
    with pytest.raises(UndecidedError) as caught:
        eval(f"middle {ask} wide" if reflected else f"wide {ask} middle", {"wide": wide, "middle": middle})
    error = caught.value
    assert isinstance(error, ValueError)
    assert (error.lower, error.upper, error.other) == (2.38159, 2.3816, middle)
    for part in ("between 2.38159 and 2.3816", "2.381597", "float(...)"):
        assert part in str(error)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_at_an_end_the_truth_may_be_that_end():
    low, high = wide.lower, wide.upper
    assert (wide <= high) is True
    assert (wide > high) is False
    assert (wide >= low) is True
    assert (wide < low) is False
    for ask in (
        lambda: wide < high,
        lambda: wide >= high,
        lambda: wide > low,
        lambda: wide <= low,
        lambda: wide == low,
        lambda: wide == high,
    ):
        with pytest.raises(UndecidedError):
            ask()


@given(bounds(), doubles | bounds())
def test_a_decision_is_that_of_all_numbers_between(bound, other):
    ends = truths(other) if isinstance(other, Bound) else [Fraction(other)]
    for compare in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne):
        possible = {compare(a, b) for a in truths(bound) for b in ends}
        try:
            assert {compare(bound, other)} == possible
        except UndecidedError:
            # two ends that are equal may be different numbers, and need not be
            touch = min(bound.upper, max(ends)) >= max(bound.lower, min(ends))
            assert len(possible) == 2 or (touch and (bound.lower < bound.upper or min(ends) < max(ends)))


def test_equal_are_points_and_a_bound_with_itself():
    assert Bound(0.5, 0.5, 0.5) == 0.5 == Bound(0.5, 0.5, 0.5, Status.WIDE)
    assert Bound(0.5, 0.5, 0.5) == Fraction(1, 2) == Decimal("0.5")
    assert lp.ApproximateDP(1, 1e-3).epsilon(1e-5) == math.inf
    assert wide == wide
    assert wide <= wide
    assert not wide < wide
    with pytest.raises(UndecidedError, match="same_as"):
        _ = copy.deepcopy(wide) == wide
    assert copy.deepcopy(wide).same_as(wide)
    assert not wide.same_as(Bound(2.38159, 2.381595, 2.3816, Status.WIDE))
    assert not wide.same_as(wide.upper)


def test_a_hash_goes_with_equality():
    point = Bound(0.5, 0.5, 0.5)
    assert len({point, 0.5, Fraction(1, 2), copy.deepcopy(point)}) == 1
    assert len({wide, copy.deepcopy(wide), wide}) == 2
    assert {spent: "here"}[spent] == "here"


def test_numbers_that_are_not_real_are_not_silently_different():
    mpmath = pytest.importorskip("mpmath")
    for other in (2.38j, mpmath.mpf("2.38")):
        with pytest.raises(TypeError, match="compared with real numbers"):
            _ = spent == other
        with pytest.raises(TypeError):
            _ = spent < other
    nothing = float("nan")
    with pytest.raises(UndecidedError):
        _ = spent < nothing


def test_a_number_beyond_doubles_is_not_infinity():
    endless = Bound(0, 0, math.inf)
    for huge in (10**400, Decimal("1e400"), Fraction(10**400, 3)):
        with pytest.raises(UndecidedError):
            _ = endless <= huge
        assert spent < huge
        assert (spent + huge).lower == np.finfo(float).max
        assert (endless * huge).upper == math.inf
    assert endless <= math.inf
    assert endless <= Decimal("inf")


def test_sorted_and_max_order_what_the_bounds_tell_apart():
    answers = [lp.Gaussian(sigma=sigma).epsilon(1e-5) for sigma in (2, 1, 3)]
    assert [answers.index(one) for one in sorted(answers)] == [2, 0, 1]
    assert max(answers) is answers[1]
    assert min(answers) is answers[2]
    assert max(answers[0], 0.1) is answers[0]
    overlapping = [wide, Bound(2.381595, 2.3816, 2.39)]
    with pytest.raises(UndecidedError, match="key=float"):
        max(overlapping)
    assert max(overlapping, key=float) is overlapping[1]
    assert sorted(overlapping, key=float) == overlapping


def test_truth_is_being_other_than_zero():
    assert spent
    assert not Bound(0, 0, 0)
    with pytest.raises(UndecidedError):
        bool(Bound(0, 0.1, 0.2))


def test_isclose_takes_the_private_side():
    assert math.isclose(spent, 2.381596921, rel_tol=1e-9)
    assert float(spent) == spent.upper
    assert np.isclose(spent, 2.381596921)
