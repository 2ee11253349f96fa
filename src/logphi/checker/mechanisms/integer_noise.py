"""Discrete Laplace and discrete Gaussian noise on an integer."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from flint import arb

from logphi.checker.arithmetic.balls import ball, cached, exactly
from logphi.checker.arithmetic.work import EXP, STORED, demand, spend
from logphi.checker.laws.finite import MOST_OUTCOMES, DiscreteGaussian, Finite
from logphi.checker.laws.law import Law, Spacing
from logphi.checker.mechanisms.kind import COUNT, DISCRETE_SIGMA, POSITIVE, Demands, Kind, Node, integer, optional


def _laplace(*_: Any, scale: Fraction, sensitivity: int) -> Law:
    """Outcomes at most 0, each integer between 0 and s, and at least s: losses (2x - s) / scale."""
    rate, s = 1 / scale, sensitivity
    spend(4 * STORED * s)

    def outcomes() -> list[tuple[Any, Any]]:
        a = ball(rate)
        end = 1 / (1 + (-a).exp())
        q = [end, *((a / 2).tanh() * (-a * x).exp() for x in range(1, s)), (-a * s).exp() * end]
        return list(zip(q[::-1], q, strict=True))

    return Finite(cached(outcomes), Spacing("one", exactly(1), tuple((2 * x - s) * rate for x in range(s + 1))))


def _gaussian(*_: Any, sigma: Fraction, sensitivity: int, truncation: int | None) -> Law:
    """Noise of weights e^{-x^2 / (2 sigma^2)}, shifted by s against itself: losses (x - s/2) s / sigma^2."""
    s, far = sensitivity, truncation
    if far is None:
        return DiscreteGaussian(sigma, s)
    demand(far + s <= MOST_OUTCOMES, "the truncated noise has more outcomes than this checker lists")
    spend(4 * STORED * (far + s))

    def outcomes() -> list[tuple[Any, Any]]:
        spend((2 * EXP + STORED) * (far + s))
        weights = {x: (-ball(Fraction(x * x) / (2 * sigma**2))).exp() for x in range(-far, far + 1)}
        whole, none = sum(weights.values(), arb(0)), arb(0)
        return [(weights.get(x - s, none) / whole, weights.get(x, none) / whole) for x in range(-far, far + s + 1)]

    steps = tuple((x - Fraction(s, 2)) * s / sigma**2 for x in range(s - far, far + 1))
    return Finite(cached(outcomes), Spacing("one", exactly(1), steps))


def _demands(node: Node) -> Demands:
    far, move = node.parameters["truncation"], node.parameters["sensitivity"]
    yield 2 * (far or math.inf) >= move, "needs a truncation of at least half its sensitivity"


KINDS = {
    "DiscreteLaplace": Kind({"scale": POSITIVE, "sensitivity": integer(1, 1000)}, _laplace),
    "DiscreteGaussian": Kind(
        {"sigma": DISCRETE_SIGMA, "sensitivity": COUNT, "truncation": optional(integer(1, 10**5))}, _gaussian, _demands
    ),
}
