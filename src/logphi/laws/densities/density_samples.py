"""The log-ratio of two densities as the nodes of a fine quadrature."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from logphi.arrays import Array
from logphi.laws.densities.density_tables import loss_ranges, losses, with_atom
from logphi.quadrature.kronrod import KRONROD, Table, divided

# measured: the panels of the finest quadrature, over the range of the losses
_CELLS = 8000
# measured: the least number of panels that a panel is divided into
_LEAST = 8
# derived: panels whose densities are below e^-700 of the largest are left out
_DEEP = 700.0


def loss_samples(table: Table, rest: float, logs: Callable[[Array], tuple[Array, Array]]) -> tuple[Array, Array]:
    """The losses of the nodes of a fine quadrature and of the atom, ascending, and the logarithms of their masses under p."""
    loss, common = losses(table)
    share = np.where(common, np.maximum(table.log_p, table.log_q), -np.inf).max(axis=1)
    heavy = share > share.max() - _DEEP
    ranges = np.where(heavy, loss_ranges(loss, common), 0.0)
    parts = np.where(heavy, np.maximum(np.ceil(_CELLS * ranges / max(float(ranges.sum()), 1e-300)), _LEAST), 1)
    table = divided(table.pick(heavy), parts[heavy], logs)
    loss, common = losses(table)
    with np.errstate(divide="ignore"):  # weights of zero
        log_p = np.where(common, table.log_p + np.log(table.width * KRONROD), -np.inf)
    kept = np.isfinite(log_p)
    loss, log_p = with_atom(rest, loss[kept], log_p[kept])
    order = np.argsort(loss)
    return loss[order], log_p[order]
