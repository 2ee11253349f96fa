"""Atoms of laws tilted by e^{cx}, and of sums of such laws on lattices.

notation: mu an atomic law, c a tilt near the saddle of the threshold. The weights are those of e^{cx - K} mu(dx), with a K
close to log M(c), so that they sum to about one, and the atoms that determine the answer are near the mean. A share e of the
weights that is left out adds at most kappa(c) e^{K - cx} e to the excess at x.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arrays import Array
from logphi.inversion.atoms import integer_sums
from logphi.inversion.atoms.convolution import Atoms, Group, power
from logphi.laws.support import Lattice, Pieces

# derived: a share of e to minus this is far below the rounding of a sum of weights
DEPTH = 45.0
# measured: this many atoms are summed in a tenth of a second
MOST = 1 << 19
# derived: weights below e to this are near the smallest double, and negligible in every sum
_DEEPEST = -600.0
# derived: a share far below the rounding of the whole
_LEAST = 1e-19
# derived: the index of an atom on its lattice differs from an integer by rounding only
_OFF = 1e-3
# derived: integers up to this, and sums of this many of them, are exact
_FARTHEST = 2.0**40


@dataclass(frozen=True, eq=False)
class Tilted:
    """Weights at ascending locations; ``location_error`` bounds the error of each location.

    Weights have a ``relative_error``, with the error of their common unit, and an ``absolute_error``. A share of ``omitted`` is
    at unknown locations.
    """

    location: Array
    weight: Array
    log_scale: float
    location_error: float
    relative_error: float
    absolute_error: float = 0.0
    omitted: float = 0.0

    def __len__(self) -> int:
        return self.location.size

    def untilted(self, tilt: float) -> Group:
        """The atoms by their weights under e^{-x/2} mu(dx), without those of weight zero."""
        held = np.flatnonzero(self.weight > 0)
        location, weight = self.location[held], self.weight[held]
        log_weight = np.log(weight) + self.log_scale - (tilt + 0.5) * location
        size = np.abs(np.log(weight)) + abs(self.log_scale) + 2 * (tilt + 0.5) * np.abs(location)
        atoms = Atoms(location, log_weight, self.absolute_error / weight + ELEMENTARY + ULP * size)
        # the tilt of the weights counts the errors of the locations
        relative_error = self.relative_error + (tilt + 0.5) * self.location_error
        return Group(atoms, (), 0.0, self.location_error, relative_error)

    @property
    def between(self) -> tuple[Array, Array]:
        """Lower and upper bounds of each weight."""
        return (
            np.maximum(self.weight * (1 - min(self.relative_error, 1.0)) - self.absolute_error, 0.0),
            self.weight * (1 + self.relative_error) + self.absolute_error,
        )

    def repeated(self, count: int) -> Tilted:
        """The sum of ``count`` equal laws with one atom."""
        relative = math.expm1(min(count * (self.relative_error + ULP * (2 + abs(self.log_scale))), 700.0))
        return Tilted(
            count * self.location,
            self.weight**count,
            count * self.log_scale,
            count * (self.location_error + ULP * abs(float(self.location[0]))),
            relative,
            omitted=count * self.omitted,
        )

    def drawn(self, count: int) -> Tilted:
        """The sum of ``count`` equal laws, with an atom for each multiset of their atoms."""
        if count == 1:
            return self
        log_weights = np.log(self.weight)
        draws = power(Pieces(tuple(self.location.tolist()), tuple(log_weights.tolist())), count)
        size = 2 * math.lgamma(count + 1) + count * float(np.abs(log_weights).max())
        error = count * (self.relative_error + ULP * (2 + abs(self.log_scale))) + 4 * ULP * size
        location_errors = count * (self.location_error + 2 * ULP * float(np.abs(self.location).max()))
        found = normalized(draws.location, draws.log_weight, location_errors, error, count * self.omitted)
        return replace(found, log_scale=found.log_scale + count * self.log_scale)

    def convolve(self, other: Tilted) -> Tilted:
        """The convolution: all sums of two locations, in order."""
        location = np.add.outer(self.location, other.location).ravel()
        weight = np.multiply.outer(self.weight, other.weight).ravel()
        # weights of a share of one ulp of the whole are left out
        held = np.flatnonzero(weight > _LEAST / weight.size)
        order = held[np.argsort(location[held], kind="stable")]
        return Tilted(
            location[order],
            weight[order],
            self.log_scale + other.log_scale,
            self.location_error + other.location_error + ULP * float(np.abs(location).max()),
            self.relative_error + other.relative_error + 2 * ULP + ULP * (abs(self.log_scale) + abs(other.log_scale)),
            _crossed(self, other),
            self.omitted + other.omitted + _LEAST,
        )


NOTHING = Tilted(np.zeros(1), np.ones(1), 0.0, 0.0, 0.0)


def _crossed(one: Tilted, other: Tilted) -> float:
    """A bound of the absolute error of a product of two weights."""
    largest = [float(part.weight.max()) + part.absolute_error for part in (one, other)]
    return one.absolute_error * largest[1] + other.absolute_error * largest[0]


def normalized(location: Array, log_weight: Array, location_error: float, error: float, omitted: float = 0.0) -> Tilted:
    """Atoms from the logarithms of their tilted weights, which have an error of ``error`` and of their rounding."""
    peak = float(log_weight.max())
    held = np.flatnonzero(log_weight - peak > _DEEPEST)
    order = held[np.argsort(location[held], kind="stable")]
    location, weight = location[order], np.exp(log_weight[order] - peak)
    total = float(weight.sum())
    relative = error + ELEMENTARY * (2 + abs(peak)) + ULP * (8 + math.log2(location.size + 1))
    omitted = (omitted + (log_weight.size - held.size) * math.exp(_DEEPEST)) / total
    return Tilted(location, weight / total, peak + math.log(total), location_error, relative, 0.0, omitted)


@dataclass(frozen=True, eq=False)
class OnLattice:
    """The atoms of one law on a lattice of its own, of which ``weights.count`` copies are summed."""

    law: Tilted
    lattice: Lattice
    weights: integer_sums.IntegerMeasure

    @staticmethod
    def of(law: Tilted, lattice: Lattice, count: int, tilt: float) -> OnLattice | None:
        """The atoms of a tilted law on a lattice; None if an atom is off the lattice."""
        position = (law.location - lattice.offset) / lattice.span
        index = np.rint(position)
        if (np.abs(position - index) > _OFF).any() or np.abs(index).max() > _FARTHEST:
            return None
        whole = index.astype(np.int64)
        weight: Array = np.bincount(whole - whole[0], law.weight).astype(np.float64, copy=False)
        held = np.flatnonzero(weight)
        # the tilt of the weights was at the locations of the law, and is counted at those of the lattice
        moved = np.abs(law.location - (lattice.offset + lattice.span * index)) + 8 * ULP * np.abs(law.location)
        law = replace(law, relative_error=law.relative_error + tilt * float(moved.max()) + 4 * ULP * tilt * abs(lattice.offset))
        return OnLattice(law, lattice, integer_sums.IntegerMeasure(held + whole[0], weight[held], count))

    @property
    def start(self) -> float:
        """The location of index 0 in the sum of all copies, in spans; exact for a symmetric lattice."""
        return self.weights.count * (self.lattice.offset / self.lattice.span)

    @property
    def location_error(self) -> float:
        """The location error of the sum of all copies, apart from a common scale error."""
        count, offset = self.weights.count, self.lattice.offset
        whole = (2 * offset / self.lattice.span).is_integer()
        return count * (self.lattice.location_error + (0.0 if whole else 2 * ULP * abs(offset)))


@dataclass(frozen=True, eq=False)
class LatticeSum:
    """The sum of counted laws on lattices of one span, for indices from ``first`` to ``last``."""

    laws: tuple[OnLattice, ...]
    first: int
    last: int

    @staticmethod
    def of(laws: Sequence[OnLattice]) -> LatticeSum:
        """The sum for all indices that are not negligible."""
        return LatticeSum(tuple(laws), *integer_sums.effective_range([law.weights for law in laws], DEPTH))

    def __len__(self) -> int:
        # Python allows no larger length
        return min(self.last - self.first + 1, sys.maxsize)

    def _total(self, number: Callable[[Tilted], float]) -> float:
        return sum(one.weights.count * number(one.law) for one in self.laws)

    def composed(self) -> Tilted:
        """The atoms of the sum."""
        own, span = self.laws[0].weights, self.laws[0].lattice.span
        relative = self._total(lambda law: law.relative_error + ULP * (2 + 4 * abs(law.log_scale)))
        first, absolute, tails = self.first, 0.0, 2 * math.exp(-DEPTH)
        if len(self.laws) == 1 and own.index.size == 2 and own.index[1] - own.index[0] == 1:
            low, weight, wrong = integer_sums.binomial(float(own.weight[0]), float(own.weight[1]), own.count, DEPTH)
            first = low + own.count * int(own.index[0])
            relative += wrong
        else:
            weight, absolute = integer_sums.summed([one.weights for one in self.laws], self.first, self.last)
        location = span * (sum(one.start for one in self.laws) + np.arange(first, first + weight.size, dtype=np.float64))
        return Tilted(
            location,
            weight,
            self._total(lambda law: law.log_scale),
            self._location_error(float(np.abs(location).max())),
            math.expm1(min(relative, 700.0)),
            absolute + tails,
            self._total(lambda law: law.omitted) + tails,
        )

    def _location_error(self, farthest: float) -> float:
        """A common scale error remains one; different ones are multiplied by the locations of each law."""
        location_errors = sum(one.location_error for one in self.laws) + 4 * ULP * farthest
        if len(self.laws) == 1:
            return location_errors + self.laws[0].lattice.scale_error * farthest
        ends = [one.weights.count * one.lattice.scale_error * float(np.abs(one.law.location).max()) for one in self.laws]
        return location_errors + sum(ends)
