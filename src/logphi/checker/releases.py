"""The laws of a release in each direction, and what is computed from them for its claims."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

from logphi.checker import profile
from logphi.checker.arithmetic.work import demand
from logphi.checker.laws.composition import Composition
from logphi.checker.mechanisms.kind import Stated
from logphi.checker.mechanisms.pairs import composed, kind_of
from logphi.checker.needed import needed
from logphi.checker.text.reading import Claim, Proof, Release

# the values of a claim that must reach its lower end in one direction, and those that must not exceed its upper end in any
Values = tuple[Sequence[Any], Sequence[Any]]


class ReleaseLaws:
    """The laws of a release in each direction, and the deltas computed so far.

    ``stated`` gives the tangents for a composition with declared divergences; without it, they are those of the certificate.
    """

    def __init__(self, release: Release, stated: Stated | None = None) -> None:
        hulls = iter(release.hulls)
        self.stated = stated or (lambda whole: next(hulls, ()))
        self.adjacency, there = release.adjacency, composed(release.terms, self.stated)
        self.laws = {"remove": there, "add": there.reversed()}
        # its mechanisms whose pairs lie above what they leak
        self.above = sorted({name for name in release.names() if kind_of(name).upper_only})
        self.found: dict[Any, list[Any]] = {}
        # of the last claim, a lower bound at its lower end and an upper bound at its upper end, of delta for an epsilon
        self.derived: tuple[Fraction, Fraction] | None = None

    def directions(self, direction: str | None) -> list[str]:
        """The directions to which a claim refers: those whose worse answer it bounds, one if they are the same."""
        if self.adjacency in ("add", "remove"):
            return [self.adjacency]
        both = ["remove"] if self.laws["remove"].symmetric else ["remove", "add"]
        return both if direction is None else [direction]

    @cached_property
    def with_hulls(self) -> dict[str, Composition]:
        """The laws, with the hull of all declared divergences in their place."""
        there = self.laws["remove"]
        if there.declared:
            there = needed("mechanisms.above:apart")(there, self.stated)
        return {"remove": there, "add": there.reversed()}

    def deltas(self, direction: str, points: Sequence[Fraction], proof: Proof) -> list[Any]:
        """The privacy profile of a direction, by a proof."""
        key = direction, tuple(points), proof
        if key not in self.found:
            laws = self.laws if proof.method == "tangents" else self.with_hulls
            self.found[key] = profile.delta(laws[direction], points, proof)
        return self.found[key]


def points_of(claim: Claim, direction: str) -> list[Fraction]:
    """The epsilons at which a claim needs the profile of a direction."""
    if claim.quantity == "tradeoff":
        return sorted(set(claim.lines.get(direction, ())))
    if claim.quantity == "epsilon":
        return [end for end in (claim.lower or None, claim.upper) if end is not None]
    return [claim.at]


def proof_of(claim: Claim, direction: str) -> Proof:
    """The proof that a claim states for a direction."""
    demand(direction in claim.proof, f"it states no proof for direction {direction}")
    return claim.proof[direction]
