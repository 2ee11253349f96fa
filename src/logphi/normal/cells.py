"""Normal masses of cells and the means of e^{my} in them, to nearly all digits also in narrow cells and far tails.

notation: A the normal mass of a cell, dQ/da the density of a = e^{my}, d the length of the cell in a, s the share of d at which
the mean of a in the cell lies, G = max(dQ/da) d^2 / 8.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx, ndtr

from logphi.arith.floats import ULP
from logphi.arrays import Array
from logphi.normal.errors import RUN, SHARE

# derived: below this, five terms of the Hermite series leave less than 945 * 0.05^10 / 11! < 1e-17
_NARROW = 0.05
# derived: a difference that keeps a twentieth loses twenty times the few ulps of its terms
WIDE = 128 * ULP


def normal_cells(y: Array, m: float) -> tuple[Array, Array, Array, Array, NDArray[np.bool_]]:
    """The logarithms of A, the shares s and their errors, bounds of G / (A d), and which cells are narrow."""
    log_mass, share, error, sag, narrow = raw_cells(y, m)
    # the chord is farthest from the curve if all mass is at the mean
    return log_mass, share, error, np.minimum(sag * (1 + 1e-12), share * (1 - share) + error), narrow


def raw_cells(y: Array, m: float) -> tuple[Array, Array, Array, Array, NDArray[np.bool_]]:
    """The same, with G / (A d) as it is computed: not rounded up, and not bounded by s (1 - s)."""
    runs = [_run_of_cells(y[first : first + RUN + 1], m) for first in range(0, y.size - 1, RUN)]
    log_mass, share, error, sag = np.concatenate([results for results, _ in runs], axis=1)
    return log_mass, share, error, sag, np.concatenate([narrow for _, narrow in runs])


def _run_of_cells(y: Array, m: float) -> tuple[Array, NDArray[np.bool_]]:
    low, high = y[:-1], y[1:]
    with np.errstate(invalid="ignore"):  # the first cell may be endless: it is not narrow
        narrow = (high - low) / 2 * (np.abs(low / 2 + high / 2) + m + 1) <= _NARROW
    # dQ/da is proportional to phi(y) e^{-Y}, highest at y = -m
    top = np.clip(-m, low, high)
    results = np.empty((4, low.size))
    for kind, those in ((_narrow_cells, narrow), (_wide_cells, ~narrow)):
        if those.any():
            chosen: Any = slice(None) if those.all() else those
            results[:, chosen] = kind(low[chosen], high[chosen], top[chosen], m)
    results[1] = np.clip(results[1], 0.0, 1.0)
    return results, narrow


def _narrow_cells(low: Array, high: Array, top: Array, m: float) -> tuple[Array, Array, Array, Array]:
    r, mid = (high - low) / 2, low / 2 + high / 2
    own, other, length = _hermite(mid, r), _hermite(mid - m, r), 2 * m * r
    growth = np.expm1(length)
    log_mass = np.log(2 / np.sqrt(2 * np.pi) * r * own) - mid * mid / 2
    share = np.expm1(length / 2 + np.log1p((other - own) / own)) / growth
    log_peak = (mid - top) * (mid + top) / 2 - m * (top - low)
    return log_mass, share, SHARE * (1 + 1 / length), np.exp(log_peak) * growth / (length * own) / 8


def _wide_cells(low: Array, high: Array, top: Array, m: float) -> tuple[Array, Array, Array, Array]:
    log_own, log_other = log_normal_mass(low, high), log_normal_mass(low - m, high - m)
    empty, room = np.exp(-m * (high - low)), -np.expm1(-m * (high - low))
    mean = np.exp(np.minimum(log_other - log_own - (m * high - m * m / 2), 0.0))
    share = np.clip((mean - empty) / room, 0.0, 1.0)
    error = SHARE * (32 + high * high + m * m + np.abs(log_own) + np.abs(log_other)) / room
    log_peak = m * (high - top) - top * top / 2 - log_own - np.log(m * np.sqrt(2 * np.pi))
    return log_own, share, error, np.exp(np.minimum(log_peak, 700.0)) * room / 8


def _hermite(c: Array, r: Array) -> Array:
    """The mean of phi(c + t) / phi(c) over |t| < r: sum of He_2j(c) r^2j / (2j + 1)!."""
    s, u = c * c, r * r
    he4, he6 = (s - 6) * s + 3, ((s - 15) * s + 45) * s - 15
    he8 = (((s - 28) * s + 210) * s - 420) * s + 105
    return np.asarray(1 + u * ((s - 1) / 6 + u * (he4 / 120 + u * (he6 / 5040 + u * he8 / 362880))))


def log_normal_mass(low: Array, high: Array) -> Array:
    """Logarithm of the normal mass of a cell: by the series if it is narrow, else from the side with less cancellation.

    A cell that is not narrow has at least a twentieth of the mass of the tail beyond its inner end.
    """
    reflected = low + high < 0
    a, b = np.where(reflected, -high, low), np.where(reflected, -low, high)
    tail = a > 0
    start = np.where(tail, a, 0.0)
    end = np.where(np.isinf(b), start, b)
    beyond = np.where(np.isinf(b), 0.0, np.exp(-(end - start) * (end + start) / 2) * erfcx(end / np.sqrt(2)))
    with np.errstate(divide="ignore"):  # cells without any width: the series takes over
        far = np.log((erfcx(start / np.sqrt(2)) - beyond) / 2) - start * start / 2
        near = np.log(ndtr(b) - ndtr(np.minimum(a, 0.0)))
    mid = np.where(np.isinf(a), 1 / ULP, a / 2 + end / 2)
    narrow = ~np.isinf(b) & ((b - a) / 2 * (np.abs(mid) + 1) <= _NARROW)
    r, mid = np.where(narrow, (end - a) / 2, 0.0), np.where(narrow, mid, 0.0)
    with np.errstate(divide="ignore"):
        series = np.log(2 / np.sqrt(2 * np.pi) * r * _hermite(mid, r)) - mid * mid / 2
    return np.asarray(np.where(narrow, series, np.where(tail, far, near)))
