"""Compositions of mechanisms of different bounded ranges, for the best adaptive choices, in the best order.

An adversary who may run the steps in any order, and chooses the next one knowing all outcomes, has at each threshold the
largest value of a recursion over what is left: :mod:`logphi.convex.widest_chords` bounds it from both sides. The bound from
above holds for every order; the one from below is that of a certain order.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from logphi.algebra.family import Family
from logphi.algebra.release import Mechanism, compose
from logphi.arith.floats import ULP
from logphi.arith.protocol import Plain
from logphi.convex.symmetric_pair import NearlyOneError
from logphi.convex.widest_chords import rounds_in_any_order
from logphi.inputs.adjacency import Adjacency
from logphi.laws.adaptive_two_points import MOST_ROUNDS, AdaptiveTwoPoints, common_parts
from logphi.mechanisms.bounded_range import MOST, BoundedRange, Steps, StepsBetween


@dataclass(frozen=True)
class SeveralRanges(Family):
    """All mechanisms of several bounded ranges: one step of this family is all steps of a composition."""

    # increasing
    ranges: tuple[tuple[BoundedRange, int], ...]
    adjacency: Adjacency

    attained = False

    @classmethod
    def of(cls, ranges: tuple[tuple[BoundedRange, int], ...]) -> SeveralRanges | None:
        """The family of these ranges with their counts; None for a single range, or if nothing is known of their recursion."""
        ordered = tuple(sorted(ranges, key=lambda one: one[0].epsilon))
        found = cls(ordered, ordered[0][0].adjacency)
        known = all(family.known(count) for family, count in ordered) and sum(count for _, count in ordered) <= MOST
        return found if len(ordered) > 1 and known and found._law(None, above=False) is not None else None

    def alone(self, count: int, rtol: float | None = None) -> Mechanism | None:
        """The steps by their own profile, unless its recursion takes too long."""
        law = self._law(rtol, above=True)
        return None if law is None else Steps(law, self.adjacency)

    def above(self, count: int) -> Mechanism:
        """A pair above; the ranges one by one where the recursion takes too long, or all steps leak nearly everything."""
        law = self._law(None, above=True)
        with suppress(NearlyOneError):
            if law is not None:
                steps = StepsBetween(law, True, self.adjacency)
                steps.loss_law()
                return steps
        return compose(family.above(own) for family, own in self.ranges)

    def below(self, count: int, skew: float = 0.5) -> Mechanism:
        """A pair below, of a certain order."""
        law = self._law(None, above=False)
        return self.fixed(count, skew) if law is None else StepsBetween(law, False, self.adjacency)

    def finite(self, count: int, *, above: bool) -> Mechanism | None:
        """The finite pair, which is sharper next to the largest loss."""
        law = self._law(None, above=True)
        return None if law is None else StepsBetween(law, above, self.adjacency, finite=True)

    def fixed(self, count: int, skew: float = 0.5) -> Mechanism:
        """A fixed member for the steps of each range."""
        return compose(family.fixed(own, skew) for family, own in self.ranges)

    def size(self) -> float:
        """The sum of all variances."""
        return sum(own * family.size() for family, own in self.ranges)

    def divergence(self, order: float) -> tuple[float, float]:
        """The sum of those of all steps."""
        ends = [[own * end for end in family.divergence(order)] for family, own in self.ranges]
        low, high = (sum(side) for side in zip(*ends, strict=True))
        room = 2 * ULP * (1 + len(ends))
        return low - room * abs(low), high + room * abs(high)

    def rho(self) -> float:
        """The sum of those of all steps."""
        return sum(own * family.rho() for family, own in self.ranges) * (1 + 2 * ULP * (1 + len(self.ranges)))

    def _law(self, rtol: float | None, *, above: bool) -> AdaptiveTwoPoints | None:
        """The losses, with steps that are affordable for both bounds, or for the one from below."""
        counts = tuple(count for _, count in self.ranges)
        rounds = rounds_in_any_order(counts) if above else 2 * sum(counts)
        parts = (
            common_parts([family.epsilon for family, _ in self.ranges], counts, rtol, rounds) if rounds <= MOST_ROUNDS else None
        )
        return None if parts is None else AdaptiveTwoPoints(tuple(Plain(one.epsilon) for one, _ in self.ranges), counts, parts)
