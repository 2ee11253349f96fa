"""Log-ratios of two normal mixtures: spliced pairs, and samples under replacement."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from math import erf

import numpy as np

from logphi.arith.floats import FLOATS, LOG_ROOT_TWO_PI, ULP
from logphi.arith.protocol import Arithmetic, Number, Parameter, Plain
from logphi.arith.scaled import Scaled
from logphi.laws.closed_form import Sides
from logphi.laws.curves import log_mixture
from logphi.laws.curves.curved import Curved, end_of, parameter_error
from logphi.laws.growth import Growth
from logphi.laws.normal.mixed_normal import MixedNormal
from logphi.laws.normal.normal import largest_shift, shifted_growth
from logphi.laws.traits import Traits
from logphi.quadrature.curves.curve import Curve, Factor, symmetric_inverse

Parts = tuple[tuple[float, float], ...]


class Cappable(Curved):
    """A symmetric law over a normal variable, of which the largest and the smallest losses may be left out."""

    shift: Parameter
    rate: float

    @property
    @abstractmethod
    def upper_parts(self) -> tuple[Parts, Parts]:
        """P and Q above a point of the curve: weights of normal laws, and their centres as multiples of the shift."""

    @property
    def outer_parts(self) -> Parts:
        """The same for P, or Q, at larger losses and below minus these: below, P is the reflection of Q."""
        own, other = self.upper_parts
        return own + other

    @abstractmethod
    def outer_moment(self, arith: Arithmetic, z: Number, end: float) -> Number:
        """M(z) of the losses above that at a point of the curve, and below minus that."""


@dataclass(frozen=True)
class SplicedNormal(Cappable):
    """The log-ratio of (1 - g) N(0, 1) + g N(m, 1) to N(0, 1) where it is positive, reflected where it is negative."""

    shift: Parameter
    rate: float

    @property
    def growth(self) -> Growth:
        """The growth of the shift, whose excess is no smaller; M is at least g^{z+1} times the shift's M on a half-line."""
        return Growth.both(shifted_growth(self.shift), largest_shift(self.shift))

    def partial_masses(self, x: float, *, tilted: bool = False) -> Sides | None:
        """The masses of the mixture for losses above zero, reflected below."""
        law = MixedNormal(self.shift, Plain(self.rate))
        return log_mixture.spliced(lambda x, tilted: law.partial_masses(x, tilted=tilted), x, tilted=tilted)

    def density(self, x: float) -> Scaled | None:
        """The density of the mixture for losses above zero, reflected below."""
        found = MixedNormal(self.shift, Plain(self.rate)).density(abs(x))
        return found and found.times_exp(min(x, 0.0))

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z)."""
        m = self.shift.under(arith)
        change = log_mixture.spliced_change(arith, self.rate, z)
        # relative to the density at the centre m/2
        total = arith.integral(lambda x: change(m * x) * arith.exp(-(x + m / 2) * (x + m / 2) / 2), 0 * m, None)
        return arith.log(1 + total / (2 * arith.integral(lambda x: arith.exp(-x * x / 2), 0 * m, None)))

    @property
    def upper_parts(self) -> tuple[Parts, Parts]:
        """Above zero, P is a mixture of both normal laws, and Q is the one."""
        return ((1 - self.rate, -0.5), (self.rate, 0.5)), ((1.0, -0.5),)

    def outer_moment(self, arith: Arithmetic, z: Number, end: float) -> Number:
        """The integral of w^{z+1} + w^{-z} farther out."""
        m, q = self.shift.under(arith), arith.constant(self.rate)

        def density(y: Number) -> Number:
            x = end + y
            w = 1 - q + q * arith.exp(m * x)
            return (w ** (z + 1) + w ** (-z)) * arith.exp(-(x + m / 2) * (x + m / 2) / 2)

        root = 2 * arith.integral(lambda x: arith.exp(-x * x / 2), 0 * m, None)
        return arith.integral(density, 0 * m, None) / root

    def _curve(self, side: int) -> Curve:
        """The curve over the distance from m/2."""
        m, g = end_of(self.shift, side), self.rate * (1 + side * ULP)
        density = (-m * m / 8 - LOG_ROOT_TWO_PI, -m / 2, -0.5)
        return Curve(
            (Factor(g, m),), 0.0, np.inf, density, (), True, (1 - g) * erf(m / 8**0.5), error=parameter_error(self.shift)
        )


@dataclass(frozen=True)
class ReplacedNormal(Cappable):
    """The log-ratio of (1 - q) N(0, 1) + q N(m, 1) to (1 - q) N(0, 1) + q N(-m, 1)."""

    shift: Parameter
    rate: float

    # the reflection of the line exchanges the two mixtures
    traits = Traits(symmetric=True)

    @property
    def growth(self) -> Growth:
        """The growth of a shift by the distance of the means, two shifts, with the lower end -log(1 - q)."""
        q = self.rate
        side = shifted_growth(self.shift, -float(np.log1p(-q)) * (1 + 1e-15) + 2.0**-52 * q / (1 - q))
        return Growth.both(side, 2 * largest_shift(self.shift))

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z)."""
        m, q = self.shift.under(arith), arith.constant(self.rate)
        rest, half = 1 - q, m * m / 2

        def mixture(x: Number) -> Number:
            return rest + q * arith.exp(m * x - half)

        return arith.log_normal_mean(lambda x: mixture(x) ** (z + 1) * mixture(-x) ** (-z))

    def partial_masses(self, x: float, *, tilted: bool = False) -> Sides | None:
        """Masses of two normal laws on both sides of the point where the loss equals x."""
        from logphi.normal.tails import mixed_sides

        m, q = float(self.shift.under(FLOATS).mid), self.rate
        centres, log_weights = np.array([0.0, -m if tilted else m]), np.array([np.log1p(-q), np.log(q)])
        return mixed_sides(*self._root(x), centres, log_weights, np.array([ULP / (1 - q), ULP]))

    @property
    def upper_parts(self) -> tuple[Parts, Parts]:
        """The two mixtures."""
        return ((1 - self.rate, 0.0), (self.rate, 1.0)), ((1 - self.rate, 0.0), (self.rate, -1.0))

    def outer_moment(self, arith: Arithmetic, z: Number, end: float) -> Number:
        """The integral over both sides farther out."""
        m, q = self.shift.under(arith), arith.constant(self.rate)

        def density(y: Number) -> Number:
            x = end + y
            one, other = (1 - q + q * arith.exp(side * m * x - m * m / 2) for side in (1, -1))
            return (one ** (z + 1) * other ** (-z) + other ** (z + 1) * one ** (-z)) * arith.exp(-x * x / 2)

        root = 2 * arith.integral(lambda x: arith.exp(-x * x / 2), 0 * m, None)
        return arith.integral(density, 0 * m, None) / root

    def _root(self, x: float) -> tuple[float, float]:
        """An enclosure of the point at which the loss is x."""
        factor, size = self.curve.factors[0], abs(x)
        m, q, half = factor.slope, self.rate, size / 2
        if half == 0:
            return 0.0, 0.0
        parts = np.array([np.log1p(-q), -np.log(q), m * m / 2, half, np.log(-np.expm1(-2 * half) / 2)])
        # half an ulp of q and of x, a few of m
        error = 8 * ULP * (1 + np.abs(parts).sum() + m * m + half) + ULP / (1 - q)
        side = np.array([-1.0, 1.0])
        near, far = (symmetric_inverse(factor, np.asarray(size), error * side) * (1 + 24 * ULP * side)).tolist()
        return (near, far) if x > 0 else (-far, -near)

    def _curve(self, side: int) -> Curve:
        """The curve over the whole line."""
        m, q = end_of(self.shift, side), self.rate * (1 + side * ULP)
        factors = (Factor(q, m, -m * m / 2), Factor(q, -m, -m * m / 2, -1, 1))
        return Curve(factors, -np.inf, np.inf, (-LOG_ROOT_TWO_PI, 0.0, -0.5), error=parameter_error(self.shift))
