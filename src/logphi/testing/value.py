"""Checks of a mechanism as a value: equality, hashing, text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from logphi.algebra.release import Mechanism
from logphi.expression import parse
from logphi.inputs.adjacency import Adjacency
from logphi.mechanisms.catalogue import CATALOGUE
from logphi.testing.probes import require


def check_value(mechanism: Mechanism) -> None:
    """A mechanism and its law are equal to themselves and hashable; its repr is one line, and it has a relation."""
    require(isinstance(mechanism.adjacency, Adjacency), f"adjacency is {mechanism.adjacency!r}, not a logphi.Adjacency")
    require({mechanism: 1}.get(mechanism) == 1, "it is not equal to itself")
    require(
        mechanism.loss_law() == mechanism.loss_law(), "two calls of loss_law() give different laws: they would not be collected"
    )
    require(hash(mechanism.loss_law()) == hash(mechanism.loss_law()), "equal laws have different hashes")
    require("\n" not in repr(mechanism), "its repr has more than one line")
    low, high = mechanism.loss_law().strip
    require(low <= -1 and high >= 0, f"the strip is {(low, high)}; it always contains [-1, 0]")


def check_text(mechanism: Mechanism) -> None:
    """``parse`` reads a mechanism's repr back; not required of mechanisms outside the catalogue, or made of functions."""
    if not all(type(one) in CATALOGUE.values() and _is_written(one) for one in _roots(mechanism)):
        return
    text = repr(mechanism)
    back = parse(text)
    require(back == mechanism, f"{text} reads back as {back!r}, another mechanism")


def _roots(mechanism: Mechanism) -> Iterator[Mechanism]:
    """The mechanisms that are not made of others."""
    for one, _ in mechanism.counted():
        for part in one._parts():
            yield from _roots(part)
        if not one._parts():
            yield one


def _is_written(mechanism: Mechanism) -> bool:
    """Whether its parameters are numbers, lists of numbers and relations."""

    def plain(value: Any) -> bool:
        if isinstance(value, tuple):
            return all(plain(entry) for entry in value)
        return value is None or isinstance(value, (int, float, Adjacency))

    return all(plain(value) for value in vars(mechanism).values())
