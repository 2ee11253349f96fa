"""The excess of the log-ratio of two densities, by quadrature; its errors are estimates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ULP
from logphi.arith.scaled import Scaled
from logphi.arrays import Array
from logphi.laws.densities.density_tables import log_ulps, losses
from logphi.quadrature.kronrod import KRONROD, NODES, Logs, Table, above_noise, doubts, settled

# measured: what is left of a gap between two nodes is narrow enough for thirteen digits
_HALVINGS = 22


def density_excess(table: Table, logs: Logs, x: float, tolerance: float) -> Scaled:
    """The integral of (p - e^x q)_+ where q is positive, on the panels of a table, bisected until it settles."""

    def log_integrand(table: Table) -> Array:
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):  # where p or q is zero, so is the integrand
            log_value = np.log(-np.expm1(np.minimum(x - (table.log_p - table.log_q), 0.0))) + table.log_p
        return np.where(np.isnan(log_value) | np.isneginf(table.log_q), -np.inf, log_value)

    def integrand(table: Table, scale: float) -> tuple[Array, Array]:
        """The integrand over e^scale times dx, and a bound of the error of the panels in which p crosses e^x q."""
        log_value = log_integrand(table)
        height = np.minimum(table.log_p - scale + np.log(table.width), 700.0)
        density = np.where(np.isneginf(table.log_q), 0.0, np.exp(height))
        hidden = (density * np.minimum(np.abs(x - losses(table)[0]), 1.0)) @ KRONROD
        order = np.argsort(table.x.ravel())
        inside = np.isfinite(log_value).ravel()[order]
        edges = np.flatnonzero(inside[1:] != inside[:-1])
        crossed = np.zeros(table.low.size, dtype=bool)
        crossed[np.concatenate([order[edges], order[edges + 1]]) // table.x.shape[1]] = True
        return np.exp(log_value - scale) * table.width, np.where(crossed, hidden, 0.0)

    def report(table: Table) -> tuple[Array, Array]:
        scale = float(log_integrand(table).max())
        value, hidden = integrand(table, scale if np.isfinite(scale) else float(table.log_p.max()))
        noise = 4 * ULP * ((value * (_ulps(table) + 16)) @ KRONROD)
        return (value @ KRONROD)[None], np.maximum(above_noise(doubts(value), noise), hidden)[None]

    table = settled(_cut(table, logs, x), logs, report, tolerance)
    log_value = log_integrand(table)
    scale = float(log_value.max())
    if not np.isfinite(scale):
        return Scaled(0.0, 0.0)
    parts, hidden = integrand(table, scale)
    value = float((parts @ KRONROD).sum())
    with np.errstate(over="ignore", invalid="ignore"):  # overflow is not used: the integrand is zero there
        density = np.where(np.isneginf(log_value), 0.0, np.exp(table.log_p - scale)) * table.width
    rounding = float(((density * np.where(density > 0, _ulps(table) + abs(x) + 4, 0.0)) @ KRONROD).sum()) * ULP
    inner = float(np.maximum(doubts(parts), hidden).sum())
    return Scaled(scale, value, inner=inner, rounding=rounding + 32 * ULP * value)


def _cut(table: Table, logs: Logs, x: float) -> Table:
    """The table with a narrow panel around each place where p crosses e^x q, which rounds of bisection would find one by one.

    What is not seen between two nodes of one panel is left to them.
    """
    above = _above(table.log_p, table.log_q, x)
    changes = above[:, 1:] != above[:, :-1]
    panels = np.flatnonzero(changes.sum(axis=1) == 1)
    if not panels.size:
        return table
    node = changes[panels].argmax(axis=1)
    start, end, origin = (part[panels] for part in (table.low, table.high, table.origin))
    far = table.far[panels]
    places = (start + end)[:, None] / 2 + (end - start)[:, None] / 2 * NODES
    rows = np.arange(panels.size)
    low, high, side = places[rows, node], places[rows, node + 1], above[panels, node]
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        before = _above(*logs(origin + np.where(far, 1 / np.where(far, middle, 1.0), middle)), x) == side
        low, high = np.where(before, middle, low), np.where(before, high, middle)
    # nodes are not at the ends of a panel, so that the place is kept away from them
    low, high = 2 * low - high, 2 * high - low
    inside = (start < low) & (low < high) & (high < end)
    kept = np.ones(table.low.size, dtype=bool)
    kept[panels[inside]] = False
    start, low, high, end, origin = (part[inside] for part in (start, low, high, end, origin))
    far = far[inside]
    lows, highs = np.concatenate([start, low, high]), np.concatenate([low, high, end])
    return table.pick(kept).joined(Table.of(lows, highs, np.tile(origin, 3), np.tile(far, 3), logs))


def _above(log_p: Array, log_q: Array, x: float) -> NDArray[np.bool_]:
    with np.errstate(invalid="ignore"):  # where both are zero
        return np.asarray(log_p - log_q > x)


def _ulps(table: Table) -> Array:
    return log_ulps(table, table.log_p) + log_ulps(table, table.log_q)
