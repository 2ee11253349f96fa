"""What an answer is worth beside the truth."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

# name, and the largest excess over the truth that still bears it
GRADES = (("to 0.1 %", 1e-3), ("to 1 %", 1e-2), ("to 10 %", 0.1), ("to a factor of 2", 1.0), ("looser", math.inf))
BELOW, FAILS = "below the truth", "no answer"
# an answer in doubles may be off by so much without being wrong
_ULPS = 1e-14


def excess(row: Mapping[str, Any]) -> float:
    """How far the reported number is above the truth, relative to it; not a number where there is none."""
    if "reported" not in row:
        return math.nan
    truth = row["truth"][0]
    if truth == 0:
        return 0.0 if row["reported"] == 0 else math.inf
    return float(row["reported"] / truth - 1)


def below(row: Mapping[str, Any]) -> bool:
    """Whether less privacy loss is reported than there is."""
    return excess(row) < -_ULPS


def misses(row: Mapping[str, Any]) -> bool:
    """Whether the truth is outside of what is vouched for, on either side."""
    lower = row.get("lower")
    return below(row) or (lower is not None and lower > row["truth"][1] * (1 + _ULPS))


def grade(row: Mapping[str, Any]) -> str:
    """In words."""
    above = excess(row)
    if math.isnan(above):
        return FAILS
    return BELOW if below(row) else next(name for name, most in GRADES if above <= most)
