"""The discretizer of finitely many atoms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from logphi.arith.summation import log_sum
from logphi.arrays import Array
from logphi.grid.cell_masses import CellMasses, atom_cells
from logphi.grid.discretizer import Discretizer
from logphi.grid.lattice_law import Grid, LatticeLaw, atoms_on_lattice, missed

# measured: with more atoms, all offsets and steps fit about equally well
_MANY = 24


@dataclass(frozen=True)
class Atoms(Discretizer):
    """Atoms at ``locations`` with logarithms of P-masses; ``location_error`` bounds the errors of both."""

    locations: tuple[float, ...]
    log_p: tuple[float, ...]
    location_error: float

    @property
    def top(self) -> float:
        """The highest atom."""
        return max(self.locations) + self.location_error

    def misfit(self, steps: Array, tilt: float) -> Array:
        """The change of the tilted mean by rounding down, for each step, if node 0 is the best-fitting atom."""
        least: Array = self._misfits(steps, tilt).min(axis=0)
        return least

    def _misfits(self, steps: Array, tilt: float) -> Array:
        """The change of the tilted mean by rounding down, for each atom as node 0 and each step."""
        r, log_p = np.asarray(self.locations), np.asarray(self.log_p)
        weight = np.exp(log_p + tilt * r - (log_p + tilt * r).max())
        if r.size > _MANY:
            return np.broadcast_to(steps / 2, (r.size, steps.size))
        lost = missed((r[:, None] - r)[:, :, None] / steps)
        moved: Array = (weight[:, None] * lost.transpose(1, 0, 2)).sum(axis=1) / weight.sum() * steps
        return moved

    @property
    def spans(self) -> Array:
        """The distances of the atoms from the lowest one."""
        r = np.unique(self.locations)
        if r.size > _MANY:
            return np.zeros(0)
        return np.unique(r[1:] - r[0])

    def approximate(self, u: Array, cut: float) -> Array:
        """The sum over the atoms."""
        return log_sum(np.asarray(self.log_p) + u[:, None] * np.asarray(self.locations))

    def on(self, grid: Grid) -> LatticeLaw:
        """Atoms split over two nodes, or rounded down; node 0 is the atom that fits best."""
        r, log_p = np.asarray(self.locations), np.asarray(self.log_p)
        base = int(np.argmin(self._misfits(np.array([grid.step]), grid.tilt)[:, 0]))
        return atoms_on_lattice(grid, r - r[base], log_p, float(r[base]), self.location_error)

    def cells(self, first: int, last: int, h: float, upper: bool) -> CellMasses:
        """Each atom in its cell."""
        return atom_cells(np.asarray(self.locations), np.asarray(self.log_p), self.location_error, h)
