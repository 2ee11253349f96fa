"""Samples of tilted uniform laws."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from flint import arb, ctx

from logphi.checker.arithmetic.balls import ball
from logphi.checker.arithmetic.gauss_legendre import gauss_legendre
from logphi.checker.arithmetic.work import EXP, spend
from logphi.checker.laws.by_quadrature import ByQuadrature, Points
from logphi.checker.laws.sampled import Sampled
from logphi.checker.laws.uniform import TiltedUniform


@dataclass(frozen=True)
class SampledUniform(Sampled, ByQuadrature):
    """((1-q) Q + q P, Q), where the loss y of (P, Q) is a :class:`TiltedUniform`.

    Under Q, y has the density k e^{-y/2} on (-w, w), k = b/4, and atoms b r e^{-y/2} / 2 at both ends; f is the mass of P, and
    of Q, where the other has none. With r = 1 - q + q e^y, M(z) = E_Q[r^{1+z}] + f (1-q)^{1+z} for every z.
    """

    base: TiltedUniform

    def points(self, c: Any, time: Any) -> Points:
        """The atoms and one Gauss-Legendre rule: at Im y = b < pi, |r| lies between cos(b/2) r and r, and |arg r| <= b."""
        q, power, density = ball(self.rate), 1 + c, self.base.scale() / 4

        def size(left: Any, right: Any, lift: Any) -> Any:
            low, high = (1 - q + q * left.exp()) * (lift / 2).cos(), 1 - q + q * right.exp()
            return density * ((power * low.log()).max(power * high.log()) + time * lift - left / 2).exp()

        w = self.base.width()
        rule, error = gauss_legendre(-w, w, 3.1, size, -ctx.prec * math.log(2))
        spend(5 * EXP * len(rule))
        inner = [(weight * density * (-y / 2).exp(), (1 - q + q * y.exp()).log()) for y, weight in rule]
        points = [*inner, *self._atoms()]
        return [mass * (power * loss).exp() for mass, loss in points], [loss for _, loss in points], error

    def fall(self, c: Any) -> tuple[Any, Any]:
        """The atoms, and for b a bound of the integral by integration by parts.

        With l = log r and the density F l', F = k e^{-3y/2} r^{s+1} / q, the integral of F l' e^{itl} is at most
        (F(w) + F(-w) + variation of F) / t; F falls, or falls and then rises, as (log F)' = -3/2 + (s+1) q e^y / r.
        """
        q, w, power = ball(self.rate), self.base.width(), 1 + c
        ends = [(-3 * y / 2 + (power + 1) * (1 - q + q * y.exp()).log()).exp() for y in (w, -w)]
        kept = sum((mass * (power * loss).exp() for mass, loss in self._atoms()), arb(0))
        return kept, self.base.scale() / (2 * q) * sum(ends, arb(0))

    def _atoms(self) -> list[tuple[Any, Any]]:
        """Masses under Q, and log r there."""
        q, w, failure = ball(self.rate), self.base.width(), self.base.infinite()
        heavy = self.base.scale() * self.base.atoms() / 2
        atoms = [] if failure.is_zero() else [(failure, (-q).log1p())]
        return atoms + [(heavy * (-y / 2).exp(), (1 - q + q * y.exp()).log()) for y in (w, -w)]
