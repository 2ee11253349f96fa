"""A convex, decreasing function below every convex function with given bounds: the opposite of a hull.

notation: as in :mod:`logphi.convex.hull`; h lies between l_i and u_i at the places a_i. To the right of a_i, a convex h is
nowhere below the line through (a_{i-1}, u_{i-1}) and (a_i, l_i), and to the left of a_i nowhere below that through (a_i, l_i)
and (a_{i+1}, u_{i+1}). Between two places these lines make a V, whose bottom is exact if h has one bend there.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from logphi.convex.hull import Hull, Point, slope

# a place, a lower and an upper bound of h there
Known = tuple[Fraction, Fraction, Fraction]


def hull_below(points: Sequence[Known], floor: Fraction, fall: Fraction) -> Hull:
    """A convex, decreasing function that lies below every convex h with h(0) = 1 and these bounds.

    ``points`` are at rising places above 0; ``floor`` is a lower bound of h at infinity, and h falls no faster than ``fall``.
    """
    one, zero = Fraction(1), Fraction(0)
    places = [(zero, one, one), *((a, max(low, 1 - fall * a), high) for a, low, high in points)]
    # for each place the line that holds to its right, and for each but the first the line that holds to its left, with one more
    rights = [(zero, one, -fall), *((b, low, slope((a, high), (b, low))) for (a, _, high), (b, low, _) in pairwise(places))]
    lefts = [(a, low, slope((a, low), (b, high))) for (a, low, _), (b, _, high) in pairwise(places[1:])]
    last, least, _ = places[-1]
    lefts += [(last, least, zero), (last, min(floor, least), zero)]
    kept = [(a, low) for a, low, _ in places[1:]]
    for right, left, start, end in zip(rights, lefts, places, [*places[1:], None], strict=True):
        bottom = _crossing(right, left)
        if bottom is not None and start[0] < bottom[0] and (end is None or bottom[0] < end[0]):
            kept.append(bottom)
    return Hull.of(kept)


def _crossing(one: tuple[Fraction, ...], other: tuple[Fraction, ...]) -> Point | None:
    """Where two lines meet, each a point and a slope."""
    (a, h, rise), (b, g, bend) = one, other
    if rise == bend:
        return None
    place = (g - h + rise * a - bend * b) / (rise - bend)
    return place, h + rise * (place - a)
