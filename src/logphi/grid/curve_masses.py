"""The masses of a curve in the cells of a lattice.

The losses between two nodes are those of an interval of the curve's variable s. The cell's Q-mass and the share of it that goes
to the upper node are integrals of analytic functions over that interval: sums over panels with the error bounds of
:mod:`logphi.quadrature.curves.panels`.
"""

from __future__ import annotations

import numpy as np

from logphi.arith.floats import ULP
from logphi.arrays import Array
from logphi.grid.cell_masses import CellMasses
from logphi.grid.lattice_law import Indices
from logphi.normal.errors import MASS, RUN, SHARE
from logphi.quadrature.curves.curve import Curve
from logphi.quadrature.curves.panels import Ellipses, gauss

# measured: the nodes of a panel, and the sizes of the ellipses that are tried around it
_ORDER = 8
_RHO = np.array([2.5, 5.0, 10.0, 20.0])
# measured: if the loss changes by less than _NARROW in a cell, fewer nodes and one larger ellipse suffice
_NARROW = 0.02
_FEWER = 4
_LARGER = np.array([160.0])
# chosen: the logarithm of the largest error of a share
_SHARP = float(np.log(1e-15))
# chosen: the largest number of halvings of a cell
_HALVINGS = 60


def between(curve: Curve, origin: float, k: Indices, h: float) -> tuple[Array, CellMasses]:
    """The variable at the nodes, and the cells between these, without the atoms of the curve."""
    x = np.asarray(origin + k * h, dtype=float)
    s = np.clip(curve.inverse(x), curve.start, curve.end)
    if k[0] == 0 and np.isfinite(curve.start):
        # near the start the computed edge has few digits
        s[0] = curve.start
    loss_error = curve.loss_error(s, np.abs(s))
    # an end of the curve lies within its cell; other edges are as computed
    inside = (s > curve.start) & (s < curve.end)
    location_error = float((np.abs(curve.loss(s) - x) * inside + loss_error).max()) + 4 * ULP * float(np.abs(x).max())
    runs = [_cells(curve, s[at : at + RUN + 1], x[at : at + RUN + 1], h) for at in range(0, s.size - 1, RUN)]
    log_mass, share, wrong, sag = np.concatenate(runs, axis=1)
    share_error = SHARE + np.exp(wrong) + 4 * location_error / h
    share = np.clip(share, 1e-300, 1.0)
    sag = np.minimum(sag * (1 + 1e-9), share * (1 - share) + share_error)
    g0, g1, g2 = (abs(one) for one in curve.density)
    far = np.maximum(np.abs(s[1:]), np.abs(s[:-1]))
    size = 4 + g0 + far * (g1 + g2 * far) + np.abs(log_mass)
    # the density is evaluated at the rounded s, too
    error = MASS + (16 * ULP + 2 * curve.error) * size + np.exp(wrong) + np.maximum(loss_error[1:], loss_error[:-1])
    return s, CellMasses(k[:-1], log_mass, error, share, share_error, sag, location_error, origin)


def _cells(curve: Curve, s: Array, x: Array, h: float) -> Array:
    """Log-masses of cells, shares, logarithms of the errors of either, and bounds of G / (A d)."""
    count = s.size - 1
    owner, low, high = np.arange(count), s[:-1], s[1:]
    reference = np.maximum(curve.log_density(low), curve.log_density(high))
    mass, upper, wrong = np.zeros(count), np.zeros(count), np.full(count, 1e-300)
    scale = float(np.log(np.expm1(min(h, 700.0))))
    narrow = float((high - low).max()) * curve.steepness < _NARROW
    rho, order = (_LARGER, _FEWER) if narrow else (_RHO, _ORDER)
    for halving in range(_HALVINGS):
        # some cells are narrower than the spacing of doubles
        wide = high > low
        owner, low, high = owner[wide], low[wide], high[wide]
        if not owner.size:
            break
        around = Ellipses.around(curve, low, high, rho, order)
        start = x[owner][:, None]
        apart = np.maximum(np.abs(around.left - start), np.abs(around.right - start)) + around.deviation + 1e-300
        paid = np.log(apart) + np.maximum(around.most - start, 0.0) - scale
        log_error = (around.log_rest + np.maximum(paid, 0.0)).min(axis=1)
        typical = np.maximum(curve.log_density((low + high) / 2), reference[owner]) + np.log(high - low)
        good = (log_error <= typical + _SHARP) | (halving == _HALVINGS - 1)
        if good.any():
            nodes, log_weight, _ = gauss(low[good], high[good], order)
            who = np.repeat(owner[good], order)
            weight = np.exp(curve.log_density(nodes) + log_weight - reference[who])
            mass += np.bincount(who, weight, count)
            upper += np.bincount(who, weight * (np.expm1(curve.loss(nodes) - x[who]) * np.exp(-scale)), count)
            wrong += np.bincount(owner[good], np.exp(np.minimum(log_error[good] - reference[owner[good]], 700.0)), count)
        owner, low, high = owner[~good], low[~good], high[~good]
        middle = (low + high) / 2
        owner, low, high = np.tile(owner, 2), np.concatenate([low, middle]), np.concatenate([middle, high])
    held = np.maximum(mass, 1e-300)
    share = upper / held
    with np.errstate(over="ignore"):  # a cell without mass has no error
        error = np.minimum(2 * wrong / held, 1.0)
    return np.stack([np.log(held) + reference, share, np.log(error), _sag(curve, s, x, np.log(held) + reference, scale)])


def _sag(curve: Curve, s: Array, x: Array, log_mass: Array, scale: float) -> Array:
    """Max(dQ/da) d / (8 A) of each cell, where dQ/da is e^g times powers of the w_k over e^l times the slope of the loss."""
    log_density, slope = curve.highest(s[:-1], s[1:]), np.zeros(s.size - 1)
    for factor in curve.factors:
        value = factor.value(s)
        part = (factor.own - factor.sign) * value
        log_density = log_density + np.maximum(part[1:], part[:-1])
        share = factor.share(s, value)
        slope += abs(factor.slope) * np.minimum(share[1:], share[:-1])
    log_sag = log_density - np.log(np.maximum(slope, 1e-300)) + x[:-1] + scale - log_mass - np.log(8)
    sag: Array = np.exp(np.minimum(log_sag, 700.0))
    return sag
