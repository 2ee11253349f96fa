"""Lattice laws above and below a law, from the masses of its cells, by chords and lowered chords.

The method and its notation are those of :mod:`logphi.grid.discretization`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ULP
from logphi.arrays import Array
from logphi.grid.cell_masses import CellMasses
from logphi.grid.lattice_law import Grid, LatticeLaw

# measured: the numbers of cells near the top that are rounded down, tried in turn; near a finite end two are too few
_ROUGH = tuple(2**k for k in range(1, 11))
# measured: negative masses vanish after two or three steps upward; laws that need more steps than this are rounded down
_CARRIES = 64


@dataclass(frozen=True, eq=False)
class Chords:
    """Neighbouring cells whose masses go to their nodes, tilted: e^{alpha x_k} A_k; if ``exchanged``, those of -X under Q.

    ``anchor`` is all mass below the first cell as an atom at its first node, a tangent of D: the logarithm of its Q-mass, and
    the relative error of it. ``coarse`` cells are rounded down in the law below.
    """

    cells: CellMasses
    grid: Grid
    exchanged: bool = False
    anchor: tuple[float, float] | None = None
    coarse: NDArray[np.bool_] | None = None

    @property
    def _alpha(self) -> float:
        return -self.grid.tilt if self.exchanged else 1 + self.grid.tilt

    def law(self) -> LatticeLaw:
        """The lattice law above or below."""
        cells = self.cells
        turned = self._alpha * (cells.origin + cells.index * self.grid.step)
        exponent = cells.log_mass + turned
        log_end = -np.inf if self.anchor is None else self.anchor[0] + float(turned[0])
        peak = max(float(exponent.max()), log_end)
        # an empty cell has no error
        size = 2 * np.abs(turned) + np.where(np.isfinite(cells.log_mass), np.abs(cells.log_mass), 0.0) + abs(peak)
        mass, error = np.exp(exponent - peak), cells.error + ULP * size + cells.location_error
        held = 0.0
        if self.anchor is not None:
            wrong = self.anchor[1] + ULP * (2 * abs(turned[0]) + 2 * abs(log_end) + abs(peak)) + cells.location_error
            held = math.exp(log_end - peak) * max(1 - float(wrong), 0.0)
        nodes = self._above(mass * (1 + error)) if self.grid.upper else self._below(mass, error, held)
        index, sign = np.append(cells.index, cells.index[-1] + 1), -1 if self.exchanged else 1
        return LatticeLaw(sign * index, nodes, peak, sign * cells.origin, cells.location_error)

    def _above(self, mass: Array) -> Array:
        return self._split(mass, self._share(-1.0 if self.exchanged else 1.0)) * (1 + 8 * ULP)

    def _below(self, mass: Array, error: Array, anchor: float) -> Array:
        # near the top no chord is lowered, as no node above could supply a negative mass
        for rough in (*_ROUGH, mass.size):
            smooth = np.ones(mass.size, dtype=bool) if self.coarse is None else ~self.coarse
            skip = 0 if anchor and rough == _ROUGH[0] else rough
            smooth[slice(0, skip) if self.exchanged else slice(-rough, None)] = False
            nodes = self._lowered(mass, error, anchor, smooth)
            if nodes is not None:
                return nodes
        raise ArithmeticError("rounding every cell down left a negative mass: please report this law and threshold")

    def _lowered(self, mass: Array, error: Array, anchor: float, smooth: NDArray[np.bool_]) -> Array | None:
        h, alpha = self.grid.step, self._alpha
        share = np.where(smooth, self._share(1.0 if self.exchanged else -1.0), float(self.exchanged))
        gap = np.where(smooth, mass * (1 + error) * self.cells.sag, 0.0)
        drop = np.zeros(gap.size + 1)
        drop[:-1] = gap
        drop[1:] = np.maximum(drop[1:], gap * np.exp((alpha - 1) * h))
        if anchor and smooth[0]:
            # the first chord is the tangent at the lower end, and is lowered at node 1 only
            drop[0] = 0.0
            tangent = mass[0] * (1 + error[0]) * np.exp((alpha - 1) * h) * (1 - share[0]) * (1 + 8 * ULP)
            drop[1] = max(tangent, gap[1] if gap.size > 1 else 0.0)
        # below the bottom node D keeps its lowered value, which is a loss of P-mass
        bends = np.full(drop.size, 1 + np.exp(h))
        bends[-1 if self.exchanged else 0] = 1.0
        chord = self._split(mass * np.maximum(1 - error, 0.0), share) + drop * bends
        chord[0] += anchor
        taken = np.zeros_like(drop)
        taken[:-1] += drop[1:] * np.exp((1 - alpha) * h)
        taken[1:] += drop[:-1] * np.exp(alpha * h)
        nodes = chord - taken - 16 * ULP * (chord + taken)
        carried = carry(nodes[::-1] if self.exchanged else nodes, np.exp(-alpha * h if self.exchanged else alpha * h))
        if carried is None:
            return None
        return (carried[::-1] if self.exchanged else carried) * (1 - 8 * ULP)

    def _share(self, sign: float) -> Array:
        """The shares of the upper nodes, moved by their errors."""
        return np.clip(np.clip(self.cells.share, 0.0, 1.0) + sign * self.cells.share_error, 0.0, 1.0)

    def _split(self, mass: Array, share: Array) -> Array:
        nodes = np.zeros(mass.size + 1)
        nodes[:-1] = mass * (1 - share)
        nodes[1:] += mass * share * np.exp(self._alpha * self.grid.step)
        return nodes


def carry(nodes: Array, factor: float) -> Array | None:
    """The masses with negative ones taken from the node above; None if that does not end. The top one must not be negative."""
    nodes = nodes.copy()
    for _ in range(_CARRIES):
        bad = np.flatnonzero(nodes < 0)
        if bad.size == 0:
            return nodes
        if bad[-1] == nodes.size - 1:
            return None
        deficit = nodes[bad]
        nodes[bad] = 0.0
        with np.errstate(over="ignore"):  # an infinite negative mass cannot be compensated
            nodes[bad + 1] += factor * deficit
    return None
