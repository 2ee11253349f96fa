"""Arithmetic with bounds, and with NumPy: results enclose what the numbers between the ends give."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import logphi as lp
from logphi import Bound, Bounds, Direction, Entry, Ledger, Status, UndecidedError
from logphi.answers.status import Side
from logphi.classical.claim import Claim
from some_bounds import at_least, at_most, bounds, curve, doubles, positive, spent, truths, wide

# what a float stands for: itself, and both ends of the half unit around it
SHIFTS = st.sampled_from([Fraction(-1, 2), Fraction(0), Fraction(1, 2)])


def stands_for(number, shift):
    whole = float(number).is_integer() and abs(number) <= 2**53
    return Fraction(number) if whole else Fraction(number) + shift * Fraction(math.ulp(number))


def contained(truth, bound):
    return bound.lower <= truth <= bound.upper


def test_bits_are_nats_over_log_two():
    bits = spent / math.log(2)
    exact = Fraction("0.693147180559945309417232121458176568")
    assert Fraction(bits.lower) < Fraction(spent.lower) / exact
    assert Fraction(bits.upper) > Fraction(spent.upper) / exact
    assert bits.width < 1.01 * spent.width / math.log(2)
    assert (bits.method, bits.direction, bits.status, bits.side) == ("contour", Direction.REMOVE, Status.MET, Side.UPPER)


def test_what_falls_with_the_bound_has_the_other_private_side():
    safe = 1 - lp.Gaussian(sigma=1).delta(1)
    assert safe.side is Side.LOWER
    assert f"{safe:.3f}" == "0.873"
    for reflected in (-spent, 1 - spent, spent * -2, spent / -2, 1 / spent, spent**-2, (-spent) ** 2 * -1):
        assert reflected.side is Side.LOWER
        assert float(reflected) == reflected.lower
    for kept in (
        +spent,
        spent + 1,
        spent - 1,
        2 * spent,
        spent**2,
        -1 / spent,
        (-spent) ** 2,
        -((-spent) ** 3),
    ):
        assert kept.side is Side.UPPER
        assert float(kept) == kept.upper


def test_whole_numbers_are_exact_and_so_are_their_results():
    assert (spent + 0).same_as(spent)
    assert (spent * 1.0).same_as(spent)
    assert (2 * spent).upper == 2 * spent.upper
    assert (1 - (1 - wide)).side is Side.UPPER
    assert spent**0 == 1
    assert 0 * spent == 0
    assert Bound(0.5, 0.5, 0.5) + Fraction(1, 2) == 1
    total: Any = sum([wide, 1, 2])
    assert total.lower == pytest.approx(5.38159, rel=1e-15)


def test_a_float_stands_for_the_decimal_and_for_what_was_computed():
    tenth = Bound(0, 0, 0) + 0.1
    assert contained(Fraction(1, 10), tenth)
    assert contained(Fraction(0.1), tenth)
    assert tenth.ledger.rounding.amount >= tenth.width > 0


OPERATIONS = {
    "b + c": lambda b, c: b + c,
    "c + b": lambda b, c: c + b,
    "b - c": lambda b, c: b - c,
    "c - b": lambda b, c: c - b,
    "b * c": lambda b, c: b * c,
    "c * b": lambda b, c: c * b,
    "b / c": lambda b, c: b / c,
    "c / b": lambda b, c: c / b,
}


@pytest.mark.few(2)
@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
@given(bound=bounds(), number=doubles, shift=SHIFTS)
def test_arithmetic_encloses(operation, bound, number, shift):
    exact = stands_for(number, shift)
    try:
        found = operation(bound, number)
    except ZeroDivisionError:
        assert operation in (OPERATIONS["b / c"], OPERATIONS["c / b"])
        assert number == 0 or bound.lower <= 0 <= bound.upper
        return
    for truth in truths(bound):
        assert contained(operation(truth, exact), found)
    # float(...) follows the private end
    private = operation(Fraction(float(bound)), exact)
    assert at_least(found.upper, private) if found.side is Side.UPPER else at_most(found.lower, private)
    assert all(entry.amount == entry.amount for _, entry in found.ledger.items())


@pytest.mark.few(2)
@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
@given(bound=bounds(positive), number=st.fractions(Fraction(1, 10**9), 10**9) | st.integers(-(10**30), -1))
def test_arithmetic_with_exact_numbers_is_as_sharp_as_doubles_allow(operation, bound, number):
    found = operation(bound, number)
    exact = [operation(truth, number) for truth in truths(bound)]
    assert at_most(found.lower, min(exact))
    assert not at_most(math.nextafter(found.lower, math.inf), min(exact))
    assert at_least(found.upper, max(exact))
    assert not at_least(math.nextafter(found.upper, -math.inf), max(exact))


@given(bounds(), st.integers(-9, 9))
def test_powers_enclose(bound, power):
    if bound.lower < 0 < bound.upper:
        with pytest.raises(ValueError, match=r"no private side: take powers of \.lower and \.upper"):
            bound**power
        return
    if power < 0 and 0 in bound:
        with pytest.raises(ZeroDivisionError):
            bound**power
        return
    found = bound**power
    assert all(contained(truth**power, found) for truth in truths(bound))
    private = Fraction(float(bound)) ** power
    assert at_least(found.upper, private) if found.side is Side.UPPER else at_most(found.lower, private)


@pytest.mark.parametrize(
    ("text", "error", "match"),
    [
        ("spent / 0", ZeroDivisionError, "may be zero"),
        ("1 / Bound(0, 0.1, 0.2)", ZeroDivisionError, "between 0.0 and 0.2"),
        ("spent + math.nan", ValueError, "needs a number, got nan"),
        ("spent ** 0.5", ValueError, "integer powers only, got 0.5"),
        ("spent ** math.inf", ValueError, "integer powers only"),
        ("Bound(0, 0, math.inf) * 0", ValueError, "zero times infinity"),
        ("Bound(0, 0, math.inf) - math.inf", ValueError, "infinity minus infinity"),
        ("spent + spent", TypeError, "compose the mechanisms"),
        ("spent / wide", TypeError, "which end of the result is private"),
        ("spent + 'a'", TypeError, "unsupported operand"),
        ("spent + 1j", TypeError, "unsupported operand"),
        ("spent // 2", TypeError, "unsupported operand"),
        ("2 ** spent", TypeError, "unsupported operand"),
    ],
)
def test_what_cannot_be_enclosed_is_refused(text, error, match):
    with pytest.raises(error, match=match):
        eval(text)


def test_infinite_ends_stay_infinite():
    half = Bound(1, 2, math.inf)
    assert ((half + 1).lower, (half + 1).upper) == (2, math.inf)
    assert ((1 / half).lower, (1 / half).upper) == (0, 1)
    assert (-half).lower == -math.inf
    assert (half**3).upper == math.inf
    assert (2 * lp.ApproximateDP(1, 1e-3).epsilon(1e-5)) == math.inf
    assert (Bound(1e308, 1e308, 1e308) * 10).lower == np.finfo(float).max
    assert (Bound(1e308, 1e308, 1e308) * 10).upper == math.inf


def test_the_ledger_is_in_the_new_units():
    made = Bound(1, 2, 3, ledger=Ledger(inner=Entry(0.5, proved=False), infinite_mass=Entry(0.25)))
    twice = 2 * made
    assert (twice.ledger.inner, twice.ledger.infinite_mass) == (Entry(1, proved=False), Entry(0.25))
    assert not twice.ledger.proved
    endless = Bound(0, 0.5, 1, ledger=Ledger(truncation=Entry(math.inf)))
    assert (0 * endless).ledger.truncation.amount == 0


def test_an_array_of_bounds_is_one_of_floats():
    array = np.array([spent, curve])
    assert array.dtype == float
    assert array.tolist() == [spent.upper, curve.lower]
    assert np.asarray(spent) == spent.upper
    assert np.array([Claim(0.25, Side.UPPER, "one", "two"), lp.Approximation(0.5, "guess")]).tolist() == [0.25, 0.5]
    assert np.array([lp.Gaussian(1).renyi(2 + 1j)]).dtype == complex


def test_functions_of_numpy_take_the_private_side_and_operators_enclose():
    assert np.log(spent) == np.log(spent.upper)
    assert np.max([spent, wide]) == wide.upper
    for made in (np.float64(2) * spent, np.float32(2) * spent, np.int64(2) * spent, np.longdouble(2) * spent):
        assert made.same_as(2 * spent)
    three: Any = np.float64(3)
    assert (three > spent) is True
    with pytest.raises(UndecidedError):
        _ = np.float64(2.381597) > wide
    assert (np.array([1.0, 3.0]) < spent).tolist() == [True, False]
    both: Any = spent + np.array([1.0, 3.0])
    assert isinstance(both, Bounds)
    assert both[1].same_as(spent + 3)


def test_a_single_is_compared_exactly():
    single = np.float32(2.3815969)
    assert (single < spent) == (float(single) < spent)
