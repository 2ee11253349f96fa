"""What the checker states about each kind of mechanism: its parameters, what it demands of them, and its law."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from logphi.checker.entries import MOST_BITS, listed, number, require
from logphi.checker.laws.composition import Composition
from logphi.checker.laws.law import Law

# chosen: longer lists are refused
MOST_ENTRIES = 1001
RELATIONS = ("add_remove", "add", "remove", "replace", "replace_special")
PRESENCE = RELATIONS[:3]
# the names of the kinds that a mechanism is part of
Outer = frozenset[str]
# what a certificate states for the hull of a composition: tangents if it has declared divergences; else the last epsilon of a
# point and, unless there is a closed form, cells: their width, and for each law where they begin, and how many
Stated = Callable[[Composition], Sequence[Fraction]]
# demands, each with words for it; one may rely on those before it
Demands = Iterator[tuple[bool, str]]
# reads a parameter of a name
Rule = Callable[[Any, str], Any]


@dataclass(frozen=True)
class Node:
    """A mechanism: its constructor with exact parameters, and the base that it samples from."""

    name: str
    adjacency: str
    parameters: Mapping[str, Any]
    base: Node | None = None
    # compositions of counted mechanisms: the alternatives of a random choice, or the one of a batch or of a run
    parts: tuple[tuple[tuple[int, Node], ...], ...] = ()

    def within(self) -> Iterator[tuple[int, Node]]:
        """The counted mechanisms that it is of: those of all alternatives, or what is sampled."""
        for part in self.parts or (self.base.parts or (((1, self.base),),) if self.base else ()):
            yield from part

    @property
    def one_direction(self) -> bool:
        """Whether only P against Q counts, or only Q against P."""
        return self.adjacency in ("add", "remove")


def _nothing(_: Node) -> Demands:
    yield from ()


@dataclass(frozen=True)
class Kind:
    """A kind of mechanism.

    ``law(node, stated, **parameters)`` is the law of P with the record against Q without it, or a composition of laws; None if
    the loss is always zero. ``upper_only``: the pair lies above what the mechanism leaks, so that no lower end holds.
    """

    parameters: Mapping[str, Rule]
    law: Callable[..., Law | None]
    demands: Callable[[Node], Demands] = _nothing
    upper_only: bool = False
    # what its base is, if it has one: a "mechanism", a "composition", or several "compositions"
    base: str = ""
    # the kinds that it must not be part of, and the words for it
    not_within: tuple[Outer, str] = (frozenset(), "")


def real(holds: Callable[[Fraction], bool] = lambda x: True) -> Rule:
    """A rational number in a range."""

    def rule(value: Any, name: str) -> Fraction:
        read = number(value, name)
        require(holds(read), f"{name} is outside its range")
        return read

    return rule


def integer(least: int, most: int) -> Rule:
    """A whole number in a range."""

    def rule(value: Any, name: str) -> int:
        read = number(value, name)
        require(read.denominator == 1 and least <= read <= most, f"{name} must be an integer from {least} to {most}")
        return int(read)

    return rule


def optional(own: Rule) -> Rule:
    """The same, or null."""
    return lambda value, name: None if value is None else own(value, name)


def many(own: Rule) -> Rule:
    """A list of such."""
    return lambda value, name: [own(one, name) for one in listed(value, name, MOST_ENTRIES)]


def probabilities(value: Any, name: str) -> list[Fraction]:
    """Numbers that sum to one exactly."""
    entries = VECTOR(value, name)
    common = 1
    for entry in entries:
        common = math.lcm(common, entry.denominator)
        require(common.bit_length() <= 4 * MOST_BITS, "the numbers of a list must have a short common denominator")
    total = Fraction(sum(entry.numerator * (common // entry.denominator) for entry in entries), common)
    require(total == 1, f"{name} must sum to one")
    return entries  # type: ignore[no-any-return]


REAL, POSITIVE, NONNEGATIVE = real(), real(lambda x: x > 0), real(lambda x: x >= 0)
SHARE, OPEN_SHARE, BELOW_ONE = real(lambda x: 0 <= x <= 1), real(lambda x: 0 < x < 1), real(lambda x: 0 <= x < 1)
# chosen: narrower noise, or wider, is not listed
DISCRETE_SIGMA = real(lambda x: Fraction(1, 10) <= x <= 10**6)
# chosen: up to a billion
LARGE = real(lambda x: 0 < x <= 10**9)
COUNT = integer(1, 10**6)
VECTOR = many(NONNEGATIVE)
