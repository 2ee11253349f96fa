"""Tangents that show what declared divergences imply: for single epsilons, and for a hull at all of them; chosen in doubles.

A composition allows some events (p, q), see the checker's ``tangents``. For events with equally spaced log q, the largest such
p is about that which the best z allows; the tangent there gives a point of the profile.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

from logphi.checker.arithmetic.balls import ball, precision, rough, upper
from logphi.checker.arithmetic.work import STORED, Undecided, spend
from logphi.checker.laws.composition import Composition
from logphi.checker.laws.declared import Declared
from logphi.checker.mechanisms.above import BITS
from logphi.checker.methods.tangents import enclose, tangents, total_at
from logphi.checker.text.reading import Proof
from logphi.text.written import meant

# chosen: the precision of a bound at one epsilon; more would not help, as the places of the tangents are doubles
SINGLE = 128
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
SMALLEST = -700.0
# measured: with so many tangents of a hull epsilon grows by less than a thousandth of it
TANGENTS = 400
# chosen: the logarithm of the least delta of a hull
DEEPEST = -46.0
# chosen: the first log q, as smaller losses are those of the reversed pair; at the last one, the profile is about e^DEEPEST
FIRST = -0.3
# derived: halvings that find the last one
ENDS = 12
# chosen: the ratio of neighbouring z where all orders are declared, and the parts of the gap between two that are listed
CLOSE, PARTS = 1.01, 8
# chosen: how many z a search skips at once
STRIDES = (27, 9, 3, 1)
# chosen: where a z allows so large a p, its neighbours may not show the way to the best one
FLAT = 0.999

# w, and K(z)
Constraint = tuple[Fraction, Any]
# w, p and q
Triple = tuple[Fraction, Fraction, Fraction]


def by_tangents(whole: Composition, epsilons: Sequence[Fraction]) -> Proof:
    """A proof of about the smallest implied bound at each epsilon."""
    with precision(SINGLE):
        found = [number for epsilon in epsilons for triple in _at(whole, epsilon) for number in triple]
    return Proof("tangents", SINGLE, tuple(found))


def of_hull(whole: Composition) -> tuple[Fraction, ...]:
    """Tangents at all epsilons, whose hull is about the profile that is implied."""
    with precision(BITS):
        search = _Search(whole)
        near, far = FIRST, SMALLEST
        for _ in range(ENDS):
            middle = (near + far) / 2
            found = search.point(middle)
            near, far = (near, middle) if found is not None and found[1] < math.exp(DEEPEST) else (middle, far)
        listed = [search.point(FIRST + (far - FIRST) * k / TANGENTS) for k in range(TANGENTS + 1)]
        return tuple(number for one in listed if one is not None for number in one[0])


def _listed_places(whole: Composition) -> list[Fraction]:
    """The z at which divergences are declared; none where they are declared at all of them."""
    return sorted({z for law, _ in whole.terms if isinstance(law, Declared) for z, _ in law.points})


def _at(whole: Composition, epsilon: Fraction) -> list[Triple]:
    """The tangents with the smallest bound at an epsilon, by orders ever closer to the best one."""
    listed = _listed_places(whole)
    places = [Fraction(0), *listed] if listed else [Fraction(NEAR * (FAR / NEAR) ** (k / ORDERS)) for k in range(ORDERS + 1)]
    best, least = list[Triple](), Fraction(2)
    for _ in range(CLOSER):
        constraints = list(_constraints(whole, places, abs(epsilon) + USEFUL))
        if not constraints:
            raise Undecided("no bound of a divergence is declared at an order that all releases of a composition have")
        triples = _next_to_best(constraints, epsilon)
        if triples:
            bound = upper(enclose(whole, [epsilon], *(number for triple in triples for number in triple))[0])
            best, least = (triples, bound) if bound < least else (best, least)
        used = triples[-1][0] if triples else constraints[0][0]
        z = abs(used - Fraction(1, 2)) - Fraction(1, 2)
        at = min(range(len(places)), key=lambda k: abs(places[k] - z))
        low, high = places[max(at - 1, 0)], places[min(at + 1, len(places) - 1)]
        near = (z for z in listed if low <= z <= high)
        places = sorted({*near, *(Fraction(float(low + (high - low) * k / 8)) for k in range(9))})
    if not best:
        raise Undecided("the declared divergences imply nothing about this epsilon")
    return best


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


def _next_to_best(constraints: list[Constraint], epsilon: Fraction) -> list[Triple]:
    """Tangents next to the event that leaks most."""
    spend(STEP * HALVINGS * STEPS * len(constraints))
    rough_ones = [(float(w), rough(k), (w, k)) for w, k in constraints]
    level = float(epsilon)

    def gain(log_q: float) -> float:
        """The largest p - a q that the constraints allow for an event of this q."""
        place, log_p = strictest(rough_ones, log_q)
        # most likely the strictest of the next event, beside which the others are quickly dismissed
        rough_ones.insert(0, rough_ones.pop(place))
        return math.exp(log_p) - math.exp(min(level + log_q, 700.0))

    low, high = SMALLEST, -1e-9
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
    found = []
    for log_q in (best * (1 + ASIDE), best, best * (1 - ASIDE)):
        place, log_p = strictest(rough_ones, log_q)
        p, q = math.exp(log_p), math.exp(log_q)
        if 0 < q < p < 1:
            found.append((rough_ones[place][2][0], meant(p), meant(q)))
    return found


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


class _Search:
    """The constraints of a composition, and about the best of each order of the pair, where the next search starts."""

    def __init__(self, whole: Composition) -> None:
        self.orders = {1: whole, -1: whole.reversed()}
        self.ladder = _ladder(whole)
        self.known: dict[tuple[int, int], Constraint | None] = {}
        self.best = dict.fromkeys(self.orders, len(self.ladder) // 2)

    def constraint(self, sign: int, k: int) -> Constraint | None:
        """Of the z of number k, where all laws have a divergence of that order."""
        if (sign, k) not in self.known:
            total = total_at(self.orders[sign], self.ladder[k]) if 0 <= k < len(self.ladder) else None
            self.known[sign, k] = None if total is None else (1 + self.ladder[k] if sign > 0 else -self.ladder[k], total)
        return self.known[sign, k]

    def allowed(self, sign: int, k: int, most: float, log_q: float) -> float:
        """About the log of the largest p that the z of number k allows; ``most``, if that is smaller or there is no such z."""
        spend(STEP * HALVINGS)
        found = self.constraint(sign, k)
        return most if found is None else strictest([(float(found[0]), rough(found[1]), found)], log_q, most)[1]

    def point(self, log_q: float) -> tuple[Triple, float] | None:
        """The tangent at the largest p, and its height; None if it says nothing."""
        found = []
        for sign, last in self.best.items():
            height = partial(self.allowed, sign, log_q=log_q)
            flat = math.exp(height(last, 0.0)) >= FLAT
            start = min(range(0, len(self.ladder), STRIDES[0]), key=lambda k: height(k, 0.0)) if flat else last
            self.best[sign], log_p = _lowest(height, start)
            found.append((log_p, sign))
        log_p, sign = min(found)
        used, p, q = self.constraint(sign, self.best[sign]), math.exp(log_p), math.exp(log_q)
        if used is None or not 0 < q < p < 1:
            return None
        triple = used[0], meant(p), meant(q)
        return next(((triple, rough(height)) for _, height in tangents(self.orders[1], triple) if height < 1), None)


def _ladder(whole: Composition) -> list[Fraction]:
    """The z to choose from, in their order."""
    listed = _listed_places(whole)
    if listed:
        spend(STORED * PARTS * len(listed))
        gaps = pairwise([Fraction(0), *listed])
        return [low + (high - low) * k / PARTS for low, high in gaps for k in range(1, PARTS + 1)]
    return [Fraction(NEAR * CLOSE**k) for k in range(int(math.log(FAR / NEAR, CLOSE)) + 1)]


def _lowest(height: Callable[[int, float], float], k: int) -> tuple[int, float]:
    """About the lowest place of a function on integers, from a place near it, and the value; it need not exceed a known one."""
    low = height(k, 0.0)
    for stride in STRIDES:
        for step in (stride, -stride):
            while (other := height(k + step, low)) < low:
                low, k = other, k + step
    return k, low
