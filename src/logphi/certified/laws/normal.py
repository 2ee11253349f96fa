"""Log-ratios of mixtures of unit normal laws, and of normal laws on the integers, in balls."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from flint import arb

from logphi.arith.protocol import Arithmetic, Number
from logphi.certified.laws.formula import Falling, Formula
from logphi.certified.laws.law import FiniteLossInBalls
from logphi.certified.mixture_transform import Mixture, NormalRatio
from logphi.certified.normal_mixtures import Component, ExplicitRoot, NormalMixtures
from logphi.certified.reals import balls, constant, real
from logphi.certified.transform import Transform
from logphi.laws.atomic.integers import NormalOnIntegers
from logphi.laws.normal.curved_normal import ReplacedNormal
from logphi.laws.normal.mixed_normal import MixedNormal
from logphi.laws.normal.mixture_of_shifts import MixtureOfShifts
from logphi.laws.normal.normal import Normal


def alone(centre: Any) -> Component:
    """A single normal law."""
    return Component(arb(1), centre)


class _RatioInBalls(FiniteLossInBalls):
    """The log-ratio of two mixtures, both densities of which are positive everywhere."""

    @abstractmethod
    def unreflected(self) -> NormalMixtures:
        """The two mixtures, before they are exchanged by reflection."""

    def mixtures(self) -> NormalMixtures:
        """The two mixtures."""
        return self.unreflected().reversed() if self.reflected else self.unreflected()

    def transform(self) -> Transform:
        """M by the trapezoidal rule."""
        up, down = self.mixtures().p, self.mixtures().q
        return NormalRatio(
            Mixture(tuple(one.weight for one in up), tuple(one.centre for one in up)),
            Mixture(tuple(one.weight for one in down), tuple(-one.centre for one in down)),
            self.law.reflected() if self.reflected else self.law,
        )


class NormalInBalls(_RatioInBalls):
    """N(m, 1) against N(0, 1)."""

    kinds = (Normal,)

    def unreflected(self) -> NormalMixtures:
        """Two mixtures of one component each."""
        return NormalMixtures((alone(real(self.law.shift)),), (alone(arb(0)),))

    def transform(self) -> Transform:
        """By the formula."""
        return Falling(self.law)

    def explicit_root(self) -> ExplicitRoot:
        """The root of a mixture that has all its weight on the shift."""
        return ExplicitRoot(self.mixtures(), real(self.law.shift), arb(1), self.reflected)


class MixedNormalInBalls(_RatioInBalls):
    """(1 - q) N(0, 1) + q N(m, 1) against N(0, 1)."""

    kinds = (MixedNormal,)

    def unreflected(self) -> NormalMixtures:
        """Two components against one."""
        shift, rate = real(self.law.shift), real(self.law.rate)
        return NormalMixtures((Component(1 - rate, arb(0)), Component(rate, shift)), (alone(arb(0)),))

    def explicit_root(self) -> ExplicitRoot:
        """The root of the mixture."""
        return ExplicitRoot(self.mixtures(), real(self.law.shift), real(self.law.rate), self.reflected)


class MixtureOfShiftsInBalls(_RatioInBalls):
    """The sum of p_i N(c_i, 1) against N(0, 1)."""

    kinds = (MixtureOfShifts,)

    def unreflected(self) -> NormalMixtures:
        """Many components against one."""
        weights = [weight.value.real for weight in self.law.weights.under(balls())]
        centres = [real(shift) for shift in self.law.shifts]
        parts = sorted(zip(weights, centres, strict=True), key=lambda part: float(part[1]))
        return NormalMixtures(tuple(Component(weight, centre) for weight, centre in parts), (alone(arb(0)),))


class ReplacedNormalInBalls(_RatioInBalls):
    """(1 - q) N(0, 1) + q N(m, 1) against (1 - q) N(0, 1) + q N(-m, 1)."""

    kinds = (ReplacedNormal,)

    def unreflected(self) -> NormalMixtures:
        """Two components against two."""
        shift, rate = real(self.law.shift), constant(self.law.rate)
        still = Component(1 - rate, arb(0))
        return NormalMixtures((still, Component(rate, shift)), (Component(rate, -shift), still))


class NormalOnIntegersInBalls(FiniteLossInBalls):
    """Two normal laws on the integers, an integer apart."""

    kinds = (NormalOnIntegers,)

    def transform(self) -> Transform:
        """By the formula."""
        return Formula(self.law)

    def lattice(self, arith: Arithmetic) -> tuple[Number, int]:
        """The gap of the law."""
        return self.law.span_under(arith), self.law.shift
