"""What declared divergences imply for a composition: bounds of its profile by tangents of a convex set.

Bounds K(z) of z times the divergence of order 1 + z add under composition, and to log M of all other laws. With p and q the
probabilities of an event under P and Q, and w = 1 + z, or w = -z for the reversed pair, data processing says

    F(p, q) = p^w q^{1-w} + (1-p)^w (1-q)^{1-w} <= e^{K(z)},

a convex set of (p, q). A tangent of F at any point, with F_p > 0 > F_q, gives p - a q <= c for all such events, a = -F_q /
F_p: the profile at log a, and at every larger epsilon, is at most c. As the profile is convex in a, it is also below the chord
of two such points (a, c), one of which may be (0, 1). The certificate states w, p and q of each tangent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from flint import arb

from logphi.checker.arithmetic.balls import ball, between
from logphi.checker.arithmetic.work import EXP, STORED, demand, spend
from logphi.checker.laws.composition import Composition
from logphi.checker.laws.declared import Declared


def enclose(whole: Composition, epsilons: Sequence[Fraction], *numbers: Fraction) -> list[Any]:
    """From zero to the implied bound of delta, at each epsilon; infinite losses are included."""
    given = [(arb(0), arb(1)), *tangents(whole, numbers)]
    spend(EXP * len(epsilons) * len(given) ** 2)
    found = []
    for a in (ball(epsilon).exp() for epsilon in epsilons):
        bounds = [height for slope, height in given if slope <= a]
        for (left, above), (right, below) in product(given, repeat=2):
            if left < a < right:
                bounds.append(below + (above - below) * (right - a) / (right - left))
        least = arb(1)
        for bound in bounds:
            least = least.min(bound)
        found.append(between(0, least.upper()))
    return found


def divergence(whole: Composition, z: Fraction) -> Any:
    """From zero to the bound of the divergence of order 1 + z."""
    total = total_at(whole, z)
    demand(total is not None, "no bound of a divergence of this order is declared, or one is infinite")
    return between(0, total / ball(z))


def total_at(whole: Composition, z: Fraction) -> Any:
    """K of the composition at z > 0, or None where it is unknown."""
    total = arb(0)
    spend(STORED * len(whole.terms))
    for law, count in whole.terms:
        if isinstance(law, Declared):
            own = law.bound(z)
            if own is None:
                return None
            total += count * ball(own)
        elif not (law.infinite().is_zero() and law.omitted().is_zero() and z < law.end):
            return None
        else:
            total += count * law.moment(ball(z)).log()
    return total if total.is_finite() else None


def tangents(whole: Composition, numbers: Sequence[Fraction]) -> Iterator[tuple[Any, Any]]:
    """Slopes a, and c with p - a q <= c for all events, of tangents that are given by triples of w, p and q."""
    directions, known = (whole, whole.reversed()), dict[Fraction, Any]()
    for w, p, q in zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True):
        demand((w > 1 or w < 0) and 0 < p < 1 and 0 < q < 1, "a tangent is not at an order above 1, and at two probabilities")
        if w not in known:
            known[w] = total_at(directions[w < 0], w - 1 if w > 1 else -w)
        demand(known[w] is not None, "no bound of a divergence is declared at the order of a tangent, or one is infinite")
        slope, height = tangent(w, known[w], ball(p), ball(q))
        if slope > 0:
            yield slope, height


def tangent(w: Fraction, total: Any, p: Any, q: Any) -> tuple[Any, Any]:
    """A slope, and the height; (0, 1) where F_p > 0 > F_q is not proved."""
    spend(12 * EXP)
    power, one, other = ball(w), (p / q), (1 - p) / (1 - q)
    by_p = power * (one ** (power - 1) - other ** (power - 1))
    by_q = (1 - power) * (one**power - other**power)
    if not (by_p > 0 and by_q < 0):
        return arb(0), arb(1)
    value = p * one ** (power - 1) + (1 - p) * other ** (power - 1)
    return -by_q / by_p, (total.exp() - value + by_p * p + by_q * q) / by_p
