"""The log-ratio of two sampled densities, on a lattice: the nodes of a fine quadrature as atoms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from logphi.arith.floats import ULP
from logphi.numerics.lattice_law import MASS, SHARE, Array, Cells, Grid, LatticeLaw, log_sum
from logphi.numerics.laws.densities import Densities

# measured: at these ends of the support so much mass is an atom that the step should respect
_ATOM = 1e-3
# beyond it a tilted weight is nothing
_DEEP = 700.0


@dataclass(frozen=True)
class Samples:
    """Atoms at the losses of the nodes. What the atoms miss of the densities is an estimate, like the law itself."""

    law: Densities

    @property
    def _atoms(self) -> tuple[Array, Array]:
        return _atoms(self.law)

    @property
    def top(self) -> float:
        """The highest node."""
        return float(self._atoms[0][-1]) * (1 + 4 * ULP) + 4 * ULP

    @property
    def endless(self) -> bool:
        """The nodes end."""
        return False

    @property
    def spans(self) -> Array:
        """The width of the support, where both ends have atoms."""
        loss, log_p = self._atoms
        ends = [np.exp(log_p[np.abs(loss - end) < 1e-12]).sum() for end in (loss[0], loss[-1])]
        return np.array([loss[-1] - loss[0]]) if min(ends) > _ATOM else np.zeros(0)

    def misfit(self, steps: Array, tilt: float) -> Array:
        """The cells fit any step."""
        return np.zeros_like(steps)

    def sketch(self, u: Array, cut: float) -> Array:
        """A sum over some of the atoms."""
        loss, log_p = self._atoms
        every = max(1, loss.size // 4096)
        start = np.arange(0, loss.size, every)
        share = np.log(np.add.reduceat(np.exp(log_p), start) + 1e-300)
        return log_sum(share + u[:, None] * loss[start])

    def on(self, grid: Grid) -> LatticeLaw:
        """Cells below the highest atom, which lies on a node."""
        h, alpha = grid.step, 1 + grid.tilt
        loss, log_p = self._atoms
        weight = log_p + grid.tilt * loss
        kept = weight > weight.max() - min(grid.reach, _DEEP)
        whole = float(log_sum(weight))
        dropped = np.where(kept, -np.inf, weight)
        first, last = loss[kept][0], loss[kept][-1]
        above, below = (float(np.exp(log_sum(np.where(side, dropped, -1e300)) - whole)) for side in (loss > last, loss < first))
        lost_mass = float(np.exp(np.where(loss > last, log_p, -np.inf)).sum())
        loss, log_p = loss[kept], log_p[kept]
        count = int(min(max(np.ceil((last - first) / h), 1), grid.most))
        origin = last - count * h
        inside = loss >= origin
        loss, log_q = loss[inside], log_p[inside] - loss[inside]
        place = np.clip(np.floor((loss - origin) / h), 0, count - 1).astype(np.int64)
        exponent = log_q + alpha * (origin + place * h)
        peak = float(exponent.max())
        mass: Array = np.bincount(place, np.exp(exponent - peak), count).astype(float)
        gain = np.bincount(place, np.exp(exponent - peak) * np.expm1(np.clip(loss - origin - place * h, 0, h)), count)
        share = np.clip(gain / np.maximum(mass, 1e-300) / np.expm1(h), 0.0, 1.0)
        share_error = np.full(count, SHARE * (4 + (abs(origin) + count * h) / h))
        size = float(np.abs(log_q).max() + alpha * np.abs(loss).max() + abs(peak))
        # the chord is nowhere further from the curve than if all mass were at the mean
        cells = Cells(
            mass, np.full(count, MASS + 4 * ULP * size), share, share_error, share * (1 - share) + share_error, alpha, h, False
        )
        slack = 8 * ULP * (abs(origin) + count * h)
        nodes = cells.above() if grid.upper else cells.below()
        places = np.arange(count + 1, dtype=np.int64)
        return LatticeLaw(places, nodes, peak, float(origin), slack, above, lost_mass, below if grid.upper else 0.0)


@lru_cache(maxsize=8)
def _atoms(law: Densities) -> tuple[Array, Array]:
    """Losses in order, and the logarithms of their P-masses."""
    loss, log_p = law.atoms()
    order = np.argsort(loss)
    return loss[order], log_p[order]
