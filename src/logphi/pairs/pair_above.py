"""The pair whose profile is the largest one below given upper bounds, their hull."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from logphi.convex.hull import Hull
from logphi.pairs.disjoint import DISJOINT
from logphi.pairs.finite import FinitePair

# derived: masses are rounded to doubles
MASS_ERROR = 2.0**-51

# a place a = e^eps, and an upper bound of the profile there
Point = tuple[Fraction, Fraction]


def pair_above(points: Sequence[Point], reversed_points: Sequence[Point] = ()) -> FinitePair:
    """The pair that dominates every pair with such bounds; ``reversed_points`` bound the profile of the reversed pair.

    Everything leaks if there are no points, or none is below one.
    """
    hull = Hull.of([*points, *((1 / a, 1 - 1 / a + h / a) for a, h in reversed_points)])
    if len(hull.vertices) < 2:
        return DISJOINT
    p, q = hull.pair()
    return FinitePair(tuple(map(float, p)), tuple(map(float, q)), MASS_ERROR)
