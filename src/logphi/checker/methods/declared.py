"""Mechanisms known by bounds of their Renyi divergences in both orders of the pair: what these imply for a composition.

K(z) bounds z times the divergence of order 1 + z. Such bounds add under composition, and to log M of all other laws. With
p and q the probabilities of an event under P and Q, and w = 1 + z, or w = -z for the reversed pair, data processing says

    F(p, q) = p^w q^{1-w} + (1-p)^w (1-q)^{1-w} <= e^{K(z)},

a convex set of (p, q). A tangent of F at any point, with F_p > 0 > F_q, gives p - a q <= c for all such events, a = -F_q /
F_p: the profile at log a, and at every larger epsilon, is at most c. As the profile is convex in a, it is also below the chord
of two such points (a, c), one of which may be (0, 1). The places of the tangents are chosen in doubles; no proof rests on
them.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from operator import itemgetter
from typing import Any

from flint import arb

from logphi.checker.arithmetic.balls import ball, between, precision, rough
from logphi.checker.arithmetic.work import EXP, STORED, Undecided, spend
from logphi.checker.laws.composition import Composition
from logphi.checker.laws.law import Law

# chosen: the precision; more would not help, as the places of the tangents are doubles
BITS = 128
# chosen: where all orders are declared, z is searched from NEAR to FAR, in ORDERS steps, CLOSER times on a finer scale
NEAR, FAR, ORDERS, CLOSER = 1e-3, 1e5, 24, 8
# derived: halvings, and steps of a golden-section search, that find a place nearly to the precision of doubles
HALVINGS, STEPS = 45, 60
# derived: the share of an interval that such a step cuts off, (3 - sqrt(5)) / 2; one of its two places is that of the last step
GOLDEN = 0.3819660112501051
# measured: units of work of a step in doubles; all of them are taken only if every constraint is stricter than those before
STEP = 12
# chosen: the relative distance of the two tangents next to the best one
ASIDE = 1e-7
# chosen: a divergence that exceeds epsilon by so much implies nothing about the profile there
USEFUL = 1
# chosen: the smallest log q of an event
DEEPEST = -700.0


@dataclass(frozen=True)
class Declared(Law):
    """The least z (xi + rho (1 + z)) of ``lines`` (rho, xi); or, where there are points (z, K), the chords from (0, 0) on."""

    lines: tuple[tuple[Fraction, Fraction], ...] = ()
    points: tuple[tuple[Fraction, Fraction], ...] = ()
    symmetric = True

    def bound(self, z: Fraction) -> Fraction | None:
        """K(z), or None where no divergence is declared."""
        if not self.points:
            return z * min(xi + rho * (1 + z) for rho, xi in self.lines)
        place = bisect_left(self.points, z, key=itemgetter(0))
        if place == len(self.points):
            return None
        (a, low), (b, high) = self.points[place - 1] if place else (Fraction(0), Fraction(0)), self.points[place]
        return low + (high - low) * (z - a) / (b - a)


def applies(whole: Composition) -> bool:
    """Whether any law is known by its divergences only."""
    return any(isinstance(law, Declared) for law, _ in whole.terms)


def enclose(whole: Composition, epsilons: Sequence[Fraction], goal: float) -> list[Any]:
    """From zero to the implied bound of delta, at each epsilon; infinite losses are included."""
    with precision(BITS):
        return [between(0, _upper_bound(whole, epsilon)) for epsilon in epsilons]


def divergence(whole: Composition, z: Fraction) -> Any:
    """From zero to the bound of the divergence of order 1 + z."""
    total = total_at(whole, z)
    if total is None:
        raise Undecided("no bound of a divergence of this order is declared, or one is infinite")
    return between(0, total / ball(z))


def listed_places(whole: Composition) -> list[Fraction]:
    """The z at which divergences are declared; none where they are declared at all of them."""
    return sorted({z for law, _ in whole.terms if isinstance(law, Declared) for z, _ in law.points})


# w, and K(z)
Constraint = tuple[Fraction, Any]


def _upper_bound(whole: Composition, epsilon: Fraction) -> Any:
    """The smallest implied bound, by orders ever closer to the best one."""
    listed = listed_places(whole)
    places = [Fraction(0), *listed] if listed else [Fraction(NEAR * (FAR / NEAR) ** (k / ORDERS)) for k in range(ORDERS + 1)]
    best = arb(1)
    for _ in range(CLOSER):
        constraints = list(_constraints(whole, places, abs(epsilon) + USEFUL))
        if not constraints:
            raise Undecided("no bound of a divergence is declared at an order that all releases of a composition have")
        bound, used = _implied(constraints, epsilon)
        best = best.min(bound)
        z = abs(used - Fraction(1, 2)) - Fraction(1, 2)
        at = min(range(len(places)), key=lambda k: abs(places[k] - z))
        low, high = places[max(at - 1, 0)], places[min(at + 1, len(places) - 1)]
        near = (z for z in listed if low <= z <= high)
        places = sorted({*near, *(Fraction(float(low + (high - low) * k / 8)) for k in range(9))})
    return best.upper()


def _constraints(whole: Composition, places: Sequence[Fraction], most: Fraction) -> Iterator[Constraint]:
    """The w and K of every z, in both orders of the pair, where all laws have a K, and up to a divergence of ``most``."""
    for one, turned in ((whole, False), (whole.reversed(), True)):
        for z in filter(None, places):
            total = total_at(one, z)
            if total is not None:
                yield (-z if turned else 1 + z), total
                # divergences grow with the order, and the transform of a mixture takes ever longer
                if total > ball(z * most):
                    break


def total_at(whole: Composition, z: Fraction) -> Any:
    """K of the composition at z, or None where it is unknown."""
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


def _implied(constraints: list[Constraint], epsilon: Fraction) -> tuple[Any, Fraction]:
    """The smallest bound by tangents next to the event that leaks most, and the w of the constraint on that event."""
    spend(STEP * HALVINGS * STEPS * len(constraints))
    rough_ones = [(float(w), rough(k), (w, k)) for w, k in constraints]
    a, level = ball(epsilon).exp(), float(epsilon)

    def gain(log_q: float) -> float:
        """The largest p - a q that the constraints allow for an event of this q."""
        place, log_p = strictest(rough_ones, log_q)
        # most likely the strictest of the next event, beside which the others are quickly dismissed
        rough_ones.insert(0, rough_ones.pop(place))
        return math.exp(log_p) - math.exp(min(level + log_q, 700.0))

    low, high = DEEPEST, -1e-9
    one, other = low + (high - low) * GOLDEN, high - (high - low) * GOLDEN
    here, there = gain(one), gain(other)
    for _ in range(STEPS):
        if here >= there:
            high, other, there = other, one, here
            one = low + (high - low) * GOLDEN
            here = gain(one)
        else:
            low, one, here = one, other, there
            other = high - (high - low) * GOLDEN
            there = gain(other)
    best = (low + high) / 2
    tangents, used = [(arb(0), arb(1))], constraints[0][0]
    for log_q in (best * (1 + ASIDE), best, best * (1 - ASIDE)):
        place, log_p = strictest(rough_ones, log_q)
        p, q, constraint = math.exp(log_p), math.exp(log_q), rough_ones[place][2]
        if 0 < q < p < 1:
            tangents.append(tangent(*constraint, arb(p), arb(q)))
            used = constraint[0]
    bound = arb(1)
    for slope, height in tangents:
        if slope <= a:
            bound = bound.min(height)
    for (left, above), (right, below) in product(tangents, repeat=2):
        if left < a < right:
            bound = bound.min(below + (above - below) * (right - a) / (right - left))
    return bound, used


def tangent(w: Fraction, total: Any, p: Any, q: Any) -> tuple[Any, Any]:
    """A slope a, and c with p - a q <= c for all events that the constraint allows."""
    spend(12 * EXP)
    power, one, other = ball(w), (p / q), (1 - p) / (1 - q)
    by_p = power * (one ** (power - 1) - other ** (power - 1))
    by_q = (1 - power) * (one**power - other**power)
    value = p * one ** (power - 1) + (1 - p) * other ** (power - 1)
    if not (by_p > 0 and by_q < 0):
        return arb(0), arb(1)
    return -by_q / by_p, (total.exp() - value + by_p * p + by_q * q) / by_p


def strictest(constraints: Sequence[tuple[float, float, Constraint]], log_q: float, most: float = 0.0) -> tuple[int, float]:
    """The place of the constraint that allows the smallest p at q, and about the log of this p, or ``most`` if that is less."""
    log_rest = math.log1p(-math.exp(log_q))
    # F = 1 <= e^K at p = q, so that the largest p lies between q and 1
    place, log_p = 0, min(most, log_q * 2.0**-HALVINGS)
    for k, (w, total, _) in enumerate(constraints):
        if excludes(w, total, log_p, log_q, log_rest):
            place, high, log_p = k, log_p, log_q
            for _ in range(HALVINGS):
                middle = (log_p + high) / 2
                if excludes(w, total, middle, log_q, log_rest):
                    high = middle
                else:
                    log_p = middle
    return place, log_p


def excludes(w: float, total: float, log_p: float, log_q: float, log_rest: float) -> bool:
    """Whether about F(p, q) > e^K; ``log_rest`` is log(1 - q)."""
    p, one = math.exp(log_p), w * log_p + (1 - w) * log_q
    if p == 1:
        return w < 0 or one > total
    other = w * math.log1p(-p) + (1 - w) * log_rest
    return max(one, other) + math.log1p(math.exp(-abs(one - other))) > total
