"""Losses of noise on [-T, T] against the same noise shifted, and of their mixtures."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

from logphi.arith.floats import ULP
from logphi.arith.protocol import Arithmetic, Number
from logphi.arith.scaled import Scaled
from logphi.laws.closed_form import Sides
from logphi.laws.curves import log_mixture
from logphi.laws.curves.curved import Curved
from logphi.laws.densities.truncated_noise import CommonSupport, Noise
from logphi.laws.support import Support
from logphi.quadrature.curves.curve import Curve, Factor


class _ShiftedNoise(Curved):
    """The log-ratio of noise to the same noise, shifted."""

    noise: Noise

    def curve_at(self, upper: bool) -> Curve:
        """The curve with its atoms rounded outward; its parameters are kept, since a larger shift also adds infinite losses."""
        common, side = self.noise.common, 1 if upper else -1
        atoms = tuple(
            (end, log_mass + side * (common.relative_error + common.infinite_mass_error)) for end, log_mass in self.curve.atoms
        )
        return replace(self.curve, atoms=atoms)

    def excess(self, x: float) -> Scaled:
        """The excess by an integral of positive terms; within rounding of an end of the support, a bound from the distance."""
        found = super().excess(x)
        if found is not None:
            return found
        if x > 0:
            return Scaled(0.0, 0.0, rounding=max(self.support.upper - x, 0.0))
        infinite_p, infinite_q = self.curve.omitted
        value = 1 - infinite_p - math.exp(x) * (1 - infinite_q)
        return Scaled(0.0, value, rounding=max(x - self.support.lower, 0.0) + (self.curve.omitted_error + 8 * ULP) * 2)


@dataclass(frozen=True)
class TruncatedLoss(_ShiftedNoise):
    """The loss of the shifted noise against the noise itself; it is infinite where only P has mass."""

    noise: Noise

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z)."""
        return arith.log(self.noise.moment(arith, z))

    @cached_property
    def support(self) -> Support:
        """Between the ends, with the pieces of the noise; a normal density gives no atoms."""
        pieces = self.noise.pieces
        return replace(super().support, atomless=pieces is None, pieces=pieces)

    def partial_masses(self, x: float, *, tilted: bool = False) -> Sides:
        """The partial masses of the noise."""
        return self.noise.partial_masses(x, tilted=tilted)

    def _curve(self, side: int) -> Curve:
        """The curve over the losses above zero; the law is symmetric."""
        return _upper_half(self.noise.common, 1.0)


@dataclass(frozen=True)
class SplicedTruncated(_ShiftedNoise):
    """The log-ratio of (1 - g) Q + g P to Q where it is positive, reflected where it is negative."""

    noise: Noise
    rate: float

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z)."""
        return log_mixture.spliced_formula(arith, self.rate, z, self.noise.mean, self.noise.infinite_mass(arith))

    def _curve(self, side: int) -> Curve:
        """The curve over the losses above zero; the law is symmetric."""
        return _upper_half(self.noise.common, self.rate)


def _upper_half(common: CommonSupport, rate: float) -> Curve:
    infinite_mass = rate * common.infinite_mass
    return Curve(
        (Factor(rate, common.slope),),
        0.0,
        common.end,
        common.density,
        common.ends[1:],
        True,
        (1 - rate) * common.middle,
        (infinite_mass, infinite_mass),
        common.relative_error,
        common.infinite_mass_error,
    )


@dataclass(frozen=True)
class MixedTruncated(_ShiftedNoise):
    """The log-ratio of (1 - q) Q + q P to Q, under the former: w = 1 - q + q e^L."""

    noise: Noise
    rate: float

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z)."""
        return log_mixture.formula(arith, self.rate, z, self.noise.mean, self.noise.infinite_mass(arith))

    @cached_property
    def support(self) -> Support:
        """From log(1 - q), the loss where only Q has mass."""
        low, high = log_mixture.value(-math.inf, self.rate, ULP * self.rate)
        return replace(self._upward, lower=low, error=self._upward.error + high - low)

    def partial_masses(self, x: float, *, tilted: bool = False) -> Sides | None:
        """From the masses of the noise; where only Q has mass, the loss is an atom at log(1 - q)."""
        common = self.noise.common
        only_q = Scaled(0.0, common.infinite_mass, rounding=common.infinite_mass * common.infinite_mass_error)
        floor = -2 * common.slope * common.end
        return log_mixture.partial_masses(self.noise.partial_masses, self.rate, x, tilted=tilted, floor=floor, only_q=only_q)

    def _curve(self, side: int) -> Curve:
        """The curve over the common support; where only Q has mass, the loss of the base is minus infinity."""
        common = self.noise.common
        atoms = (*common.ends, (-math.inf, math.log(common.infinite_mass)))
        relative_error = max(common.relative_error, common.infinite_mass_error / (2 + abs(math.log(common.infinite_mass))))
        factors, infinite_mass = (Factor(self.rate, common.slope),), (self.rate * common.infinite_mass, 0.0)
        return Curve(
            factors,
            -common.end,
            common.end,
            common.density,
            atoms,
            omitted=infinite_mass,
            error=relative_error,
            omitted_error=common.infinite_mass_error,
        )
