"""Normal noise conditioned to lie within [-t, t], with and without a shift m, in units of its scale.

P alone has the outputs above t, and Q alone those below m - t: losses there are infinite. ``share`` is the probability of
[-t, t] without the condition.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from logphi.checker.arithmetic.balls import ball, normal_tail
from logphi.checker.arithmetic.work import TAIL, spend
from logphi.checker.laws.law import ClosedForm


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
        return (normal_tail(ball(self.truncation - self.shift)) - normal_tail(ball(self.truncation))) / self._share()

    def value(self, z: Any) -> Any:
        """M(z) by the formula of the class, with normal tails, as the values of Phi may be near one."""
        m, b = ball(self.shift), ball(self.truncation - self.shift / 2)
        at = m * (z + arb(0.5))
        return (m**2 * z * (z + 1) / 2).exp() * (normal_tail(at - b) - normal_tail(at + b)) / self._share()

    def ceiling(self, c: Any, t: Any) -> Any:
        """A bound by parts: the density in y rises, then falls; its end values and its variation add to twice its maximum."""
        m = ball(self.shift)
        return 2 * (m**2 * c * (c + 1) / 2).exp() / ((2 * arb.pi()).sqrt() * self._share() * m * t)

    def largest(self) -> Any:
        return ball(self.shift * (self.truncation - self.shift / 2))

    def tails(self, epsilon: Any) -> tuple[Any, Any]:
        """The probabilities of the outputs from eps/m + m/2 to t."""
        spend(TAIL)
        m, t = ball(self.shift), ball(self.truncation)
        at = (epsilon / m + m / 2).max(m - t).min(t)
        p, q = normal_tail(at - m) - normal_tail(t - m), normal_tail(at) - normal_tail(t)
        return p / self._share(), q / self._share()
