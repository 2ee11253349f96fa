"""Mechanisms as plain data: names and exact rational numbers, which are the same bytes wherever they are written."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from logphi.written import Written, exact

WRITTEN, DOUBLES, MIXED = "as written", "exact doubles", "mixed"


def canonical(data: Any) -> str:
    """JSON of one form: keys sorted, no spaces, ASCII."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def rational(name: str, value: Any) -> str | list[Any] | None:
    """A number in lowest terms, as ``"11/10"`` or ``"2"``; entry by entry for a list; None for what is left open.

    Raises
    ------
    ValueError
        If it is anything else.
    """
    if value is None:
        return None
    if isinstance(value, tuple):
        return [rational(name, entry) for entry in value]
    if not isinstance(value, (int, float)):
        raise ValueError(f"{name} is no number but of type {type(value).__name__}: only numbers can be written down exactly")
    return str(exact(value))


def numbers_in(values: Iterable[Any]) -> Iterator[float]:
    """The finite numbers among values and in the lists among them."""
    for value in values:
        if isinstance(value, tuple):
            yield from numbers_in(value)
        elif isinstance(value, (int, float)) and math.isfinite(value):
            yield value


def manner(numbers: Iterable[float]) -> str:
    """How numbers are known: as they were written, as doubles, or some in one way and some in the other.

    Whole numbers are the same in both.

    Raises
    ------
    ValueError
        If different numbers have the same double. Where doubles are compared, as when equal terms are collected, they would
        count as one.
    """
    known, kinds = {0.0: Fraction(0), 1.0: Fraction(1)}, set()
    for number in numbers:
        own = exact(number)
        if known.setdefault(float(number), own) != own:
            raise ValueError(
                f"the double {float(number)!r} stands for two different numbers, one of them written exactly; write both in "
                "the same way: in an expression, as Fractions, or as floats"
            )
        if own.denominator > 1:
            kinds.add(isinstance(number, Written))
    if kinds == {True, False}:
        return MIXED
    return DOUBLES if False in kinds else WRITTEN


def normalised(name: str, probabilities: Iterable[float]) -> None:
    """Nothing.

    Raises
    ------
    ValueError
        If probabilities do not sum to one exactly.
    """
    excess = sum(map(exact, probabilities), Fraction(0)) - 1
    if excess:
        raise ValueError(
            f"{name} must sum to one exactly, but its sum is off by {float(excess):.2g}; write entries that do, as decimals of "
            "an expression or as Fractions"
        )


def node(name: str, adjacency: str, parameters: Mapping[str, Any], base: Any = None) -> dict[str, Any]:
    """One mechanism, or what samples another one."""
    described = {
        "name": name,
        "adjacency": adjacency,
        "parameters": {one: rational(f"{one} of a {name}", value) for one, value in parameters.items()},
    }
    return described if base is None else {**described, "base": base}
