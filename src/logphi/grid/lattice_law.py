"""Lattice laws: masses on equally spaced nodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ULP
from logphi.arith.summation import log_sum
from logphi.arrays import Array
from logphi.normal.errors import MASS, RUN, SHARE

# derived: integers up to this are exact doubles
_FARTHEST = 2.0**52

Indices = NDArray[np.int64]


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

    index: Indices
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
