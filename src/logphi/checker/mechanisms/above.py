"""Laws above a composition: hulls of points that lie above its profile, or above a function of it.

The hull of points of both orders has a profile above the one that is bounded, so that its pair dominates.

Where divergences are declared, a composition allows some events (p, q), see ``declared``. For events with equally spaced log q,
the largest such p is about that which the best z allows; the tangent there gives a point of the profile. The z are chosen in
doubles, and no proof rests on them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

from flint import arb

from logphi.checker.arithmetic.balls import ball, precision, rough, upper
from logphi.checker.arithmetic.work import EXP, STORED, Undecided, spend
from logphi.checker.laws.composition import Composition
from logphi.checker.laws.finite import Finite
from logphi.checker.mechanisms.hulls import Place, of_profile
from logphi.checker.methods import cells, declared

# chosen: the precision, far more than the cells below need
BITS = 160
# chosen: the logarithm of the delta down to which a profile is followed, and the largest epsilon that is looked at
DEEPEST, FARTHEST = -46.0, Fraction(250)
# derived: halvings of the range of epsilon
HALVINGS = 40
# measured: with these epsilon grows by less than a thousandth of it: cells of the leading law, and points of the profile
CELLS, POINTS = 2000, 800
# measured: with so many tangents epsilon grows by less than a thousandth of it
TANGENTS = 400
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


# an upper bound of a profile, as a function of epsilon
Bound = Callable[[Any], Any]


def law_above(whole: Composition) -> Finite:
    """The hull of points of both orders."""
    with precision(BITS):
        orders = (whole,) if whole.symmetric else (whole, whole.reversed())
        known = declared.applies(whole)
        found = [tangents(one) if known else places(one, profile(one)) for one in orders]
        return of_profile(found[0], found[-1])


def with_pair(whole: Composition) -> Composition:
    """A composition of which a pair is known: the hull where it has declared divergences, itself elsewhere."""
    return Composition([(law_above(whole), 1)]) if declared.applies(whole) else whole


def apart(whole: Composition) -> Composition:
    """The hull of all declared divergences of a composition, beside its other laws."""
    given = [(law, count) for law, count in whole.terms if isinstance(law, declared.Declared)]
    others = [(law, count) for law, count in whole.terms if not isinstance(law, declared.Declared)]
    return Composition([(law_above(Composition(given)), 1), *others])


def profile(whole: Composition) -> Bound:
    """An upper bound of the profile of a composition: of a single release in closed form, or by cells."""
    alone, infinite = whole.alone, whole.infinite()
    if alone is not None:
        with suppress(Undecided):
            alone.single_excess(arb(1))
            return lambda epsilon: infinite + alone.single_excess(epsilon)
    excess = cells.upper_bound(whole.terms, DEEPEST, CELLS)
    return lambda epsilon: infinite + excess(epsilon)


def places(whole: Composition, bound: Bound, first: Fraction = -FARTHEST) -> list[Place]:
    """Points of a profile from an epsilon on, or from the negative of the last one."""
    infinite, most = whole.infinite(), whole.largest()
    last = top(lambda epsilon: bound(epsilon) - infinite, FARTHEST)
    found = points(bound, max(first, -last), last, POINTS)
    return found if most is None else [*found, (upper(most), upper(infinite))]


def top(bound: Bound, end: Fraction) -> Fraction:
    """An epsilon with a delta of about e^DEEPEST, or the end; no proof relies on it."""
    low, high = 0.0, float(end)
    spend(10 * EXP * HALVINGS)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if rough(bound(arb(middle))) > math.exp(DEEPEST) else (low, middle)
    return Fraction(high)


def points(bound: Bound, low: Fraction, high: Fraction, number: int) -> list[Place]:
    """Points of a profile, equally far apart."""
    spend((10 * EXP + 10 * STORED) * number)
    listed = [low + (high - low) * k / number for k in range(number + 1)]
    return [(x, delta) for x in listed if (delta := upper(bound(ball(x)))) < 1]


def tangents(whole: Composition) -> list[Place]:
    """Epsilons, and bounds there of the profile that declared divergences imply."""
    search = _Search(whole)
    near, far = FIRST, declared.DEEPEST
    for _ in range(ENDS):
        middle = (near + far) / 2
        found = search.point(middle)
        near, far = (near, middle) if found is not None and found[1] < math.exp(DEEPEST) else (middle, far)
    listed = [search.point(FIRST + (far - FIRST) * k / TANGENTS) for k in range(TANGENTS + 1)]
    return [one for one in listed if one is not None]


class _Search:
    """The constraints of a composition, and about the best of each order of the pair, where the next search starts."""

    def __init__(self, whole: Composition) -> None:
        self.orders = {1: whole, -1: whole.reversed()}
        self.ladder = _ladder(whole)
        self.known: dict[tuple[int, int], declared.Constraint | None] = {}
        self.best = dict.fromkeys(self.orders, len(self.ladder) // 2)

    def constraint(self, sign: int, k: int) -> declared.Constraint | None:
        """Of the z of number k, where all laws have a divergence of that order."""
        if (sign, k) not in self.known:
            total = declared.total_at(self.orders[sign], self.ladder[k]) if 0 <= k < len(self.ladder) else None
            self.known[sign, k] = None if total is None else (1 + self.ladder[k] if sign > 0 else -self.ladder[k], total)
        return self.known[sign, k]

    def allowed(self, sign: int, k: int, most: float, log_q: float) -> float:
        """About the log of the largest p that the z of number k allows; ``most``, if that is smaller or there is no such z."""
        spend(declared.STEP * declared.HALVINGS)
        found = self.constraint(sign, k)
        return most if found is None else declared.strictest([(float(found[0]), rough(found[1]), found)], log_q, most)[1]

    def point(self, log_q: float) -> Place | None:
        """The point by the tangent at the largest p; None if it says nothing."""
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
        slope, height_there = declared.tangent(*used, arb(p), arb(q))
        return (upper(slope.log()), upper(height_there)) if slope > 0 and height_there < 1 else None


def _ladder(whole: Composition) -> list[Fraction]:
    """The z to choose from, in their order."""
    listed = declared.listed_places(whole)
    if listed:
        spend(STORED * PARTS * len(listed))
        gaps = pairwise([Fraction(0), *listed])
        return [low + (high - low) * k / PARTS for low, high in gaps for k in range(1, PARTS + 1)]
    return [Fraction(declared.NEAR * CLOSE**k) for k in range(int(math.log(declared.FAR / declared.NEAR, CLOSE)) + 1)]


def _lowest(height: Callable[[int, float], float], k: int) -> tuple[int, float]:
    """About the lowest place of a function on integers, from a place near it, and the value; it need not exceed a known one."""
    low = height(k, 0.0)
    for stride in STRIDES:
        for step in (stride, -stride):
            while (other := height(k + step, low)) < low:
                low, k = other, k + step
    return k, low
