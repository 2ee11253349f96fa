"""A bound as a number: what is typed in the first hour, and never a digit on the unsafe side."""

from __future__ import annotations

import copy
import json
import math
import operator
import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import logphi as lp
from logphi import Bound, Bounds, ComplexBound, Direction, Entry, Ledger, Status, UndecidedError
from logphi.answers.decimals import formatted
from logphi.answers.status import Side
from logphi.classical.claim import Claim
from logphi.expression import parse

spent = (14062 * lp.Gaussian(sigma=1.1).poisson(256 / 60000)).epsilon(1e-5)
curve = lp.Gaussian(sigma=1).tradeoff(0.05)
wide = Bound(2.38159, 2.381595, 2.3816)

# quick ones, of which the last one does not apply to Gaussians
METHODS = ["basic composition", "zCDP, tail", "optimal composition"]

doubles = st.floats(allow_nan=False, allow_infinity=False)
positive = st.floats(min_value=1e-300, max_value=1e300)
sides = st.sampled_from(Side)
# what a float stands for: itself, and both ends of the half unit around it
shifts = st.sampled_from([Fraction(-1, 2), Fraction(0), Fraction(1, 2)])


@st.composite
def bounds(draw, numbers=doubles):
    lower, value, upper = sorted(draw(st.tuples(numbers, numbers, numbers)))
    return Bound(lower, value, upper, side=draw(sides))


def truths(bound):
    return [Fraction(end) for end in (bound.lower, bound.value, bound.upper)]


def stands_for(number, shift):
    whole = float(number).is_integer() and abs(number) <= 2**53
    return Fraction(number) if whole else Fraction(number) + shift * Fraction(math.ulp(number))


def contained(truth, bound):
    return bound.lower <= truth <= bound.upper


def at_least(number, exact):
    """``number >= exact``, also if it is infinite."""
    return number > 0 if math.isinf(number) else Fraction(number) >= exact


def at_most(number, exact):
    return at_least(-number, -exact)


# ---------------------------------------------------------------------------------------------------- text


def test_a_repr_is_one_readable_line():
    text = repr(spent)
    assert text.startswith("Bound(lower=2.38159692")
    assert text.endswith("method='contour', direction='remove')")
    assert len(text) < 130
    assert "\n" not in text
    assert repr(curve).endswith("side='lower')")
    # the double 0.55 is above the decimal
    assert repr(Bound(0.1, 0.2, 0.55, Status.WIDE)) == (
        "Bound(lower=0.1, value=0.2, upper=0.5500000000001, status='wide', method='exact')"
    )


def test_points_and_infinities_have_the_repr_of_their_number():
    third = 0.1 + 0.2
    assert repr(Bound(third, third, third)) == f"Bound(lower={third!r}, value={third!r}, upper={third!r}, method='exact')"
    assert repr(lp.ApproximateDP(1, 1e-3).epsilon(1e-5)) == (
        "Bound(lower=inf, value=inf, upper=inf, status='unbounded', method='exact', direction='both')"
    )
    assert repr(Bound(0, 0, math.inf)) == "Bound(lower=0, value=0, upper=inf, method='exact')"


@given(bounds())
def test_a_repr_is_rounded_outward(bound):
    told = dict(part.split("=") for part in repr(bound)[len("Bound(") : -1].split(", "))
    if bound.lower < bound.upper:
        assert Fraction(told["lower"]) <= Fraction(bound.lower)
        assert Fraction(told["upper"]) >= Fraction(bound.upper)
        assert Fraction(told["lower"]) <= Fraction(told["value"]) <= Fraction(told["upper"])
    else:
        assert float(told["lower"]) == float(told["value"]) == float(told["upper"]) == bound.value


def test_a_format_rounds_to_the_private_side():
    assert f"{wide:.3f}" == "2.382"
    assert f"{Bound(2.38159, 2.38159, 2.3816, side=Side.LOWER):.3f}" == "2.381"
    assert f"{spent:.2f}" == "2.39"
    assert f"{curve:.2f}" == "0.74"
    assert f"{lp.Gaussian(sigma=10).delta(0.5):.2e}" == "6.86e-09"
    assert f"{lp.Gaussian(sigma=1).delta(1):.1%}" == "12.7%"
    assert f"{wide:>10.2f}|{wide:<10.2f}|{wide:^+10.2f}|{wide:*=+10.2f}|{wide:010.2f}" == (
        "      2.39|2.39      |  +2.39   |+*****2.39|0000002.39"
    )
    assert f"{Bound(1, 2, 2381599.5):,.0f}" == "2,381,600"


def test_an_empty_format_is_the_text():
    assert f"{spent}" == str(spent)
    # a computed end may have a shortest decimal on its wrong side; 2.75 is itself
    assert f"{Bound(2.5, 2.625, 2.75):20}" == f"{'2.75':>20}"


def test_a_short_decimal_below_the_double_is_not_taken_for_it():
    # the double 0.1 is above the decimal 0.1, and 0.3 below
    assert f"{Bound(0.1, 0.1, 0.1):1}" == "0.10000000000000001"
    assert f"{Bound(0.3, 0.3, 0.3):1}" == "0.3"
    assert f"{Bound(0.1, 0.1, 0.1, side=Side.LOWER):1}" == "0.1"


SPECS = st.builds(
    "{}{}{}{}.{}{}".format,
    st.sampled_from(["", "<", "*^", "=", ">"]),
    st.sampled_from(["", "+", " ", "-"]),
    st.sampled_from(["", "12", "018", "30"]),
    st.sampled_from(["", ",", "_"]),
    st.integers(0, 20),
    st.sampled_from("feEgFG"),
)


@given(doubles, SPECS)
def test_decimals_to_the_nearest_are_those_of_floats(number, spec):
    assert formatted(number, spec, None) == format(number, spec)


@given(doubles, st.booleans())
def test_decimals_without_digits_read_back(number, upward):
    text = formatted(number, "1", upward)
    assert float(text) == number
    assert Fraction(text) >= Fraction(number) if upward else Fraction(text) <= Fraction(number)


@given(st.integers(-(10**9), 10**9), st.sampled_from(["%", ".0%", "+12.3%", "015,.1%", "e", "G", "f"]))
def test_whole_numbers_have_the_format_of_floats_where_nothing_is_rounded(number, spec):
    assert formatted(number, spec.replace("G", ".12G").replace("e", ".12e"), True) == format(
        float(number), spec.replace("G", ".12G").replace("e", ".12e")
    )


@given(doubles, st.integers(0, 20), st.sampled_from("feg"), st.booleans())
def test_decimals_to_a_side_are_the_nearest_unless_that_is_on_the_other(number, digits, kind, upward):
    spec, exact = f".{digits}{kind}", Fraction(number)
    shown, nearest = Fraction(formatted(number, spec, upward)), Fraction(format(number, spec))
    assert shown >= exact if upward else shown <= exact
    assert (shown == nearest) == (nearest >= exact if upward else nearest <= exact)
    # and then half a unit is between the nearest and the number
    assert abs(shown - exact) + abs(exact - nearest) == abs(shown - nearest) or shown == nearest


@given(bounds(), st.integers(0, 25), st.sampled_from("fegFEG%"))
def test_no_format_crosses_to_the_unsafe_side(bound, digits, kind):
    text = f"{bound:.{digits}{kind}}"
    shown = Fraction(text.removesuffix("%").lower()) / (100 if kind == "%" else 1)
    assert shown >= Fraction(bound.upper) if bound.side is Side.UPPER else shown <= Fraction(bound.lower)


@given(bounds(), st.integers(-5, 25))
def test_rounding_goes_to_the_private_side(bound, places):
    found = round(bound, places)
    assert type(found) is float
    unit = Fraction(10) ** -places
    exact = Fraction(float(bound))
    decimal = (math.ceil if bound.side is Side.UPPER else math.floor)(exact / unit) * unit
    assert found >= bound.upper if bound.side is Side.UPPER else found <= bound.lower
    assert found == float(decimal)
    whole = round(bound)
    assert type(whole) is int
    assert whole == (math.ceil(exact) if bound.side is Side.UPPER else math.floor(exact))


def test_rounding_an_infinity_is_as_with_floats():
    infinite = lp.ApproximateDP(1, 1e-3).epsilon(1e-5)
    assert round(infinite, 3) == math.inf
    assert f"{infinite:.3f}|{infinite:>8.1e}|{infinite:G}|{-infinite:05.1f}" == "inf|     inf|INF|-0inf"
    with pytest.raises(OverflowError):
        round(infinite)


@pytest.mark.parametrize("spec", ["d", ".3x", "s", "#.3f", ".f", "n", "%%", "10.2ff"])
def test_formats_that_floats_have_not_are_refused(spec):
    with pytest.raises(ValueError, match=r"invalid format specifier .* such as '\.3f'"):
        format(spent, spec)


# -------------------------------------------------------------------------------------------------- comparison


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
            assert len(possible) == 2 or (touch and bound.lower < bound.upper)


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


# -------------------------------------------------------------------------------------------------- arithmetic


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
@given(bound=bounds(), number=doubles, shift=shifts)
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


# ------------------------------------------------------------------------------------------------------- numpy


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


# ------------------------------------------------------------------------------------------------------ Bounds

profile = lp.Gaussian(sigma=1).delta([0.0, 0.5, 1.0])


def test_bounds_have_a_short_repr():
    assert repr(profile) == (
        "Bounds(shape=(3,), lower=[0.3829249, 0.2384217, 0.1269367], upper=[0.382925, 0.2384218, 0.1269368])"
    )
    many = repr(lp.Gaussian(sigma=1).delta(np.linspace(0, 1, 100).reshape(10, 10)))
    assert many.startswith("Bounds(shape=(10, 10), lower=[0.3829249, 0.3798")
    assert "…, 0.1269367]" in many
    assert len(many) < 140
    assert repr(lp.Gaussian(sigma=1).delta([])) == "Bounds(shape=(0,), lower=[], upper=[])"
    assert repr(Bounds([Bound(0, 1, 2, Status.WIDE), Bound(0, 0, 0)])).endswith("1 of 2 not as narrow as requested)")


def test_bounds_compare_point_by_point():
    assert (profile < 0.2).tolist() == [False, False, True]
    assert (profile > 0.2).tolist() == [True, True, False]
    assert (profile >= [0.3, 0.3, 0.1]).tolist() == [True, False, True]
    assert (profile == 0.5).tolist() == [False] * 3
    assert (profile != 0.5).tolist() == [True] * 3
    assert (profile[0] > profile).tolist() == [False, True, True]
    nothing: Any = profile == None  # noqa: E711
    assert nothing.tolist() == [False] * 3
    assert (profile < 1).dtype == bool
    with pytest.raises(UndecidedError) as caught:
        _ = profile.value < profile
    assert caught.value.upper == profile.upper[0]
    with pytest.raises(UndecidedError):
        _ = lp.Gaussian(sigma=1).delta([0.0, 0.5, 1.0]) == profile
    assert profile.same_as(lp.Gaussian(sigma=1).delta([0.0, 0.5, 1.0]))
    assert not profile.same_as(profile[:2])
    with pytest.raises(TypeError, match="unhashable"):
        hash(profile)


def test_bounds_are_calculated_with_point_by_point():
    for made, one in [
        (profile * 2, lambda b: b * 2),
        (2 * profile, lambda b: b * 2),
        (1 - profile, lambda b: 1 - b),
        (profile - 1, lambda b: b - 1),
        (profile + np.float64(1), lambda b: b + 1.0),
        (1 + profile, lambda b: b + 1),
        (profile / math.log(2), lambda b: b / math.log(2)),
        (1 / profile, lambda b: 1 / b),
        (profile**2, lambda b: b**2),
        (-profile, lambda b: -b),
    ]:
        assert isinstance(made, Bounds)
        assert made.same_as(Bounds([one(b) for b in profile]))
    assert (profile * np.array([1, 2, 3]))[2].same_as(3 * profile[2])
    assert (np.array([1.0, 2.0, 3.0]) * profile)[2].same_as(3 * profile[2])
    assert (np.ones((2, 1)) * profile).shape == (2, 3)
    moved = profile
    moved += 1
    assert moved[0].same_as(profile[0] + 1)
    assert np.sum(profile) == np.sum(profile.upper)
    assert np.log10(profile).tolist() == np.log10(profile.upper).tolist()
    with pytest.raises(TypeError, match="which end of the result is private"):
        profile + profile


def test_bounds_are_made_of_a_list_or_of_objects():
    assert Bounds([wide, spent]).shape == (2,)
    assert Bounds(np.array([[wide], [spent]], dtype=object))[1, 0] is spent
    assert Bounds([wide]).to_objects()[0] is wide


# -------------------------------------------------------------------------------------------------------- JSON


def through_json(data):
    return json.loads(json.dumps(data, allow_nan=False))


def test_a_bound_goes_through_json():
    data = spent.to_dict()
    assert through_json(data) == data
    assert list(data) == ["lower", "value", "upper", "side", "direction", "method", "status", "ledger"]
    assert (data["upper"], data["side"], data["direction"], data["status"]) == (spent.upper, "upper", "remove", "met")
    infinite = Bound(0, 0, math.inf, Status.WIDE, ledger=Ledger(inner=Entry(math.inf, proved=False))).to_dict()
    assert through_json(infinite) == infinite
    assert (infinite["upper"], infinite["direction"]) == ("inf", None)
    assert infinite["ledger"]["inner"] == {"amount": "inf", "proved": False}


def test_bounds_go_through_json_in_their_shape():
    square = lp.Gaussian(sigma=1).delta([[0.0, 0.5], [1.0, 2.0]])
    data = square.to_dict()
    assert through_json(data) == data
    assert data["upper"] == square.upper.tolist()
    assert data["status"] == [["met", "met"], ["met", "met"]]
    assert data["proved"] == [[True, True], [True, True]]
    assert lp.Gaussian(sigma=1).delta([]).to_dict()["lower"] == []


def test_other_results_go_through_json():
    for made in (
        lp.calibrate(lambda steps: steps * lp.Gaussian(10), epsilon=2, delta=1e-5),
        lp.compare(10 * lp.Gaussian(sigma=10), epsilon=1, methods=METHODS),
        lp.compare(lp.ApproximateDP(1, 1e-3), delta=1e-5, methods=METHODS),
        lp.Gaussian(1).renyi(2 + 1j),
        lp.Approximation(math.inf, "guess"),
        Claim(math.inf, Side.UPPER, "one", "two"),
    ):
        data = made.to_dict()
        assert through_json(data) == data


# ------------------------------------------------------------------------------------------------------ tables


def flat(rows):
    return all(isinstance(cell, (bool, int, float, str, type(None))) for row in rows for cell in row.values())


def test_tables_are_plain_rows():
    calibrated = lp.calibrate(lambda sigma: 10 * lp.Gaussian(sigma), epsilon=2, delta=1e-5, digits=3)
    compared = lp.compare(10 * lp.Gaussian(sigma=10), epsilon=1, methods=METHODS)
    for made in (profile, calibrated, compared):
        rows = made.records()
        assert flat(rows)
        assert len({tuple(row) for row in rows}) == 1
    assert [row["upper"] for row in profile.records()] == profile.upper.tolist()
    good, bad = calibrated.records()
    assert (good["parameter"], good["meets"], good["upper"]) == (calibrated.value, True, calibrated.answer.upper)
    assert (bad["parameter"], bad["meets"]) == (calibrated.nearest_miss, False)
    assert [row["name"] for row in compared.records()] == [row.name for row in compared.rows]
    assert Bound(0, 0, math.inf).record()["upper"] == math.inf


def test_pandas_takes_them():
    pandas = pytest.importorskip("pandas")
    assert pandas.DataFrame(profile.records())["upper"].tolist() == profile.upper.tolist()
    table = pandas.DataFrame(lp.compare(10 * lp.Gaussian(sigma=10), epsilon=1, methods=METHODS).records())
    assert table["value"].dtype == float
    assert pandas.Series(np.array([spent])).dtype == float


# ----------------------------------------------------------------------------------- calibrations, claims, boxes


def test_a_calibration_is_its_value():
    found = lp.calibrate(lambda sigma: 1000 * lp.Gaussian(sigma).poisson(0.01), epsilon=2, delta=1e-5)
    assert repr(found).startswith("Calibration(value=0.959")
    assert repr(found).endswith("target='epsilon <= 2.0 at delta = 1e-05', status='tight')")
    assert len(repr(found)) < 140
    assert found == found.value
    assert found > 0.9
    assert max(found, 0.5) is found
    assert np.array([found]).dtype == float
    # more noise is safe
    assert f"{found:.3f}" == "0.960" == f"{found:.2}0"
    assert round(found, 2) == 0.96
    again = lp.calibrate(lambda sigma: 1000 * lp.Gaussian(sigma).poisson(0.01), epsilon=2, delta=1e-5)
    assert found == again
    assert found.same_as(again)


def test_steps_are_rounded_down():
    found = lp.calibrate(lambda steps: steps * lp.Gaussian(20), epsilon=2, delta=1e-5)
    assert found == int(found.value)
    assert f"{found:d}|{found:,}|{found:>6}" == f"{found.value}|{found.value:,}|{found.value:>6}"
    assert float(f"{found:.0e}") <= found.value < float(f"{found:.0e}") * 1.2
    assert round(found, -1) == found.value // 10 * 10
    assert hash(found) == hash(found.value)


def test_a_calibration_whose_safe_side_is_unknown_is_not_rounded():
    edge = lp.calibrate(lp.Gaussian(sigma=10).poisson, epsilon=2, delta=1e-5, upper=0.123456)
    assert edge.nearest_miss is None
    with pytest.raises(ValueError, match="the safe side is not known"):
        f"{edge:.3f}"
    with pytest.raises(ValueError, match="cannot be rounded"):
        round(edge, 3)
    whole = lp.calibrate(lp.Gaussian(sigma=10).poisson, epsilon=2, delta=1e-5)
    assert whole.nearest_miss is None
    assert (f"{whole:.2f}", round(whole, 2)) == ("1.00", 1.0)


def test_a_comparison_has_a_short_repr_and_equals_another_run():
    one, other = (lp.compare(10 * lp.Gaussian(sigma=10), epsilon=1, methods=METHODS) for _ in range(2))
    assert repr(one).startswith("Comparison(delta(1.0) of 10 * Gaussian(sigma=10.0), exact=Bound(lower=")
    assert repr(one).endswith(" rows)")
    assert len(repr(one)) < 220
    assert one == other
    assert hash(one) == hash(other)
    assert one != lp.compare(10 * lp.Gaussian(sigma=10), epsilon=2, methods=METHODS)


def test_a_claim_tells_of_one_side_only():
    most = Claim(0.25, Side.UPPER, "one", "two")
    assert most <= 0.25
    assert most < 0.3
    assert not most > 0.25
    assert (most < 0.3) is True
    for ask in (lambda: most < 0.25, lambda: most >= 0.2, lambda: most == 0.25, lambda: most <= 0.2):
        with pytest.raises(UndecidedError, match=r"between -inf and 0\.25"):
            ask()
    least = Claim(0.25, Side.LOWER, "one", "two")
    assert least >= 0.25
    assert least > 0.2
    assert f"{Claim(0.12341, Side.UPPER, 'one', 'two'):.3f}|{Claim(0.12341, Side.LOWER, 'one', 'two'):.3f}" == "0.124|0.123"
    assert repr(most) == "Claim(value=0.25, side='upper', name='one', source='two')"
    assert repr(Claim(1.0, Side.LOWER, "one", "two", "three", proved=False)) == (
        "Claim(value=1.0, side='lower', name='one', source='two', note='three', proved=False)"
    )
    assert most.same_as(Claim(0.25, Side.UPPER, "one", "two"))
    with pytest.raises(UndecidedError):
        _ = Claim(3.0, Side.UPPER, "one", "two") > spent
    assert Claim(3.0, Side.LOWER, "one", "two") > spent


def test_an_approximation_decides_nothing():
    guess = lp.Approximation(0.126937, "saddle point")
    for ask in (lambda: guess < 1, lambda: guess == 0.126937, lambda: guess > spent):
        with pytest.raises(UndecidedError, match="between -inf and inf"):
            ask()
    assert float(guess) < 1
    assert f"{guess:.3f}|{guess:.4f}" == "0.127|0.1269"
    assert round(guess, 3) == 0.127
    assert guess.same_as(lp.Approximation(0.126937, "saddle point"))


def test_a_box_is_equal_where_both_parts_are():
    one = Bound(1, 1, 1)
    box = ComplexBound(one, Bound(0, 0.5, 1))
    assert box != 2
    assert box != 1 + 2j
    assert box != ComplexBound(one, Bound(2, 3, 4))
    assert box == box
    assert box != np.complex128(1 + 2j)
    assert np.complex128(1 + 2j) != box
    with pytest.raises(UndecidedError):
        _ = box == 1 + 0.5j
    with pytest.raises(UndecidedError):
        _ = np.complex128(1 + 0.5j) == box
    assert ComplexBound(one, one) == 1 + 1j
    assert len({ComplexBound(one, one), 1 + 1j}) == 1
    assert ComplexBound(one, Bound(0, 0, 0)) == 1 == ComplexBound(one, Bound(0, 0, 0))
    assert box != "1"
    assert copy.deepcopy(box).same_as(box)
    assert "\n" not in repr(box)


@pytest.mark.parametrize("text", ["Gaussian(sigma=1)", "30 * Laplace(scale=4)", "RandomizedResponse(p=0.6)"])
def test_answers_survive_pickling(text):
    for answer in (parse(text).delta(0.3), parse(text).delta([0.1, 0.2]), parse(text).tradeoff(0.1)):
        assert pickle.loads(pickle.dumps(answer)).same_as(answer)


def test_an_array_of_bounds_is_formatted_point_by_point():
    deltas = lp.Gaussian(sigma=1).delta([0.5, 1, 2])
    assert f"{deltas:.3f}" == "[0.239, 0.127, 0.021]"
    assert f"{deltas:>9.2e}" == "[ 2.39e-01,  1.27e-01,  2.10e-02]"
    errors = lp.Gaussian(sigma=1).tradeoff([[0.05], [0.1]])
    # a trade-off function is claimed by its lower end
    assert f"{errors:.4f}" == "[[0.7404], [0.6108]]"
    assert f"{errors}" == repr(errors)
    with pytest.raises(ValueError, match=r"such as '\.3f'"):
        f"{deltas:nonsense}"
