"""A mechanism known by bounds of its Renyi divergences at a few orders only."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from logphi.algebra.families import Representative
from logphi.algebra.family import Family
from logphi.algebra.release import Primitive
from logphi.arith.floats import ULP
from logphi.arrays import Array
from logphi.convex.hull import lower_chain
from logphi.inputs import check
from logphi.inputs.arguments import ADD_REMOVE, Reals, Relation, frozen
from logphi.mechanisms.declared import WithinCurve, converted, of_both_orders
from logphi.mechanisms.declared_curves import Curve
from logphi.pairs.equal import EQUAL
from logphi.pairs.pair import Pair
from logphi.text.written import meant

# derived: of smaller orders, order minus one loses its digits
LEAST_ORDER = 1 + 1e-6
# derived: exponentials of larger orders overflow
LARGEST_ORDER = 1e6
# derived: smaller divergences are below rounding
LEAST_EPSILON = 1e-12
# derived: larger divergences put every epsilon out of range
LARGEST_EPSILON = 250.0


@dataclass(frozen=True)
class Chords(Curve):
    """The largest convex K below the declared values, with K(0) = 0, by its vertices."""

    z: tuple[float, ...]
    values: tuple[float, ...]

    def bound(self, z: Array) -> Array:
        """The chord, rounded up; infinite above the last order."""
        line = np.interp(z, (0.0, *self.z), (0.0, *self.values)) * (1 + 16 * ULP)
        return np.where(z <= self.z[-1], line, np.inf)

    @property
    def listed(self) -> tuple[float, ...]:
        """The vertices."""
        return self.z

    @property
    def mean(self) -> float:
        """The first slope of the chords."""
        return self.values[0] / self.z[0] * (1 + 4 * ULP)

    @property
    def rho(self) -> float:
        """Infinite: nothing is known above the last order."""
        return math.inf if self.mean else 0.0

    @property
    def line(self) -> tuple[float, float]:
        """(0, infinity): nothing is known above the last order."""
        return 0.0, self.rho

    @property
    def gaussian(self) -> float:
        """The largest rho of a Gaussian whose K is below all chords: as it is convex, the vertices suffice."""
        least = min(value / (z * (1 + z)) for z, value in zip(self.z, self.values, strict=True))
        return least * (1 - 16 * ULP)


@lru_cache(maxsize=256)
def _chords(orders: tuple[Fraction, ...], epsilons: tuple[Fraction, ...]) -> Chords:
    points = sorted((a - 1, (a - 1) * epsilon) for a, epsilon in zip(orders, epsilons, strict=True))
    _, *chain = lower_chain([(Fraction(0), Fraction(0)), *points])
    # orders and orders minus one are doubles; the rounding of the values is included in that of the chord
    return Chords(*(tuple(float(x) for x in row) for row in zip(*chain, strict=True)))


@frozen
class RenyiDP(Representative, Primitive):
    """Any mechanism whose Renyi divergences are at most epsilon_i at order a_i, in both directions.

    z D_{1+z} is convex in z and 0 at 0, so that up to the last order it lies below the chords between the bounds; a bound above
    such a chord is replaced by it. Above the last order nothing is known.

    Answers hold for every such mechanism; see :class:`ZCDP`, whose divergences and these add up order by order. The private
    sides are what all orders imply, rounded up; the other ends are those of a Gaussian mechanism whose divergences are nowhere
    larger. So answers are brackets.

    Parameters
    ----------
    orders
        The orders: different numbers from 1.000001 to 10^6, which are rounded to doubles.
    epsilons
        Bounds of the divergences at these orders, in nats: each from 1e-12 to 250, or 0, where nothing leaks.
    adjacency
        The relation under which they hold: one in which both directions count.

    Raises
    ------
    ValueError, TypeError
        If the lists differ in length or are empty, a number is outside its range, or the relation has one direction only.

    References
    ----------
    Mironov 2017, Definition 4 and Proposition 1 (composition); [AFA] Appendix F (the conversion).

    Examples
    --------
    >>> round((10 * RenyiDP(orders=[4, 8, 16, 32], epsilons=[0.02, 0.04, 0.08, 0.16])).epsilon(1e-6).upper, 4)
    1.4717
    """

    orders: Reals
    epsilons: Reals
    adjacency: Relation = ADD_REMOVE

    def __post_init__(self) -> None:
        orders, epsilons = check.real_array("orders", self.orders), check.real_array("epsilons", self.epsilons)
        check.paired("orders and epsilons", orders, epsilons, "each epsilon belongs to the order at its place")
        for place, (order, epsilon) in enumerate(zip(orders.tolist(), epsilons.tolist(), strict=True)):
            where = f"order={order!r} with epsilon={epsilon!r} at index {place}"
            if not LEAST_ORDER <= order <= LARGEST_ORDER:
                raise ValueError(
                    f"orders must lie between {LEAST_ORDER:.7g} and {LARGEST_ORDER:g}, got {where}: leave out the others; "
                    "a bound of infinite order is a PureDP(epsilon)"
                )
            if epsilon < 0:
                raise ValueError(f"epsilons must not be negative, got {where}: no divergence is")
            if (0 < epsilon < LEAST_EPSILON) or epsilon > LARGEST_EPSILON:
                raise ValueError(
                    f"epsilons must be 0 or lie between {LEAST_EPSILON:g} and {LARGEST_EPSILON:g}, got {where}: leave out "
                    "orders of which nothing useful is known"
                )
        kept = check.entries(self.orders, orders), check.entries(self.epsilons, epsilons)
        if len(set(orders.tolist())) < orders.size:
            raise ValueError(f"orders must not repeat, got {self.orders!r}: of each keep the smaller epsilon")
        self._settle(orders=kept[0], epsilons=kept[1], adjacency=of_both_orders(self.adjacency))

    @property
    def _extreme(self) -> Pair | None:
        """Equal laws, if the divergence of any order is zero."""
        return None if all(self.epsilons) else EQUAL

    @property
    def _curve(self) -> Chords:
        return _chords(tuple(map(Fraction, map(float, self.orders))), tuple(map(meant, self.epsilons)))

    def family(self) -> Family | None:
        """All mechanisms that satisfy the bounds."""
        return None if self._extreme else WithinCurve(self, self._curve, self.adjacency)

    def pair(self) -> Pair:
        """The pair that the divergences imply."""
        return self._extreme or converted(self._curve)
