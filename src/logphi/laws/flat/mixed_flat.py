"""Log-ratios of mixtures of a flat pair: of (1 - q) Q + q P to Q, or the spliced pair."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from logphi.arith.floats import ULP
from logphi.arith.protocol import Arithmetic, Number, Plain
from logphi.arith.scaled import Scaled
from logphi.laws.closed_form import Sides
from logphi.laws.curves import log_mixture
from logphi.laws.curves.curved import Curved
from logphi.laws.flat.flat_pair import FlatPair
from logphi.laws.support import Support
from logphi.laws.transform import LossTransform, T
from logphi.laws.visitor import LawVisitor
from logphi.quadrature.curves.curve import Curve, Factor
from logphi.quadrature.curves.gauss_legendre import losses_at


@dataclass(frozen=True)
class MixedFlat(Curved):
    """The log-ratio of (1 - q) Q + q P to Q, under the former, of a flat base: w = 1 - q + q e^L."""

    base: FlatPair
    rate: float

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z)."""
        return log_mixture.formula(arith, self.rate, z, self.base.mean, self.base.infinite_mass(arith))

    def _curve(self, side: int) -> Curve:
        """The curve over L itself."""
        (w, failure), (log_height, bottom, top) = self.base.size(side), self.base.log_constants(side)
        q = self.rate * (1 + side * ULP)
        ends = ((-w, bottom), (w, top)) if self.base.with_atoms else ()
        failed = ((-np.inf, float(np.log(failure))),) if failure else ()
        factors, infinite_mass = (Factor(q, 1.0),), (q * failure, 0.0)
        return Curve(factors, -w, w, (log_height, -0.5, 0.0), (*ends, *failed), omitted=infinite_mass, error=self.base.error)

    def accept(self, visitor: LawVisitor[T, LossTransform]) -> T | None:
        """The sampled flat law if no outcome fails, otherwise the curve."""
        found = None if self.base.failure else visitor.sampled(self.base.law, Plain(self.rate))
        return super().accept(visitor) if found is None else found

    def partial_masses(self, x: float, *, tilted: bool = False) -> Sides | None:
        """From the masses of the base; the failures under Q are an atom at log(1 - q)."""
        only_q = self.base.failed if self.base.failure else None
        return log_mixture.partial_masses(
            self.base.partial_masses, self.rate, x, tilted=tilted, floor=self.base.floor, only_q=only_q
        )

    def density(self, x: float) -> Scaled | None:
        """From the density of the base, without failures."""
        found = log_mixture.flat_density(self.base.law, self.rate, x)
        return found and found.times_exp(float(np.log1p(-self.base.failure)), 2 * ULP * self.base.failure)

    @cached_property
    def support(self) -> Support:
        """From the smallest loss to the one at the end of the curve."""
        own, q = self._upward, self.rate
        loss, error = losses_at(self.curve, np.array([-np.inf if self.base.failure else self.curve.start]))
        lower = float(loss[0] - error[0]) * (1 + 2 * ULP)
        return replace(own, lower=lower, error=own.error + 2.0**-49 * q / (1 - q) - 8 * ULP * lower)


@dataclass(frozen=True)
class SplicedFlat(Curved):
    """The log-ratio of (1 - g) Q + g P to Q of a flat base where it is positive, reflected where it is negative."""

    base: FlatPair
    rate: float

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z)."""
        return log_mixture.spliced_formula(arith, self.rate, z, self.base.mean, self.base.infinite_mass(arith))

    def partial_masses(self, x: float, *, tilted: bool = False) -> Sides | None:
        """From the masses of the base above zero, reflected below; the finite part of the failures is at zero."""
        at_zero = self.base.failed.times_exp(float(np.log1p(-self.rate)), ULP / (1 - self.rate))

        def half(x: float, tilted: bool) -> Sides | None:
            found = log_mixture.partial_masses(self.base.partial_masses, self.rate, x, tilted=tilted, floor=self.base.floor)
            return found and (found[0], found[1] + at_zero)

        return log_mixture.spliced(half, x, tilted=tilted)

    def _curve(self, side: int) -> Curve:
        """The curve over L > 0."""
        (w, failure), (log_height, _, top) = self.base.size(side), self.base.log_constants(side)
        g = self.rate * (1 + side * ULP)
        # Q(L <= 0) - Q(L > 0) of the base without failures, and Q(L > 0)
        difference, above = (
            (-np.expm1(-w / 2), np.exp(-w / 2) / 2) if self.base.with_atoms else (np.tanh(w / 4), 1 / (1 + np.exp(w / 2)))
        )
        rest = float((1 - g) * (difference + 2 * failure * above))
        atoms = ((w, top),) if self.base.with_atoms else ()
        infinite_mass = (g * failure, g * failure)
        return Curve((Factor(g, 1.0),), 0.0, w, (log_height, -0.5, 0.0), atoms, True, rest, infinite_mass, self.base.error)
