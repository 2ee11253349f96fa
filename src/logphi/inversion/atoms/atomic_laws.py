"""Sums of atomic laws: the tilt for a threshold, and the sums of the laws that are on lattices."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from math import comb

import numpy as np

from logphi.arrays import Array
from logphi.inversion.atoms.atomic import Atomic, atomic
from logphi.inversion.atoms.tilted import MOST, LatticeSum, OnLattice, Tilted
from logphi.inversion.lines.saddle import Interval, minimise
from logphi.laws.support import Lattice
from logphi.laws.transform import Terms

# derived: with this tilt an atom weighs e^40 as much as its neighbour below
_STEEP = 40.0
# derived: at this tilt e^{cx} has lost its digits for thresholds above 1e-6
_STEEPEST = 1e9
# measured: the excess is hardly ever below e^-12 of its bound at the saddle; derived: e^-23 of the excess is negligible
_NEGLIGIBLE = 35.0
# chosen: how often the highest atoms may be removed
_CLIPS = 4

LatticeSums = tuple[list[LatticeSum | Tilted], list[tuple[Tilted, int]]]


@dataclass(frozen=True)
class Laws:
    """Counted atomic laws, each with its lattice if it has one."""

    laws: tuple[tuple[Atomic, Lattice | None, int], ...]

    @staticmethod
    def of(terms: Terms) -> Laws | None:
        """The atomic laws of a sum; None if a law has other parts."""
        found: list[tuple[Atomic, Lattice | None, int]] = []
        for law, count in terms:
            own = atomic(law)
            if own is None:
                return None
            lattice = law.support.lattice
            found.append((own, lattice if lattice is not None and math.isfinite(lattice.span) else None, count))
        return Laws(tuple(found))

    def for_threshold(self, x: float) -> tuple[Laws, float, float]:
        """The laws without their highest atoms, of negligible mass, a tilt near their saddle, and a bound of that mass.

        Rare high atoms may dominate at the saddle of the whole law.
        """
        laws, dropped = self, 0.0
        tilt, log_excess = laws.saddle(x)
        total = sum(count for *_, count in self.laws)
        for _ in range(_CLIPS):
            clipped = [own.without_highest(log_excess - _NEGLIGIBLE - math.log(total)) for own, *_ in self.laws]
            fewer = Laws(tuple((own, lattice, count) for (own, _), (_, lattice, count) in zip(clipped, self.laws, strict=True)))
            moved, lower = fewer.saddle(x)
            if not lower < log_excess - 1:
                break
            laws, tilt, log_excess = fewer, moved, lower
            dropped = sum(count * mass for (_, mass), (*_, count) in zip(clipped, self.laws, strict=True))
        return laws, tilt, dropped

    def approximate(self, c: Array) -> Array:
        """An approximation of log E[e^{cX}] of the sum."""
        return sum((count * own.approximate(c) for own, _, count in self.laws), np.zeros(c.shape))

    def saddle(self, x: float) -> tuple[float, float]:
        """A tilt at which Chernoff's bound of the excess is about least, and the logarithm of that bound."""
        spans = [lattice.span for _, lattice, _ in self.laws if lattice is not None]
        farthest = _STEEP / min(spans) if spans else _STEEPEST
        found = minimise(lambda c: self.approximate(c) - c * x - np.log(c) - np.log1p(c), Interval(0.0, farthest))
        return found.abscissa, found.value

    def sums(self, tilt: float) -> LatticeSums:
        """The sums of laws on one lattice each, and the other laws with their counts."""
        shared = Counter(lattice.span for _, lattice, _ in self.laws if lattice is not None)
        sums: list[LatticeSum | Tilted] = []
        by_span: dict[float, list[OnLattice]] = {}
        others: list[tuple[Tilted, int]] = []
        for one, lattice, count in self.laws:
            atoms = one.at(tilt)
            own = None if lattice is None else OnLattice.of(atoms, lattice, count, tilt)
            if len(atoms) == 1:
                sums.append(atoms.repeated(count))
            elif own is None or (count == 1 and shared[own.lattice.span] == 1):
                others.append((atoms, count))
            else:
                by_span.setdefault(own.lattice.span, []).append(own)
        return sums + [LatticeSum.of(laws) for laws in by_span.values()], others


def number_of(found: LatticeSums) -> float:
    """The number of atoms that are not negligible."""
    sums, others = found
    return math.prod((len(run) for run in sums), start=1.0) * math.prod(ways(*one) for one in others)


def ways(atoms: Tilted, count: int) -> float:
    """The number of multisets of ``count`` atoms."""
    return float(min(comb(count + len(atoms) - 1, count), 10**300)) if count <= MOST else math.inf
