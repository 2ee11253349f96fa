"""Mechanisms as plain data: names and exact rational numbers, identical on every machine."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from logphi.text.written import exact, meant

WRITTEN, DECIMALS = "as written", "floats as their shortest decimals"

COMPOSITION, CHOICE = "composition", "RandomChoice"


def canonical(data: Any) -> str:
    """JSON in canonical form: sorted keys, no spaces, ASCII."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def rational(name: str, value: Any) -> str | list[Any] | None:
    """A number in lowest terms, such as ``"11/10"`` or ``"2"``; a list entry by entry.

    None stays None, and infinity becomes ``"oo"``.

    Raises a ValueError for anything else.
    """
    if value is None:
        return None
    if value == math.inf:
        return "oo"
    if isinstance(value, tuple):
        return [rational(name, entry) for entry in value]
    if not isinstance(value, (int, float)):
        raise ValueError(f"{name} is not a number but of type {type(value).__name__}: only numbers can be written down exactly")
    return str(meant(value))


def numbers_in(values: Iterable[Any]) -> Iterator[float]:
    """The finite numbers among values and in lists among them."""
    for value in values:
        if isinstance(value, tuple):
            yield from numbers_in(value)
        elif isinstance(value, (int, float)) and math.isfinite(value):
            yield value


def manner(numbers: Iterable[float]) -> str:
    """How numbers are known: all as they were written, or some floats as their shortest decimals.

    Doubles that equal their shortest decimals, such as 0.5 and integers below 2^53, count as written.

    Raises a ValueError if different numbers have the same double, as equal terms would be merged.
    """
    known, found = {0.0: Fraction(0), 1.0: Fraction(1)}, WRITTEN
    for number in numbers:
        own = meant(number)
        if known.setdefault(float(number), own) != own:
            raise ValueError(
                f"the double {float(number)!r} stands for two different numbers: a float counts as its shortest decimal, a "
                "Fraction as itself; write both in the same way, as decimals or as Fractions"
            )
        if exact(number) != own:
            found = DECIMALS
    return found


def normalised(name: str, probabilities: Iterable[float]) -> None:
    """Raise a ValueError if probabilities do not sum to one exactly."""
    excess = sum(map(meant, probabilities), Fraction(0)) - 1
    if excess:
        raise ValueError(
            f"{name} must sum to one exactly, each as the shortest decimal of its float, but its sum is off by "
            f"{float(excess):.2g}; write entries that do, such as 0.9 and 0.1, or Fractions, such as Fraction(1, 3) three times"
        )


def node(
    name: str, adjacency: str, parameters: Mapping[str, Any], write: Callable[[str, Any], Any] = rational, base: Any = None
) -> dict[str, Any]:
    """One mechanism, or a sample of ``base``; ``write`` turns the name and the value of each parameter into data."""
    described = {
        "name": name,
        "adjacency": adjacency,
        "parameters": {one: write(f"{one} of a {name}", value) for one, value in parameters.items()},
    }
    return described if base is None else {**described, "base": base}


def composition_node(adjacency: str, terms: Iterable[tuple[int, Any]]) -> dict[str, Any]:
    """A composition: counts and mechanisms."""
    return {"name": COMPOSITION, "adjacency": adjacency, "terms": [list(term) for term in terms]}
