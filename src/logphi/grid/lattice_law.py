"""Lattice laws, as masses on nodes, and the transfer of the mass of cells to nodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ULP
from logphi.arith.summation import log_sum
from logphi.arrays import Array
from logphi.normal.errors import MASS, RUN, SHARE

# measured: the numbers of cells near the top that are rounded down, tried in turn; near a finite end two are too few
_ROUGH = tuple(2**k for k in range(1, 11))
# measured: negative masses vanish after two or three steps upward; laws that need more steps than this are rounded down
_CARRIES = 64
# derived: integers up to this are exact doubles
_FARTHEST = 2.0**52


@dataclass(frozen=True)
class Grid:
    """The requested lattice: step h, tilt e^{cx}, side, the depth of the tails, and the largest number of nodes.

    ``cut`` is about the logarithm of the P-mass that is omitted from an unbounded upper tail.
    """

    step: float
    tilt: float
    upper: bool
    depth: float
    cut: float
    most: int


@dataclass(frozen=True)
class LatticeLaw:
    """Tilted P-masses e^{c x_k} p_k = e^log_scale * weight at x_k = origin + h * index, x_k to within ``location_error``.

    Above the highest node of an upper law there is a share of E[e^{cX}] of at most ``omitted_above``, and a P-mass of at most
    ``omitted_mass``; ``omitted_below`` bounds the share below the lowest node.
    """

    index: NDArray[np.int64]
    weights: Array
    log_scale: float
    origin: float
    location_error: float
    omitted_above: float = 0.0
    omitted_mass: float = 0.0
    omitted_below: float = 0.0

    def log_moments(self, rates: Array, step: float) -> Array:
        """Upper bounds of log E[e^{(c + r) X}], for each rate r."""
        held = self.weights > 0
        if not held.any():
            return np.full(rates.shape, -np.inf)
        index, weights = self.index[held], self.weights[held]
        total, largest = np.full(rates.shape, -np.inf), np.zeros(rates.shape)
        for first in range(0, index.size, RUN):
            run = slice(first, first + RUN)
            exponent = rates[:, None] * (step * index[run]) + np.log(weights[run])
            total = np.logaddexp(total, log_sum(exponent))
            largest = np.maximum(largest, np.abs(exponent).max(axis=1))
        size = self.log_scale + rates * self.origin
        doubt = 1e-12 * (1 + largest + np.abs(size))
        bound: Array = total + size + np.abs(rates) * self.location_error + doubt
        return bound

    def folded(self, size: int, start: int) -> Array:
        """The weights modulo ``size`` nodes, a power of two, from the index ``start`` onward."""
        folded_weights: Array = np.bincount((self.index - start) & (size - 1), self.weights, size).astype(
            np.float64, copy=False
        )
        return folded_weights


@dataclass(frozen=True)
class TiltedCells:
    """Tilted Q-masses e^{alpha x_k} A_k (relative error), shares (absolute error), and ``sag``, bounds of G / (A d).

    ``coarse`` cells are rounded down in the law below.
    """

    mass: Array
    error: Array
    share: Array
    share_error: Array
    sag: Array
    alpha: float
    step: float
    exchanged: bool
    # mass at node 0 in place of all mass below the first cell, a tangent of D
    anchor: float = 0.0
    coarse: NDArray[np.bool_] | None = None

    def above(self) -> Array:
        """The masses of the law above: one node more than cells."""
        sign = -1.0 if self.exchanged else 1.0
        share = np.clip(self.share + sign * self.share_error, 0.0, 1.0)
        return self._split(self.mass * (1 + self.error), share) * (1 + 8 * ULP)

    def below(self) -> Array:
        """The masses of the law below, from lowered chords."""
        # near the top no chord is lowered, as no node above could supply a negative mass
        for rough in (*_ROUGH, self.mass.size):
            smooth = np.ones(self.mass.size, dtype=bool) if self.coarse is None else ~self.coarse
            skip = 0 if self.anchor and rough == _ROUGH[0] else rough
            smooth[slice(0, skip) if self.exchanged else slice(-rough, None)] = False
            nodes = self._lowered(smooth)
            if nodes is not None:
                return nodes
        raise ArithmeticError("rounding every cell down left a negative mass: please report this law and threshold")

    def _lowered(self, smooth: NDArray[np.bool_]) -> Array | None:
        h, alpha = self.step, self.alpha
        sign = 1.0 if self.exchanged else -1.0
        share = np.where(smooth, np.clip(self.share + sign * self.share_error, 0.0, 1.0), float(self.exchanged))
        gap = np.where(smooth, self.mass * (1 + self.error) * self.sag, 0.0)
        drop = np.zeros(gap.size + 1)
        drop[:-1] = gap
        drop[1:] = np.maximum(drop[1:], gap * np.exp((alpha - 1) * h))
        if self.anchor and smooth[0]:
            # the first chord is the tangent at the lower end, and is lowered at node 1 only
            drop[0] = 0.0
            tangent = self.mass[0] * (1 + self.error[0]) * np.exp((alpha - 1) * h) * (1 - share[0]) * (1 + 8 * ULP)
            drop[1] = max(tangent, gap[1] if gap.size > 1 else 0.0)
        # below the bottom node D keeps its lowered value, which is a loss of P-mass
        bends = np.full(drop.size, 1 + np.exp(h))
        bends[-1 if self.exchanged else 0] = 1.0
        chord = self._split(self.mass * np.maximum(1 - self.error, 0.0), share) + drop * bends
        chord[0] += self.anchor
        taken = np.zeros_like(drop)
        taken[:-1] += drop[1:] * np.exp((1 - alpha) * h)
        taken[1:] += drop[:-1] * np.exp(alpha * h)
        nodes = chord - taken - 16 * ULP * (chord + taken)
        carried = carry(nodes[::-1] if self.exchanged else nodes, np.exp(-alpha * h if self.exchanged else alpha * h))
        if carried is None:
            return None
        return (carried[::-1] if self.exchanged else carried) * (1 - 8 * ULP)

    def _split(self, mass: Array, share: Array) -> Array:
        nodes = np.zeros(mass.size + 1)
        nodes[:-1] = mass * (1 - share)
        nodes[1:] += mass * share * np.exp(self.alpha * self.step)
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


def check_exact(*index: float) -> None:
    """Raise an error if an index is so large that it is no exact double."""
    if not all(abs(one) < _FARTHEST for one in index):
        raise ValueError("the lattice is finer than the doubles at the losses of one release")


def rounded_down(position: Array, room: float = 0.0) -> tuple[Array, NDArray[np.bool_]]:
    """The nodes at or below positions, in steps, and which positions are on them, within ``room`` and rounding."""
    nearest = np.rint(position)
    hit: NDArray[np.bool_] = np.abs(position - nearest) <= 16 * ULP * (1 + np.abs(position)) + room
    return np.where(hit, nearest, np.floor(position)), hit


def missed(position: Array) -> Array:
    """How far positions are above the nodes at or below them, in steps; zero for those on a node."""
    lower, hit = rounded_down(position)
    return np.where(hit, 0.0, position - lower)


def atoms_on_lattice(grid: Grid, offsets: Array, log_p: Array, origin: float, location_error: float) -> LatticeLaw:
    """Atoms at origin + offset: on a node if within rounding of it, otherwise split over two nodes (above) or rounded down."""
    h, c = grid.step, grid.tilt
    position = offsets / h
    check_exact(float(position.min()), float(position.max()))
    lower, hit = rounded_down(position)
    log_low, log_high = log_p, np.full(log_p.shape, -np.inf)
    if grid.upper:
        rest = np.where(hit, 0.0, np.clip(offsets - lower * h, 0.0, h))
        up = np.clip(np.expm1(-rest) / np.expm1(-h) + np.where(hit, 0.0, SHARE * (1 + np.abs(position))), 0.0, 1.0)
        with np.errstate(divide="ignore"):  # a share of zero or one leaves no mass at one end
            log_low, log_high = log_p + np.log1p(-up), log_p + np.log(up)
    index = np.concatenate([lower, lower + 1])
    exponent = np.concatenate([log_low, log_high]) + c * (origin + index * h)
    peak = float(exponent.max())
    size = 2 * np.abs(np.tile(log_p, 2)) + 2 * c * (abs(origin) + np.abs(index) * h)
    error = MASS + ULP * (size + abs(peak))
    weights = np.exp(exponent - peak) * (1 + error if grid.upper else np.maximum(1 - error, 0))
    location_error += 32 * ULP * (h + float(np.abs(offsets).max()))
    return LatticeLaw(index.astype(np.int64), weights, peak, origin, location_error)


def joined(one: LatticeLaw, other: LatticeLaw) -> LatticeLaw:
    """The sum of two measures with the same origin."""
    scale = max(one.log_scale, other.log_scale)
    weights = [law.weights * np.exp(law.log_scale - scale) for law in (one, other)]
    index = np.concatenate([one.index, other.index])
    location_error, below = max(one.location_error, other.location_error), max(one.omitted_below, other.omitted_below)
    return LatticeLaw(index, np.concatenate(weights), scale, one.origin, location_error, omitted_below=below)
