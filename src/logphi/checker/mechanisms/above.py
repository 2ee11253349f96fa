"""Laws above a composition: hulls of points that lie above its profile, or above a function of it.

The hull of points of both orders has a profile above the one that is bounded, so that its pair dominates. Where divergences are
declared, the points are those of tangents, which the certificate states.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any

from flint import arb

from logphi.checker.arithmetic.balls import ball, precision, rough, upper
from logphi.checker.arithmetic.work import EXP, STORED, Undecided, spend
from logphi.checker.laws.composition import Composition
from logphi.checker.laws.declared import Declared
from logphi.checker.laws.finite import Finite
from logphi.checker.mechanisms.hulls import Place, of_profile
from logphi.checker.methods import cells, tangents

# chosen: the precision, far more than the cells below need
BITS = 160
# chosen: the logarithm of the delta down to which a profile is followed, and the largest epsilon that is looked at
DEEPEST, FARTHEST = -46.0, Fraction(250)
# derived: halvings of the range of epsilon
HALVINGS = 40
# measured: with these epsilon grows by less than a thousandth of it: cells of the leading law, and points of the profile
CELLS, POINTS = 2000, 800

# an upper bound of a profile, as a function of epsilon
Bound = Callable[[Any], Any]
# the tangents that a certificate states for a composition with declared divergences
Stated = Callable[[Composition], Sequence[Fraction]]


def law_above(whole: Composition, stated: Stated) -> Finite:
    """The hull of points of both orders."""
    with precision(BITS):
        orders = (whole,) if whole.symmetric else (whole, whole.reversed())
        if tangents.applies(whole):
            lines = [tangents.tangents(one, stated(one)) for one in orders]
            found = [[(upper(slope.log()), upper(height)) for slope, height in some if height < 1] for some in lines]
        else:
            found = [places(one, profile(one)) for one in orders]
        return of_profile(found[0], found[-1])


def with_pair(whole: Composition, stated: Stated) -> Composition:
    """A composition of which a pair is known: the hull where it has declared divergences, itself elsewhere."""
    return Composition([(law_above(whole, stated), 1)]) if tangents.applies(whole) else whole


def apart(whole: Composition, stated: Stated) -> Composition:
    """The hull of all declared divergences of a composition, beside its other laws."""
    given = Composition([(law, count) for law, count in whole.terms if isinstance(law, Declared)])
    others = [(law, count) for law, count in whole.terms if not isinstance(law, Declared)]
    return Composition([(law_above(given, stated), 1), *others]) if given.terms else whole


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
