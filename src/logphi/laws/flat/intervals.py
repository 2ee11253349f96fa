"""Many laws on intervals [-w, w] that differ in w only, as matrices with a row for each law and a column for each point."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import FLOATS, ULP, Discs
from logphi.arith.protocol import Arithmetic, Number, Parameter
from logphi.arrays import Array
from logphi.laws.block_envelope import log_block_of_sizes
from logphi.laws.traits import Traits
from logphi.laws.transform import LossTransform, Terms
from logphi.quadrature.approximation import Approximation
from logphi.quadrature.values import Values

# measured: the number of laws from which a matrix is quicker
_MANY = 8
# derived: a few dozen roundings of numbers of at most two
_SIZE_ROUNDING = 256 * ULP
# measured: the largest number of entries of a matrix
_ENTRIES = 1 << 17


def log_block_from_sizes(
    width: Discs, size: Callable[[Any, Array, float], Array], abscissa: float, centres: Array, radius: float
) -> Array:
    """Bounds on blocks from |M(c + it)|/M(c) in doubles, a function of w, t and r = |c + 1/2|.

    Its derivative in w is at most 2 (1 + r + t).
    """
    w, rate = np.abs(width.mid), abs(abscissa + 0.5)
    wrong = 4 * (1 + rate + centres) * (width.rad + 4 * ULP * w) + _SIZE_ROUNDING
    half_width = (w + width.rad) * (1 + 1e-12)
    return log_block_of_sizes(size(w, centres, rate) + wrong, half_width, half_width, radius)


@dataclass(frozen=True, eq=False)
class Column:
    """A column vector of parameters, as doubles with their errors."""

    discs: Discs

    def under(self, arith: Arithmetic) -> Number:
        """The column; doubles only."""
        return self.discs


@dataclass(frozen=True, eq=False)
class BatchedOnIntervals(LossTransform):
    """The sum of counted laws; ``law`` makes one of them, or a column of them, from the parameter w."""

    law: Callable[[Parameter], LossTransform]
    widths: tuple[tuple[Parameter, int], ...]
    mid: Array
    rad: Array
    counts: Array

    @staticmethod
    def of(law: Callable[[Parameter], LossTransform], widths: Sequence[tuple[Parameter, int]]) -> Terms:
        """The sum as a single term; None for a few laws, which are faster one by one."""
        if len(widths) < _MANY:
            return ()
        known = [width.under(FLOATS) for width, _ in widths]
        mid, rad = (np.array([float(getattr(one, name)) for one in known]) for name in ("mid", "rad"))
        # w and -w give the same law
        counts = np.array([float(count) for _, count in widths])
        return ((BatchedOnIntervals(law, tuple(widths), np.abs(mid), rad, counts), 1),)

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z), the sum of the terms."""
        return reduce(add, (count * self.law(width).formula(arith, z) for width, count in self.widths))

    # each term is symmetric
    traits = Traits(symmetric=True)

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K at an array of points."""
        points = np.asarray(z).ravel()
        zero = np.zeros(points.size)
        total = Values(zero, zero, zero)
        for rows, law in self._parts(points.size):
            values, counts = law.log_transform(points), self.counts[rows]
            known = np.isfinite(values.mid).all(axis=0)
            mid = np.where(known, values.mid, 0.0)
            # derived: sums of this many products, and counts that are not doubles
            summing = (counts.size + 4) * ULP * (counts @ np.abs(mid))
            rounding = np.where(known, counts @ np.where(known, values.rounding, 0.0) * (1 + 1e-9) + summing, np.inf)
            total += Values(np.where(known, counts @ mid, np.inf), rounding, zero)
        return Values(*(part.reshape(np.shape(z)) for part in (total.mid, total.rounding, total.inner)))

    @property
    def approximate(self) -> Approximation:
        """The sum of the approximations."""
        return Approximation(self._summed)

    def _summed(self, c: Array) -> Array:
        return self._total(c, lambda rows, law: law.approximate(c))

    def log_envelope(self, abscissa: float, heights: Array, end: float = np.inf) -> Array:
        """The sum of the envelopes."""
        return self._total(heights, lambda rows, law: law.log_envelope(abscissa, heights, end))

    def log_block(self, abscissa: float, centres: Array, radius: float, enough: float = -np.inf) -> Array:
        """The sum of the bounds of the laws, on each block of as many as suffice."""
        total = np.zeros(centres.shape)
        waiting = np.arange(centres.size)
        for rows, law in self._parts(centres.size):
            total[waiting] += self.counts[rows] @ law.log_block(abscissa, centres[waiting], radius, enough)
            waiting = waiting[total[waiting] > enough]
            if not waiting.size:
                break
        return total

    def _parts(self, points: int) -> Iterator[tuple[slice, LossTransform]]:
        rows = max(_ENTRIES // max(points, 1), 1)
        for first in range(0, self.mid.size, rows):
            part = slice(first, first + rows)
            yield part, self.law(Column(Discs(self.mid[part, None], self.rad[part, None])))

    def _total(self, points: Array, of: Callable[[slice, LossTransform], Array]) -> Array:
        total = np.zeros(points.shape)
        for rows, law in self._parts(points.size):
            total += self.counts[rows] @ of(rows, law)
        return total
