"""Every reference case within reach: containment of the truth, and the promised width."""

from __future__ import annotations

from decimal import Decimal

import pytest

from cases import ANSWERS, COARSE, HULLS, SHARP, Case, asking, load, release_of
from logphi.expression import parse

CASES = asking("delta", "epsilon")


def test_the_table_is_complete() -> None:
    """A clone holds all cases, and most of them are answered."""
    assert len({case.id for case in load()}) == len(load()) >= 96
    assert len(CASES) >= 64


# this takes seconds
SLOW = {"p029"}


@pytest.mark.few(63)
@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=f"{case.id}-{case.query}", marks=[pytest.mark.slow] if case.id in SLOW else []) for case in CASES],
)
def test_reference(case: Case) -> None:
    """lower <= truth <= upper; the width that the interface promises; the direction, where one attains the maximum."""
    bound = getattr(release_of(case), case.query)(float(case.at), direction=case.direction)
    assert Decimal(bound.lower) <= Decimal(case.value) <= Decimal(bound.upper)
    unit = bound.value if case.query == "delta" else max(1.0, bound.value)
    assert bound.width <= (COARSE if bound.method in ("smoothed", "discretized") else SHARP) * unit
    assert bound.ledger.proved
    if case.attained is not None:
        assert bound.direction.value == case.attained


@pytest.mark.parametrize("case", [case for case in CASES if case.id in HULLS], ids=lambda case: case.id)
def test_mechanisms_picked_one_by_one_leak_less_than_their_hulls(case: Case) -> None:
    """Whose composition is an upper bound that nothing attains."""
    bound = getattr(parse(case.expression), case.query)(float(case.at))
    assert Decimal(bound.upper) < Decimal(case.value)


@pytest.mark.parametrize("case", asking(*ANSWERS), ids=lambda case: f"{case.id}-{case.query}")
def test_other_questions(case: Case) -> None:
    """Each part between its ends; the width relative to the answer; the direction, where one attains the maximum."""
    bound = ANSWERS[case.query](parse(case.expression), case)
    pairs = [(bound, case.value)] if isinstance(case.value, str) else zip((bound.real, bound.imag), case.value, strict=True)
    for part, exact in pairs:
        assert Decimal(part.lower) <= Decimal(exact) <= Decimal(part.upper)
        assert part.ledger.proved
    assert bound.width <= SHARP * abs(bound.value)
    if case.attained is not None:
        assert bound.direction.value == case.attained
