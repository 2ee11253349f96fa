"""The discretizer of a flat law, which is uniform on [-w, w] after tilting by e^{-x/2}, perhaps with atoms at the ends."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from logphi.arith.doubles import DOUBLES
from logphi.arith.floats import ULP
from logphi.arith.summation import log_sum
from logphi.arrays import Array
from logphi.grid.cell_masses import CellMasses, atom_cells
from logphi.grid.chords import Chords
from logphi.grid.discretizer import Discretizer, DoubleInterval
from logphi.grid.lattice_law import Grid, Indices, LatticeLaw, atoms_on_lattice, joined, missed
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
        atoms = None
        if log_p > -np.inf:
            atoms = atoms_on_lattice(grid, ends, np.array([log_p - w, log_p]), -w, location_error)
            if log_c == -np.inf:
                return atoms
        last = count if aligned or not grid.upper else count + 1
        first = max(0, count - int(min(grid.depth / ((c + 0.5) * h) + 4, grid.most)))
        body = Chords(_cells(w, log_c, location_error, np.arange(first, last), h, -w), grid).law()
        if first:
            log_below = log_c + (c + 0.5) * (first * h - w) - np.log(c + 0.5) - body.log_scale
            body = replace(body, omitted_below=float(np.exp(log_below)) / float(body.weights.sum()) * 1.001)
        return body if atoms is None else joined(body, atoms)

    def cells(self, first: int, last: int, h: float, upper: bool) -> CellMasses:
        """The flat part in cells, and the two atoms."""
        w = self.width.at(upper)
        log_c, log_p = self.weights(w)
        location_error = 48 * ULP * (w + h)
        parts = []
        if log_p > -np.inf:
            parts.append(atom_cells(np.array([-w, w]), np.array([log_p - w, log_p]), location_error, h))
        if log_c > -np.inf and w > 0:
            k = np.arange(max(int(np.floor(-w / h)), first), min(int(np.ceil(w / h)), last))
            parts.append(_cells(w, log_c, location_error, k, h))
        return sum(parts[1:], parts[0])


def _cells(w: float, log_c: float, location_error: float, k: Indices, h: float, origin: float = 0.0) -> CellMasses:
    """The cells of the P-density C e^{x/2} on [-w, w] above the nodes k."""
    start = origin + k * h
    low, high = np.maximum(start, -w), np.minimum(start + h, w)
    k, start, low, high = (part[high > low] for part in (k, start, low, high))
    # an end within rounding of a node is on it; elsewhere the mass of a narrow cell has its rounding error over the length
    whole = high - low >= h - location_error
    length = np.where(whole, h, high - low)
    of_ends = np.where(whole, 0.0, 4 * ULP * w / length)
    # the mean of l in a cell is at the middle of its losses
    log_mass = log_c - low / 2 + np.log(-2 * np.expm1(-length / 2))
    share = np.clip(np.expm1((low - start) + length / 2) / np.expm1(h), 1e-300, 1.0)
    error = MASS + ULP * (64 + 64 * w + np.abs(log_mass)) + of_ends
    share_error = np.full(k.size, 2 * SHARE * (1 + w / h))
    sag = np.where(whole, np.exp(h) / 8, share * (1 - share) + share_error)
    return CellMasses(k, log_mass, error, share, share_error, sag, location_error, origin)
