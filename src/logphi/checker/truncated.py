"""Noise conditioned to lie within [-t, t], with and without a shift w (Laplace) or m (normal), in units of its scale.

P alone has the outputs above t, and Q alone those below w - t: losses there are infinite. ``share`` is the probability of
[-t, t] without the condition.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from logphi.checker.balls import ball, normal_tail
from logphi.checker.law import ClosedForm
from logphi.checker.work import EXP, TAIL, spend


@dataclass(frozen=True)
class TruncatedNormal(ClosedForm):
    """The loss m (x - m/2) at the common outputs m - t <= x <= t.

    With u = z + 1/2 and b = t - m/2, the integral of e^{m u y - (y^2 + m^2 / 4) / 2} over |y| <= b, y = x - m/2, gives
    M(z) = e^{m^2 z (z+1) / 2} [Phi(b - m u) - Phi(-b - m u)] / share.
    """

    shift: Fraction
    truncation: Fraction
    symmetric = True
    cost = 2 * TAIL

    def _share(self) -> Any:
        return 1 - 2 * normal_tail(ball(self.truncation))

    def infinite(self) -> Any:
        """P(x > t)."""
        return (normal_tail(ball(self.truncation - self.shift)) - normal_tail(ball(self.truncation))) / self._share()

    def value(self, z: Any) -> Any:
        """See the class; by normal tails, as the values of Phi may be near one."""
        m, b = ball(self.shift), ball(self.truncation - self.shift / 2)
        at = m * (z + arb(0.5))
        return (m**2 * z * (z + 1) / 2).exp() * (normal_tail(at - b) - normal_tail(at + b)) / self._share()

    def ceiling(self, c: Any, t: Any) -> Any:
        """By parts: the density in y rises, then falls: its values at both ends plus its variation are twice its maximum."""
        m = ball(self.shift)
        return 2 * (m**2 * c * (c + 1) / 2).exp() / ((2 * arb.pi()).sqrt() * self._share() * m * t)

    def largest(self) -> Any:
        """The loss at x = t."""
        return ball(self.shift * (self.truncation - self.shift / 2))

    def tails(self, epsilon: Any) -> tuple[Any, Any]:
        """The outputs from eps/m + m/2 to t."""
        spend(TAIL)
        m, t = ball(self.shift), ball(self.truncation)
        at = (epsilon / m + m / 2).max(m - t).min(t)
        p, q = normal_tail(at - m) - normal_tail(t - m), normal_tail(at) - normal_tail(t)
        return p / self._share(), q / self._share()


@dataclass(frozen=True)
class TruncatedLaplace(ClosedForm):
    """The loss |x| - |x - w| at the common outputs w - t <= x <= t: 2x - w for 0 <= x <= w, and atoms at +-w if w < t.

    With u = z + 1/2 and W = min(w, 2t - w), M(z) = e^{-w/2} [(1 - e^{w - t})_+ cosh(u w) + sinh(u W) / (2u)] / share.
    """

    shift: Fraction
    truncation: Fraction
    symmetric = True

    def _share(self) -> Any:
        return 1 - (-ball(self.truncation)).exp()

    def _atom(self) -> Any:
        """(1 - e^{w - t})_+."""
        return -ball(self.shift - self.truncation).expm1() if self.shift < self.truncation else arb(0)

    def infinite(self) -> Any:
        """P(x > t)."""
        w, t = ball(self.shift), ball(self.truncation)
        if self.shift <= self.truncation:
            return (-t).exp() * w.expm1() / (2 * self._share())
        return 1 - (-t).exp() * (2 * t - w).expm1() / (2 * self._share())

    def value(self, z: Any) -> Any:
        """See the class; u is not zero, as Re z >= 0."""
        u, w, end = z + arb(0.5), ball(self.shift), self.largest()
        return (-w / 2).exp() * (self._atom() * (u * w).cosh() + (u * end).sinh() / (2 * u)) / self._share()

    def ceiling(self, c: Any, t: Any) -> Any:
        """|cosh| and |sinh| are at most cosh of the real part, and |u| > t."""
        w, u = ball(self.shift), c + arb(0.5)
        top = self._atom() * (u * w).cosh() + (u * self.largest()).cosh() / (2 * t)
        return (-w / 2).exp() * top / self._share()

    def largest(self) -> Any:
        """W."""
        return ball(min(self.shift, 2 * self.truncation - self.shift))

    def atom_losses(self) -> list[Any]:
        """Both ends, where there are atoms."""
        return [ball(self.shift), -ball(self.shift)] if self.shift < self.truncation else []

    def tails(self, epsilon: Any) -> tuple[Any, Any]:
        """The outputs from (eps + w) / 2 on, and the atoms; at an atom, an interval from its one side to the other."""
        spend(6 * EXP)
        w, t, end = ball(self.shift), ball(self.truncation), self.largest()
        finite = 1 - self.infinite()
        if epsilon > end:
            return arb(0), arb(0)
        if epsilon < -end:
            return finite, finite
        scale, atom = 2 * self._share(), self._atom()
        inside = (epsilon.max(-end).min(end) + w) / 2
        last = ball(min(self.shift, self.truncation))
        p = ((last - w).exp() - (inside - w).exp() + atom) / scale
        q = ((-inside).exp() - (-t).exp()) / scale
        if not epsilon < end:
            p, q = p.union(arb(0)), q.union(arb(0))
        if not epsilon > -end:
            p, q = p.union(finite), q.union(finite)
        return p, q
