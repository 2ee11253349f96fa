"""A bound as text: what is typed in the first hour, and never a digit on the unsafe side."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import logphi as lp
from logphi import Bound, Status
from logphi.answers.decimals import formatted
from logphi.answers.status import Side
from some_bounds import bounds, curve, doubles, spent, wide


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
