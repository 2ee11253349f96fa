"""Very many atoms on a lattice: the nodes of a fine quadrature, or rounded cells of a density.

A cell of the lattice with several atoms has its chord lowered like that of a density; in a cell with few atoms, these are
rounded down to the node below.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from logphi.arith.floats import ULP
from logphi.arith.summation import log_sum
from logphi.arrays import Array
from logphi.grid.cell_masses import CellMasses
from logphi.grid.chords import Chords
from logphi.grid.discretizer import Discretizer
from logphi.grid.lattice_law import Grid, LatticeLaw
from logphi.normal.errors import MASS, SHARE

# measured: the mass of an atom at an end of the support from which on it should be on a node
_ATOM = 1e-3
# measured: with fewer atoms in a cell, neighbouring cells differ too much to lower chords
_SEVERAL = 4
# derived: lowering a chord by less than this share of its mass is no worse than rounding down
_STRAIGHT = 1e-9
# derived: e^-700 is near the smallest normal double
_DEEP = 700.0


@dataclass(frozen=True, eq=False)
class Samples(Discretizer):
    """Atoms at losses in ascending order, with the logarithms of their P-masses, and a P-mass at ``infinite`` loss.

    Both are taken as exact. The error of a quadrature of two densities is an estimate, like their law itself.
    """

    loss: Array
    log_p: Array
    infinite: float = 0.0

    @property
    def top(self) -> float:
        """The highest atom."""
        if self.infinite:
            return np.inf
        last = float(self.loss[-1])
        return last + 4 * ULP * (1 + abs(last))

    @property
    def endless(self) -> bool:
        """True: the highest atoms may have negligible mass."""
        return True

    @property
    def spans(self) -> Array:
        """The width of the support, if both ends have atoms."""
        loss, log_p = self.loss, self.log_p
        ends = [np.exp(log_p[np.abs(loss - end) < 1e-12]).sum() for end in (loss[0], loss[-1])]
        return np.array([loss[-1] - loss[0]]) if min(ends) > _ATOM else np.zeros(0)

    def approximate(self, u: Array, cut: float) -> Array:
        """A sum over some of the atoms."""
        loss, log_p = self.loss[: self._end(cut)], self.log_p[: self._end(cut)]
        every = max(1, loss.size // 4096)
        start = np.arange(0, loss.size, every)
        share = np.log(np.add.reduceat(np.exp(log_p), start) + 1e-300)
        return log_sum(share + u[:, None] * loss[start])

    def _end(self, cut: float) -> int:
        """The number of atoms that remain if a P-mass of about e^cut is cut off above; at least one."""
        tail = np.cumsum(np.exp(self.log_p[::-1]))[::-1]
        return max(int(np.count_nonzero(tail > np.exp(max(cut, -_DEEP)))), 1)

    def on(self, grid: Grid) -> LatticeLaw:
        """Cells below the highest atom, which lies on a node."""
        h, alpha = grid.step, 1 + grid.tilt
        loss, log_p = self.loss, self.log_p
        weight: Array = log_p + grid.tilt * loss
        kept = np.arange(loss.size) < self._end(grid.cut)
        kept &= weight > weight[kept].max() - min(grid.depth, _DEEP)
        kept &= loss > loss[kept][-1] - grid.most * h
        whole = float(log_sum(weight))
        dropped = np.where(kept, -np.inf, weight)
        first, last = loss[kept][0], loss[kept][-1]
        above, below = (float(np.exp(log_sum(np.where(side, dropped, -1e300)) - whole)) for side in (loss > last, loss < first))
        omitted_mass = float(np.exp(np.where(loss > last, log_p, -np.inf)).sum()) + self.infinite
        above = np.inf if self.infinite else above
        loss, log_q = loss[kept], log_p[kept] - loss[kept]
        count = int(max(np.ceil((last - first) / h), 1))
        origin = last - count * h
        cell_index = np.clip(np.floor((loss - origin) / h), 0, count - 1).astype(np.int64)
        exponent = log_q + alpha * (origin + cell_index * h)
        peak = float(exponent.max())
        weight, held = np.exp(exponent - peak), np.bincount(cell_index, minlength=count)
        own = np.expm1(np.clip(loss - origin - cell_index * h, 0, h)) / np.expm1(h)
        # the chord of an atom at the share s is above D by s (1 - s) times its mass
        mass, upper, gap = (
            np.bincount(cell_index, weight * part, count).astype(float) for part in (np.ones(own.size), own, own * (1 - own))
        )
        size = float(np.abs(log_q).max() + alpha * np.abs(loss).max() + abs(peak))
        error = np.asarray(MASS + ULP * (4 * size + held), dtype=float)
        share_error = np.asarray(SHARE * (4 + (abs(origin) + count * h) / h + held), dtype=float)
        some = np.maximum(mass, 1e-300)
        share, sag = np.clip(upper / some, 0.0, 1.0), gap / some + share_error
        coarse = (held < _SEVERAL) & (sag > _STRAIGHT)
        index = np.arange(count, dtype=np.int64)
        with np.errstate(divide="ignore"):  # empty cells
            log_mass = np.log(mass) + peak - alpha * (origin + index * h)
        location_error = 8 * ULP * (abs(origin) + count * h)
        cells = CellMasses(index, log_mass, error, share, share_error, sag, location_error, float(origin))
        law = Chords(cells, grid, coarse=coarse).law()
        return replace(law, omitted_above=above, omitted_mass=omitted_mass, omitted_below=below if grid.upper else 0.0)
