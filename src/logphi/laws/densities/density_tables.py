"""The integrands of a transform and its errors on panels where the logarithms of two densities are tabulated."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arrays import Array
from logphi.quadrature.kronrod import KRONROD, Table

# chosen, generously: panels with a smaller share of the tilted mass do not change the digits of the transform
LIGHT = 1e-17
# derived: for smaller exponents a difference of exponentials is a series
_SERIES = 0.5


def losses(table: Table) -> tuple[Array, NDArray[np.bool_]]:
    """log(p/q), zero where p or q is zero; and whether both are positive."""
    common = np.isfinite(table.log_p) & np.isfinite(table.log_q)
    return np.where(common, table.log_p, 0.0) - np.where(common, table.log_q, 0.0), common


def loss_ranges(loss: Array, common: NDArray[np.bool_]) -> Array:
    """The range of the losses in each panel, of those that count."""
    ranges: Array = np.where(common, loss, -np.inf).max(axis=1) - np.where(common, loss, np.inf).min(axis=1)
    return np.maximum(ranges, 0.0)


def log_ulps(table: Table, log: Array) -> Array:
    """The error of a tabulated logarithm, in ulps of its size and of its slope times the point."""
    finite = np.isfinite(log)
    known = np.where(finite, log, 0.0)
    rise = np.where(finite, log, -np.inf).max(axis=1) - np.where(finite, log, np.inf).min(axis=1)
    # a slope of hundreds occurs only where there is no mass
    slope = np.clip(np.where(np.isfinite(rise), rise, 0.0), 0.0, 1e3) / np.maximum(np.ptp(table.x, axis=1), 1e-300)
    return np.asarray(1 + np.abs(known) + np.abs(table.x) * slope[:, None])


def centred_terms(table: Table, z: NDArray[Any], peak: Any) -> tuple[NDArray[Any], Array]:
    """p^a q^{1-a} - a p + z q, a = 1 + z, over e^peak, times dx, of shape (z, panels, nodes); and its errors in ulps."""
    loss, common = losses(table)
    log_p, log_q = np.where(common, table.log_p, -np.inf), np.where(common, table.log_q, -np.inf)
    # both are kept, because their difference would round
    z = z[:, None, None]
    a = 1 + z
    peak = np.asarray(peak).reshape(-1, 1, 1)
    scaled_p, scaled_q = (np.exp(log - peak) * table.width for log in (log_p, log_q))
    with np.errstate(over="ignore"):  # outside the strip
        whole = np.exp(np.where(common, np.where(common, log_q, 0.0) - peak + a * loss, -np.inf)) * table.width
    # p (L - 1) + q and a p - z q; by a series and by the difference of p and q where these are close
    near = np.abs(loss) < _SERIES
    tiny = np.where(near, loss, 0.0)
    growth = np.expm1(tiny)
    bend = np.where(near, scaled_q * (tiny * growth - _second(tiny)), scaled_p * (loss - 1) + scaled_q)
    linear = np.where(near, scaled_q * (1 + a * growth), a * scaled_p - z * scaled_q)
    # p (e^{zL} - 1 - zL) + z (p (L - 1) + q), or as it stands
    flat = np.abs(z) * np.abs(loss) < _SERIES
    gentle = scaled_p * _second(z * np.where(flat, loss, 0.0))
    terms = np.where(flat, gentle + z * bend, whole - linear)
    parts = np.where(flat, np.abs(gentle) + np.abs(z) * np.abs(bend), np.abs(whole) + np.abs(linear))
    moved = np.abs(a) * np.abs(whole - scaled_p) * log_ulps(table, table.log_p)
    moved += np.abs(z) * np.abs(whole - scaled_q) * log_ulps(table, table.log_q)
    return terms, moved + 16 * parts


def _second(x: NDArray[Any]) -> NDArray[Any]:
    """e^x - 1 - x for |x| < 1/2: this many terms leave less than 1e-17 of it."""
    tail = np.ones_like(x)
    for k in range(13, 2, -1):
        tail = 1 + x / k * tail
    return np.asarray(x * x / 2 * tail)


def log_peak(table: Table, c: float) -> float:
    """The logarithm of the largest tilted density, or of the densities themselves."""
    common = np.isfinite(table.log_p) & np.isfinite(table.log_q)
    log_p, log_q = np.where(common, table.log_p, 0.0), np.where(common, table.log_q, 0.0)
    return float(np.where(common, np.maximum(log_p + c * (log_p - log_q), np.maximum(log_p, log_q)), -np.inf).max())


def pruned(table: Table, z: NDArray[Any]) -> tuple[Table, float]:
    """The panels with a relevant share of the mass at some points, and a bound of the mass of the others."""
    loss, common = losses(table)
    tilts = np.array([z.real.min(), z.real.max(), 0.0, -1.0])[:, None, None]
    exponent = np.where(common, table.log_p, -np.inf) + tilts * loss
    peak = exponent.max()
    if not np.isfinite(peak):
        return table, 0.0
    size = (np.exp(exponent - peak).sum(axis=0) * table.width) @ KRONROD * (1 + float(np.abs(z).max()))
    kept = size > LIGHT * 1e-3 * size.sum()
    return table.pick(kept), float(size[~kept].sum() * np.exp(min(peak, 700.0)))


def tilted_shares(rest: float, table: Table, abscissa: float) -> tuple[Array, Array]:
    """The losses of the tilted law and their shares, without the negligible ones."""
    loss, common = losses(table)
    with np.errstate(divide="ignore"):  # weights of no mass
        log_mass = np.where(common, table.log_p + abscissa * loss, -np.inf) + np.log(table.width * KRONROD)
    loss, log_mass = with_atom(rest, loss.ravel(), log_mass.ravel())
    weight = np.exp(log_mass - log_mass.max())
    weight /= weight.sum()
    return loss[weight > LIGHT], weight[weight > LIGHT]


def with_atom(rest: float, loss: Array, log_mass: Array) -> tuple[Array, Array]:
    """Losses and logarithms of masses, with an atom at zero if its mass is positive."""
    return (np.append(loss, 0.0), np.append(log_mass, np.log(rest))) if rest else (loss, log_mass)
