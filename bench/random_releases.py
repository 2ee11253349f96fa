"""Random releases by family: how long an answer takes, how wide it is, and how often it is slow or wide.

Parameters are drawn on logarithmic scales, from ranges in which people work and from far outside of them. Every release is
asked for delta at one epsilon and for epsilon at one delta.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import logphi as lp

# the tests count broken promises over the same families
sys.path.append(str(Path(__file__).resolve().parent.parent / "tests" / "shared"))

from random_compositions import FAMILIES, Make, questions

SEED = 20261123
RELEASES = 40  # of each family
SLOW = 0.25  # seconds
WIDE, UNRESOLVED = 1e-6, 0.5  # of delta; of max(1, epsilon)

Row = dict[str, Any]


def by_family() -> list[Row]:
    """A row for each family; the same releases in every run."""
    return [_measured(name, family) for name, family in FAMILIES.items()]


def _measured(name: str, family: Make) -> Row:
    draw = random.Random(f"{SEED} {name}")
    times: list[float] = []
    wide = unresolved = 0
    for _ in range(RELEASES):
        release = family(draw)
        for question, at in questions(draw):
            start = time.perf_counter()
            found = getattr(release, question)(at)
            times.append(time.perf_counter() - start)
            width = _width(found, question)
            wide += width > WIDE
            unresolved += width > UNRESOLVED
    times.sort()
    return {
        "family": name,
        "questions": len(times),
        "median": statistics.median(times),
        "nine in ten": times[9 * len(times) // 10],
        "slowest": times[-1],
        "slow": sum(one > SLOW for one in times),
        "wide": wide,
        "unresolved": unresolved,
    }


def _width(found: lp.Bound, question: str) -> float:
    """The width in the unit of its tolerance; what is below all doubles is narrow."""
    if found.lower == found.upper:
        return 0.0
    return float(found.width / (max(1.0, found.upper) if question == "epsilon" else max(found.upper, 1e-290)))
