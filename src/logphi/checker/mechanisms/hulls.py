"""Mechanisms known by points of a curve: the pair whose trade-off function, or privacy profile, is the hull of the points."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from flint import arb

from logphi.checker.arithmetic.balls import ball, cached, precision
from logphi.checker.arithmetic.work import EXP, STORED, Undecided, demand, spend
from logphi.checker.laws.finite import Finite

# chosen: the precision that decides which points are vertices of a hull
BITS = 400
# an epsilon, and a delta there
Place = tuple[Fraction, Fraction]


def of_tradeoff(first: list[Fraction], second: list[Fraction]) -> tuple[list[Fraction], list[Fraction]]:
    """P and Q of the segments of the largest convex curve below the points and (1, 0) ([AFA] Lemma 25).

    Each segment is an outcome: its width is the mass under Q, its fall that under P. P alone has 1 - f(0), and Q alone the
    width on which f is zero.
    """
    # a point above 1 - alpha adds nothing
    given = ((alpha, min(beta, 1 - alpha)) for alpha, beta in zip(first, second, strict=True))
    chain = _hull(sorted([*given, (Fraction(1), Fraction(0))]), operator.ge)
    segments = [(one[1] - other[1], other[0] - one[0]) for one, other in pairwise(chain)]
    p = [1 - chain[0][1], *(fall for fall, _ in segments), Fraction(0)]
    q = [Fraction(0), *(width for _, width in segments), 1 - chain[-1][0]]
    return p, q


def _hull(points: Iterable[Any], reaches: Callable[[Any, Any], bool]) -> list[Any]:
    """Of points (x, y, ..) from left to right, the vertices of the largest convex, decreasing curve below them."""
    chain: list[Any] = []
    for point in points:
        if chain and reaches(point[1], chain[-1][1]):
            continue
        # a point above the chord of its neighbours
        while len(chain) > 1 and reaches(*_products(chain[-2], chain[-1], point)):
            chain.pop()
        if chain and chain[-1][0] == point[0]:
            chain.pop()
        chain.append(point)
    return chain


def _products(one: Any, middle: Any, other: Any) -> tuple[Any, Any]:
    """Two numbers, the first one larger where the middle point lies above the chord of the other two, equal where on it."""
    return (middle[1] - one[1]) * (other[0] - one[0]), (other[1] - one[1]) * (middle[0] - one[0])


@dataclass(frozen=True)
class Point:
    """(eps, delta) as a point (a, h) of a profile h, a = e^eps; if ``reflected``, as the equivalent point at 1/a."""

    epsilon: Fraction
    delta: Fraction
    reflected: bool = False

    @property
    def exponent(self) -> Fraction:
        """Log a."""
        return -self.epsilon if self.reflected else self.epsilon

    def place(self) -> tuple[Any, Any]:
        """The point (a, h) as balls at the precision in force."""
        spend(EXP + 3 * STORED)
        a = ball(self.exponent).exp()
        return a, 1 - a + a * ball(self.delta) if self.reflected else ball(self.delta)


def of_profile(there: Iterable[Place], turned: Iterable[Place] = ()) -> Finite:
    """The law whose profile is the largest convex, decreasing function of a = e^eps below the points and (0, 1).

    After the last point the profile is constant. With -s_k the slope after the vertex a_k, Q has the mass s_{k-1} - s_k there,
    and P a_k times as much. P alone has the height of the last vertex ([AFA] Corollary 26). Points that hold when P and Q are
    ``turned`` give others by h(1/a) = 1 - 1/a + h(a)/a.
    """
    kept = [Point(*one) for one in _falling(there)] + [Point(*one, True) for one in _falling(turned) if one[0]]
    with precision(BITS):
        chain = _vertices(sorted(kept, key=lambda point: point.exponent))
    # whether the height is exactly zero; that of a reflected point is not, as e^eps would be rational
    private = chain[-1].delta == 0 and not chain[-1].reflected
    # likewise in the other direction
    reached = chain[0].delta == 0 and chain[0].reflected

    def outcomes() -> list[tuple[Any, Any]]:
        places = [(arb(0), arb(1)), *(point.place() for point in chain)]
        slopes = [(one[1] - other[1]) / (other[0] - one[0]) for one, other in pairwise(places)]
        masses = [steep - flat for steep, flat in pairwise([*slopes, arb(0)])]
        found = [(a * mass, mass) for (a, _), mass in zip(places[1:], masses, strict=True)]
        alone = [*([] if private else [(places[-1][1], arb(0))]), *([] if reached else [(arb(0), 1 - slopes[0])])]
        return [*found, *alone]

    return Finite(cached(outcomes), None, known=cached(lambda: [ball(point.exponent) for point in chain]))


def _falling(points: Iterable[Place]) -> list[Place]:
    """Those that no earlier one implies, nor (0, 1); the reflections of others are implied, too."""
    kept: list[Place] = []
    for epsilon, delta in sorted(points):
        if delta < (kept[-1][1] if kept else 1):
            kept.append((epsilon, delta))
    return kept


def _vertices(points: list[Point]) -> list[Point]:
    """The vertices of the hull of points from left to right; an :class:`Undecided` if the balls do not decide."""
    for point in points:
        if point.epsilon < 0 and _reaches(1 - ball(point.epsilon).exp(), ball(point.delta)):
            raise Undecided("a point of a profile is below 1 - e^epsilon, which no profile is")
    chain = _hull([(arb(0), arb(1), None), *((*point.place(), point) for point in points)], _reaches)
    demand(len(chain) >= 2, "the points of a profile imply nothing")
    return [point for _, _, point in chain[1:]]


def _reaches(one: Any, other: Any) -> bool:
    demand(one > other or one < other, "points of a profile lie too close to a straight line for this checker")
    return bool(one > other)
