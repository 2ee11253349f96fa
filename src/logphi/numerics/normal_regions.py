"""Where a quadratic of a normal variable exceeds a level, and what two normal laws have there.

notation as in :mod:`logphi.numerics.laws.normal_pair`: y ~ N(0, 1) under Q, t = (y - d)/r ~ N(0, 1) under P, v = 1 - r^2.
{log(p/q) > x} lies between the roots of v y^2 - 2 d y + n, n = d^2 + 2 r^2 (x + log r), or outside them for v < 0. With
s^2 = r^2 (d^2 - 2 v (x + log r)) they are n/(d + s) and (d + s)/v.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from logphi.arith.floats import FLOATS, ULP, Discs
from logphi.numerics.enclosure import Scaled
from logphi.numerics.lattice_law import MASS, Array, log_sum
from logphi.numerics.pieces.normal_cells import WIDE, log_normal_mass

if TYPE_CHECKING:
    from logphi.numerics.laws.normal_pair import Shape


def excess(shape: Shape, x: float) -> Scaled | None:
    """E[(1 - e^{x-X})_+] = P(X > x) - e^x Q(X > x); None where doubles do not reach.

    On any region near the true one the difference of the two measures is too small by a second-order amount only, as
    p = e^x q at the roots: the roots are taken as rounded, and what that costs is bounded apart from the masses.
    """
    roots = real_roots(shape, FLOATS.constant(x) + shape.log_ratio)
    if roots is None:
        return _beside_the_vertex(shape, x)
    with np.errstate(over="ignore", invalid="ignore"):  # whatever is not finite is given up below
        scale, value, rounding = _difference(shape, roots, x)
    if not (math.isfinite(scale) and math.isfinite(value) and math.isfinite(rounding)):
        return None
    return Scaled(scale, value, rounding=rounding)


def _beside_the_vertex(shape: Shape, x: float) -> Scaled | None:
    """The excess where rounding hardly tells the roots from each other: nothing, or 1 - e^x, but for the interval between them.

    There log(p/q) is within g = s^2 / (2 |v| r^2) of x, on an interval of length 2 s / |v|.
    """
    d, r, v = shape.shift, shape.ratio, shape.bend
    with np.errstate(all="ignore"):  # whatever is not finite is given up below
        square = d * d - 2 * v * (FLOATS.constant(x) + shape.log_ratio)
        # s/r at most, and |v| at least
        most, bend = float(np.sqrt(np.maximum(square.mid + square.rad, 0.0))), float(np.abs(v.mid) - v.rad)
        half = most * float(r.mid + r.rad) / bend
        middle = d / v
        apart = float(np.expm1(most * most / (2 * bend)))
        density = float(_density(np.maximum(np.abs(middle.mid) - middle.rad - half, 0.0), x))
        rest = 2 * half * apart * density * (1 + 1e-12)
    if not (square.mid <= 4 * square.rad and bend > 0 and math.isfinite(rest)):
        return None
    # below the vertex of a wider P, nearly everything exceeds x
    value = -math.expm1(x) if v.mid < 0 else 0.0
    return Scaled(0.0, value + rest / 2, rounding=rest / 2 + 1e-15 * (value + rest + abs(x)) * bool(v.mid < 0))


def _difference(shape: Shape, roots: tuple[Discs, Discs], x: float) -> tuple[float, float, float]:
    """The logarithm of P(X > x); the excess and its error in units of that."""
    turned = bool(shape.bend.mid < 0)
    places = np.array([float(root.mid) for root in roots])
    moved = (Discs.exact(places) - shape.shift) / shape.ratio
    log_p, wrong_p = _masses(moved.mid, turned)
    log_q, wrong_q = _masses(places, turned)
    scale = float(log_sum(log_p))
    share = np.exp(log_q + x - scale)
    slip = ULP * (4 + 2 * abs(x) + 2 * abs(scale))
    rounding = float((np.exp(log_p - scale) * wrong_p).sum() + (share * (wrong_q + slip)).sum()) + 4 * ULP
    # the masses of P between t and where t may be
    radius = np.broadcast_to(moved.rad, places.shape)
    rounding += float((radius * _density(np.abs(moved.mid) - radius, -scale)).sum())
    rounding += _misplaced(shape, roots, x - scale)
    return scale, float(1 - share.sum()), rounding * (1 + 1e-9)


def real_roots(shape: Shape, level: Discs) -> tuple[Discs, Discs] | None:
    """Both roots for x + log r = ``level``, the lower one first; None where they are hardly real, or not finite."""
    d, r, v = shape.shift, shape.ratio, shape.bend
    with np.errstate(all="ignore"):  # whatever is not finite is given up below
        square = d * d - 2 * v * level
        if not square.mid > 4 * square.rad:
            return None
        root = np.sqrt(square.mid)
        far = d + r * Discs(root, square.rad / root + ULP * root)
        roots = ((d * d + 2 * r * r * level) / far, far / v)
    if not all(np.isfinite(one.mid) and np.isfinite(one.rad) for one in roots):
        return None
    return (roots[1], roots[0]) if v.mid < 0 else roots


def _masses(ends: Array, turned: bool) -> tuple[Array, Array]:
    """Logarithms of the normal masses of the components, and their relative errors."""
    low, high = (np.array([-np.inf, ends[1]]), np.array([ends[0], np.inf])) if turned else (ends[:1], ends[1:])
    inner = np.where((low < 0) & (high > 0), 0.0, np.minimum(np.abs(low), np.abs(high)))
    return log_normal_mass(low, high), MASS + WIDE + 2 * ULP * (inner + 1) ** 2


def _density(distance: Array, log_unit: float) -> Array:
    """The normal density at a distance from its centre, or nearer, over e^-log_unit."""
    exponent = log_unit - np.maximum(distance, 0.0) ** 2 / 2 - 0.5 * math.log(2 * math.pi)
    return np.asarray(np.exp(exponent + 1e-12 * (1 + np.abs(exponent))))


def _misplaced(shape: Shape, roots: tuple[Discs, Discs], log_unit: float) -> float:
    """What P - e^x Q has between the roots and where they are taken, e^x being e^log_unit of the unit."""
    places = np.array([float(root.mid) for root in roots])
    radius = np.array([float(root.rad) for root in roots])
    width = float(shape.ratio.mid - shape.ratio.rad)
    # the slope of log(p/q) is |v (y - d/v)|/r^2, half the distance of the roots from their middle at each of them
    slope = float(np.abs(shape.bend.mid)) * (float(places[1] - places[0]) / 2 + 2 * radius.max()) / width**2 * 1.01
    change = np.expm1(slope * radius)
    return float((radius * change * _density(np.abs(places) - radius, log_unit)).sum())
