"""Sampled laws of which single releases have a closed form."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from logphi.checker.balls import Undecided, ball
from logphi.checker.closed import Flat
from logphi.checker.normals import Normals
from logphi.checker.sweep import Work


class Single:
    """A law that is checked alone only."""

    end = math.inf

    def listed(self) -> Any:
        """Refused."""
        raise Undecided("compositions of this sampled mechanism are not known to this checker, single releases are")

    def moment(self, x: Any, work: Work) -> Any:
        """Refused."""
        return self.listed()


@dataclass(frozen=True)
class Sampled(Single):
    """((1-q) Q + q P, Q) for a flat loss of (P, Q), or the reverse."""

    base: Flat
    rate: Fraction
    turned: bool = False

    def infinite(self) -> Any:
        """What only P reaches; what only Q reaches is shared."""
        return self.base.infinite() * (arb(0) if self.turned else ball(self.rate))

    def reversed(self) -> Sampled:
        """The other order."""
        return Sampled(self.base, self.rate, not self.turned)

    def alone(self, epsilon: Any) -> Any:
        """By [LT] Theorem 5.1 and, for the other order, delta(eps) = 1 - e^eps + e^eps delta'(-eps)."""
        if self.turned:
            return 1 - epsilon.exp() + epsilon.exp() * self._profile(-epsilon)
        return self._profile(epsilon) - self.infinite()

    def _profile(self, epsilon: Any) -> Any:
        q = ball(self.rate)
        inner = 1 + epsilon.expm1() / q
        if inner > 0:
            return q * (self.base.infinite() + self.base.alone(inner.log()))
        return 1 - epsilon.exp() if inner < 0 else arb.nan()


@dataclass(frozen=True)
class Spliced(Single):
    """The loss of a sampled normal law where it is positive, and the negative of the reverse's where that is negative.

    Both are the loss of one pair: the profile at eps >= 0 is that of the pair, and at eps < 0 follows by symmetry.
    """

    sampled: Normals

    def infinite(self) -> Any:
        """None."""
        return arb(0)

    def reversed(self) -> Spliced:
        """Itself."""
        return self

    def alone(self, epsilon: Any) -> Any:
        """H of ((1-g) Q + g P, Q) for eps >= 0; of its mirror image for eps < 0."""
        if epsilon >= 0:
            return self.sampled.alone(epsilon)
        return 1 - epsilon.exp() + epsilon.exp() * self.sampled.alone(-epsilon)
