"""Tilted uniform laws: losses with a density proportional to e^{x/2} on [-w, w], and their Poisson samples."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from logphi.checker.balls import ZERO, Real, ball
from logphi.checker.gauss_legendre import gauss_legendre
from logphi.checker.law import ByQuadrature, ClosedForm, Ends, Points
from logphi.checker.sampled import Sampled
from logphi.checker.work import EXP, spend


@dataclass(frozen=True)
class TiltedUniform(ClosedForm):
    """A loss on [-w, w] whose density is proportional to e^{x/2}, with atoms at both ends or without.

    With u = z + 1/2 and f = P(L < inf), M(z) = f e^{-w/2} [(1 + 1/(2u)) e^{u w} + (1 - 1/(2u)) e^{-u w}] / 2 with atoms (the
    Laplace mechanism) and f (e^{u w} - e^{-u w}) / (4 u sinh(w/2)) without.
    """

    width: Real
    atoms: bool
    infinite: Real = ZERO
    symmetric = True

    def value(self, z: Any) -> Any:
        """See the class; u is not zero, as Re z >= 0."""
        u, w = z + arb(0.5), self.width()
        if self.atoms:
            return (1 - self.infinite()) * (-w / 2).exp() * ((u * w).cosh() + (u * w).sinh() / (2 * u))
        return (1 - self.infinite()) * (u * w).sinh() / (2 * u * (w / 2).sinh())

    def single_excess(self, epsilon: Any) -> Any:
        """1 - e^{(eps-w)/2}, or (e^{w/2} - e^{eps/2})^2 / (e^w - 1), on [-w, w]; nothing above, 1 - e^eps below."""
        w = self.width()
        if self.atoms:
            excess = arb(0).max(1 - epsilon.exp()).max(1 - ((epsilon - w) / 2).exp())
        else:
            inside = epsilon.max(-w).min(w)
            excess = ((w / 2).exp() - (inside / 2).exp()) ** 2 / w.expm1() + inside.exp() - epsilon.min(inside).exp()
        return (1 - self.infinite()) * excess

    def tails(self, epsilon: Any) -> tuple[Any, Any]:
        """Integrals of exponentials, with the atoms; at an atom, an interval from its one side to the other."""
        spend(6 * EXP)
        w, finite = self.width(), 1 - self.infinite()
        if epsilon > w:
            return arb(0), arb(0)
        if epsilon < -w:
            return finite, finite
        at = epsilon.max(-w).min(w)
        if self.atoms:
            p, q = 1 - ((at - w) / 2).exp() / 2, (-(at + w) / 2).exp() / 2
            if not epsilon < w:
                p, q = p.union(arb(0)), q.union(arb(0))
            if not epsilon > -w:
                p, q = p.union(arb(1)), q.union(arb(1))
        else:
            scale = 2 * (w / 2).sinh()
            p, q = ((w / 2).exp() - (at / 2).exp()) / scale, ((-at / 2).exp() - (-w / 2).exp()) / scale
        return finite * p, finite * q

    def atom_losses(self) -> list[Any]:
        """Both ends."""
        return [self.width(), -self.width()] if self.atoms else []

    def ends(self) -> Ends | None:
        """Both ends, unless losses are infinite."""
        if not self.infinite().is_zero():
            return None
        low = (-self.width()).exp()
        masses = (arb(1) / 2, low / 2) if self.atoms else (arb(0), arb(0))
        return Ends(low, 1 / low, *masses)

    def ceiling(self, c: Any, t: Any) -> Any:
        """|cosh| and |sinh| are at most cosh of the real part, and |u| > t."""
        w = self.width()
        top = (1 - self.infinite()) * ((c + arb(0.5)) * w).cosh()
        return top * (-w / 2).exp() * (1 + 1 / (2 * t)) if self.atoms else top / (2 * t * (w / 2).sinh())

    def largest(self) -> Any:
        """The width."""
        return self.width()

    def sampled(self, rate: Fraction) -> SampledUniform:
        """The mixture, whose M is an integral over the loss."""
        return SampledUniform(self, rate)


@dataclass(frozen=True)
class SampledUniform(Sampled, ByQuadrature):
    """((1-q) Q + q P, Q), or the reverse, where the loss y of (P, Q) is a :class:`TiltedUniform`.

    Under Q, y has the density k e^{-y/2} on (-w, w): with atoms, k = e^{-w/2} / 4 and the atoms are 1/2 at -w and e^{-w} / 2
    at w; without, k = 1 / (4 sinh(w/2)). All this is multiplied by 1 - f, where f is the mass of P, and of Q, where the other
    has none. With r = 1 - q + q e^y, M(z) = E_Q[r^{1+z}] + f (1-q)^{1+z}; the reverse has M(-1-z).
    """

    base: TiltedUniform

    def reversed(self) -> SampledUniform:
        """The same sample in the other order."""
        return SampledUniform(self.base, self.rate, not self.is_reversed)

    def points(self, c: Any, time: Any) -> Points:
        """The atoms and one Gauss-Legendre rule: at Im y = b < pi, |r| lies between cos(b/2) r and r, and |arg r| <= b."""
        q, power = ball(self.rate), self._power(c)
        density = self._density()

        def size(left: Any, right: Any, lift: Any) -> Any:
            low, high = (1 - q + q * left.exp()) * (lift / 2).cos(), 1 - q + q * right.exp()
            return density * ((power * low.log()).max(power * high.log()) + time * lift - left / 2).exp()

        w = self.base.width()
        rule, error = gauss_legendre(-w, w, 3.1, size, -ctx.prec * math.log(2))
        spend(5 * EXP * len(rule))
        inner = [(weight * density * (-y / 2).exp(), (1 - q + q * y.exp()).log()) for y, weight in rule]
        points = [*inner, *self._atoms()]
        losses = [-loss if self.is_reversed else loss for _, loss in points]
        return [mass * (power * loss).exp() for mass, loss in points], losses, error

    def fall(self, c: Any) -> tuple[Any, Any]:
        """The atoms, and for b a bound of the integral by integration by parts.

        With l = log r and the density F l', F = k e^{-3y/2} r^{s+1} / q, the integral of F l' e^{itl} is at most
        (F(w) + F(-w) + variation of F) / t; F falls, or falls and then rises, as (log F)' = -3/2 + (s+1) q e^y / r.
        """
        q, w, power = ball(self.rate), self.base.width(), self._power(c)
        ends = [(-3 * y / 2 + (power + 1) * (1 - q + q * y.exp()).log()).exp() for y in (w, -w)]
        kept = sum((mass * (power * loss).exp() for mass, loss in self._atoms()), arb(0))
        return kept, 2 * self._density() / q * sum(ends, arb(0))

    def _power(self, c: Any) -> Any:
        """The real part of the power of r."""
        return -c if self.is_reversed else 1 + c

    def _density(self) -> Any:
        w = self.base.width()
        return (1 - self.base.infinite()) / 4 * ((-w / 2).exp() if self.base.atoms else 1 / (w / 2).sinh())

    def _atoms(self) -> list[tuple[Any, Any]]:
        """Masses under Q, and log r there."""
        q, w, failure = ball(self.rate), self.base.width(), self.base.infinite()
        atoms = [] if failure.is_zero() else [(failure, (-q).log1p())]
        if self.base.atoms:
            atoms += [((1 - failure) * (y / 2 - w / 2).exp() / 2, (1 - q + q * (-y).exp()).log()) for y in (w, -w)]
        return atoms
