"""Samples of the Laplace and of the exponential mechanism in balls: one release alone."""

from __future__ import annotations

from functools import partial
from typing import Any

import flint

from logphi.certified import residues
from logphi.certified.laws.atoms import FailureInBalls
from logphi.certified.laws.law import LawInBalls, halves
from logphi.certified.laws.uniform import FlatInBalls
from logphi.certified.reals import constant
from logphi.certified.route import Excess
from logphi.laws.flat.mixed_flat import MixedFlat, SplicedFlat
from logphi.laws.zero_or_infinite import ZeroOrInfinite


class _SampledInBalls(LawInBalls):
    """A sample of a flat base, whose loss is infinite with some probability: its failure."""

    @property
    def refusal(self) -> str:
        """Why compositions are refused."""
        return (
            "a sampled Laplace or exponential mechanism is certified as a single release only, as its transform is an "
            "integral that has no proof in balls: leave the sampling out, which is an upper bound, or ask without a "
            "certificate"
        )

    def infinite_mass(self) -> Any:
        """The probability of a failure, times the rate."""
        return constant(self.law.rate) * constant(self.law.base.failure)

    def excess(self, epsilon: Any, *, added: bool, infinite: Any) -> Any:
        """The profile of a sample of a flat base ([LT] Theorem 5.1), or of its reflection, ``added``, less ``infinite`` losses.

        With e^{x'} = 1 + (e^x - 1)/q, the profile is q delta(x') of the base for x > log(1 - q) and 1 - e^x below. Of the
        reflection, by delta_{Q|P}(x) = 1 - e^x + e^x delta_{P|Q}(-x) and as the base is symmetric, it is
        (1 - (1 - q) e^x) delta(-y') with e^{y'} = 1 + (e^{-x} - 1)/q, for x < -log(1 - q), and nothing above.
        """
        base, rate = self.law.base, constant(self.law.rate)
        odds = (-epsilon if added else epsilon).expm1() / rate
        if odds <= -1:
            return (flint.arb(0) if added else -epsilon.expm1()) - infinite
        if not odds > -1:
            # epsilon may be the end log(1 - q): the profile differs from that at the end by at most the distance to it
            edge = (rate * (1 + odds)).upper().union(0)
            return (edge * epsilon.exp() if added else -epsilon.expm1() + edge) - infinite
        inner = odds.log1p()
        at = -inner if added else inner
        failure = ((FailureInBalls(ZeroOrInfinite(base.failure)), 1),) if base.failure else ()
        profile = residues.sum_near(((FlatInBalls(base.law), 1), *failure), at).excess(at) + constant(base.failure)
        return (1 - (1 - rate) * epsilon.exp() if added else rate) * profile - infinite


class MixedFlatInBalls(_SampledInBalls):
    """The sample against no sample."""

    kinds = (MixedFlat,)

    def infinite_mass(self) -> Any:
        """Zero for the reflection: a mixture with Q has mass wherever Q has."""
        return flint.arb(0) if self.reflected else super().infinite_mass()

    def closed_form(self) -> Excess:
        """The closed form in the order of this law."""
        return partial(self.excess, added=self.reflected, infinite=self.infinite_mass())


class SplicedFlatInBalls(_SampledInBalls):
    """A sample under replacement: at each epsilon, the worse order."""

    kinds = (SplicedFlat,)

    def closed_form(self) -> Excess:
        """One order above zero and the other below."""
        above, below = (partial(self.excess, added=added, infinite=self.infinite_mass()) for added in (False, True))
        return halves(above, below)
