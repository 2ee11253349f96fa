"""Gauss-Legendre quadrature of analytic functions on an interval, with a bound of its error."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from flint import arb, ctx

from logphi.checker.arithmetic.balls import rough
from logphi.checker.arithmetic.work import EXP, TAIL, demand, spend

# chosen: the points of a rule; if more are needed, the claim is undecided
MOST_POINTS = 2000


def gauss_legendre(
    low: Any, high: Any, widest: float, size: Callable[[Any, Any, Any], Any], goal: float
) -> tuple[list[Any], Any]:
    """Points of [low, high] with their weights, and the error of the rule for an integrand, at most about e^``goal``.

    ``size(left, right, lift)`` bounds the integrand over left <= Re y <= right and |Im y| <= lift, for lifts below ``widest``.
    The rule with N points is exact for polynomials of degree 2N - 1, and its weights are positive. One of these polynomials is
    within 2 S rho^{1-2N} / (rho - 1) of an integrand of size S on the ellipse of parameter rho (Trefethen 2013, Theorem 8.2).
    So the error is at most that, times twice the length of the interval.
    """
    half = (high - low) / 2
    plans = []
    spend(24 * 20 * EXP)
    for k in range(1, 24):
        lift = widest * k / 24
        # the ellipse with this half axis
        root = lift / rough(half)
        rho = root + math.hypot(root, 1.0)
        reach = half * (arb(rho) + 1 / arb(rho) - 2) / 2
        height = half * (arb(rho) - 1 / arb(rho)) / 2
        bound = 8 * half * size(low - reach, high + reach, height) / (arb(rho) - 1)
        excess = rough(bound.log()) - goal
        plans.append(((max(excess, 0) / math.log(rho) + 1) / 2, rho, bound))
    points, rho, bound = min(plans, key=lambda plan: plan[0])
    count = math.ceil(points) + 1
    demand(count <= MOST_POINTS, "an integral needs more points than this checker takes")
    # measured: the points of a rule
    spend(2 * TAIL * count)
    rule = [(low + half * (1 + x), half * weight) for x, weight in _legendre(count, ctx.prec)]
    return rule, bound * arb(rho) ** (1 - 2 * count)


# measured: the attempts at one claim take some dozens of rules, again and again
@lru_cache(maxsize=64)
def _legendre(count: int, bits: int) -> list[tuple[Any, Any]]:
    """The points and weights on [-1, 1]; ``bits`` is the precision in force."""
    positive = [arb.legendre_p_root(count, k, True) for k in range((count + 1) // 2)]
    # the polynomial is even or odd; of an odd one the last of these is zero
    return positive + [(-point, weight) for point, weight in reversed(positive[: count // 2])]
