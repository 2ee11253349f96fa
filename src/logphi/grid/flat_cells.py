"""The discretizer of a flat law, which is uniform on [-w, w] after tilting by e^{-x/2}, perhaps with atoms at the ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from logphi.arith.doubles import DOUBLES
from logphi.arith.floats import ULP
from logphi.arith.summation import log_sum
from logphi.arrays import Array
from logphi.grid.cell_masses import CellMasses, atom_cells
from logphi.grid.discretizer import Discretizer, DoubleInterval
from logphi.grid.lattice_law import Grid, LatticeLaw, TiltedCells, atoms_on_lattice, joined, missed
from logphi.laws.flat_constants import Constants
from logphi.normal.errors import MASS, SHARE


@dataclass(frozen=True)
class FlatCells(Discretizer):
    """The law with Q-density proportional to e^{-x/2} on [-w, w] and P-mass p at the upper end.

    ``constants`` is one of :mod:`logphi.laws.flat_constants`.
    """

    width: DoubleInterval
    constants: Constants

    def weights(self, w: float) -> tuple[float, float]:
        """Logarithms of the constant of the density and of p."""
        log_c, log_atom = self.constants(DOUBLES, w)
        return log_c, log_atom + w / 2

    @property
    def top(self) -> float:
        """The upper end."""
        return self.width.high

    @property
    def spans(self) -> Array:
        """The width of the support."""
        return np.array([2 * self.width.low])

    def misfit(self, steps: Array, tilt: float) -> Array:
        """The change of the tilted mean for each step, if the support is narrowed to a multiple of the step."""
        moved: Array = missed(2 * self.width.low / steps) * steps / 2 * np.tanh((tilt + 0.5) * self.width.low)
        return moved

    def approximate(self, u: Array, cut: float) -> Array:
        """The integral of the density and the two atoms."""
        w = self.width.high
        log_c, log_p = self.weights(w)
        rate = np.maximum(np.abs(u + 0.5), 1e-9)
        body = np.full(u.shape, -np.inf)
        if log_c > -np.inf:
            body = log_c + rate * w + np.log(-np.expm1(-2 * rate * w) / rate)
        return log_sum(np.stack([body, log_p + u * w, log_p - w - u * w], axis=1))

    def on(self, grid: Grid) -> LatticeLaw:
        """Cells from -w upward. The lower law has the largest width that is a multiple of the step; far cells are left out."""
        h, c = grid.step, grid.tilt
        w = self.width.at(grid.upper)
        turns = 2 * w / h
        aligned = abs(turns - round(turns)) <= 16 * ULP * (turns + 1)
        count = round(turns) if aligned else int(np.floor(turns))
        if not (aligned or grid.upper):
            w = count * h / 2
        if count == 0 and (aligned or not grid.upper):
            return LatticeLaw(np.zeros(1, np.int64), np.ones(1), 0.0, 0.0, 48 * ULP * (w + h))
        log_c, log_p = self.weights(w)
        ends = np.array([0.0, count * h if aligned or not grid.upper else 2 * w])
        # ends within rounding of a node are on it
        location_error = 48 * ULP * (w + h)
        if log_c == -np.inf:
            return atoms_on_lattice(grid, ends, np.array([log_p - w, log_p]), -w, location_error)
        cells = count if aligned or not grid.upper else count + 1
        first = max(0, count - int(min(grid.depth / ((c + 0.5) * h) + 4, grid.most)))
        k = np.arange(first, cells)
        low = -w + k * h
        # all cells but the last are complete
        lengths = np.array([h, h if aligned or not grid.upper else min(max(w - low[-1], 0.0), h)])
        kind = np.append(np.zeros(k.size - 1, np.int64), 1)
        with np.errstate(divide="ignore"):  # a cell of length zero has no mass
            log_mass = (log_c + np.log(4 * np.sinh(lengths / 4)) - lengths / 4)[kind] + (c + 0.5) * low
        peak = float(log_mass.max())
        error = MASS + ULP * (64 + 64 * w + 2 * np.abs((1 + c) * low) + abs(peak))
        share = (np.expm1(lengths / 2) / np.expm1(h))[kind]
        share_error, sag = np.full(k.size, 2 * SHARE * (1 + w / h)), np.full(k.size, np.exp(h) / 8)
        found = TiltedCells(np.exp(log_mass - peak), error, share, share_error, sag, 1 + c, h, False)
        nodes = found.above() if grid.upper else found.below()
        below = np.exp(log_c + (c + 0.5) * low[0] - np.log(c + 0.5) - peak) / nodes.sum() * 1.001 if first else 0.0
        body = LatticeLaw(np.arange(first, cells + 1), nodes, peak, -w, location_error, omitted_below=float(below))
        if log_p == -np.inf:
            return body
        return joined(body, atoms_on_lattice(grid, ends, np.array([log_p - w, log_p]), -w, location_error))

    def cells(self, first: int, last: int, h: float, upper: bool) -> CellMasses:
        """The flat part in cells, and the two atoms."""
        w = self.width.at(upper)
        log_c, log_p = self.weights(w)
        location_error = 48 * ULP * (w + h)
        if log_p > -np.inf:
            atoms = atom_cells(np.array([-w, w]), np.array([log_p - w, log_p]), location_error, h)
            return atoms if log_c == -np.inf or w == 0 else atoms + _flat(w, log_c, location_error, first, last, h)
        return _flat(w, log_c, location_error, first, last, h)


def _flat(w: float, log_c: float, location_error: float, first: int, last: int, h: float) -> CellMasses:
    """The cells of the P-density C e^{x/2} on [-w, w]."""
    k = np.arange(max(int(np.floor(-w / h)), first), min(int(np.ceil(w / h)), last))
    low, high = np.maximum(k * h, -w), np.minimum((k + 1) * h, w)
    k, low, high = (part[high > low] for part in (k, low, high))
    length = high - low
    # the mean of l in a cell is at the middle of its losses
    log_mass = log_c - low / 2 + np.log(-2 * np.expm1(-length / 2))
    share = np.clip(np.expm1((low - k * h) + length / 2) / np.expm1(h), 1e-300, 1.0)
    # an end of the support has its rounding error; that of a narrow cell's mass is this over its length
    error = MASS + ULP * (64 + 64 * w + np.abs(log_mass)) + 4 * ULP * w / length
    return CellMasses(k, log_mass, error, share, np.full(k.size, 2 * SHARE * (1 + w / h)), location_error)
