"""Points above the profile that declared divergences imply: for the hull of these, which has a pair that dominates.

A composition allows some events (p, q), see ``declared``. For events with equally spaced log q, the largest such p is about
that which the best z allows; the tangent there gives a point of the profile. The z are chosen in doubles, and no proof rests
on them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import pairwise

from flint import arb

from logphi.checker.balls import rough, upper
from logphi.checker.composition import Composition
from logphi.checker.declared import DEEPEST, FAR, HALVINGS, NEAR, STEP, Constraint, largest, listed_places, tangent, total_at
from logphi.checker.hulls import Place
from logphi.checker.work import STORED, spend

# measured: with so many tangents epsilon grows by less than a thousandth of it
TANGENTS = 400
# chosen: the first log q, as smaller losses are those of the reversed pair; at the last one, the profile is about e^SMALL
FIRST, SMALL = -0.3, -46.0
# derived: halvings that find the last one
ENDS = 12
# chosen: the ratio of neighbouring z where all orders are declared, and the parts of the gap between two that are listed
CLOSE, PARTS = 1.01, 8
# chosen: how many z a search skips at once
STRIDES = (27, 9, 3, 1)
# chosen: where a z allows so large a p, its neighbours may not show the way to the best one
FLAT = 0.999


def places(whole: Composition) -> list[Place]:
    """Epsilons, and bounds of the profile there."""
    search = _Search(whole)
    near, far = FIRST, DEEPEST
    for _ in range(ENDS):
        middle = (near + far) / 2
        found = search.point(middle)
        near, far = (near, middle) if found is not None and found[1] < math.exp(SMALL) else (middle, far)
    listed = [search.point(FIRST + (far - FIRST) * k / TANGENTS) for k in range(TANGENTS + 1)]
    return [one for one in listed if one is not None]


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

    def allowed(self, sign: int, k: int, log_q: float) -> float:
        """About the largest p that the z of number k allows; two, if there is no such z."""
        spend(STEP * HALVINGS)
        found = self.constraint(sign, k)
        return 2.0 if found is None else largest(float(found[0]), rough(found[1]), log_q)[0]

    def point(self, log_q: float) -> Place | None:
        """The point by the tangent at the largest p; None if it says nothing."""
        found = []
        for sign, last in self.best.items():
            height = partial(self.allowed, sign, log_q=log_q)
            start = last if height(last) < FLAT else min(range(0, len(self.ladder), STRIDES[0]), key=height)
            self.best[sign] = _lowest(height, start)
            found.append((height(self.best[sign]), sign))
        p, sign = min(found)
        used, q = self.constraint(sign, self.best[sign]), math.exp(log_q)
        if used is None or not 0 < q < p < 1:
            return None
        slope, height_there = tangent(*used, arb(p), arb(q))
        return (upper(slope.log()), upper(height_there)) if slope > 0 and height_there < 1 else None


def _ladder(whole: Composition) -> list[Fraction]:
    """The z to choose from, in their order."""
    listed = listed_places(whole)
    if listed:
        spend(STORED * PARTS * len(listed))
        gaps = pairwise([Fraction(0), *listed])
        return [low + (high - low) * k / PARTS for low, high in gaps for k in range(1, PARTS + 1)]
    return [Fraction(NEAR * CLOSE**k) for k in range(int(math.log(FAR / NEAR, CLOSE)) + 1)]


def _lowest(height: Callable[[int], float], k: int) -> int:
    """About the lowest place of a function on integers, from a place near it."""
    low = height(k)
    for stride in STRIDES:
        for step in (stride, -stride):
            while (other := height(k + step)) < low:
                low, k = other, k + step
    return k
