"""Many laws, each an integral over a curve of one factor, computed together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from logphi.arrays import Array
from logphi.laws.curves.batched import Batched
from logphi.laws.transform import LossTransform, Terms
from logphi.quadrature.curves.common_panels import MANY, BatchNodes, Powers
from logphi.quadrature.curves.curve import Curve
from logphi.quadrature.curves.many_curves import ManyCurves, batchable
from logphi.quadrature.density_envelope import log_density_envelope

# measured: about the number of nodes of a curve
_NODES = 64.0


@dataclass(frozen=True, eq=False)
class BatchedCurved(Batched):
    """The sum of counted laws on similar curves."""

    curves: tuple[Curve, ...]

    def nodes(self, part: slice, powers: Powers) -> BatchNodes | None:
        """The nodes of Gauss-Legendre sums."""
        return self._curves(part).nodes(powers)

    def _curves(self, part: slice) -> ManyCurves:
        return ManyCurves(self.curves[part], self.counts[part])

    def variations(self, abscissa: float) -> tuple[Array, Array] | None:
        """The total variation of each law's tilted density, and the mass share of that density; None if unknown."""
        return self._curves(slice(None)).variation(abscissa + 1)

    def log_envelope(self, abscissa: float, heights: Array, end: float = np.inf) -> Array:
        """From the total variations of the tilted densities."""
        known = _variations(self, abscissa)
        if known is None:
            return super().log_envelope(abscissa, heights, end)
        variation, weight = (part[:, None] for part in known)
        bound: Array = self.counts @ log_density_envelope(variation, heights, weight)
        return bound

    @property
    def sizes(self) -> Array:
        """The nodes of a few panels for each law."""
        return np.full(len(self.terms), _NODES)


# chosen: a line asks several times for the same abscissa, and for few abscissas in all
@lru_cache(maxsize=16)
def _variations(batch: BatchedCurved, abscissa: float) -> tuple[Array, Array] | None:
    return batch.variations(abscissa)


def batched(terms: Sequence[tuple[LossTransform, Curve, int]]) -> Terms:
    """Counted laws, those on similar curves as one term if there are many."""
    able = sorted((one for one in terms if batchable(one[1])), key=lambda one: one[1].end)
    if len(able) < MANY:
        return [(law, count) for law, _, count in terms]
    batch = BatchedCurved(tuple((law, count) for law, _, count in able), tuple(curve for _, curve, _ in able))
    return [(batch, 1), *((law, count) for law, curve, count in terms if not batchable(curve))]
