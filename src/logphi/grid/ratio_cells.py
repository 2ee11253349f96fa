"""Discretizations of a non-negative variable on equally spaced nodes, above and below it in the convex order.

notation: X has finite mass, D(a) = E[(X - a)_+]; node k lies at x_k = x_0 + k h, and cell k between nodes k and k + 1. A law
whose D is larger everywhere, with the same mass and mean, is above in the convex order; sums keep that order.

* Above: the mass of a cell goes to both ends, at the share of its mean. That is the chord of D.
* Below: in cell k the chord is above D by G_k at most. Lowering the nodes by the larger G of the two cells that meet there
  gives a piecewise linear function below D. It is not lowered at the two ends, so that mass and mean are kept. In the first
  cell D is above its tangent at x_0, and the next node is lowered to the tangent; likewise in the last cell. Where the result
  is not convex its chords are taken: a negative mass of a node goes to both neighbours and keeps its mean. That lowers D.

G_k is at most the sum of s (1 - s) h over the masses of the cell, s the share at which they lie; of a density it is at most its
largest value times h^2 / 8.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from logphi.arith.floats import ULP
from logphi.arrays import Array

# measured: the largest number of rounds in which negative masses go to their neighbours; a few suffice
_ROUNDS = 1000
# derived: atoms within this relative distance of a node are on it but for rounding; relative to the atom, not to a cell, as a
# law of the smallest ratios depends on their logarithms
_ON_NODE = 8 * ULP


@dataclass(frozen=True, eq=False)
class RatioCells:
    """Masses on the nodes (``held``); for each cell the masses that go to its lower and upper end, and G / h (``sag``)."""

    start: float
    step: float
    held: Array
    low: Array
    high: Array
    sag: Array

    @staticmethod
    def of_atoms(locations: Array, masses: Array, cells: int) -> RatioCells:
        """The cells of atoms at different locations, the first and the last on nodes."""
        start, end = float(locations.min()), float(locations.max())
        step = (end - start) / cells
        position = (locations - start) / step
        nearest = np.rint(position)
        on_node = np.abs(position - nearest) * step <= _ON_NODE * locations
        held = np.bincount(nearest[on_node].astype(int), masses[on_node], cells + 1).astype(np.float64)
        cell, mass = np.floor(position[~on_node]).astype(int), masses[~on_node]
        share = position[~on_node] - cell
        low, high, sag = (
            np.bincount(cell, mass * part, cells).astype(np.float64) for part in (1 - share, share, share * (1 - share))
        )
        return RatioCells(start, step, held, low, high, sag)

    @property
    def nodes(self) -> Array:
        """The locations of the nodes."""
        return np.asarray(self.start + self.step * np.arange(self.held.size))

    def above(self) -> Array:
        """Masses on the nodes of a law above in the convex order."""
        masses = self.held.copy()
        masses[:-1] += self.low
        masses[1:] += self.high
        return masses

    def below(self) -> Array:
        """Masses on the nodes of a law below in the convex order.

        Raises
        ------
        ArithmeticError
            If there are too few nodes.
        """
        if not (self.low.any() or self.high.any()):
            return self.held
        drop = np.zeros(self.held.size)
        drop[1:-1] = np.maximum(self.sag[:-1], self.sag[1:])
        # the rounding of sums of neighbouring masses, to which a small mass is compared
        around = np.convolve(self.above(), np.ones(5), "same")
        drop[drop > 0] += 16 * ULP * (drop + around)[drop > 0]
        left = _End(self.held, self.low, self.high, drop, 0).next()
        right = _End(self.held[::-1], self.high[::-1], self.low[::-1], drop[::-1], 0).next()
        while left.node + right.node + 5 < drop.size:
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
    """The node at which a law below begins: below that node its D is the line mean - a, which is at most D.

    The masses by node and cell are those from this node on. From there on D is above its tangent at the node.
    """

    held: Array
    near: Array
    far: Array
    drop: Array
    node: int

    @cached_property
    def inside(self) -> Array:
        """The mass up to each node."""
        return np.asarray(np.cumsum(self.held) + np.append(0.0, np.cumsum(self.near + self.far)))

    @cached_property
    def over(self) -> Array:
        """(D - line) / h at each node."""
        return np.append(0.0, np.cumsum(self.inside[:-1] + self.near))

    def next(self) -> _End:
        """The first node from here on at which the line meets the lowered function above it."""
        able = self.over[1:] >= np.maximum(self.drop[1:], self.near)
        those = np.flatnonzero(able[self.node :])
        return replace(self, node=self.node + int(those[0]) if those.size else able.size)

    def further(self) -> _End:
        """The next node as the lower end."""
        return replace(self, node=2 * self.node + 1).next()

    def lower(self, drop: Array) -> None:
        """Lower the next node to the tangent."""
        drop[self.node + 1] = max(drop[self.node + 1], self.near[self.node])

    def close(self, masses: Array, drop: Array) -> None:
        """Set the masses up to the next node from the slopes of the line and of the lowered nodes."""
        j = self.node
        masses[:j] = 0.0
        # these differences do not cancel where the node is lowered to the tangent, as an end may have a tiny mass
        masses[j] = self.over[j] + self.inside[j] - (drop[j + 1] - self.near[j])
        further = self.far[j] + self.held[j + 1] + self.near[j + 1]
        masses[j + 1] = further + 2 * drop[j + 1] - drop[j + 2] - self.over[j]


def _without_negative(masses: Array) -> tuple[Array, int]:
    """The masses with negative ones moved to the nearest positive nodes, and the side on which there is none."""
    locations = np.flatnonzero(masses)
    own = masses[locations]
    for _ in range(_ROUNDS):
        negative = own < 0
        if not negative.any():
            result = np.zeros_like(masses)
            result[locations] = own
            return result, 0
        # of two neighbours only the first, so that neither receives the other's negative mass
        giving = np.flatnonzero(negative & ~np.append(False, negative[:-1]))
        if giving[0] == 0:
            return masses, -1
        if giving[-1] == own.size - 1:
            return masses, 1
        left, right = locations[giving] - locations[giving - 1], locations[giving + 1] - locations[giving]
        gift = own[giving] / (left + right)
        np.add.at(own, giving - 1, gift * right)
        np.add.at(own, giving + 1, gift * left)
        locations, own = np.delete(locations, giving), np.delete(own, giving)
    return masses, -1
