"""Samples of any law whose tails are known: their own tails, but not their M.

notation: X = p/q, the likelihood ratio of the base (P, Q); f = P(L = inf).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from logphi.checker.arithmetic.balls import ZERO, ball
from logphi.checker.arithmetic.work import EXP, spend
from logphi.checker.laws.law import Law


@dataclass(frozen=True)
class Sampled(Law):
    """((1-g) Q + g P, Q): the likelihood ratio is 1 - g + g X."""

    base: Law
    rate: Fraction
    # the mixture has mass wherever Q has
    unreached = staticmethod(ZERO)

    def infinite(self) -> Any:
        return ball(self.rate) * self.base.infinite()

    def tails(self, epsilon: Any) -> tuple[Any, Any]:
        """The mixture and Q, where the likelihood ratio is finite and above e^eps."""
        spend(4 * EXP)
        g = ball(self.rate)
        ratio = 1 + epsilon.expm1() / g
        if ratio < 0:
            return 1 - self.infinite(), arb(1)
        if not ratio > 0:
            return arb.nan(), arb.nan()
        p, q = self.base.tails(ratio.log())
        return (1 - g) * q + g * p, q


@dataclass(frozen=True)
class SubsetSampled(Law):
    """A subset under replace: see :meth:`Law.subset`. It is symmetric if the base is."""

    base: Law
    rate: Fraction
    symmetric: bool = False

    def infinite(self) -> Any:
        return ball(self.rate) * self.base.infinite()

    def reversed(self) -> Law:
        return SubsetSampled(self.base.reversed(), self.rate, self.symmetric)

    def tails(self, epsilon: Any) -> tuple[Any, Any]:
        """For eps >= 0 those of ((1-g) Q + g P, Q); below, the complement of (P, (1-g) P + g Q)."""
        if epsilon >= 0:
            return Sampled(self.base, self.rate).tails(epsilon)
        if not epsilon < 0:
            return arb.nan(), arb.nan()
        p, q = Sampled(self.base.reversed(), self.rate).reversed().tails(epsilon)
        return p - self.infinite(), q
