"""Chernoff's bound without rare large losses, for sums of sampled normal pairs.

notation: law k, counted n_k times, is that of log w_k(X), X standard normal under Q, w = 1 - q + q e^{m X - m^2/2}. F is the
event that some X exceeds its X_k. Then, for c > 0 and the payoff (1 - e^{x-L})_+ <= kappa(c) e^{c (L - x)},

    E_P[(1 - e^{x-L})_+]  <=  sum of n_k P(X > X_k)  +  kappa(c) e^{-cx} prod of E_Q[w_k^{c+1}; X <= X_k]^{n_k}.

For large c the rarest values dominate the moments of the whole loss, so that Chernoff's bound stays far above a small answer;
they do not enter the moments up to an end. A reflected loss is bounded: its moments are E_Q[w^{-c}], without an end. In both
cases, as
E_Q[w - 1] = 0 and E_Q[w - 1; X <= X_k] <= 0,

    E_Q[w^a; X <= X_k]  <=  1 + E_Q[f(w); X <= X_k],        f(w) = w^a - 1 - a (w - 1),

and f is convex and zero at w = 1, so that on a cell of x it is largest at an end. The profile grows with m and q: both are
taken at their upper ends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from logphi.arith.floats import LOG_ROOT_TWO_PI, ULP
from logphi.arrays import Array
from logphi.inversion.lines.kernels import log_kappa

# shift and rate, their relative errors, and the count
SampledPair = tuple[float, float, float, float, int]
SampledPairs = tuple[SampledPair, ...]

# derived: the normal mass farther out is below the smallest double
_FAR = 39.0
# measured: width of a cell in x
_CELL = 0.04
# measured: exponents c that are tried, times x, from where the bound is trivial to where it is below the smallest double
_EXPONENTS = np.geomspace(0.05, 2000.0, 40)
# measured: logarithms of the masses of F that are tried
_LEVELS = -np.append(np.geomspace(1.0, 40.0, 20), np.arange(44.0, 780.0, 4.0))
# derived: shifts up to here leave exponents of a size whose rounding is negligible
_LARGEST_SHIFT = 100.0
# derived: the exponential of a loss, times an exponent, is a double; a larger loss is left out as if it were rare
_LARGEST_LOSS = 600.0
# derived: e^300 is far above one, and its square a double; an exponent may err by so much
_LARGE, _MOST_ERROR = 300.0, 1e-3
# derived: exponents of 2000/x are doubles, and their products too; a bound at a smaller x is that of zero
_LEAST = 1e-150
_SLACK = 1e-9


def log_ceiling(terms: SampledPairs, x: float, *, reflected: bool = False) -> float:
    """The logarithm of an upper bound of the excess of the sum at x, or of that of the reflected sum: at most zero."""
    if not x > _LEAST or any(m > _LARGEST_SHIFT or q * (1 + wrong) + 4 * ULP >= 1 for m, q, _, wrong, _ in terms):
        return 0.0
    c = _EXPONENTS / x
    height = (log_kappa(c) - c * x)[:, None]
    log_mass = np.full(_LEVELS.size, -np.inf)
    for m, q, m_error, q_error, count in terms:
        law = _Cells.of(m * (1 + m_error + 2 * ULP), q * (1 + q_error + 2 * ULP))
        if reflected:
            height = height + count * law.reflected_moments(-c)[:, None]
            continue
        own = law.log_tail + math.log(count)
        # the first end with a mass above it that is at most the level
        index = np.minimum(np.searchsorted(-own, -_LEVELS + math.log(len(terms))), own.size - 1)
        log_mass = np.logaddexp(log_mass, own[index])
        height = height + count * law.moments(c + 1)[:, index]
    height = np.where(np.isnan(height), np.inf, height)
    best = float(np.logaddexp(height, log_mass).min())
    return min(best + _SLACK * (1 + abs(best)), 0.0)


@dataclass(frozen=True)
class _Cells:
    """Ends of cells, w - 1 there with its error, logarithms of the masses of cells, and of the P-masses above the ends."""

    m: float
    q: float
    less_one: Array
    error: Array
    log_cells: Array
    log_tail: Array

    @staticmethod
    def of(m: float, q: float) -> _Cells:
        """The cells of a law; the first is the half-line left of the first end."""
        x = np.arange(-_FAR, min(m + _FAR, _LARGEST_LOSS / m + m / 2) + _CELL, _CELL)
        exponent = m * x - m * m / 2
        less_one = q * np.expm1(exponent)
        error = q * np.exp(exponent) * (8 * ULP * (2 + np.abs(m * x) + m * m))
        # the density is largest at the end that is nearer to zero
        near = np.maximum(np.minimum(np.abs(x[1:]), np.abs(x[:-1])) - np.where(x[1:] * x[:-1] < 0, _CELL, 0.0), 0.0)
        log_cells = np.append(log_ndtr(-_FAR), math.log(_CELL) - near * near / 2 - LOG_ROOT_TWO_PI)
        own, other = log_ndtr(-x), log_ndtr(m - x)
        return _Cells(m, q, less_one, error, log_cells + _SLACK, np.logaddexp(own, math.log(q) + other) + _SLACK)

    def _log_second(self, power: Array) -> Array:
        """Logarithms of upper bounds of f at the ends, of shape (power, end); infinite where it is not known."""
        a = power[:, None]
        loss = a * np.log1p(self.less_one)
        moved = np.abs(a) * (self.error / (1 + self.less_one))
        small = np.minimum(loss, _LARGE)
        tilted = np.expm1(small)
        linear = a * self.less_one
        # derived: a dozen roundings, and the effect of the error of w
        rounding = 8 * ULP * (np.abs(tilted) * (1 + np.abs(small)) + np.abs(linear)) + 1.01 * moved * (np.abs(tilted) + 2)
        second = np.maximum(tilted - np.where(loss < _LARGE, linear, 0.0), 0.0) + rounding
        # far above one f is less than w^a
        found = np.where(loss < _LARGE, np.log(second + 1e-300), loss * (1 + 4 * ULP) + 1.01 * moved)
        return np.where(moved < _MOST_ERROR, found, np.inf)

    def _on_cells(self, power: Array) -> Array:
        """Logarithms of upper bounds of E_Q[f(w)] on each cell."""
        second = self._log_second(power)
        # far to the left w is 1 - q
        with np.errstate(over="ignore"):  # infinite: not known
            first = np.expm1(power * math.log1p(-self.q)) + power * self.q
        least = np.log(np.maximum(first, 0.0) + 8 * ULP * (1 + np.abs(power) * self.q))
        before = np.concatenate([least[:, None], second[:, :-1]], axis=1)
        return np.asarray(np.maximum(before, second) + self.log_cells)

    def moments(self, power: Array) -> Array:
        """Logarithms of upper bounds of E_Q[w^a; X <= end], of shape (power, end)."""
        return _above_one(np.logaddexp.accumulate(self._on_cells(power), axis=1))

    def reflected_moments(self, power: Array) -> Array:
        """Logarithms of upper bounds of E_Q[w^a], a < 0: above the last end f is at most w^a + |a| (w - 1)."""
        log_outside = self.log_tail[-1] + np.log1p(np.abs(power))
        return _above_one(np.logaddexp(np.logaddexp.reduce(self._on_cells(power), axis=1), log_outside))


def _above_one(log_excess: Array) -> Array:
    """log(1 + e^x), rounded up."""
    return np.asarray(np.logaddexp(0.0, log_excess + _SLACK) + 2 * ULP)
