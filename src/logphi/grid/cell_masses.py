"""The masses of a law in cells between neighbouring nodes of a lattice.

notation: h the step, x_k = origin + k h, l = e^X the density ratio, P(dx) = e^x Q(dx). The cell between x_k and x_{k+1} has a
Q-mass A, whose mean of l lies at the share s of [e^{x_k}, e^{x_{k+1}}], hence P-mass p = A e^{x_k} (1 + s (e^h - 1)).
Of where the mass lies within its cell only a bound is known, of G (:mod:`logphi.grid.discretization`).

* Rounding: p goes to x_{k+1}, which makes X larger, or to x_k, which makes it smaller ([PLD] section 2.1).
* Connect-the-Dots: P-masses A (1 - s) e^{x_k} and A s e^{x_{k+1}} keep P and Q. They are the differences of slopes
  of [PLD] section 2.2, without cancellation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from logphi.arith.floats import ULP
from logphi.arrays import Array
from logphi.grid.lattice_law import Grid, Indices, LatticeLaw, rounded_down
from logphi.normal.errors import MASS, SHARE


@dataclass(frozen=True)
class CellMasses:
    """Q-masses, with relative errors, and shares, with absolute errors, of the cells above the nodes ``index``.

    A share of exactly zero is mass on the node itself. ``sag`` bounds G / (A d). The ends of cells are within
    ``location_error`` of their nodes.
    """

    index: Indices
    log_mass: Array
    error: Array
    share: Array
    share_error: Array
    sag: Array
    location_error: float
    origin: float = 0.0

    def __add__(self, other: CellMasses) -> CellMasses:
        """The cells of both measures, which have the same nodes."""
        return CellMasses(
            np.concatenate([self.index, other.index]),
            np.concatenate([self.log_mass, other.log_mass]),
            np.concatenate([self.error, other.error]),
            np.concatenate([self.share, other.share]),
            np.concatenate([self.share_error, other.share_error]),
            np.concatenate([self.sag, other.sag]),
            max(self.location_error, other.location_error),
            self.origin,
        )

    def reversed(self, h: float) -> CellMasses:
        """The cells of -X under Q, that is, of the reversed pair, on the multiples of h."""
        growth = np.log1p(self.share * np.expm1(h))
        inside = self.share > 0
        log_mass = self.log_mass + self.index * h + growth
        share = np.where(inside, (1 - self.share) * np.exp(-growth), 0.0)
        error = self.error + np.expm1(h) * self.share_error + 2 * self.location_error + 4 * ULP * (2 + np.abs(self.index * h))
        share_error = np.where(inside, np.exp(h) * self.share_error + SHARE, 0.0)
        # a share of one becomes zero, which would mean mass on the lower node
        share = np.where(inside, np.maximum(share, 1e-300), 0.0)
        # the chord of the reversed cell is that of the cell, over e^x
        sag = self.sag * np.exp(h - growth)
        return CellMasses(-self.index - inside, log_mass, error, share, share_error, sag, self.location_error)

    def rounded(self, grid: Grid, connect_dots: bool) -> tuple[LatticeLaw, float]:
        """The law on multiples of the step above or below, rounded or by Connect-the-Dots, and the logarithm of its mass."""
        h, c = grid.step, grid.tilt
        inside = self.share > 0
        sign = 1.0 if grid.upper else -1.0
        share = np.where(inside, np.clip(self.share + sign * self.share_error, 0.0, 1.0), 0.0)
        x = self.index * h
        if grid.upper and connect_dots:
            with np.errstate(divide="ignore"):  # a share of zero or one leaves no mass at one end
                logs = np.concatenate([self.log_mass + np.log1p(-share), self.log_mass + np.log(share) + h])
            index = np.concatenate([self.index, self.index + 1])
        else:
            logs = self.log_mass + np.log1p(share * np.expm1(h))
            index = self.index + (inside if grid.upper else 0)
        times = 2 if grid.upper and connect_dots else 1
        exponent = logs + np.tile(x, times) + c * h * index
        peak = float(exponent.max())
        size = np.where(np.isfinite(logs), np.abs(logs), 0.0) + (1 + c) * (np.tile(np.abs(x), times) + h) + abs(peak)
        wrong = np.tile(self.error, times) + 2 * self.location_error + MASS + 2 * ULP * size
        weights = np.exp(exponent - peak) * (1 + wrong if grid.upper else np.maximum(1 - wrong, 0.0))
        first = int(index.min())
        nodes: Array = np.bincount(index - first, weights).astype(np.float64)
        nodes *= 1 + sign * 4 * ULP * np.bincount(index - first)
        held = np.arange(first, first + nodes.size, dtype=np.int64)
        location_error = self.location_error + 4 * ULP * float(np.abs(x).max() + h)
        return LatticeLaw(held, nodes, peak, 0.0, location_error), peak + float(np.log(max(nodes.sum(), 1e-300)))


def atom_cells(losses: Array, log_p: Array, location_error: float, h: float) -> CellMasses:
    """Atoms, with logarithms of P-masses, between the multiples of h; one within rounding of a node is on it."""
    position = losses / h
    lower, hit = rounded_down(position, location_error / h)
    rest = np.where(hit, 0.0, np.clip(losses - lower * h, 0.0, h))
    share = np.expm1(rest) / np.expm1(h)
    log_mass = log_p - losses
    error = MASS + ULP * (np.abs(log_p) + np.abs(losses)) + location_error
    share_error = np.where(hit, 0.0, SHARE * (1 + np.abs(position)) + 2 * location_error / h)
    location_error += 32 * ULP * float(np.abs(losses).max() + h)
    return CellMasses(lower.astype(np.int64), log_mass, error, share, share_error, share * (1 - share), location_error)
