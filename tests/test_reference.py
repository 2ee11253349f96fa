"""Every reference case within reach: containment of the truth, and the promised width."""

from __future__ import annotations

from decimal import Decimal

import pytest

from cases import COARSE, SHARP, Case, asking, load
from logphi import Status
from logphi.expression import parse

CASES = asking("delta", "epsilon")


def test_the_table_is_complete() -> None:
    """A clone holds all cases, and most of them are answered."""
    assert len({case.id for case in load()}) == len(load()) >= 96
    assert len(CASES) >= 64


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.id}-{case.query}")
def test_reference(case: Case) -> None:
    """lower <= truth <= upper; the width that the interface promises; the direction, where one attains the maximum."""
    bound = getattr(parse(case.expression), case.query)(float(case.at), direction=case.direction)
    assert Decimal(bound.lower) <= Decimal(case.value) <= Decimal(bound.upper)
    unit = bound.value if case.query == "delta" else max(1.0, bound.value)
    assert bound.width <= (COARSE if bound.method in ("smoothed", "discretized") else SHARP) * unit
    assert bound.ledger.proved
    if case.attained is not None:
        assert bound.direction.value == case.attained


OF_THE_LOSS = {
    "cdf": lambda loss, at: loss.cdf(at),
    "sf": lambda loss, at: loss.sf(at),
    "dual_cdf": lambda loss, at: loss.cdf(at),
    "dual_sf": lambda loss, at: loss.sf(at),
    "infinite_mass": lambda loss, at: loss.infinite_mass,
}


@pytest.mark.parametrize("case", asking(*OF_THE_LOSS), ids=lambda case: f"{case.id}-{case.query}")
def test_loss_distribution(case: Case) -> None:
    """Containment, and a width of 1e-9 of the value."""
    release = parse(case.expression)
    # "dual" turns the direction around
    dual = case.query.startswith("dual") != (case.direction == "add")
    bound = OF_THE_LOSS[case.query](release.dual_loss if dual else release.loss, float(case.at))
    assert Decimal(bound.lower) <= Decimal(case.value) <= Decimal(bound.upper)
    assert bound.width <= SHARP * bound.value
    assert bound.status is Status.MET
    assert bound.ledger.proved
