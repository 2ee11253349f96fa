"""Answers in notebooks: tables that never promise more than the bound, and the log-phi as mathematics."""

from __future__ import annotations

from fractions import Fraction
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import logphi as lp
from effort import calls
from logphi import Bound, Bounds, Direction, Entry, Ledger, Status
from logphi.answers.complex_bound import ComplexBound
from logphi.answers.display import printed, table
from logphi.answers.status import Side
from some import some

# of functions; LaTeX of all terms would take millions
FEW = 100_000

numbers = st.floats(min_value=-1e300, max_value=1e300, allow_subnormal=True)


def cells(text: str) -> list[list[str]]:
    """The rows of a table; raises if the text is not well-formed."""
    return [["".join(cell.itertext()) for cell in row] for row in ET.fromstring(text).iter("tr")]


def named(bound: Bound | ComplexBound) -> dict[str, str]:
    return {row[0]: row[1] for row in cells(bound._repr_html_())}


@given(st.lists(numbers, min_size=3, max_size=3))
def test_a_table_of_a_bound_is_rounded_outward(three: list[float]) -> None:
    lower, value, upper = sorted(three)
    shown = named(Bound(lower, value, upper))
    assert Fraction(shown["lower"]) <= Fraction(lower)
    assert Fraction(shown["upper"]) >= Fraction(upper)
    assert Fraction(shown["lower"]) <= Fraction(shown["value"]) <= Fraction(shown["upper"])


@given(numbers, numbers)
def test_rows_of_an_array_are_rounded_outward(one: float, other: float) -> None:
    lower, upper = sorted((one, other))
    _, row = cells(Bounds(np.array([Bound(lower, upper, upper)], dtype=object))._repr_html_())
    assert Fraction(row[1]) <= Fraction(lower)
    assert Fraction(row[3]) >= Fraction(upper)


def test_a_table_of_a_bound_says_how_it_was_done() -> None:
    ledger = Ledger(truncation=Entry(1.234e-9), inner=Entry(0.0, proved=False), infinite_mass=Entry(0.125))
    shown = named(Bound(0.5, 0.5, 0.75, Status.WIDE, "contour", Direction.ADD, ledger))
    assert shown == {
        "lower": "0.5",
        "value": "0.5",
        "upper": "0.75",
        "status": Status.WIDE.value,
        "method": "contour",
        "direction": "add",
        "truncation": "1.3e-9 (proved)",
        "inner": "0 (estimated)",
        "infinite mass": "0.13 (proved)",
    }
    assert "direction" not in named(Bound(0, 0, 0))


def test_infinities_have_names() -> None:
    shown = named(lp.ApproximateDP(epsilon=1, delta=0.1).epsilon(0.01))
    assert (shown["lower"], shown["upper"]) == ("inf", "inf")
    assert "no finite answer exists" in shown["status"]
    assert printed(-np.inf, None) == "-inf"


def test_text_is_escaped() -> None:
    evil = "<script>&\"'"
    text = table([[evil, evil]], caption=evil)
    assert "<script>" not in text
    assert ET.fromstring(text).findtext("caption") == evil
    assert cells(text) == [[evil, evil]]


def test_long_arrays_show_their_ends() -> None:
    found = lp.Gaussian(sigma=1).delta(np.linspace(0, 2, 30).reshape(5, 6))
    rows = cells(found._repr_html_())
    assert rows[0] == ["", "lower", "value", "upper", "status", "method"]
    assert [row[0] for row in rows[1:]] == ["0, 0", "0, 1", "0, 2", "0, 3", "0, 4", "…", "4, 1", "4, 2", "4, 3", "4, 4", "4, 5"]
    assert rows[6][1] == "20 more"
    assert rows[-1][1] == printed(found.lower[4, 5], Side.LOWER, 13)
    assert len(cells(lp.Gaussian(sigma=1).delta(np.linspace(0, 2, 11))._repr_html_())) == 12
    assert len(cells(lp.Gaussian(sigma=1).delta([])._repr_html_())) == 1


def test_what_is_not_met_is_said_once_above_the_array() -> None:
    bounds = [Bound(0, 1, 2, Status.WIDE), Bound(0, 0, 0), Bound(0, 1, 2, Status.WIDE), Bound(1, 1, 1, Status.ESTIMATED)]
    text = Bounds(np.array(bounds, dtype=object))._repr_html_()
    caption = ET.fromstring(text).findtext("caption")
    assert caption == f"{Status.WIDE.value}; {Status.ESTIMATED.value}"
    assert [row[4] for row in cells(text)[1:]] == ["wide", "met", "wide", "estimated"]
    assert ET.fromstring(Bounds(np.array(bounds[1:2], dtype=object))._repr_html_()).find("caption") is None


def test_complex_bounds_have_two_columns() -> None:
    rows = cells(lp.Gaussian(sigma=1).renyi(2 + 1j)._repr_html_())
    assert rows[0] == ["", "real part", "imaginary part"]
    assert [row[0] for row in rows[1:4]] == ["lower", "value", "upper"]
    assert Fraction(rows[1][2]) <= Fraction(1, 2) <= Fraction(rows[3][2])


def test_explanations_are_two_tables() -> None:
    release = lp.compose([lp.Gaussian(sigma=s) for s in range(1, 26)])
    answer, terms = ET.fromstring(f"<div>{release.explain(epsilon=1.0)._repr_html_()}</div>")
    assert some(answer.findtext("caption")).startswith("delta(1.0) of Gaussian(sigma=1.0) + ")
    rows = [["".join(cell.itertext()) for cell in row] for row in terms.iter("tr")]
    assert len(rows) == 21
    assert rows[-1][1] == "and 5 more"


@pytest.mark.parametrize(
    ("mechanism", "expected"),
    [
        (lp.Gaussian(sigma=3), r"\frac{i \alpha \left(i \alpha + 1\right)}{18}$"),
        (5 * lp.Gaussian(sigma=3), r"5 \left(\frac{i \alpha \left(i \alpha + 1\right)}{18}\right)$"),
        (lp.Gaussian(sigma=1).poisson(0.1), r"\int\limits_{-\infty}^{\infty}"),
        (lp.DiscreteGaussian(sigma=3), r"\sum_{x=-\infty}^{\infty}"),
        (0 * lp.Gaussian(sigma=3), r"\log\varphi(\alpha) = 0$"),
        (lp.compose(lp.Gaussian(sigma=s) for s in range(1, 1001)), r"\cdots\;\text{(996 more)}$"),
    ],
)
def test_a_mechanism_shows_its_log_phi(mechanism: lp.Mechanism, expected: str) -> None:
    text = mechanism._repr_latex_()
    assert text is not None
    assert text.startswith(r"$\displaystyle \log\varphi(\alpha) = ")
    assert expected in text
    assert text.count(r"\left") == text.count(r"\right")


@pytest.mark.parametrize(
    "mechanism",
    [
        lp.Discrete([1 / 1024] * 1024, [0.5 / 1024] * 512 + [1.5 / 1024] * 512),
        lp.DiscreteGaussian(sigma=30, truncation=500),
        lp.Gaussian(sigma=1).poisson(0.01, group_size=900),
        lp.FromDensities(lambda x: np.log(1 + x) - np.log(1.5), lambda x: 0 * x, (0, 1)),
    ],
    ids=lambda mechanism: repr(mechanism)[:20],
)
def test_what_has_no_short_log_phi_stays_plain_and_is_not_waited_for(mechanism: lp.Mechanism) -> None:
    # the first one loads SymPy
    assert lp.Gaussian(sigma=1)._repr_latex_() is not None
    shown: list[str | None] = []
    assert calls(lambda: shown.append(mechanism._repr_latex_())) < FEW
    assert shown == [None]
