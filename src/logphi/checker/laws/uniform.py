"""Tilted uniform laws: losses with a density proportional to e^{x/2} on [-w, w], perhaps atoms at its ends."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from logphi.checker.arithmetic.balls import ZERO, Real, exactly
from logphi.checker.arithmetic.work import EXP, spend
from logphi.checker.laws.law import ClosedForm, Ends, Law
from logphi.checker.needed import needed


@dataclass(frozen=True)
class TiltedUniform(ClosedForm):
    """A loss on [-w, w] with the density b e^{x/2} / 4, and with atoms b r e^{x/2} / 2 at both ends.

    With u = z + 1/2, M(z) = b [r cosh(u w) + sinh(u w) / (2u)]; r is zero without atoms. The pair is symmetric.
    """

    width: Real
    scale: Real
    atoms: Real
    infinite: Real = ZERO
    symmetric = True

    def value(self, z: Any) -> Any:
        """See the class; u is not zero, as Re z >= 0."""
        u, w = z + arb(0.5), self.width()
        return self.scale() * (self.atoms() * (u * w).cosh() + (u * w).sinh() / (2 * u))

    def ceiling(self, c: Any, t: Any) -> Any:
        """|cosh| and |sinh| are at most cosh of the real part, and |u| > t."""
        return self.scale() * (self.atoms() + 1 / (2 * t)) * ((c + arb(0.5)) * self.width()).cosh()

    def single_excess(self, epsilon: Any) -> Any:
        """P - e^eps Q of the losses above eps; below -w that is (1 - f) (1 - e^eps)."""
        w, r = self.width(), self.atoms()
        inside = epsilon.max(-w).min(w)
        excess = (1 + r) * (w / 2).exp() - 2 * (inside / 2).exp() + (1 - r) * (inside - w / 2).exp()
        return self.scale() / 2 * excess + (1 - self.infinite()) * (inside.exp() - epsilon.min(inside).exp())

    def tails(self, epsilon: Any) -> tuple[Any, Any]:
        """Integrals of exponentials, with the atoms; at an atom, an interval from its one side to the other."""
        spend(6 * EXP)
        w, r, finite = self.width(), self.atoms(), 1 - self.infinite()
        if epsilon > w:
            return arb(0), arb(0)
        if epsilon < -w:
            return finite, finite
        at, half = epsilon.max(-w).min(w) / 2, self.scale() / 2
        p, q = half * ((1 + r) * (w / 2).exp() - at.exp()), half * ((-at).exp() - (1 - r) * (-w / 2).exp())
        if not epsilon < w:
            p, q = p.union(arb(0)), q.union(arb(0))
        if not epsilon > -w:
            p, q = p.union(finite), q.union(finite)
        return p, q

    def ends(self) -> Ends | None:
        if not self.infinite().is_zero():
            return None
        low, atom = (-self.width()).exp(), self.scale() * self.atoms() / 2
        return Ends(low, 1 / low, atom / low.sqrt(), atom * low.sqrt())

    def largest(self) -> Any:
        return self.width()

    def sampled(self, rate: Fraction) -> Law:
        found: Law = needed("laws.sampled_uniform:SampledUniform")(self, rate)
        return found


def laplace(width: Real, infinite: Real = ZERO) -> TiltedUniform:
    """Laplace noise of unit scale, moved by w, or an infinite loss."""
    return TiltedUniform(width, lambda: (1 - infinite()) * (-width() / 2).exp(), exactly(1), infinite)


def bounded_range(width: Real) -> TiltedUniform:
    """The density alone."""
    return TiltedUniform(width, lambda: 1 / (width() / 2).sinh(), ZERO)


def truncated_laplace(move: Fraction, far: Fraction) -> TiltedUniform:
    """Laplace noise within [-t, t], moved by w: losses 2x - w for w - t <= x <= t and 0 <= x <= w, with atoms if w < t.

    P alone has the outputs above t, and Q alone those below w - t. The range [-t, t] has the probability ``share``.
    """
    w, t = exactly(move), exactly(far)
    share: Real = lambda: -(-t()).expm1()  # noqa: E731
    atoms: Real = lambda: -(w() - t()).expm1()  # noqa: E731

    def infinite() -> Any:
        outside = (-t()).exp() * ((w() if move <= far else 2 * t() - w()).expm1()) / (2 * share())
        return outside if move <= far else 1 - outside

    width = exactly(min(move, 2 * far - move))
    return TiltedUniform(width, lambda: (-w() / 2).exp() / share(), atoms if move < far else ZERO, infinite)
