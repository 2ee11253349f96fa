"""An envelope for the log-ratio of two normal mixtures, from a component of the law with a step density.

notation as in :mod:`logphi.quadrature.mixtures.pair_log_ratio`. P and Q may cross many times.
Where |l'| <= u and P^c Q^{1-c} >= g on a cell, the law of l has a density of at least g/u between the values of l at both
ends: these steps are a part of the law whose total variation is known.
"""

from __future__ import annotations

import numpy as np

from logphi.arrays import Array
from logphi.quadrature.density_envelope import log_density_envelope
from logphi.quadrature.mixtures.pair_log_ratio import PairLogRatio
from logphi.quadrature.mixtures.pair_trapezoid import nodes_of
from logphi.quadrature.values import MASS_ROUNDING

# measured: caps that are tried for a density with peaks, as shares of its largest value
_CAPS = np.geomspace(1e-4, 1.0, 24)
# derived: with nodes this coarse, a bound of the decay has a relative error of e^-25
_COARSE_TARGET = -25.0


def log_pair_envelope(pair: PairLogRatio, abscissa: float, heights: Array) -> Array:
    """A proved upper bound of log |M(c + is)| - K(c) for all s >= t, from a component of the law with a step density."""
    power = abscissa + 1
    found = _steps_of(pair, power)
    envelope = np.zeros(heights.shape)
    if found is None:
        return envelope
    height, length = found
    for cap in _CAPS * np.abs(height).max():
        capped = np.clip(height, -cap, cap)
        weight = float(np.abs(capped) @ length)
        # the loss is monotone between two zeros of its slope
        variation = float(np.abs(np.diff(capped, prepend=0.0, append=0.0)).sum())
        if weight > 0:
            own = log_density_envelope(
                variation / weight * (1 + MASS_ROUNDING), heights, min(weight * (1 - MASS_ROUNDING), 1.0)
            )
            envelope = np.minimum(envelope, own)
    return envelope


def _steps_of(pair: PairLogRatio, power: float) -> tuple[Array, Array] | None:
    """For each cell a lower bound of the density of the tilted loss, with the sign of the slope, and the length in the loss."""
    nodes = nodes_of(pair, np.array([power]), 0.0, _COARSE_TARGET)
    if nodes is None or pair.fine is None:
        return None
    log_whole = float(nodes.log_mass[0, 0]) + float(nodes.inner[0, 0]) + MASS_ROUNDING
    width_p, width_q = pair.widths
    h, points = pair.fine
    more = pair.points_in_disc(h)
    v, windows = pair.disc, pair.largest(points, h)
    # on a cell, a function differs from its chord by at most h^2/8 times its largest second derivative
    inner = slice(more - 1, points.x.size - more + 1)
    steep, loss, loss_error = points.slope[inner], points.loss[inner], points.loss_error[inner]
    bend = 1 + (abs(power) * width_p**2 + abs(1 - power) * width_q**2) / 4
    log_size = (points.log_tilted(power) - points.unit - abs(power) * points.loss_error)[inner]
    steepest = np.maximum(steep[1:], steep[:-1]) + h * h / 8 * 6 * windows / v**3
    log_least = np.minimum(log_size[1:], log_size[:-1]) - h * h / 8 * bend - log_whole
    rise = np.diff(loss)
    sure = np.maximum(np.abs(rise) - loss_error[1:] - loss_error[:-1], 0.0)
    return np.where(sure > 0, np.sign(rise) * np.exp(log_least) / steepest, 0.0), sure
