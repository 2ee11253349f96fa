"""Compositions of mechanisms of bounded range, for the best adaptive choices of two-point pairs.

notation: at each threshold, the profile of a mechanism of epsilon-bounded range is at most that of a loss that is t with
probability (1 - e^{t-eps}) / (1 - e^{-eps}) and t - eps otherwise, for some t in [0, eps] (Dong, Durfee & Rogers 2020). Its
E e^{zL} is e^{zt} A - e^{(z+1)t} B, whose maximum over t, or minimum for -1 < z < 0, is where e^t = z A / ((z + 1) B). With
S(s) = log(sinh(s eps/2) / (s eps/2)) the logarithm is K(z) = (z + 1) S(z + 1) - z S(z) - S(1); K'(0) = S(1) + S'(1) is the
divergence of order 1. K is at most eps^2 z (z + 1) / 8 for z > 0 (Hoeffding's lemma).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from logphi.algebra.families import with_others
from logphi.algebra.family import CountedReleases, Family
from logphi.algebra.hull import hull
from logphi.algebra.release import Mechanism, compose
from logphi.arith.protocol import Plain
from logphi.arrays import Array
from logphi.convex.symmetric_pair import SMALL, NearlyOneError
from logphi.inputs.adjacency import Adjacency
from logphi.laws.combined.adaptive_two_points import AdaptiveTwoPoints, parts_for
from logphi.mechanisms.discrete import Discrete
from logphi.mechanisms.randomized_response import RandomizedResponse
from logphi.mechanisms.ranges.adaptive_steps import MOST, Steps, StepsBetween
from logphi.mechanisms.ranges.by_moments import by_moments, largest_moments
from logphi.mechanisms.ranges.gaussian_of_ranges import WIDEST, gaussian_above
from logphi.mechanisms.ranges.several_ranges import SeveralRanges

# derived: from here on, e^epsilon and its inverse keep their digits on the grid; elsewhere the hulls are the bound
_LEAST = 1e-7
# derived: up to here they keep them
_LARGEST = 50.0
# derived: orders differ from one by at least 1e-16, and K is about that times epsilon squared
_BITS = 400
# derived: more than epsilon squared loses when epsilon is halved
_BITS_EACH = 8
# derived: up to this order minus one, sinh is accurate
_FAR = 1e9


@dataclass(frozen=True)
class BoundedRange(Family):
    """All mechanisms of bounded range with this epsilon."""

    release: Mechanism
    epsilon: float
    adjacency: Adjacency

    def merged(self, terms: CountedReleases) -> tuple[Mechanism, Family] | None:
        """All steps of several ranges, unless they are too many."""
        ranges = [(family, count) for _, family, count in terms if isinstance(family, BoundedRange)]
        if not all(family.known(count) for family, count in ranges):
            return None
        found = SeveralRanges.of(tuple((family.epsilon, family, count) for family, count in ranges), self.adjacency)
        return None if found is None else (compose(count * one for one, _, count in terms), found)

    def alone(self, count: int, rtol: float | None = None) -> Mechanism | None:
        """The steps by their own profile, unless there are too many."""
        return Steps(self.law(count, rtol), self.adjacency) if self.known(count) else None

    def above(self, count: int) -> Mechanism:
        """A pair above; for one step, or too many, the hull; groups of steps where all of them leak nearly everything."""
        if count == 1 or not self.known(count):
            return count * hull(self.release)
        steps = StepsBetween(self.law(count), True, self.adjacency)
        try:
            steps.loss_law()
        except NearlyOneError:
            half = count // 2
            return self.above(half) + self.above(count - half)
        return steps

    def joint_bounds(self, terms: CountedReleases) -> list[Mechanism]:
        """Of too many steps, a Gaussian mechanism if they are narrow, and the pair of their moments."""
        count = next(own for _, family, own in terms if family is self)
        if count == 1 or self.known(count):
            return []
        steps = [(self.epsilon, count)]
        normal = [gaussian_above(steps, self.adjacency)] if self.epsilon <= WIDEST else []
        moments = by_moments(steps, self.adjacency)
        return [with_others(terms, self, one) for one in (*normal, moments) if one is not None]

    def below(self, count: int, skew: float = 0.5) -> Mechanism:
        """A pair below; for one step, the hull."""
        if count == 1:
            return hull(self.release)
        if self.known(count):
            return StepsBetween(self.law(count), False, self.adjacency)
        return self.fixed(count, skew)

    def finite(self, count: int, *, above: bool, small: float = SMALL) -> Mechanism | None:
        """The finite pair, which is sharper next to the largest loss."""
        known = count > 1 and self.known(count)
        return StepsBetween(self.law(count), above, self.adjacency, finite=True, small=small) if known else None

    def law(self, count: int, rtol: float | None = None) -> AdaptiveTwoPoints:
        """The losses of the best picks."""
        return AdaptiveTwoPoints((Plain(self.epsilon),), (count,), (parts_for(count, rtol),))

    def fixed(self, count: int, skew: float = 0.5) -> Mechanism:
        """Two opposite losses or, for a larger ``skew``, a small loss and a rarer, large negative one."""
        if skew != 0.5 and _LEAST <= self.epsilon <= _LARGEST:
            # a slightly narrower range compensates for rounding
            width = self.epsilon * (1 - 1e-6)
            t = skew * width
            p = math.expm1(t - width) / math.expm1(-width)
            q = p * math.exp(-t)
            return count * Discrete(p=[p, 1 - p], q=[q, 1 - q], adjacency=self.adjacency)
        # slightly less than half of the range, and a probability below one
        p = min(1 / (1 + math.exp(-self.epsilon / 2 * (1 - 1e-12))), 1 - 1e-15)
        return count * RandomizedResponse(p, adjacency=self.adjacency)

    def size(self) -> float:
        """A variance: epsilon squared."""
        return self.epsilon**2

    def divergence(self, order: float) -> tuple[float, float]:
        """K(z)/z with z = order - 1; for orders below 1/2, from one minus the order."""
        if order == 0:
            return 0.0, 0.0
        if order < 0.5:
            factor = order / (1 - order) if math.isfinite(order) else -1.0
            ends = sorted(factor * end for end in self.divergence(1 - order))
            return ends[0] - 1e-15 * abs(ends[0]), ends[1] + 1e-15 * abs(ends[1])
        return _largest_divergence(self.epsilon, order)

    def moments_above(self, z: Array) -> Array:
        """All at once, in doubles."""
        return largest_moments(self.epsilon, z)

    def rho(self) -> float:
        """Epsilon squared over eight."""
        return self.epsilon**2 / 8 * (1 + 1e-15)

    def known(self, count: int) -> bool:
        """Whether the profile of so many steps is known."""
        return _LEAST <= self.epsilon <= _LARGEST and count <= MOST


@lru_cache(maxsize=4096)
def _largest_divergence(epsilon: float, order: float) -> tuple[float, float]:
    """The divergence of an order of at least 1/2."""
    if math.isinf(order):
        return epsilon * (1 - 1e-15), epsilon * (1 + 1e-15)
    from mpmath import mpf

    from logphi.arith.mp import MULTIPRECISION, precision

    if order - 1 > _FAR:
        # the largest loss is a bound
        return _largest_divergence(epsilon, 1 + _FAR)[0], epsilon * (1 + 1e-15)
    with precision(_BITS + _BITS_EACH * max(0, -math.frexp(epsilon)[1])):
        half = MULTIPRECISION.constant(epsilon) / 2
        z = mpf(order) - 1
        if z:
            terms = [MULTIPRECISION.log_sinhc(s * half) for s in (z + 1, z, mpf(1))]
            value = float(((z + 1) * terms[0] - z * terms[1] - terms[2]) / z)
        else:
            value = float(MULTIPRECISION.log_sinhc(half) + half / MULTIPRECISION.tanh(half) - 1)
    return value * (1 - 1e-15), value * (1 + 1e-15)
