"""Compositions of mechanisms of different bounded ranges, for the best adaptive choices, in the best order.

An adversary who may run the steps in any order, and chooses the next one knowing all outcomes, has at each threshold the
largest value of a recursion over what is left: :mod:`logphi.convex.widest_chords` bounds it from both sides. The bound from
above holds for every order; the one from below is that of a certain order.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np

from logphi.algebra.families import SKEWS, with_others
from logphi.algebra.family import CountedReleases, Family
from logphi.algebra.release import Mechanism, compose
from logphi.arith.floats import ULP
from logphi.arith.protocol import Plain
from logphi.arrays import Array
from logphi.convex.symmetric_pair import SMALL, NearlyOneError
from logphi.convex.widest_chords import rounds_in_any_order
from logphi.inputs.adjacency import Adjacency
from logphi.laws.combined.adaptive_two_points import MOST_ROUNDS, AdaptiveTwoPoints, common_parts, parts_within
from logphi.mechanisms.ranges.adaptive_steps import MOST, Steps, StepsBetween
from logphi.mechanisms.ranges.by_moments import by_moments
from logphi.mechanisms.ranges.gaussian_of_ranges import WIDEST, gaussian_above

# measured: of so many ranges or more, of few steps each, narrow ones are better raised to common ones, and wide ones to moments
_MANY = 48
# measured: of more ranges, a Gaussian mechanism is sharp for all, and otherwise so many rounds for the widest take .3 s
_NORMAL, _ROUNDS = 40, 250
# measured: they are of few steps if there are fewer than this on average
_FEW = 2
# measured: the number of common ones, for the root of the number of ranges
_COMMON = 2.0
# measured: the rounds of a batch, which take about .2 s
_BATCH = 450
# measured: from here on, batches of ranges gain less than a thousandth of epsilon
_VAST = 20.0
# measured: a grid that keeps less of the sum of all squared widths costs more epsilon than fixed members do
_KEPT = 0.986


@dataclass(frozen=True)
class SeveralRanges(Family):
    """All mechanisms of several bounded ranges: one step of this family is all steps of a composition."""

    # epsilon, which increases, with its family and the number of its steps
    ranges: tuple[tuple[float, Family, int], ...]
    adjacency: Adjacency

    attained = False

    @classmethod
    def of(cls, ranges: tuple[tuple[float, Family, int], ...], adjacency: Adjacency) -> SeveralRanges | None:
        """The family of these ranges; None for a single one, or if nothing is known of their recursion."""
        found = cls(tuple(sorted(ranges, key=lambda one: one[0])), adjacency)
        return found if len(ranges) > 1 and found._law(None, above=False) is not None else None

    def alone(self, count: int, rtol: float | None = None) -> Mechanism | None:
        """The steps by their own profile, unless its recursion takes too long."""
        law = self._law(rtol, above=True)
        return None if law is None else Steps(law, self.adjacency)

    def above(self, count: int) -> Mechanism:
        """A pair above; pairs of smaller batches where the recursion takes too long, or all steps leak nearly everything."""
        law = self._law(None, above=True)
        with suppress(NearlyOneError):
            if law is not None:
                steps = StepsBetween(law, True, self.adjacency)
                steps.loss_law()
                return steps
        if self._normal:
            return self._with_normal(len(self.ranges))
        moments = self._by_moments() if len(self.ranges) >= _MANY else None
        return moments or compose(family.above(own) for family, own in self._batches())

    def joint_bounds(self, terms: CountedReleases) -> list[Mechanism]:
        """Where the recursion takes too long, the pair of all moments, which is sharp at tiny deltas.

        Of narrow ranges, also a Gaussian mechanism, with the recursion for the widest ones. Of a few wide ones, also the pairs
        of all, which are sharp next to the largest loss.
        """
        if self._law(None, above=True) is not None:
            return []
        moments, others = self._by_moments(), list[Mechanism]()
        if self.ranges[-1][0] > WIDEST:
            if moments is None or len(self.ranges) < _MANY:
                others.append(compose(family.above(own) for _, family, own in self._raised()))
        elif not self._normal:
            first = len(self.ranges)
            while first > 1 and rounds_in_any_order([own for _, _, own in self.ranges[first - 1 :]]) <= _ROUNDS:
                first -= 1
            others.append(self._with_normal(first))
        return [with_others(terms, self, one) for one in (moments, *others) if one is not None]

    def _by_moments(self) -> Mechanism | None:
        return by_moments([(epsilon, own) for epsilon, _, own in self.ranges], self.adjacency)

    @property
    def _normal(self) -> bool:
        """Whether a Gaussian mechanism is sharp for all ranges."""
        return len(self.ranges) > _NORMAL and self.ranges[-1][0] <= WIDEST

    def _with_normal(self, first: int) -> Mechanism:
        """A Gaussian mechanism for the narrowest ranges, and the recursion for the others."""
        normal = gaussian_above([(epsilon, own) for epsilon, _, own in self.ranges[:first]], self.adjacency)
        joined = SeveralRanges.of(widest := self.ranges[first:], self.adjacency)
        return compose([normal, *([joined.above(1)] if joined else [family.above(own) for _, family, own in widest])])

    def below(self, count: int, skew: float = 0.5) -> Mechanism:
        """A pair below, of a certain order, unless fixed members of all ranges may tell more."""
        steps = self._below
        return steps if steps and (skew == SKEWS[0] or not steps.coarse) else self.fixed(count, skew)

    @property
    def skewless(self) -> bool:
        """Whether there is a sharp pair below."""
        return self._below is not None and not self._below.coarse

    @cached_property
    def _below(self) -> StepsBetween | None:
        """The pair below; None if its grid leaves out more than fixed members lose."""
        law = self._law(None, above=False)
        if law is None or law.grid_variance() < _KEPT * self.size():
            return None
        return StepsBetween(law, False, self.adjacency)

    def finite(self, count: int, *, above: bool, small: float = SMALL) -> Mechanism | None:
        """The finite pair, which is sharper next to the largest loss."""
        law = self._law(None, above=True)
        return None if law is None else StepsBetween(law, above, self.adjacency, finite=True, small=small)

    def fixed(self, count: int, skew: float = 0.5) -> Mechanism:
        """A fixed member for the steps of each range."""
        return compose(family.fixed(own, skew) for _, family, own in self.ranges)

    def size(self) -> float:
        """The sum of all variances."""
        return sum(own * family.size() for _, family, own in self.ranges)

    def divergence(self, order: float) -> tuple[float, float] | None:
        """The sum of those of all steps; None if one is unknown."""
        low = high = 0.0
        for _, family, own in self.ranges:
            ends = family.divergence(order)
            if ends is None:
                return None
            low, high = low + own * ends[0], high + own * ends[1]
        room = 2 * ULP * (1 + len(self.ranges))
        return low - room * abs(low), high + room * abs(high)

    def moments_above(self, z: Array) -> Array | None:
        """The sum of those of all steps; None if some are unknown."""
        total = np.zeros_like(z)
        for _, family, own in self.ranges:
            known = family.moments_above(z)
            if known is None:
                return None
            total += own * known
        return total * (1 + 2 * ULP * (1 + len(self.ranges)))

    def rho(self) -> float:
        """The sum of those of all steps."""
        return sum(own * family.rho() for _, family, own in self.ranges) * (1 + 2 * ULP * (1 + len(self.ranges)))

    def _batches(self) -> list[tuple[Family, int]]:
        """The ranges in batches whose recursions are short, each of about as wide ones, and at most half of all in one.

        Pairs of batches compose, also where steps of one are taken between those of another.
        """
        raised = self._raised()
        batches: list[list[tuple[float, Family, int]]] = [[]]
        for one in reversed(raised):
            longer = [one, *batches[-1]]
            if (
                one[0] > _VAST
                or 2 * len(longer) > len(raised) + 1
                or rounds_in_any_order([own for _, _, own in longer]) > _BATCH
            ):
                batches.append([one])
            else:
                batches[-1] = longer
        return [
            batch[0][1:] if len(batch) == 1 else (SeveralRanges(tuple(batch), self.adjacency), 1) for batch in batches if batch
        ]

    def _raised(self) -> tuple[tuple[float, Family, int], ...]:
        """The ranges with their steps or, if there are many of a single step, fewer ones, also for the steps just below them.

        A pair of several equal steps leaks less than the composition of as many pairs of one step.
        """
        number = len(self.ranges)
        if number < _MANY or sum(own for _, _, own in self.ranges) >= _FEW * number:
            return self.ranges
        least, largest = self.ranges[0][0], self.ranges[-1][0]
        between = (largest - least) / round(_COMMON * math.sqrt(number))
        alike = groupby(reversed(self.ranges), key=lambda one: math.floor((largest - one[0]) / between))
        groups = [list(group) for _, group in alike]
        return tuple((group[0][0], group[0][1], sum(own for _, _, own in group)) for group in reversed(groups))

    def _law(self, rtol: float | None, *, above: bool) -> AdaptiveTwoPoints | None:
        """The losses, with steps that are affordable for both bounds, or for the one from below."""
        widths, counts = [epsilon for epsilon, _, _ in self.ranges], tuple(own for _, _, own in self.ranges)
        rounds = rounds_in_any_order(counts) if above else sum(counts) + 2 * counts[-1]
        if rounds > (MOST_ROUNDS if above else 2 * MOST):
            return None
        parts = common_parts(widths, counts, rtol, rounds)
        if parts is None and not above:
            # the rest of each width is left out, and widths that are too narrow
            parts = parts_within(widths, counts, rounds)
        if parts is None:
            return None
        kept = [(Plain(width), own, part) for width, own, part in zip(widths, counts, parts, strict=True) if part]
        return AdaptiveTwoPoints(*zip(*kept, strict=True)) if kept else None
