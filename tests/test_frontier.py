"""What few accountants answer: about ten digits of each answer, made by independent methods."""

from __future__ import annotations

import json
from typing import Any

import pytest

from logphi.expression import parse
from repository import ROOT

CASES = json.loads((ROOT / "tests/reference/frontier.json").read_text())["cases"]

# what is not answered yet, by tag
AWAITED = {
    "bounded-range": "a composition of exponential mechanisms is that of their hulls, above what any of them attains",
    "selection": "the best of many runs has no law yet",
    "clones": "shuffled local reports have no law yet",
}


def _marks(case: dict[str, Any]) -> list[pytest.MarkDecorator]:
    return [pytest.mark.xfail(reason=AWAITED[tag], strict=True) for tag in case["tags"] if tag in AWAITED]


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"], marks=_marks(case)) for case in CASES])
def test_frontier(case: dict[str, Any]) -> None:
    """The bounds meet what is known of the truth; a bracket or an upper end is no wider than the known one."""
    bound = getattr(parse(case["expression"]), case["query"])(float(case["at"]), direction=case["direction"])
    if "bracket" in case:
        low, high = case["bracket"]
        assert low * (1 - 1e-6) <= bound.lower <= bound.upper <= high * (1 + 1e-6)
    elif "upper_at_most" in case:
        assert bound.upper <= case["upper_at_most"]
    else:
        value, error = float(case["value"]), case["rel"] * float(case["value"])
        assert bound.lower <= value + error
        assert value - error <= bound.upper
        unit = bound.value if case["query"] == "delta" else max(1.0, bound.value)
        assert bound.width <= max(1e-6 * unit, 2 * error)
