"""Mechanisms of which Renyi divergences are declared, in both orders of the pair: an upper end of what they leak together.

K(z) is a bound of z times the divergence of order 1 + z, and bounds add under composition, with log M of all other laws. With
p and q the probabilities of an event under P and Q, and w = 1 + z, or w = -z of the reversed pair, data processing says

    F(p, q) = p^w q^{1-w} + (1-p)^w (1-q)^{1-w} <= e^{K(z)},

a convex set of (p, q). A tangent of F at any point of it, F_p > 0 > F_q, makes p - a q <= c for all such events, so that the
profile at log a is at most c, for a = -F_q / F_p and every larger one. As the profile is convex in a, so is a chord of two such
points, one of which may be (0, 1). Where the tangents are taken is chosen in doubles; no proof rests on that.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

from flint import arb

from logphi.checker.balls import ball, between, precision, rough
from logphi.checker.law import Law, Terms
from logphi.checker.work import EXP, Undecided, spend

# chosen: precision: the bounds are no sharper than the search for places
BITS = 128
# chosen: the smallest and the largest z where all orders are declared; how many are looked at, and how often closer
NEAR, FAR, ORDERS, CLOSER = 1e-3, 1e5, 24, 8
# derived: halvings that find a place nearly to the precision of doubles, and steps of a golden section
HALVINGS, STEPS = 45, 60
# measured: units of work of a step in doubles
STEP = 12
# chosen: how far apart two tangents next to the best place are, relatively
ASIDE = 1e-7
# chosen: places are looked for above this logarithm of q
DEEPEST = -700.0


@dataclass(frozen=True)
class Declared(Law):
    """K(z) = z (xi + rho (1 + z)); or, by points (z, K), the chords between them and (0, 0)."""

    rho: Fraction = Fraction(0)
    xi: Fraction = Fraction(0)
    points: tuple[tuple[Fraction, Fraction], ...] = ()
    symmetric = True

    def bound(self, z: Fraction) -> Fraction | None:
        """K(z), or None where nothing is known."""
        if not self.points:
            return z * (self.xi + self.rho * (1 + z))
        for (a, low), (b, high) in pairwise([(Fraction(0), Fraction(0)), *self.points]):
            if a < z <= b:
                return low + (high - low) * (z - a) / (b - a)
        return None


def applies(terms: Terms) -> bool:
    """Whether a law is declared."""
    return any(isinstance(law, Declared) for law, _ in terms)


def enclose(terms: Terms, epsilons: Sequence[Fraction], goal: float) -> list[Any]:
    """Nothing to what is implied, at each epsilon, infinite losses included."""
    with precision(BITS):
        return [between(0, _least(terms, epsilon)) for epsilon in epsilons]


# w, and K(z)
Constraint = tuple[Fraction, Any]


def _least(terms: Terms, epsilon: Fraction) -> Any:
    """The least bound, of orders closer and closer to the best one."""
    listed = sorted({z for law, _ in terms if isinstance(law, Declared) for z, _ in law.points})
    places = [Fraction(0), *listed] if listed else [Fraction(NEAR * (FAR / NEAR) ** (k / ORDERS)) for k in range(ORDERS + 1)]
    best = arb(1)
    for _ in range(CLOSER):
        constraints = list(_constraints(terms, places))
        if not constraints:
            raise Undecided("no bound of a divergence is declared at an order that all releases of a composition have")
        bound, used = _implied(constraints, epsilon)
        best = best.min(bound)
        z = abs(used - Fraction(1, 2)) - Fraction(1, 2)
        at = min(range(len(places)), key=lambda k: abs(places[k] - z))
        low, high = places[max(at - 1, 0)], places[min(at + 1, len(places) - 1)]
        places = sorted({*listed, *(Fraction(float(low + (high - low) * k / 8)) for k in range(9))})
    return best.upper()


def _constraints(terms: Terms, places: Sequence[Fraction]) -> Iterator[Constraint]:
    """In both directions, where all laws have one."""
    for z in places:
        for turned in (False, True) if z else ():
            total = _total([(law.reversed() if turned else law, count) for law, count in terms], z)
            if total is not None:
                yield (-z if turned else 1 + z), total


def _total(terms: Terms, z: Fraction) -> Any:
    """K of the composition at z."""
    total = arb(0)
    for law, count in terms:
        if isinstance(law, Declared):
            own = law.bound(z)
            if own is None:
                return None
            total += count * ball(own)
        elif not law.infinite().is_zero() or not z < law.end:
            return None
        else:
            total += count * law.moment(ball(z)).log()
    return total if total.is_finite() else None


def _implied(constraints: list[Constraint], epsilon: Fraction) -> tuple[Any, Fraction]:
    """The best chord next to the place of the best event, and the w that bounds the event."""
    spend(STEP * HALVINGS * STEPS * len(constraints))
    rough_ones = [(float(w), rough(k)) for w, k in constraints]
    a, level = ball(epsilon).exp(), float(epsilon)

    def gain(log_q: float) -> float:
        """The p of the event that the constraints allow, less a q."""
        return min(_largest(w, k, log_q)[0] for w, k in rough_ones) - math.exp(min(level + log_q, 700.0))

    low, high = DEEPEST, -1e-9
    for _ in range(STEPS):
        one, other = low + (high - low) * 0.382, low + (high - low) * 0.618
        low, high = (low, other) if gain(one) >= gain(other) else (one, high)
    best = (low + high) / 2
    tangents, used = [(arb(0), arb(1))], constraints[0][0]
    for log_q in (best * (1 + ASIDE), best, best * (1 - ASIDE)):
        place = min(range(len(constraints)), key=lambda k: _largest(*rough_ones[k], log_q)[0])
        p, q = _largest(*rough_ones[place], log_q)
        if 0 < q < p < 1:
            tangents.append(_tangent(*constraints[place], arb(p), arb(q)))
            used = constraints[place][0]
    bound = arb(1)
    for slope, height in tangents:
        if slope <= a:
            bound = bound.min(height)
    for (left, above), (right, below) in product(tangents, repeat=2):
        if left < a < right:
            bound = bound.min(below + (above - below) * (right - a) / (right - left))
    return bound, used


def _tangent(w: Fraction, total: Any, p: Any, q: Any) -> tuple[Any, Any]:
    """A slope a, and c with p - a q <= c for all events that the constraint allows."""
    spend(12 * EXP)
    power, one, other = ball(w), (p / q), (1 - p) / (1 - q)
    by_p = power * (one ** (power - 1) - other ** (power - 1))
    by_q = (1 - power) * (one**power - other**power)
    value = p * one ** (power - 1) + (1 - p) * other ** (power - 1)
    if not (by_p > 0 and by_q < 0):
        return arb(0), arb(1)
    return -by_q / by_p, (total.exp() - value + by_p * p + by_q * q) / by_p


def _largest(w: float, total: float, log_q: float) -> tuple[float, float]:
    """About the largest p that the constraint allows at q, and q."""
    q = math.exp(log_q)
    # p as e^{-low}: at p = q nothing is lost
    low, high = 0.0, -log_q
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        p = math.exp(-middle)
        rest = (w * math.log1p(-p) + (1 - w) * math.log1p(-q)) if 0 < p < 1 else -math.inf
        size = -w * middle + (1 - w) * log_q
        top = max(size, rest)
        if top + math.log(math.exp(size - top) + math.exp(rest - top)) > total:
            low = middle
        else:
            high = middle
    return math.exp(-high), q
