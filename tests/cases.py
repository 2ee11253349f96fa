"""The reference cases, with the width that it promises for each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from logphi.views import moments

SOURCE = Path(__file__).parent / "reference" / "cases.json"

# what the default route promises: relative to delta, or to max(1, epsilon)
SHARP = 1e-9
# what the discretized fallback promises, where the composed phi decays too slowly for a contour
COARSE = 1e-6


# how the questions beside delta and epsilon are put to a mechanism
ANSWERS = {
    "mean": lambda mechanism, case: moments.mean(law_of(mechanism, case)),
    "variance": lambda mechanism, case: moments.variance(law_of(mechanism, case)),
    "renyi": lambda mechanism, case: mechanism.renyi(number(case.at), direction=case.direction),
}


@dataclass(frozen=True)
class Case:
    """One question about one expression, with at least 25 certain digits of its answer."""

    id: str
    expression: str
    query: str
    direction: str | None
    at: Any
    value: Any
    attained: str | None
    tags: tuple[str, ...]


def load() -> list[Case]:
    """Every reference case."""
    names = Case.__dataclass_fields__
    raw = json.loads(SOURCE.read_text())["cases"]
    return [Case(**{**{name: case.get(name) for name in names}, "tags": tuple(case["tags"])}) for case in raw]


def asking(*queries: str) -> list[Case]:
    """The cases with one of these queries."""
    return [case for case in load() if case.query in queries]


def number(text: Any) -> float | complex:
    """A decimal string, or two of them for a complex number."""
    return float(text) if isinstance(text, str) else complex(*map(float, text))


def law_of(mechanism: Any, case: Case) -> Any:
    """The loss in the direction of the case."""
    law = mechanism.loss_law()
    return law.reflected() if case.direction == "add" else law
