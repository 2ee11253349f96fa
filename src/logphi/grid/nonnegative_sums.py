"""Sums and products of independent non-negative variables, above and below in the convex order, on unequal nodes.

The mass of a cell between two nodes goes to its mean, which is below, or to both nodes with the same mean, which is above. Sums
and products keep the convex order, as both are linear in each variable; so those of many copies are found by doubling, with few
atoms each time. Nodes lie close where tails fall fast: a cell has a small part of each tail that begins in it, under the law
itself and under its size-biased law, whose density is that of the law times its value.

Rounding: all masses are sums of products of positive numbers. A mean that is rounded is that of places with a small relative
error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from logphi.arith.floats import ULP
from logphi.arrays import Array

# measured: an addition of so many atoms to as many takes a twentieth of a second, and profiles are known to a hundredth or so;
# for few copies, with few additions, there are more atoms
_ATOMS, _MORE, _FEW = 1000, 2000, 8
# measured: with so many blocks of neighbouring atoms, the nodes are about as good as with all
_BLOCKS = 1 << 15
# chosen: the logarithms of tails below which nodes are not closer; profiles depend on the lower tail of a law far down, and on
# the upper tail of its size-biased law, and on the other two as much as on their mass
_DEEP, _SHALLOW = -70.0, -20.0
# derived: smaller masses lose digits
_LEAST = 1e-300


@dataclass(frozen=True, eq=False)
class NonnegativeAtoms:
    """Masses at increasing places, with relative errors of both; a mass of ``omitted`` at most is left out."""

    places: Array
    masses: Array
    place_error: float
    mass_error: float
    omitted: float

    def sum_of(self, count: int, *, upper: bool) -> NonnegativeAtoms:
        """The sum of so many copies: a law above it, or one below."""
        return self._repeated(count, np.add, upper=upper)

    def product_of(self, count: int, *, upper: bool) -> NonnegativeAtoms:
        """The product of so many copies."""
        return self._repeated(count, np.multiply, upper=upper)

    def times(self, other: NonnegativeAtoms, *, upper: bool) -> NonnegativeAtoms:
        """The product of two."""
        return self._few(_MORE, upper=upper)._with(other._few(_MORE, upper=upper), np.multiply, _MORE, upper=upper)

    def _repeated(self, count: int, joined: np.ufunc, *, upper: bool) -> NonnegativeAtoms:
        number = _MORE if count <= _FEW else _ATOMS
        one = total = self._few(number, upper=upper)
        for bit in f"{count:b}"[1:]:
            total = total._with(total, joined, number, upper=upper)
            if bit == "1":
                total = total._with(one, joined, number, upper=upper)
        return total

    def _with(self, other: NonnegativeAtoms, joined: np.ufunc, number: int, *, upper: bool) -> NonnegativeAtoms:
        places, masses = joined.outer(self.places, other.places).ravel(), np.multiply.outer(self.masses, other.masses).ravel()
        order = np.argsort(places, kind="stable")
        masses = masses[order]
        found = NonnegativeAtoms(
            places[order],
            np.where(masses > _LEAST, masses, 0.0),
            ULP + (self.place_error + other.place_error if joined is np.multiply else max(self.place_error, other.place_error)),
            (1 + self.mass_error) * (1 + other.mass_error) - 1 + 2 * ULP,
            self.omitted + other.omitted + masses.size * _LEAST,
        )
        return found._few(number, upper=upper)

    def _few(self, number: int, *, upper: bool) -> NonnegativeAtoms:
        """So many atoms; the last cell holds the largest place only."""
        first = np.arange(0, self.places.size, max(self.places.size // _BLOCKS, 1))
        first = np.append(first[self.places[first] < self.places[-1]], np.searchsorted(self.places, self.places[-1]))
        first = first[np.diff(self.places[first], prepend=-1.0) > 0]
        if first.size > number:
            fallen = _fallen(*(np.add.reduceat(one, first) for one in (self.masses, self.masses * self.places)))
            inside = np.searchsorted(fallen, np.linspace(fallen[0], fallen[-1], number - 1)[1:-1])
            first = first[np.unique([0, *inside, first.size - 1])]
        edges, mass = self.places[first], np.add.reduceat(self.masses, first)
        mean = np.add.reduceat(self.masses * self.places, first) / np.where(mass > 0, mass, 1.0)
        terms = int(np.diff(first, append=self.places.size).max())
        if upper:
            share = np.clip((mean[:-1] - edges[:-1]) / np.diff(edges), 0.0, 1.0)
            places, masses = edges, np.append(mass[:-1] * (1 - share), mass[-1])
            masses[1:] += mass[:-1] * share
        else:
            places, masses = mean, mass
        kept = masses > _LEAST
        error = (1 + self.mass_error) * (1 + ULP * (terms + 8)) - 1 + ULP
        omitted = self.omitted + edges.size * _LEAST
        return NonnegativeAtoms(places[kept], masses[kept], self.place_error + ULP * (3 * terms + 8), error, omitted)


def _fallen(mass: Array, moment: Array) -> Array:
    """The logarithms of lower tails, less those of upper ones, of a law and of its size-biased law; it increases."""
    found = np.zeros(mass.size)
    for weights, depths in ((mass, (_DEEP, _SHALLOW)), (moment, (_SHALLOW, _DEEP))):
        shares = weights / weights.sum()
        for side, tail in zip((1, -1), (np.cumsum(shares), np.cumsum(shares[::-1])[::-1]), strict=True):
            found += side * np.maximum(np.log(np.maximum(tail, _LEAST)), depths[side < 0])
    return found
