"""Certificates written by hand, with the proofs that a search finds; and what single methods enclose."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any

from logphi.certified.witness.lattices import by_cells, in_cells
from logphi.certified.witness.lines import by_line
from logphi.certified.witness.proofs import methods, proved
from logphi.certified.witness.tangents import by_tangents
from logphi.checker.arithmetic.balls import resolving
from logphi.checker.arithmetic.work import LARGEST_WORK, Undecided
from logphi.checker.laws.composition import Composition
from logphi.checker.profile import delta as profile
from logphi.checker.profile import excess
from logphi.checker.text.reading import Proof
from logphi.text.checksum import with_checksum

# what a method encloses at some epsilons, with an error of about e^goal
Enclose = Callable[[Composition, Sequence[Fraction], float], list[Any]]


def proven(content: Mapping[str, Any], work: float = LARGEST_WORK) -> str:
    """The text of a certificate with proofs, signed again."""
    found, _, _ = proved(content, work)
    return with_checksum({key: one for key, one in found.items() if key != "sha256"})


def reproven(text: str, work: float = LARGEST_WORK) -> str:
    """The same of a text."""
    return proven(json.loads(text), work)


def line(whole: Composition, epsilons: Sequence[Fraction], goal: float) -> list[Any]:
    """By a line."""
    return excess(whole, epsilons, by_line(whole, epsilons, goal))


def folded(whole: Composition, epsilons: Sequence[Fraction], goal: float) -> list[Any]:
    """By the line of a lattice."""
    return excess(whole, epsilons, by_line(whole, epsilons, goal, folded=True))


def residues(whole: Composition, epsilons: Sequence[Fraction], goal: float) -> list[Any]:
    """By residues."""
    return excess(whole, epsilons, Proof("residues", resolving(goal) + 3 * whole.count))


def tangents(whole: Composition, epsilons: Sequence[Fraction]) -> list[Any]:
    """By tangents."""
    return excess(whole, epsilons, by_tangents(whole, epsilons))


def delta(whole: Composition, epsilons: Sequence[Fraction], goal: float) -> list[Any]:
    """The profile, by the first method that succeeds."""
    if whole.declared:
        return tangents(whole, epsilons)
    for method in methods(whole, epsilons, lambda proof: excess(whole, epsilons, proof), goal):
        with suppress(Undecided):
            return profile(whole, epsilons, method())
    raise Undecided


def cells(whole: Composition, epsilons: Sequence[Fraction], goal: float) -> list[Any]:
    """By cells."""
    return excess(whole, epsilons, by_cells(whole, lambda proof: excess(whole, epsilons, proof), goal))


def number_of_cells(whole: Composition, epsilons: Sequence[Fraction], goal: float, number: int) -> list[Any]:
    """By so many cells."""
    return excess(whole, epsilons, in_cells(whole, resolving(goal, 96), number))
