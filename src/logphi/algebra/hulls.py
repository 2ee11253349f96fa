"""Families on a sample."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from logphi.algebra.attacks import attained
from logphi.algebra.families import family_of, hulls_are_loose, lower, terms_of, upper
from logphi.algebra.family import Family
from logphi.algebra.hull import Hull, hull
from logphi.algebra.release import Composition, Mechanism, compose
from logphi.arrays import Array
from logphi.pairs.pair import UnsupportedError


@dataclass(frozen=True)
class Sampled(Family):
    """A family on a sample: for one release, the sample of the hull is the hull of the samples.

    ``again`` samples another mechanism in the same way.
    """

    release: Mechanism
    base: Mechanism
    again: Callable[[Mechanism], Mechanism]

    @property
    def attained(self) -> bool:  # type: ignore[override]
        """Yes, unless several steps of a family are on one sample."""
        return not hulls_are_loose(terms_of(self.base))

    def alone(self, count: int, rtol: float | None = None) -> Mechanism | None:
        """Not known."""
        return None

    def above(self, count: int) -> Mechanism:
        """As many hulls; for one sample with several releases a sharper pair, which does not compose."""
        if count == 1 and not self.attained:
            return self.again(upper(terms_of(self.base)))
        return count * hull(self.release)

    def nearly(self) -> tuple[Mechanism, Mechanism] | None:
        """The first parts of all on one sample, and the second parts."""
        parts = [(one if family is None else family.nearly(), count) for one, family, count in terms_of(self.base)]
        if any(one is None for one, _ in parts):
            return None
        usual = [count * (one[0] if isinstance(one, tuple) else one) for one, count in parts if one is not None]
        rest = [count * one[1] for one, count in parts if isinstance(one, tuple)]
        # what may be revealed is so in both directions, and under every relation
        return self.again(compose(usual)), Hull(compose(rest), self.release.adjacency)

    def below(self, count: int, skew: float = 0.5) -> Mechanism:
        """One member."""
        return self.fixed(count, skew)

    def fixed(self, count: int, skew: float = 0.5) -> Mechanism:
        """One member on a sample; several on one sample adapt to one another."""
        terms, near = terms_of(self.base), self.nearly() is not None
        try:
            if count == 1 and not self.attained:
                found = self.again(lower(terms, sampled=True)[0])
            else:
                parts = [
                    part
                    for one, family, own in terms
                    for part in (attained(one, own, sampled=True) if family is None else [family.fixed(own, skew)])
                ]
                found = count * self.again(compose(parts))
            if near:
                found.loss_law()
            return found
        except UnsupportedError:
            # some samples are known only of members that are the same in both directions
            if skew != 0.5:
                return self.fixed(count)
            if not near:
                raise
            # no member has a sample that is known: the lower end of nothing
            return Composition((), self.release.adjacency)

    def size(self) -> float:
        """Zero: there is no sharper lower end to gain."""
        return 0.0

    def divergence(self, order: float) -> None:
        """Not known."""
        return

    def moments_above(self, z: Array) -> None:
        """Not known."""
        return

    def rho(self) -> float:
        """Not known."""
        return math.inf


def sampled_family(release: Mechanism, base: Mechanism, again: Callable[[Mechanism], Mechanism]) -> Family | None:
    """The family of a sample, or None if the base stands for none; ``again`` draws the same sample of another base."""
    return None if all(family_of(one) is None for one, _ in base.counted()) else Sampled(release, base, again)
