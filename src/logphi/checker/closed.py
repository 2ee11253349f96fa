"""Laws whose M is a formula, and how it decays along vertical lines."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import acb, arb

from logphi.checker.balls import ZERO, Real, ball, rough
from logphi.checker.sweep import Work


def above(x: Any) -> Any:
    """P(X > x), X standard normal, for a ball x or an infinity."""
    if x in (arb.neg_inf(), arb.pos_inf()):
        return arb(1) if x == arb.neg_inf() else arb(0)
    return (x / arb(2).sqrt()).erfc() / 2


class Formula:
    """A law whose M(z) = ``value(z)`` on 0 <= Re z < ``end`` is at most ``highest(c, t)`` in size at c + is for s >= t > 0."""

    infinite: Real = staticmethod(ZERO)
    beyond: Real = staticmethod(ZERO)

    @property
    def end(self) -> float:
        """Of the strip on which M is finite, towards the right."""
        return math.inf

    def value(self, z: Any) -> Any:
        """M(z)."""
        raise NotImplementedError

    def highest(self, c: Any, t: Any) -> Any:
        """A bound of |M| on the line from c + it upwards; none but M(c) unless there is a better one."""
        return arb.pos_inf()

    def alone(self, epsilon: Any) -> Any:
        """D of a single release in closed form, or None."""
        return None

    def moment(self, x: Any, work: Work) -> Any:
        """M(x) for a real x >= 0."""
        work.spend(30)
        return self.value(acb(x)).real

    def along(self, c: Any, step: Any, nodes: int, work: Work) -> list[Any]:
        """M(c + i k step) for k = 0 .. nodes - 1."""
        work.spend(30 * nodes)
        return [self.value(acb(c, k * step)) for k in range(nodes)]

    def decay(self, c: Any, lifts: list[float], bits: int, work: Work) -> Callable[[Any], Any]:
        """A function of T > 0: a bound of |M(c + it)| for all |t| >= T."""
        size = self.moment(c, work).abs_upper()
        return lambda time: min(size, self.highest(c, time).abs_upper(), key=rough)


@dataclass(frozen=True)
class Normal(Formula):
    """N(m, 1) against N(0, 1), by m^2, and by m where it is rational: M(z) = e^{z (z+1) m^2 / 2}."""

    square: Real
    shift: Fraction | None = None

    def reversed(self) -> Normal:
        """Itself, mirrored."""
        return self

    def value(self, z: Any) -> Any:
        """The formula."""
        return (z * (z + 1) * self.square() / 2).exp()

    def highest(self, c: Any, t: Any) -> Any:
        """The real part of z (z+1) is c (c+1) - t^2."""
        return ((c * (c + 1) - t**2) * self.square() / 2).exp()

    def alone(self, epsilon: Any) -> Any:
        """The loss is N(m^2/2, m^2), and N(-m^2/2, m^2) under Q."""
        m = self.square().sqrt()
        return above(epsilon / m - m / 2) - epsilon.exp() * above(epsilon / m + m / 2)


@dataclass(frozen=True)
class Widths(Formula):
    """N(m_p, s_p^2) against N(m_q, s_q^2), by r = s_p / s_q != 1 and d^2 = (m_p - m_q)^2 / s_q^2.

    M(z) = r^{-z} (1 + z v)^{-1/2} e^{z (z+1) d^2 / (2 (1 + z v))}, v = 1 - r^2, where Re(1 + z v) > 0.
    """

    ratio: Fraction
    square: Fraction

    @property
    def end(self) -> float:
        """Where 1 + z v is zero, if it is above zero."""
        return float(1 / (self.ratio**2 - 1)) if self.ratio > 1 else math.inf

    def value(self, z: Any) -> Any:
        """The formula; the root is the principal one, as its argument has a positive real part."""
        w = 1 + z * ball(1 - self.ratio**2)
        return (z * (z + 1) * ball(self.square) / (2 * w) - z * ball(self.ratio).log()).exp() / w.sqrt()

    def highest(self, c: Any, t: Any) -> Any:
        """|M| itself, which falls: with w = 1 + z v, z (z+1) / w = (w - 2 + v + (1 - v) / w) / v^2, and Re 1/w falls with t."""
        return abs(self.value(acb(c, t)))

    def reversed(self) -> Widths:
        """Q and P, with the origin and the unit of P."""
        return Widths(1 / self.ratio, self.square / self.ratio**2)

    def alone(self, epsilon: Any) -> Any:
        """With Q = N(0, 1), P = N(d, r^2), the loss exceeds eps where a y^2 + 2 b y > c: between two roots, or outside them."""
        r, d = ball(self.ratio), ball(self.square).sqrt()
        a, b, c = (1 - r**-2) / 2, d / (2 * r**2), epsilon + r.log() + d**2 / (2 * r**2)
        inside = b**2 + a * c
        if inside < 0:
            return arb(0) if self.ratio < 1 else 1 - epsilon.exp()
        root = inside.sqrt()
        low, high = (-b + root) / a, (-b - root) / a
        if r > 1:
            low, high = high, low
        # mass below one root and above the other; between them it is the rest
        p, q = above((high - d) / r) + above((d - low) / r), above(high) + above(-low)
        return p - epsilon.exp() * q if r > 1 else (1 - p) - epsilon.exp() * (1 - q)


@dataclass(frozen=True)
class Flat(Formula):
    """A loss on [-w, w] that is uniform once tilted by e^{-x/2}, with or without atoms at both ends; mass may be missing.

    With u = z + 1/2 and finite mass f, M(z) = f e^{-w/2} [(1 + 1/(2u)) e^{u w} + (1 - 1/(2u)) e^{-u w}] / 2 with atoms (the
    Laplace mechanism) and f (e^{u w} - e^{-u w}) / (4 u sinh(w/2)) without.
    """

    width: Real
    atoms: bool
    infinite: Real = ZERO

    def reversed(self) -> Flat:
        """Itself, mirrored."""
        return self

    def value(self, z: Any) -> Any:
        """The formula; u is not near zero."""
        u, w = z + arb(0.5), self.width()
        if self.atoms:
            return (1 - self.infinite()) * (-w / 2).exp() * ((u * w).cosh() + (u * w).sinh() / (2 * u))
        return (1 - self.infinite()) * (u * w).sinh() / (2 * u * (w / 2).sinh())

    def alone(self, epsilon: Any) -> Any:
        """1 - e^{(eps-w)/2}, or (e^{w/2} - e^{eps/2})^2 / (e^w - 1), on [-w, w]; nothing above, 1 - e^eps below."""
        w = self.width()
        if self.atoms:
            excess = arb(0).max(1 - epsilon.exp()).max(1 - ((epsilon - w) / 2).exp())
        else:
            inside = epsilon.max(-w).min(w)
            excess = ((w / 2).exp() - (inside / 2).exp()) ** 2 / w.expm1() + inside.exp() - epsilon.min(inside).exp()
        return (1 - self.infinite()) * excess

    def highest(self, c: Any, t: Any) -> Any:
        """|cosh| and |sinh| are at most cosh of the real part, and |u| > t."""
        w = self.width()
        top = (1 - self.infinite()) * ((c + arb(0.5)) * w).cosh()
        return top * (-w / 2).exp() * (1 + 1 / (2 * t)) if self.atoms else top / (2 * t * (w / 2).sinh())
