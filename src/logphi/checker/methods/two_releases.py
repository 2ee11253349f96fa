"""D of two sampled normal releases, as two integrals over outputs: M of so few decays too slowly on a line.

D(eps) = P(S) - e^eps Q(S) for the set S of pairs of outputs x, y whose losses sum to more than eps. Losses rise with the
outputs; t(x) is the y, and s(y) the x, at which the sum is eps. For any a, and b = t(a), S consists of the pairs with x < a
and y > t(x), with x > a and y > b, and with y < b and x > s(y). The certificate states a.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import acb, arb, ctx

from logphi.checker.arithmetic.balls import ball, between, normal_density, normal_tail
from logphi.checker.arithmetic.work import EXP, demand, evaluations, spend
from logphi.checker.laws.composition import Composition
from logphi.checker.laws.normal_mixtures import NormalMixtures


def applies(whole: Composition) -> bool:
    """Whether these are two releases, each of (1-g) N(0, 1) + g N(m, 1) against N(0, 1), or reversed."""
    return whole.count == 2 and all(isinstance(law, NormalMixtures) and _fits(law) for law, _ in whole.terms)


def _fits(law: NormalMixtures) -> bool:
    sides = sorted((law.p, law.q), key=len)
    return list(map(len, sides)) == [1, 2] and sides[0][0][1] == sides[1][0][1] == 0


def enclose(whole: Composition, epsilons: Sequence[Fraction], a: Fraction) -> list[Any]:
    """D at each epsilon."""
    demand(applies(whole), "these are not two samples of one normal release each")
    one, other = (_Release.of(law) for law, count in whole.terms for _ in range(count) if isinstance(law, NormalMixtures))
    return [_excess(one, other, ball(a), ball(epsilon)) for epsilon in epsilons]


@dataclass(frozen=True)
class _Release:
    """One release by g and m: its likelihood ratio is 1 - g + g e^{mx - m^2/2}, or for ``sign`` -1 one over that at -x."""

    sign: int
    rate: Any
    shift: Any

    @staticmethod
    def of(law: NormalMixtures) -> _Release:
        (weight, shift) = max(law.p, law.q, key=len)[1]
        return _Release(1 if len(law.p) == 2 else -1, weight(), abs(ball(shift)))

    def densities(self, x: Any) -> tuple[Any, Any]:
        """Of P and Q."""
        lead, m = normal_density(x), self.sign * self.shift
        mixed = lead * (1 - self.rate + self.rate * (m * x - m**2 / 2).exp())
        return (mixed, lead) if self.sign > 0 else (lead, mixed)

    def tails(self, x: Any) -> tuple[Any, Any]:
        """P(X > x) and Q(X > x)."""
        plain = normal_tail(x)
        mixed = (1 - self.rate) * plain + self.rate * normal_tail(x - self.sign * self.shift)
        return (mixed, plain) if self.sign > 0 else (plain, mixed)

    def output(self, ratio: Any, analytic: bool) -> Any:
        """The output at which p/q is this ratio."""
        inner = ((ratio if self.sign > 0 else 1 / ratio) - (1 - self.rate)) / self.rate
        return self.sign * (inner.log(analytic) + self.shift**2 / 2) / self.shift


def _excess(one: _Release, other: _Release, a: Any, epsilon: Any) -> Any:
    p, q = one.densities(acb(a))
    b = other.output(epsilon.exp() * q / p, False)
    demand(b.is_finite() and b.imag.is_zero(), "the sum of two losses does not reach this epsilon, or is never below it")
    (p_a, q_a), (p_b, q_b) = one.tails(a), other.tails(b.real)
    corner = p_a * p_b - epsilon.exp() * q_a * q_b
    found = corner + _side(one, other, a, epsilon) + _side(other, one, b.real, epsilon)
    demand(found.is_finite(), "the integrals of two releases need more work than this checker does")
    return found


def _side(one: _Release, other: _Release, end: Any, epsilon: Any) -> Any:
    """P - e^eps Q of the part of S where the output of the first is below ``end`` and that of the other above t."""

    def integrand(x: Any, analytic: bool) -> Any:
        spend(6 * EXP)
        p, q = one.densities(x)
        tails = other.tails(other.output(epsilon.exp() * q / p, analytic))
        return p * tails[0] - epsilon.exp() * q * tails[1]

    # the integral starts at -far, or where t(x) = top if that is later; what it leaves out is at most a normal tail
    far = arb(math.ceil(math.sqrt(2 * math.log(2) * ctx.prec)) + 1)
    top = far + (other.shift if other.sign > 0 else 0)
    p, q = other.densities(acb(top))
    needed = one.output(epsilon.exp() * q / p, False)
    low = -far
    if needed.imag.is_zero() and needed.real > low:
        low = needed.real.lower()
    low = low.mid()
    omitted = between(0, normal_tail(-low) if low == -far else normal_tail(far))
    return omitted + acb.integral(integrand, low, end, eval_limit=evaluations(6 * EXP)).real
