"""D of a few pairs of normal laws of different widths, by a bent contour, as M hardly decays on a vertical line.

With w = 1 + z v, v = 1 - r^2, one pair has z (z+1) / w = (w - 2 + v + (1-v) / w) / v^2, so that

    |M(z)| = e^{Re z top} |w|^{-1/2} e^{r^2 d^2 (Re 1/w - 1) / (2 v^2)},   top = d^2 / (2 v) - log r,

off the cut where w is negative. The two halves of a line through c > 0 may be turned, by the same angle, away from the side on
which e^{z (top - eps)} grows, with ``top`` summed over the pairs: they cross no pole and no cut, as these lie on the real axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from flint import acb, arb, ctx

from logphi.checker.arithmetic.balls import ball, within
from logphi.checker.arithmetic.work import EXP, demand, evaluations, spend
from logphi.checker.laws.composition import Composition
from logphi.checker.laws.normal_pair import NormalPair
from logphi.checker.methods.contour import OUTSIDE


def enclose(whole: Composition, epsilons: Sequence[Fraction], c: Fraction) -> list[Any]:
    """D at each epsilon, by a line through c."""
    pairs = [(law, count) for law, count in whole.terms if isinstance(law, NormalPair)]
    demand(len(pairs) == len(whole.terms) > 0, "not all of its laws are pairs of normal laws")
    demand(0 < c < whole.end, OUTSIDE)
    return [_excess(pairs, ball(c), ball(epsilon)) for epsilon in epsilons]


def _excess(terms: Sequence[tuple[NormalPair, int]], c: Any, epsilon: Any) -> Any:
    numbers = [(ball(law.ratio), ball(law.squared_distance), ball(1 - law.ratio**2), count) for law, count in terms]
    slope = sum((count * (square / (2 * v) - r.log()) for r, square, v, count in numbers), arb(0)) - epsilon
    demand(abs(slope) > 0, "this epsilon is too near to the one at which the line cannot be bent")
    # the direction of the upper half, at 120 or 60 degrees to the positive axis: e^{z slope} falls along it
    rise, lean = arb(3).sqrt() / 2, -arb(1) / 2 if slope > 0 else arb(1) / 2
    fall = abs(slope) / 2
    turn, far = acb(lean, rise), (ctx.prec * arb(2).log() / fall).mid()

    cost = 4 * EXP * (1 + len(numbers))

    def integrand(s: Any, analytic: bool) -> Any:
        spend(cost)
        z = c + s * turn
        exponent = z * slope
        for r, square, v, count in numbers:
            w = 1 + z * v
            exponent += count * (square * r**2 * (1 / w - 1) / (2 * v**2) - w.log(analytic=analytic) / 2)
        return exponent.exp() * turn / (z * (z + 1))

    top = (c * slope).exp()
    inside = acb.integral(integrand, 0, far, abs_tol=top * arb(2) ** -ctx.prec, eval_limit=evaluations(cost)).imag
    height = rise * far
    size = c * slope - far * fall
    for r, square, v, count in numbers:
        least = abs(v) * height
        size += count * (square * r**2 * (1 / least - 1) / (2 * v**2) - least.log() / 2)
    found = (inside + within(size.exp() / (fall * height**2))) / arb.pi()
    demand(found.is_finite(), "the integral of these pairs needs more work than this checker does")
    return found
