"""Sampled laws that are integrals over an interval: of a flat loss, and of a normal one under replace.

Points with weights stand for the law: atoms, and those of a quadrature whose error is the same all along a vertical line.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import acb, arb, ctx

from logphi.checker.balls import ZERO, Real, ball, exactly, rough, within
from logphi.checker.closed import Flat, above
from logphi.checker.normals import Normals
from logphi.checker.panels import panel
from logphi.checker.sweep import Work, sweep

# of panels
WIDTH = 1.5
# weights, losses, and the error of all sums
Points = tuple[list[Any], list[Any], Any]


class Integrated:
    """A law that is a sum over ``points(c, time)`` for M(c + it), |t| <= time, and decays as ``fall(c)`` says."""

    infinite: Real = staticmethod(ZERO)
    beyond: Real = staticmethod(ZERO)
    end = math.inf

    def points(self, c: Any, time: Any) -> Points:
        """The points for a line; their number grows with its length."""
        raise NotImplementedError

    def fall(self, c: Any) -> tuple[Any, Any]:
        """Numbers a and b so that |M(c + it)| <= a + b/|t|."""
        raise NotImplementedError

    def moment(self, x: Any, work: Work) -> Any:
        """M(x) for a real x >= 0."""
        return self.along(x, arb(0), 1, work)[0].real

    def along(self, c: Any, step: Any, nodes: int, work: Work) -> list[Any]:
        """M(c + i k step) for k = 0 .. nodes - 1."""
        weights, losses, error = self.points(c, step * (nodes - 1))
        work.spend((100 + 2 * nodes) * len(weights))
        room = within(error)
        return [value + (acb(room, room) if k else room) for k, value in enumerate(sweep(weights, losses, step, nodes))]

    def decay(self, c: Any, lifts: list[float], bits: int, work: Work) -> Callable[[Any], Any]:
        """A function of T > 0: a bound of |M(c + it)| for all |t| >= T."""
        size, (a, b) = self.moment(c, work).abs_upper(), self.fall(c)
        return lambda time: min(size, (a + b / time).abs_upper(), key=rough)


@dataclass(frozen=True)
class Sampled(Integrated):
    """((1-q) Q + q P, Q) for a flat loss y of (P, Q), or the reverse.

    Q has k e^{-y/2} dy on (-w, w), k = e^{-w/2} / 4 with atoms of 1/2 at -w and e^{-w} / 2 at w, k = 1 / (4 sinh(w/2)) without;
    all that times 1 - f where f tells everything. With r = 1 - q + q e^y, M(z) = E_Q[r^{1+z}], with f (1-q)^{1+z} for what only
    Q reaches; the reverse is M(-1-z).
    """

    base: Flat
    rate: Fraction
    turned: bool = False

    def infinite(self) -> Any:
        """What only P reaches; what only Q reaches is shared."""
        return self.base.infinite() * (arb(0) if self.turned else ball(self.rate))

    def reversed(self) -> Sampled:
        """The other order."""
        return Sampled(self.base, self.rate, not self.turned)

    def alone(self, epsilon: Any) -> Any:
        """By [LT] Theorem 5.1 and, for the other order, delta(eps) = 1 - e^eps + e^eps delta'(-eps)."""
        if self.turned:
            return 1 - epsilon.exp() + epsilon.exp() * self._profile(-epsilon)
        return self._profile(epsilon) - self.infinite()

    def _profile(self, epsilon: Any) -> Any:
        q = ball(self.rate)
        inner = 1 + epsilon.expm1() / q
        if inner > 0:
            return q * (self.base.infinite() + self.base.alone(inner.log()))
        return 1 - epsilon.exp() if inner < 0 else arb.nan()

    def points(self, c: Any, time: Any) -> Points:
        """The atoms and one panel; at Im y = b < pi, |r| lies between cos(b/2) r and r, and |arg r| <= b."""
        q, power = ball(self.rate), self._power(c)
        density = self._density()

        def size(left: Any, right: Any, lift: Any) -> Any:
            low, high = (1 - q + q * left.exp()) * (lift / 2).cos(), 1 - q + q * right.exp()
            return density * ((power * low.log()).max(power * high.log()) + time * lift - left / 2).exp()

        w = self.base.width()
        rule, error = panel(-w, w, 3.1, size, -ctx.prec * math.log(2))
        inner = [(weight * density * (-y / 2).exp(), (1 - q + q * y.exp()).log()) for y, weight in rule]
        points = [*inner, *self._atoms()]
        losses = [-loss if self.turned else loss for _, loss in points]
        return [mass * (power * loss).exp() for mass, loss in points], losses, error

    def fall(self, c: Any) -> tuple[Any, Any]:
        """Of the atoms, and of the rest by parts.

        With l = log r and the density F l', F = k e^{-3y/2} r^{s+1} / q, the integral of F l' e^{itl} is at most
        (F(w) + F(-w) + variation of F) / t; F falls, or falls and then rises, as (log F)' = -3/2 + (s+1) q e^y / r.
        """
        q, w, power = ball(self.rate), self.base.width(), self._power(c)
        ends = [(-3 * y / 2 + (power + 1) * (1 - q + q * y.exp()).log()).exp() for y in (w, -w)]
        kept = sum((mass * (power * loss).exp() for mass, loss in self._atoms()), arb(0))
        return kept, 2 * self._density() / q * sum(ends, arb(0))

    def _power(self, c: Any) -> Any:
        """The real part of the power of r."""
        return -c if self.turned else 1 + c

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


@dataclass(frozen=True)
class Spliced(Integrated):
    """The loss of ((1-g) N(0, 1) + g N(m, 1), N(0, 1)) where it is positive, x > m/2, its mirror image below, and zero else.

    With w = 1 - g + g e^{mx - m^2/2} >= 1, M(z) = E[w^{1+z} + w^{-z}; X > m/2], X standard normal, and the rest at zero.
    """

    shift: Fraction
    rate: Fraction

    def reversed(self) -> Spliced:
        """Itself."""
        return self

    def alone(self, epsilon: Any) -> Any:
        """The profile of the sampled pair for eps >= 0; by symmetry, 1 - e^eps + e^eps delta(-eps), for eps < 0."""
        shifts = ((exactly(1 - self.rate), Fraction(0)), (exactly(self.rate), self.shift))
        sampled = Normals(shifts, ((exactly(1), Fraction(0)),))
        if epsilon >= 0:
            return sampled.alone(epsilon)
        return 1 - epsilon.exp() + epsilon.exp() * sampled.alone(-epsilon)

    def points(self, c: Any, time: Any) -> Points:
        """Panels for both powers, and the atom at zero."""
        weights, losses, error = [self._rest()], [arb(0)], arb(0)
        for power, sign in ((1 + c, 1), (-c, -1)):
            rule, more = self._panels(power, time)
            for x, weight in rule:
                loss = self._loss(x)
                weights.append(weight * _phi(x) * (power * loss).exp())
                losses.append(sign * loss)
            error += more
        return weights, losses, error

    def fall(self, c: Any) -> tuple[Any, Any]:
        """Of the atom, and of the rest by parts.

        With l = log w, l' = m g e^{mx - m^2/2} / w < m, and F = phi w^s / l', the integral of F l' e^{itl} is at most
        (F(m/2) + variation of F) / t, and |F'| <= F (x + m + |s+1| m), as (log F)' = -x - m + (s+1) l'.
        """
        m, g, found = ball(self.shift), ball(self.rate), arb(0)
        for power in (2 + c, 1 - c):
            slope = m + abs(power) * m

            def density(x: Any, power: Any = power) -> Any:
                return _phi(x) * (power * self._loss(x) - m * x + m**2 / 2).exp() / (m * g)

            def weighted(left: Any, right: Any, slope: Any = slope) -> Any:
                return (m**2 / 2 - m * left).exp() * (right + slope)

            rule, error = self._panels(power, arb(0), weighted)
            variation = sum((weight * density(x) * (x + slope) for x, weight in rule), arb(0)) + error / (m * g)
            found += density(m / 2) + variation
        return self._rest(), found

    def _panels(
        self, power: Any, time: Any, factor: Callable[[Any, Any], Any] = lambda left, right: arb(1)
    ) -> tuple[list[tuple[Any, Any]], Any]:
        """A rule for phi w^{power + it}, |t| <= time, times a factor, over x > m/2; the factor grows less than e^x.

        At Im x = b, |w| lies between cos(mb/2) w and w, and |arg w| <= mb < pi. The factor is given by its bound for
        left <= Re x <= right. Beyond X, the logarithm of the integrand falls faster than with slope m max(power, 0) + 1 - X.
        """
        m, wanted = ball(self.shift), ctx.prec * math.log(2)

        def size(left: Any, right: Any, lift: Any) -> Any:
            low, high = self._loss(left) + (m * lift / 2).cos().log(), self._loss(right)
            lead = _phi(left.max(arb(0))) * factor(left, right + lift)
            return lead * ((power * low).max(power * high) + time * m * lift + lift**2 / 2).exp()

        falling = m * power.max(arb(0)) + 1
        count = math.ceil((rough(falling - m / 2) + math.sqrt(2 * wanted) + 1) / WIDTH)
        rule, error = [], arb(0)
        for k in range(count):
            points, more = panel(m / 2 + k * WIDTH, m / 2 + (k + 1) * WIDTH, min(3.1 / rough(m), 12.0), size, -wanted)
            rule += points
            error += more
        last = m / 2 + count * WIDTH
        return rule, error + size(last, last, arb(0)) / (last - falling)

    def _loss(self, x: Any) -> Any:
        m, g = ball(self.shift), ball(self.rate)
        return (g * (m * x - m**2 / 2).expm1()).log1p()

    def _rest(self) -> Any:
        """1 - E[1 + w; X > m/2]."""
        m, g = ball(self.shift), ball(self.rate)
        return 1 - (2 - g) * above(m / 2) - g * above(-m / 2)


def _phi(x: Any) -> Any:
    return (-(x**2) / 2).exp() / (2 * arb.pi()).sqrt()
