"""A non-negative variable on equally spaced nodes, above and below it in the convex order.

notation: X has finite mass, D(a) = E[(X - a)_+]; node k lies at x_k = x_0 + k h, and cell k between nodes k and k + 1. A law
whose D is larger everywhere, with the same mass and mean, is above in the convex order; sums keep that order.

* Above: the mass of a cell goes to both ends, at the share of its mean. That is the chord of D.
* Below: in cell k the chord is above D by G_k at most. Lowering the nodes by the larger G of the two cells that meet there
  gives a piecewise linear function below D. It is not lowered at the two ends, so that mass and mean stay. In the first cell
  D is above its tangent at x_0, and the next node is lowered to that; so it is at the other end. Where the result is not
  convex its chords are taken: a node of negative mass gives it to both neighbours, at their distances. That lowers D.

G_k is at most the sum of s (1 - s) h over the masses of the cell, s the share at which they lie; of a density it is at most its
largest value times h^2 / 8.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from logphi.arith.floats import ULP
from logphi.arrays import Array

# measured: between atoms that are not on nodes, negative masses find a positive one in a few rounds
_ROUNDS = 1000
# derived: atoms that are on a node but for rounding; their places move by less than a few ulps
_ON_NODE = 8 * ULP


@dataclass(frozen=True, eq=False)
class RatioCells:
    """Masses on the nodes, ``held``; and by cell what goes to its lower and upper end, and G / h, ``sag``."""

    start: float
    step: float
    held: Array
    low: Array
    high: Array
    sag: Array

    @staticmethod
    def of_atoms(places: Array, masses: Array, cells: int) -> RatioCells:
        """Of atoms at different places; the first and the last are on nodes."""
        start, end = float(places.min()), float(places.max())
        step = (end - start) / cells
        position = (places - start) / step
        nearest = np.rint(position)
        on_node = np.abs(position - nearest) <= _ON_NODE * (1 + position)
        held = np.bincount(nearest[on_node].astype(int), masses[on_node], cells + 1).astype(np.float64)
        cell, mass = np.floor(position[~on_node]).astype(int), masses[~on_node]
        share = position[~on_node] - cell
        low, high, sag = (
            np.bincount(cell, mass * part, cells).astype(np.float64) for part in (1 - share, share, share * (1 - share))
        )
        return RatioCells(start, step, held, low, high, sag)

    @property
    def nodes(self) -> Array:
        """The places of the nodes."""
        return np.asarray(self.start + self.step * np.arange(self.held.size))

    def above(self) -> Array:
        """Masses on the nodes, of a law above."""
        masses = self.held.copy()
        masses[:-1] += self.low
        masses[1:] += self.high
        return masses

    def below(self) -> Array:
        """Masses on the nodes, of a law below.

        Raises
        ------
        ArithmeticError
            If there are too few nodes for one.
        """
        if not (self.low.any() or self.high.any()):
            return self.held
        drop = np.zeros(self.held.size)
        drop[1:-1] = np.maximum(self.sag[:-1], self.sag[1:])
        # what sums of the masses around may lose, beside which a mass may be small
        around = np.convolve(self.above(), np.ones(5), "same")
        drop[drop > 0] += 16 * ULP * (drop + around)[drop > 0]
        left = _End(self.held, self.low, self.high, drop, 0).next()
        right = _End(self.held[::-1], self.high[::-1], self.low[::-1], drop[::-1], 0).next()
        while left.place + right.place + 5 < drop.size:
            masses = self.above()
            lowered = drop.copy()
            left.lower(lowered)
            right.lower(lowered[::-1])
            slope = np.diff(lowered)
            masses[:-1] -= slope
            masses[1:] += slope
            left.close(masses, lowered)
            right.close(masses[::-1], lowered[::-1])
            masses, stuck = _without_negative(masses)
            if not stuck:
                return masses
            left, right = (left.further(), right) if stuck < 0 else (left, right.further())
        raise ArithmeticError("no law on these nodes is below: take more of them")


@dataclass(frozen=True, eq=False)
class _End:
    """The lower end of a law below, at a node: further down its D is the line mean - a, which is below D too.

    The masses by node and cell are those from this end on. From the node on D is above its tangent there.
    """

    held: Array
    near: Array
    far: Array
    drop: Array
    place: int

    @cached_property
    def inside(self) -> Array:
        """The mass up to each node."""
        return np.asarray(np.cumsum(self.held) + np.append(0.0, np.cumsum(self.near + self.far)))

    @cached_property
    def over(self) -> Array:
        """(D - line) / h at each node."""
        return np.append(0.0, np.cumsum(self.inside[:-1] + self.near))

    def next(self) -> _End:
        """The first node from here at which the line meets what lies below D further up."""
        able = self.over[1:] >= np.maximum(self.drop[1:], self.near)
        those = np.flatnonzero(able[self.place :])
        return replace(self, place=self.place + int(those[0]) if those.size else able.size)

    def further(self) -> _End:
        """A node further up."""
        return replace(self, place=2 * self.place + 1).next()

    def lower(self, drop: Array) -> None:
        """The next node, to the tangent."""
        drop[self.place + 1] = max(drop[self.place + 1], self.near[self.place])

    def close(self, masses: Array, drop: Array) -> None:
        """The masses up to the next node: their slopes are that of the line, and those of the lowered nodes."""
        j = self.place
        masses[:j] = 0.0
        # as differences that do not cancel where the node is lowered to the tangent: an end may be rarer than their digits
        masses[j] = self.over[j] + self.inside[j] - (drop[j + 1] - self.near[j])
        further = self.far[j] + self.held[j + 1] + self.near[j + 1]
        masses[j + 1] = further + 2 * drop[j + 1] - drop[j + 2] - self.over[j]


def _without_negative(masses: Array) -> tuple[Array, int]:
    """Negative masses given to the nearest nodes that have any, and on which side there is none."""
    places = np.flatnonzero(masses)
    own = masses[places]
    for _ in range(_ROUNDS):
        negative = own < 0
        if not negative.any():
            result = np.zeros_like(masses)
            result[places] = own
            return result, 0
        # of neighbours the first, so that no two give to one another
        giving = np.flatnonzero(negative & ~np.append(False, negative[:-1]))
        if giving[0] == 0:
            return masses, -1
        if giving[-1] == own.size - 1:
            return masses, 1
        left, right = places[giving] - places[giving - 1], places[giving + 1] - places[giving]
        gift = own[giving] / (left + right)
        np.add.at(own, giving - 1, gift * right)
        np.add.at(own, giving + 1, gift * left)
        places, own = np.delete(places, giving), np.delete(own, giving)
    return masses, -1
