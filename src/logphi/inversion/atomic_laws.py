"""Sums of atomic laws: the tilt for a threshold, and the sums of the laws that are on lattices."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from math import comb

import numpy as np

from logphi.arrays import Array
from logphi.inversion.atomic import Atomic, atomic
from logphi.inversion.convolution import Terms
from logphi.inversion.saddle import Interval, minimise
from logphi.inversion.tilted import MOST, LatticeSum, OnLattice, Tilted
from logphi.laws.support import Lattice

# derived: with this tilt an atom weighs e^40 as much as its neighbour below
_STEEP = 40.0
# derived: at this tilt e^{cx} has lost its digits for thresholds above 1e-6
_STEEPEST = 1e9
# measured: the excess is hardly ever below e^-12 of its bound at the saddle; a share of e^-23 of the excess is negligible
_NEGLIGIBLE = 35.0
_CLIPS = 4
# derived: a step for second differences of the logarithm of a transform, as a share of the tilt
_DIFFERENCE = 1e-2
# measured: where a law is far from normal, the density is hardly ever below this multiple of c (c + 1) times the excess
_LEAST_DENSITY = 1e-2

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

    def density(self, tilt: float, x: float) -> float:
        """An estimate of the density at a threshold over the excess, as of a nearly normal tilted law."""
        step = _DIFFERENCE * tilt
        low, here, high = self.approximate(tilt + step * np.array([-1.0, 0.0, 1.0])).tolist()
        deviation = math.sqrt(max((low + high - 2 * here) / step**2, 1e-300))
        ahead = (high - low) / (2 * step) - x
        # the payoff and the normal density in units of the deviation, up to where either has vanished
        y = np.linspace(0.0, 12.0, 1201) * min(deviation, 4 / tilt)
        shape = np.exp(-(((y - ahead) / deviation) ** 2) / 2 - tilt * y)
        excess = float((shape * -np.expm1(-y)).sum()) * float(y[1])
        # a guess where the law is far from normal
        return max(math.exp(-((ahead / deviation) ** 2) / 2) / max(excess, 1e-300), _LEAST_DENSITY * tilt * (tilt + 1))

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
