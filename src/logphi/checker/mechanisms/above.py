"""Laws above a composition: hulls of points that lie above its profile, or above a function of it.

The hull of points of both directions has a profile above the one that is bounded, so that its pair dominates. Where divergences
are declared, the points are those of tangents, which the certificate states. For other profiles it states how far they are
followed, and their cells.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from logphi.checker.arithmetic.balls import ball, precision, upper
from logphi.checker.arithmetic.work import EXP, STORED, demand, spend
from logphi.checker.laws.composition import Composition
from logphi.checker.laws.finite import Finite
from logphi.checker.mechanisms.hulls import Place, of_profile
from logphi.checker.mechanisms.kind import Stated
from logphi.checker.methods import cells, tangents

# chosen: the precision, far more than the cells below need
BITS = 160
# measured: with so many points of a profile epsilon grows by less than a thousandth of it
POINTS = 800

# an upper bound of a profile, as a function of epsilon
Bound = Callable[[Any], Any]


def law_above(whole: Composition, stated: Stated) -> Finite:
    """The hull of points of both directions."""
    with precision(BITS):
        directions = (whole,) if whole.symmetric else (whole, whole.reversed())
        if whole.declared:
            lines = [tangents.tangents(one, stated(one)) for one in directions]
            found = [[(upper(slope.log()), upper(height)) for slope, height in some if height < 1] for some in lines]
        else:
            found = []
            for one in directions:
                last, *laid = stated(one)
                found.append(places(one, profile(one, laid), last))
        return of_profile(found[0], found[-1])


def with_pair(whole: Composition, stated: Stated) -> Composition:
    """A composition of which a pair is known: the hull where it has declared divergences, itself elsewhere."""
    return Composition([(law_above(whole, stated), 1)]) if whole.declared else whole


def apart(whole: Composition, stated: Stated) -> Composition:
    """The hull of all declared divergences of a composition, beside its other laws."""
    given = Composition([(law, count) for law, count in whole.terms if law.declared])
    others = [(law, count) for law, count in whole.terms if not law.declared]
    return Composition([(law_above(given, stated), 1), *others]) if given.terms else whole


def profile(whole: Composition, laid: Sequence[Fraction]) -> Bound:
    """An upper bound of the profile of a composition: of a single release in closed form, or by the cells of a certificate."""
    alone, infinite = whole.alone, whole.infinite()
    if alone is not None and not laid:
        return lambda epsilon: infinite + alone.single_excess(epsilon)
    demand(laid, "it states no cells for the profile of a hull")
    excess = cells.upper_bound(whole.terms, *laid)
    return lambda epsilon: infinite + excess(epsilon)


def places(whole: Composition, bound: Bound, last: Fraction, first: Fraction | None = None) -> list[Place]:
    """Points of a profile from an epsilon on, or from the negative of the last one."""
    most = whole.largest()
    found = points(bound, -last if first is None else max(first, -last), last, POINTS)
    return found if most is None else [*found, (upper(most), upper(whole.infinite()))]


def points(bound: Bound, low: Fraction, high: Fraction, number: int) -> list[Place]:
    """Points of a profile, equally far apart."""
    spend((10 * EXP + 10 * STORED) * number)
    listed = [low + (high - low) * k / number for k in range(number + 1)]
    return [(x, delta) for x in listed if (delta := upper(bound(ball(x)))) < 1]
