"""Two normal laws of different widths; and D of a few pairs by a bent contour, as M hardly decays on a vertical line.

With w = 1 + z v, v = 1 - r^2, one pair has z (z+1) / w = (w - 2 + v + (1-v) / w) / v^2, so that

    |M(z)| = e^{Re z top} |w|^{-1/2} e^{r^2 d^2 (Re 1/w - 1) / (2 v^2)},   top = d^2 / (2 v) - log r,

off the cut where w is negative. The two halves of a line through c > 0 may be turned, by the same angle, away from the side on
which e^{z (top - eps)} grows, with ``top`` summed over the pairs: they cross no pole and no cut, as these lie on the real axis.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import acb, arb, ctx

from logphi.checker.arithmetic.balls import ball, normal_tail, precision, resolving, within
from logphi.checker.arithmetic.work import EXP, Undecided, spend
from logphi.checker.laws.composition import Composition
from logphi.checker.laws.law import ClosedForm
from logphi.checker.methods.contour import abscissa

# measured: with more pairs, M decays fast enough on a straight line
MOST_PAIRS = 200


@dataclass(frozen=True)
class NormalPair(ClosedForm):
    """N(m_p, s_p^2) against N(m_q, s_q^2), by r = s_p / s_q != 1 and d^2 = (m_p - m_q)^2 / s_q^2.

    M(z) = r^{-z} (1 + z v)^{-1/2} e^{z (z+1) d^2 / (2 (1 + z v))}, v = 1 - r^2, where Re(1 + z v) > 0.
    """

    ratio: Fraction
    squared_distance: Fraction

    @property
    def end(self) -> float:
        """The zero of 1 + z v, if it is positive."""
        return float(1 / (self.ratio**2 - 1)) if self.ratio > 1 else math.inf

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


def applies(whole: Composition) -> bool:
    """Whether all laws are pairs of normal laws of different widths, and few enough."""
    return all(isinstance(law, NormalPair) for law, _ in whole.terms) and whole.count <= MOST_PAIRS


def enclose(whole: Composition, epsilons: Sequence[Fraction], goal: float) -> list[Any]:
    """D at each epsilon."""
    with precision(64):
        c = abscissa(whole, float(epsilons[0]), goal)
    pairs = [(law, count) for law, count in whole.terms if isinstance(law, NormalPair)]
    with precision(resolving(goal, 40)):
        return [_excess(pairs, arb(c), ball(epsilon)) for epsilon in epsilons]


def _excess(terms: Sequence[tuple[NormalPair, int]], c: Any, epsilon: Any) -> Any:
    numbers = [(ball(law.ratio), ball(law.squared_distance), ball(1 - law.ratio**2), count) for law, count in terms]
    slope = sum((count * (square / (2 * v) - r.log()) for r, square, v, count in numbers), arb(0)) - epsilon
    if not abs(slope) > 0:
        raise Undecided("this epsilon is too near to the one at which the line cannot be bent")
    # the direction of the upper half, at 120 or 60 degrees to the positive axis: e^{z slope} falls along it
    rise, lean = arb(3).sqrt() / 2, -arb(1) / 2 if slope > 0 else arb(1) / 2
    fall = abs(slope) / 2
    turn, far = acb(lean, rise), (ctx.prec * arb(2).log() / fall).mid()

    def integrand(s: Any, analytic: bool) -> Any:
        spend(4 * EXP * (1 + len(numbers)))
        z = c + s * turn
        exponent = z * slope
        for r, square, v, count in numbers:
            w = 1 + z * v
            exponent += count * (square * r**2 * (1 / w - 1) / (2 * v**2) - w.log(analytic=analytic) / 2)
        return exponent.exp() * turn / (z * (z + 1))

    top = (c * slope).exp()
    inside = acb.integral(integrand, 0, far, abs_tol=top * arb(2) ** -ctx.prec, eval_limit=1000 * ctx.prec).imag
    height = rise * far
    size = c * slope - far * fall
    for r, square, v, count in numbers:
        least = abs(v) * height
        size += count * (square * r**2 * (1 / least - 1) / (2 * v**2) - least.log() / 2)
    found = (inside + within(size.exp() / (fall * height**2))) / arb.pi()
    if not found.is_finite():
        raise Undecided("the integral of these pairs needs more work than this checker does")
    return found
