"""The reference cases, with the width that it promises for each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import logphi as lp
from flat import Flat
from logphi.expression import parse
from repository import ROOT

SOURCE = ROOT / "tests" / "reference" / "cases.json"

# what the default route promises: relative to delta, or to max(1, epsilon)
SHARP = 1e-9
# what the discretized fallback promises, where the composed phi decays too slowly for a contour
COARSE = 1e-6


# how the questions beside delta and epsilon are put to a mechanism
ANSWERS = {
    "mean": lambda release, case: loss_of(release, case).mean,
    "variance": lambda release, case: loss_of(release, case).variance,
    "tradeoff": lambda release, case: release.tradeoff(float(case.at), direction=case.direction),
    "cdf": lambda release, case: loss_of(release, case).cdf(float(case.at)),
    "sf": lambda release, case: loss_of(release, case).sf(float(case.at)),
    "dual_cdf": lambda release, case: loss_of(release, case, dual=True).cdf(float(case.at)),
    "dual_sf": lambda release, case: loss_of(release, case, dual=True).sf(float(case.at)),
    "infinite_mass": lambda release, case: loss_of(release, case).infinite_mass,
    "renyi": lambda release, case: release.renyi(number(case.at), direction=case.direction),
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


# computed for a composition of hulls, which several exponential mechanisms together do not attain
HULLS = {"p033", "p079"}


def release_of(case: Case) -> lp.Mechanism:
    """The release that a case has the value of."""
    release = parse(case.expression)
    if case.id not in HULLS:
        return release
    ((one, count),) = release.counted()
    assert isinstance(one, lp.ExponentialMechanism)
    return count * Flat(one.range_epsilon)


def asking(*queries: str) -> list[Case]:
    """The cases with one of these queries."""
    return [case for case in load() if case.query in queries]


def number(text: Any) -> float | complex:
    """A decimal string, or two of them for a complex number."""
    return float(text) if isinstance(text, str) else complex(*map(float, text))


def loss_of(release: Any, case: Case, *, dual: bool = False) -> Any:
    """The loss distribution in the direction of the case, or in the other one."""
    return release.dual_loss if dual != (case.direction == "add") else release.loss
