"""The log-ratio of a normal mixture for lattice cells: its inverse, tails on both sides of a point, cell masses.

notation: w(y) = p_0 + v(y), v = sum of p_i e^{c_i y - c_i^2/2} over positive shifts c_i, C the largest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr

from logphi.arith.floats import ULP
from logphi.arith.summation import log_sum
from logphi.arrays import Array
from logphi.normal.cells import normal_cells, raw_cells
from logphi.quadrature.mixtures.log_ratio import ExponentialMixture
from logphi.quadrature.mixtures.many_components import ManyComponents


@dataclass(frozen=True)
class OneSidedMixture:
    """A mixture whose parameters are rounded so that w is larger everywhere, or so that it is smaller."""

    ratio: ManyComponents

    @staticmethod
    def of(shifts: Array, rates: Array, log_rest: float) -> OneSidedMixture:
        """The mixture with these shifts, weights, and log p_0 (minus infinity if there is no constant part)."""
        return OneSidedMixture(ManyComponents.of(shifts, rates, np.log(rates), log_rest))

    @property
    def shifts(self) -> Array:
        """The positive shifts."""
        return self.ratio.shifts

    @property
    def log_weights(self) -> Array:
        """The logarithms of their weights."""
        return self.ratio.log_weights

    @property
    def log_rest(self) -> float:
        """The logarithm log p_0."""
        return self.ratio.log_rest

    @property
    def largest(self) -> float:
        """C."""
        return float(self.ratio.shift[0])

    def log_ratio(self, y: Array) -> Array:
        """The logarithm log w, for an array of any shape."""
        if self.shifts.size == 1 and self.log_rest > -np.inf:
            m = float(self.shifts[0])
            return ExponentialMixture(float(self.ratio.weights[0]), m, -m * m / 2).value(y)
        return np.asarray(self.ratio.value(y)[0].reshape(np.shape(y)))

    def slope(self, y: float) -> float:
        """The slope d log w / dy, rounded down by far more than its error."""
        return float(self.ratio.slope(y)[0, 0]) * (1 - 2e-9)

    def size(self, y: Array, big: Array) -> Array:
        """The largest terms of log v."""
        c = self.largest
        own = big - self.log_weights[0] if self.shifts.size == 1 else np.abs(big) + self.shifts.size
        logs = 0.0 if self.shifts.size == 1 else float(np.abs(self.log_weights).max())
        result: Array = np.abs(own) + c * np.abs(y) + c * c + logs + 1
        return result

    def lead(self, y: float) -> float:
        """The logarithm of the mean of w / p_0 over the normal variable below y."""
        inner = self.log_weights - self.log_rest + log_ndtr(y - self.shifts) - log_ndtr(y)
        return float(np.log1p(np.exp(inner).sum()))

    def varying_mass(self, y: float) -> float:
        """E[v] above y."""
        return float((np.exp(self.log_weights) * ndtr(self.shifts - y)).sum())

    def log_above(self, y: Array) -> Array:
        """Approximations of the logarithm of E[w] above each y."""
        varying = self.log_weights[:, None] + log_ndtr(self.shifts[:, None] - y)
        return log_sum(np.vstack([varying, self.log_rest + log_ndtr(-y)]), axis=0)

    def cells(self, y: Array) -> tuple[Array, Array, Array, Array, NDArray[np.bool_]]:
        """Log-masses between the y, shares of w with errors, bounds of G / (A d), and which cells are narrow.

        The increase of w over a cell is the sum of those of its terms, and the share is the mean of theirs, weighted by the
        increases. dQ/dw is at most the largest of dQ/d(term) times the term's part of the increase.
        """
        if self.shifts.size == 1:
            return normal_cells(y, float(self.shifts[0]))
        low, high = y[:-1], y[1:]
        with np.errstate(divide="ignore"):  # w does not increase over a cell of length zero
            rises = [
                weight + shift * high - shift * shift / 2 + np.log(-np.expm1(-shift * (high - low)))
                for shift, weight in zip(self.shifts, self.log_weights, strict=True)
            ]
        peak = np.maximum.reduce(rises)
        peak = np.where(np.isfinite(peak), peak, 0.0)
        total = share = error = sag = np.zeros_like(high)
        log_mass, narrow = total, np.zeros(high.size, dtype=bool)
        for shift, rise in zip(self.shifts, rises, strict=True):
            own_mass, own_share, own_error, own_sag, own_narrow = raw_cells(y, float(shift))
            weight = np.exp(rise - peak)
            total = total + weight
            share, error, sag = share + weight * own_share, error + weight * own_error, np.maximum(sag, own_sag)
            if shift == self.largest:
                log_mass, narrow = own_mass, own_narrow
        total = np.maximum(total, 1e-300)
        share = np.clip(share / total, 0.0, 1.0)
        error = error / total + 8 * ULP * (self.size(high, np.zeros(1)) + self.shifts.size)
        return log_mass, share, error, np.minimum(sag * (1 + 1e-12), share * (1 - share) + error), narrow
