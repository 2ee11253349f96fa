"""The hull of finitely many upper bounds of an excess E_Q[(p/q - a)_+], and the two laws that have it as their profile.

notation: h(a) is a convex, decreasing function with h(0) = 1 and h(a) >= (1 - a)_+. If h is piecewise linear, a pair with the
profile h has likelihood ratios at the vertices only. With -s_k the slope after the vertex a_k, Q has the mass s_{k-1} - s_k
there, and P a_k times as much; the value of h after the last vertex is the infinite mass.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

# derived: exponentials are rounded up to this number of bits, far more than doubles have
_BITS = 200
# derived: exponentials are computed with this number of bits
_RIGHT = 240

Point = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Hull:
    """Vertices (a, h), a rising from 0, h falling from 1; constant beyond the last."""

    vertices: tuple[Point, ...]

    @staticmethod
    def of(points: Iterable[Point]) -> Hull:
        """The largest convex, decreasing function below all points and (0, 1)."""
        falling = list[Point]()
        for point in sorted([(Fraction(0), Fraction(1)), *points]):
            # any other bound is implied by an earlier point, as the profile decreases
            if not falling or point[1] < falling[-1][1]:
                falling.append(point)
        return Hull(tuple(lower_chain(falling)))

    @property
    def slopes(self) -> list[Fraction]:
        """The negated slopes between neighbouring vertices."""
        return [-slope(one, other) for one, other in pairwise(self.vertices)]

    def pair(self) -> tuple[list[Fraction], list[Fraction]]:
        """P- and Q-masses of the outcomes: first that without mass of P, then the vertices, last that without mass of Q."""
        slopes = [*self.slopes, Fraction(0)]
        masses = [before - after for before, after in pairwise(slopes)]
        p = [Fraction(0), *(a * mass for (a, _), mass in zip(self.vertices[1:], masses, strict=True)), self.vertices[-1][1]]
        return p, [1 - slopes[0], *masses, Fraction(0)]


def lower_chain(points: Iterable[Point]) -> list[Point]:
    """The vertices of the largest convex function below points at rising places, from the first of them to the last."""
    first, *rest = points
    # each vertex after the first, and the slope that leads there
    chain, rises = [first], list[Fraction]()
    for point in rest:
        rise = slope(chain[-1], point)
        while rises and rises[-1] >= rise:
            chain.pop()
            rises.pop()
            rise = slope(chain[-1], point)
        chain.append(point)
        rises.append(rise)
    return chain


def slope(one: Point, other: Point) -> Fraction:
    """The slope of the line through two points."""
    return (other[1] - one[1]) / (other[0] - one[0])


def exponential(x: Fraction) -> Fraction:
    """e^x, rounded up in the last of sixty digits."""
    # not the functions of mpmath's context, whose precision all threads share
    from mpmath.libmp import from_rational, mpf_exp, mpf_pos, round_ceiling, to_rational

    exponent = from_rational(x.numerator, x.denominator, _RIGHT, round_ceiling)
    above, below = to_rational(mpf_pos(mpf_exp(exponent, _RIGHT, round_ceiling), _BITS, round_ceiling))
    return Fraction(int(above), int(below))
