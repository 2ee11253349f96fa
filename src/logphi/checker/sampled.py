"""Samples of any law whose tails are known: their own tails, but not their M.

notation: X = p/q, the likelihood ratio of the base (P, Q); f = P(L = inf).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from logphi.checker.balls import ball
from logphi.checker.law import Law
from logphi.checker.work import EXP, spend


def sample(base: Law, rate: Fraction) -> Law:
    """The law of ((1-rate) Q + rate P, Q), for 0 < rate < 1."""
    return base.sampled(rate) or Sampled(base, rate)


def subset(base: Law, rate: Fraction) -> Law:
    """See :meth:`Law.subset`."""
    return base.subset(rate) or SubsetSampled(base, rate, base.symmetric)


@dataclass(frozen=True)
class Sampled(Law):
    """((1-g) Q + g P, Q), or the reverse: the likelihood ratio is 1 - g + g X, or one over that."""

    base: Law
    rate: Fraction
    is_reversed: bool = False

    def infinite(self) -> Any:
        """The infinite mass of the base, times the rate; none for the reverse, as the mixture has mass wherever Q has."""
        return arb(0) if self.is_reversed else ball(self.rate) * self.base.infinite()

    def reversed(self) -> Sampled:
        """The same pair in the other order."""
        return Sampled(self.base, self.rate, not self.is_reversed)

    def tails(self, epsilon: Any) -> tuple[Any, Any]:
        """For the reverse: Q, and the mixture without its infinite loss, where the loss of the mixture is at most -eps."""
        if not self.is_reversed:
            return self._above(epsilon)
        mixed, plain = self._above(-epsilon)
        return 1 - plain, 1 - ball(self.rate) * self.base.infinite() - mixed

    def _above(self, epsilon: Any) -> tuple[Any, Any]:
        """The mixture and Q, where the likelihood ratio is finite and above e^eps."""
        spend(4 * EXP)
        g = ball(self.rate)
        ratio = 1 + epsilon.expm1() / g
        if ratio < 0:
            return 1 - g * self.base.infinite(), arb(1)
        if not ratio > 0:
            return arb.nan(), arb.nan()
        p, q = self.base.tails(ratio.log())
        return (1 - g) * q + g * p, q

    def atom_losses(self) -> list[Any]:
        """The losses of the mixture at the atoms of the base."""
        g = ball(self.rate)
        sign = -1 if self.is_reversed else 1
        return [sign * (g * loss.expm1()).log1p() for loss in self.base.atom_losses()]


@dataclass(frozen=True)
class SubsetSampled(Law):
    """A subset under replace: see :meth:`Law.subset`. It is symmetric if the base is."""

    base: Law
    rate: Fraction
    symmetric: bool = False

    def infinite(self) -> Any:
        """The infinite mass of the base, times the rate."""
        return ball(self.rate) * self.base.infinite()

    def reversed(self) -> Law:
        """The subset of the reversed base."""
        return SubsetSampled(self.base.reversed(), self.rate, self.symmetric)

    def tails(self, epsilon: Any) -> tuple[Any, Any]:
        """For eps >= 0 those of ((1-g) Q + g P, Q); below, the complement of (P, (1-g) P + g Q)."""
        if epsilon >= 0:
            return Sampled(self.base, self.rate).tails(epsilon)
        if not epsilon < 0:
            return arb.nan(), arb.nan()
        p, q = Sampled(self.base.reversed(), self.rate, True).tails(epsilon)
        return p - self.infinite(), q
