"""Two normal laws of different widths."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import acb, arb

from logphi.checker.arithmetic.balls import ball, normal_tail
from logphi.checker.laws.law import ClosedForm


@dataclass(frozen=True)
class NormalPair(ClosedForm):
    """N(m_p, s_p^2) against N(m_q, s_q^2), by r = s_p / s_q != 1 and d^2 = (m_p - m_q)^2 / s_q^2.

    M(z) = r^{-z} (1 + z v)^{-1/2} e^{z (z+1) d^2 / (2 (1 + z v))}, v = 1 - r^2, where Re(1 + z v) > 0.
    """

    ratio: Fraction
    squared_distance: Fraction

    @property
    def end(self) -> Fraction | float:
        """The zero of 1 + z v, if it is positive."""
        return 1 / (self.ratio**2 - 1) if self.ratio > 1 else math.inf

    def value(self, z: Any) -> Any:
        """See the class; the root is the principal one, as its argument has a positive real part."""
        w = 1 + z * ball(1 - self.ratio**2)
        return (z * (z + 1) * ball(self.squared_distance) / (2 * w) - z * ball(self.ratio).log()).exp() / w.sqrt()

    def ceiling(self, c: Any, t: Any) -> Any:
        """|M(c + it)|, which falls with t: for w = 1 + z v, z (z+1) / w = (w - 2 + v + (1 - v) / w) / v^2, and Re 1/w falls."""
        return abs(self.value(acb(c, t)))

    def reversed(self) -> NormalPair:
        """The pair with the inverse ratio, and the distance in units of s_p."""
        return NormalPair(1 / self.ratio, self.squared_distance / self.ratio**2)

    def tails(self, epsilon: Any) -> tuple[Any, Any]:
        """For Q = N(0, 1), P = N(d, r^2), the loss exceeds eps where a y^2 + 2 b y > c: between the roots, or outside."""
        r, d = ball(self.ratio), ball(self.squared_distance).sqrt()
        a, b, c = (1 - r**-2) / 2, d / (2 * r**2), epsilon + r.log() + d**2 / (2 * r**2)
        inside = b**2 + a * c
        if inside < 0:
            return (arb(0), arb(0)) if self.ratio < 1 else (arb(1), arb(1))
        root = inside.sqrt()
        low, high = (-b + root) / a, (-b - root) / a
        if r > 1:
            low, high = high, low
        # the masses outside the roots
        p, q = normal_tail((high - d) / r) + normal_tail((d - low) / r), normal_tail(high) + normal_tail(-low)
        return (p, q) if r > 1 else (1 - p, 1 - q)
