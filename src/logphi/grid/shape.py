"""A likelihood ratio of mixed normal shifts as a function of the normal variable, and its inverse.

notation: w(y) = p_0 + v(y), v = sum of p_i e^{c_i y - c_i^2/2} over positive shifts c_i, C the largest. log v is convex with
slopes up to C, so that Newton's steps towards log v = b come from the right.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr

from logphi.arith.floats import ULP
from logphi.grid.lattice_law import Array
from logphi.normal.cells import normal_cells, raw_cells
from logphi.normal.errors import log_sum

# measured: Newton steps from an interpolated start; they end where rounding does not let them on
_STEPS = 40
_STARTS = 8193


@dataclass(frozen=True)
class Shape:
    """Shifts, the logarithms of their weights, and log p_0 (minus infinity where there is no constant part)."""

    shifts: Array
    log_weights: Array
    log_rest: float

    @property
    def largest(self) -> float:
        """C."""
        return float(self.shifts.max())

    def log_moving(self, y: Array) -> Array:
        """Log v."""
        if self.shifts.size == 1:
            result: Array = self.log_weights[0] + (self.shifts[0] * y - self.shifts[0] ** 2 / 2)
            return result
        parts = [weight + shift * y - shift * shift / 2 for shift, weight in zip(self.shifts, self.log_weights, strict=True)]
        total: Array = parts[0]
        for part in parts[1:]:
            total = np.logaddexp(total, part)
        return total

    def log_ratio(self, y: Array) -> Array:
        """Log w, without overflow."""
        whole: Array = self.log_moving(y)
        if self.log_rest == -np.inf:
            return whole
        if self.shifts.size == 1:
            big = self.shifts[0] * y - self.shifts[0] ** 2 / 2
            near = np.log1p(np.exp(self.log_weights[0]) * np.expm1(np.minimum(big, 500.0)))
            whole = np.where(big < 500, near, whole)
        else:
            whole = np.logaddexp(self.log_rest, whole)
        return whole

    def slope(self, y: float) -> float:
        """D log w / dy, rounded down by far more than it errs."""
        exponent = self.log_weights + self.shifts * y - self.shifts**2 / 2
        share = np.exp(np.minimum(exponent - self.log_ratio(np.array([y]))[0], 0.0))
        return float((self.shifts * share).sum()) * (1 - 1e-9)

    def place(self, big: Array) -> tuple[Array, float]:
        """The y with log v = big, and how far log v may be off there beside the rounding of its terms."""
        bounds: Array = (big - self.log_weights[0]) / self.shifts[0] + self.shifts[0] / 2
        if self.shifts.size == 1:
            return bounds, 0.0
        for shift, weight in zip(self.shifts[1:], self.log_weights[1:], strict=True):
            bounds = np.minimum(bounds, (big - weight) / shift + shift / 2)
        finite = np.isfinite(bounds)
        wanted = big[finite]
        # v is at most the number of its terms times the largest
        lowest = float(bounds[finite].min()) - float(np.log(self.shifts.size)) / float(self.shifts.min())
        grid = np.linspace(max(lowest, -1e6), float(bounds[finite].max()), _STARTS)
        y = np.minimum(np.interp(wanted, self.log_moving(grid), grid), bounds[finite])
        most, before, missed = bounds[finite], np.inf, np.inf
        for _ in range(_STEPS):
            value = self.log_moving(y)
            before, missed = missed, float(np.abs(value - wanted).max())
            if missed >= before:
                break
            bounds[finite] = y
            y = np.minimum(y - (value - wanted) / self._moving_slope(y, value), most)
        return bounds, min(before, missed)

    def _moving_slope(self, y: Array, value: Array) -> Array:
        total = np.zeros_like(y)
        for shift, weight in zip(self.shifts, self.log_weights, strict=True):
            total += shift * np.exp(np.minimum(weight + shift * y - shift * shift / 2 - value, 0.0))
        return np.maximum(total, 1e-300)

    def size(self, y: Array, big: Array) -> Array:
        """The largest parts that log v is formed from."""
        c = self.largest
        own = big - self.log_weights[0] if self.shifts.size == 1 else np.abs(big) + self.shifts.size
        logs = 0.0 if self.shifts.size == 1 else float(np.abs(self.log_weights).max())
        result: Array = np.abs(own) + c * np.abs(y) + c * c + logs + 1
        return result

    def lead(self, y: float) -> float:
        """Log of w / p_0 in the mean below y."""
        inner = self.log_weights - self.log_rest + log_ndtr(y - self.shifts) - log_ndtr(y)
        return float(np.log1p(np.exp(inner).sum()))

    def moving_mass(self, y: float) -> float:
        """E[v] above y."""
        return float((np.exp(self.log_weights) * ndtr(self.shifts - y)).sum())

    def log_above(self, y: float) -> float:
        """About the logarithm of E[w] above y."""
        parts = np.append(self.log_weights + log_ndtr(self.shifts - y), self.log_rest + log_ndtr(-y))
        return float(log_sum(parts))

    def cells(self, y: Array) -> tuple[Array, Array, Array, Array, NDArray[np.bool_]]:
        """Log-masses between the y, shares of w and their errors, bounds of G / (A d), and which cells are narrow.

        The rise of w over a cell is that of its terms, and its share their mean, weighted by the rises. dQ/dw is at most the
        largest of dQ/d(term) times the term's part in the rise.
        """
        if self.shifts.size == 1:
            return normal_cells(y, float(self.shifts[0]))
        low, high = y[:-1], y[1:]
        with np.errstate(divide="ignore"):  # cells without any width have no rise
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
