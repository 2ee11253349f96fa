"""The density ratio of two laws, discretized above and below in the convex order."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from logphi.arith.doubles import DOUBLES
from logphi.arith.floats import FLOATS, ULP
from logphi.arith.protocol import Parameter
from logphi.arrays import Array
from logphi.grid.ratio_cells import RatioCells
from logphi.laws.flat_constants import uniform, with_atoms

# chosen: the largest log-ratio
_LARGEST = 5.0
# chosen: the smallest log-ratio that is distinguished from zero
_LEAST = 1e-4
# derived: a bound far above the roundings of a weight and of its ratio
_ROUNDED = 64 * ULP
# chosen: outcomes that are rarer under both laws are left out
_RARE = 1e-30


class TooWideError(ValueError):
    """Ratios that are too large or too close to one for a lattice; the message is a predicate, without its subject."""


@dataclass(frozen=True, eq=False)
class Ratios:
    """The law of the ratio under Q, the mass of P where Q has none, and the relative error of both.

    ``omitted`` bounds the mass of either law that is left out. For z >= 0 both orders have K(z) <= z (z + 1) ``growth`` / 2.
    """

    cells: RatioCells
    infinite: float
    relative_error: float
    omitted: float
    growth: float


def of_flat(width: Parameter, cells: int, *, atoms: bool) -> Ratios:
    """The ratio y of a flat law: under Q the density C y^{-3/2} between e^{-w} and e^w, with or without atoms at the ends.

    Raises
    ------
    TooWideError
        If w is too large or too small.
    """
    disc = width.under(FLOATS)
    w = float(disc.mid)
    _check_range(w, w)
    start, end = math.exp(-w), math.exp(w)
    step = 2 * math.sinh(w) / cells
    log_c, log_a = (with_atoms if atoms else uniform)(DOUBLES, w)
    roots = np.sqrt(start + step * np.arange(cells + 1))
    a, b = roots[:-1], roots[1:]
    mass, share = 2 * math.exp(log_c) * step / ((a + b) * a * b), a / (a + b)
    sag = np.minimum(mass * share * (1 - share), math.exp(log_c) * step / (8 * a**3)) * (1 + 1e-12)
    held = np.zeros(cells + 1)
    if atoms:
        held[0], held[-1] = math.exp(log_a + w / 2), math.exp(log_a - w / 2)
    law = RatioCells(start, step, held, mass * (1 - share), mass * share, sag)
    return Ratios(law, 0.0, _ROUNDED * (1 + w) + 8 * float(disc.rad) * (1 + 1 / w), 0.0, _growth(start, end))


def of_outcomes(p: Array, q: Array, cells: int, relative_error: float, omitted: float) -> Ratios:
    """Atoms at p/q, without outcomes that are rare under both laws; the first and the last are on nodes.

    Raises
    ------
    TooWideError
        If a ratio is too large, or none is positive.
    """
    kept = (q > 0) & ((p > _RARE) | (q > _RARE))
    rare = float(np.maximum(p, q)[(q > 0) & ~kept].sum()) * (1 + 1e-9)
    ratios, group = np.unique(p[kept] / q[kept], return_inverse=True)
    masses = np.bincount(group, q[kept]).astype(np.float64)
    positive = ratios[ratios > 0]
    if positive.size == 0 or ratios.size < 2:
        raise TooWideError("has no two finite losses")
    _check_range(math.log(positive[-1]), abs(math.log(positive[0])) if positive.size == ratios.size else math.inf)
    if ((ratios > ratios[0]) & (ratios < _ROUNDED * ratios[-1])).any():
        raise TooWideError("has a ratio that is next to zero beside others")
    law = RatioCells.of_atoms(ratios, masses, 1 if ratios.size == 2 else cells)
    infinite = float(p[q == 0].sum())
    growth = math.inf if infinite or rare or omitted else _growth(ratios[0], ratios[-1])
    return Ratios(law, infinite, 2 * relative_error + _ROUNDED, omitted + rare, growth)


def _growth(lowest: float, highest: float) -> float:
    """The v with K(z) <= z (z + 1) v / 2 if all log-ratios are within w of zero: w^2 (Bun & Steinke 2016)."""
    return max(math.log(highest), -math.log(lowest)) ** 2 * (1 + 1e-9) if lowest > 0 else math.inf


def _check_range(above: float, below: float) -> None:
    if not (above <= _LARGEST and max(above, below) >= _LEAST):
        raise TooWideError(f"has the largest loss {above:.6g}, which must lie between {_LEAST:g} and {_LARGEST:g}")
