"""Normal noise on a subset under replacement."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from logphi.checker.arithmetic.balls import ball, exactly, normal_density, normal_tail, rough
from logphi.checker.arithmetic.gauss_legendre import gauss_legendre
from logphi.checker.arithmetic.work import EXP, spend
from logphi.checker.laws.by_quadrature import ByQuadrature, Points
from logphi.checker.laws.normal import Normal
from logphi.checker.laws.sampled import SubsetSampled

# measured: the length of an interval for which Gauss-Legendre rules need the fewest points
WIDTH = 1.5


@dataclass(frozen=True)
class SubsetNormal(ByQuadrature):
    """N(m, 1) against N(0, 1) on a subset under replace: see :meth:`Law.subset`.

    The loss of ((1-g) N(0, 1) + g N(m, 1), N(0, 1)) is log w, w = 1 - g + g e^{mx - m^2/2}, and positive for x > m/2. With X
    standard normal, M(z) = E[w^{1+z} + w^{-z}; X > m/2] + P(L = 0).
    """

    shift: Fraction
    rate: Fraction
    symmetric = True

    def tails(self, epsilon: Any) -> tuple[Any, Any]:
        return SubsetSampled(Normal(exactly(self.shift**2), self.shift), self.rate).tails(epsilon)

    def points(self, c: Any, time: Any) -> Points:
        """The points of both integrals, and the loss zero."""
        weights, losses, error = [self._rest()], [arb(0)], arb(0)
        for power, sign in ((1 + c, 1), (-c, -1)):
            rule, more = self._rule(power, time)
            spend(10 * EXP * len(rule))
            for x, weight in rule:
                loss = self._loss(x)
                weights.append(weight * normal_density(x) * (power * loss).exp())
                losses.append(sign * loss)
            error += more
        return weights, losses, error

    def fall(self, c: Any) -> tuple[Any, Any]:
        """P(L = 0), and for b a bound of both integrals by integration by parts.

        With l = log w, l' = m g e^{mx - m^2/2} / w < m, and F = phi w^s / l', the integral of F l' e^{itl} is at most
        (F(m/2) + variation of F) / t, and |F'| <= F (x + m + |s+1| m), as (log F)' = -x - m + (s+1) l'.
        """
        m, g, found = ball(self.shift), ball(self.rate), arb(0)
        for power in (2 + c, 1 - c):
            slope = m + abs(power) * m

            def density(x: Any, power: Any = power) -> Any:
                return normal_density(x) * (power * self._loss(x) - m * x + m**2 / 2).exp() / (m * g)

            def weighted(left: Any, right: Any, slope: Any = slope) -> Any:
                return (m**2 / 2 - m * left).exp() * (right + slope)

            rule, error = self._rule(power, arb(0), weighted)
            spend(10 * EXP * len(rule))
            variation = sum((weight * density(x) * (x + slope) for x, weight in rule), arb(0)) + error / (m * g)
            found += density(m / 2) + variation
        return self._rest(), found

    def _rule(
        self, power: Any, time: Any, factor: Callable[[Any, Any], Any] = lambda left, right: arb(1)
    ) -> tuple[list[tuple[Any, Any]], Any]:
        """A rule for the integral of phi w^{power + it} times a factor over x > m/2, |t| <= time, and its error.

        At Im x = b, |w| lies between cos(mb/2) w and w, and |arg w| <= mb < pi. ``factor(left, right)`` bounds the factor for
        left <= Re x <= right, and it grows less than e^x. Above X, the logarithm of the integrand has a slope below
        m max(power, 0) + 1 - X.
        """
        m, wanted = ball(self.shift), ctx.prec * math.log(2)

        def size(left: Any, right: Any, lift: Any) -> Any:
            low, high = self._loss(left) + (m * lift / 2).cos().log(), self._loss(right)
            lead = normal_density(left.max(arb(0))) * factor(left, right + lift)
            return lead * ((power * low).max(power * high) + time * m * lift + lift**2 / 2).exp()

        falling = m * power.max(arb(0)) + 1
        count = math.ceil((rough(falling - m / 2) + math.sqrt(2 * wanted) + 1) / WIDTH)
        rule, error = [], arb(0)
        for k in range(count):
            points, more = gauss_legendre(m / 2 + k * WIDTH, m / 2 + (k + 1) * WIDTH, min(3.1 / rough(m), 12.0), size, -wanted)
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
        return 1 - (2 - g) * normal_tail(m / 2) - g * normal_tail(-m / 2)
