"""Where a quadratic of a normal variable exceeds a level, and what two normal laws have there.

notation as in :mod:`logphi.laws.normal_pair`: y ~ N(0, 1) under Q, t = (y - d)/r ~ N(0, 1) under P, v = 1 - r^2.
{log(p/q) > x} lies between the roots of v y^2 - 2 d y + n, n = d^2 + 2 r^2 (x + log r), or outside them for v < 0. With
s^2 = r^2 (d^2 - 2 v (x + log r)) they are n/(d + s) and (d + s)/v.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from logphi.arith.floats import FLOATS, ULP, Discs
from logphi.arith.scaled import Scaled
from logphi.arith.summation import log_sum
from logphi.arrays import Array
from logphi.normal.tails import log_masses

if TYPE_CHECKING:
    from logphi.laws.normal_pair import Shape


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
    vertex = _near_vertex(shape, x)
    if vertex is None:
        return None
    with np.errstate(all="ignore"):  # whatever is not finite is given up below
        rest = vertex.held(x) * float(np.expm1(vertex.apart))
    if not math.isfinite(rest):
        return None
    # below the vertex of a wider P, nearly everything exceeds x
    value = -math.expm1(x) if shape.bend.mid < 0 else 0.0
    return Scaled(0.0, value + rest / 2, rounding=rest / 2 + 1e-15 * (value + rest + abs(x)) * bool(shape.bend.mid < 0))


@dataclass(frozen=True)
class _Vertex:
    """An interval within ``half`` of a middle that is at least ``inner`` from zero, where log(p/q) - x is at most ``apart``."""

    half: float
    inner: float
    apart: float

    def held(self, log_unit: float) -> float:
        """A bound of e^log_unit times what Q holds there."""
        return 2 * self.half * float(_density(np.array(max(self.inner - self.half, 0.0)), log_unit)) * (1 + 1e-12)


def _near_vertex(shape: Shape, x: float) -> _Vertex | None:
    """Where the true roots are, if they are real, that rounding hardly tells from each other; None where it does."""
    d, r, v = shape.shift, shape.ratio, shape.bend
    with np.errstate(all="ignore"):  # whatever is not finite is given up below
        square = _square(shape, FLOATS.constant(x) + shape.log_ratio)
        # s/r at most, and |v| at least
        most, bend = float(np.sqrt(np.maximum(square.mid + square.rad, 0.0))), float(np.abs(v.mid) - v.rad)
        half, middle = most * float(r.mid + r.rad) / bend, d / v
        inner = max(float(np.abs(middle.mid) - middle.rad), 0.0)
        apart = most * most / (2 * bend)
    known = square.mid <= 4 * square.rad and bend > 0 and math.isfinite(half) and math.isfinite(inner)
    return _Vertex(half, inner, apart) if known else None


def _square(shape: Shape, level: Discs) -> Discs:
    """s^2 / r^2 for x + log r = ``level``."""
    return shape.shift * shape.shift - 2 * shape.bend * level


def partial_masses(shape: Shape, x: float, *, tilted: bool) -> tuple[Scaled, Scaled] | None:
    """P(X > x) and P(X <= x), or those of Q if ``tilted``; None where doubles do not reach."""
    turned = bool(shape.bend.mid < 0)
    roots = real_roots(shape, FLOATS.constant(x) + shape.log_ratio)
    if roots is None:
        vertex = _near_vertex(shape, x)
        if vertex is None:
            return None
        # where the other law has e^(x + apart) of it at most
        held = vertex.held(0.0 if tilted else x + vertex.apart)
        inside, outside = Scaled(0.0, held / 2, rounding=held / 2), Scaled(0.0, 1 - held / 2, rounding=held / 2)
    else:
        places = roots if tilted else tuple((root - shape.shift) / shape.ratio for root in roots)
        ends, radius = (np.array([float(getattr(one, part)) for one in places]) for part in ("mid", "rad"))
        with np.errstate(over="ignore", invalid="ignore"):  # whatever is not finite is given up below
            inside, outside = (_held(ends, radius, outer) for outer in (False, True))
    found = (outside, inside) if turned else (inside, outside)
    return found if all(math.isfinite(one.high) and math.isfinite(one.log_scale) for one in found) else None


def density(shape: Shape, x: float) -> Scaled | None:
    """The density of X at x under P: with t the two places in units of P, (phi(t_1) + phi(t_2)) r/s."""
    level = FLOATS.constant(x) + shape.log_ratio
    roots = real_roots(shape, level)
    if roots is None:
        return None
    places = [(root - shape.shift) / shape.ratio for root in roots]
    square = _square(shape, level)
    exponent = np.array([-(float(t.mid) ** 2) / 2 for t in places])
    moved = np.array([float((np.abs(t.mid) + t.rad) * t.rad) + 2 * ULP * float(t.mid) ** 2 for t in places])
    scale = float(exponent.max())
    part = np.exp(exponent - scale)
    value = float(part.sum()) / math.sqrt(2 * math.pi * float(square.mid))
    # the square is four times its radius at least
    share = float(square.rad / square.mid)
    wrong = float((part * np.expm1(np.minimum(moved, 700.0))).sum() / part.sum()) + share + 32 * ULP + 2 * ULP * abs(scale)
    return Scaled(scale, value, rounding=value * (wrong + share * share))


def _held(ends: Array, radius: Array, outer: bool) -> Scaled:
    """The normal mass between two places, or outside, each place known to within a radius."""
    log_mass, wrong = _masses(ends, outer)
    scale = float(log_sum(log_mass))
    mass = np.exp(log_mass - scale)
    # the mass between a place and where it may be
    moved = radius * _density(np.abs(ends) - radius, -scale)
    return Scaled(scale, float(mass.sum()), rounding=(float((mass * wrong).sum() + moved.sum()) + 4 * ULP) * (1 + 1e-9))


def _difference(shape: Shape, roots: tuple[Discs, Discs], x: float) -> tuple[float, float, float]:
    """The logarithm of P(X > x); the excess and its error in units of that."""
    turned = bool(shape.bend.mid < 0)
    places = np.array([float(root.mid) for root in roots])
    moved = (Discs.exact(places) - shape.shift) / shape.ratio
    radius = np.broadcast_to(moved.rad, places.shape)
    held = _held(moved.mid, radius, turned)
    log_q, wrong_q = _masses(places, turned)
    scale = held.log_scale
    share = np.exp(log_q + x - scale)
    slip = ULP * (4 + 2 * abs(x) + 2 * abs(scale))
    rounding = held.rounding + float((share * (wrong_q + slip)).sum())
    rounding += _misplaced(shape, roots, x - scale)
    return scale, float(1 - share.sum()), rounding * (1 + 1e-9)


def real_roots(shape: Shape, level: Discs) -> tuple[Discs, Discs] | None:
    """Both roots for x + log r = ``level``, the lower one first; None where they are hardly real, or not finite."""
    d, r, v = shape.shift, shape.ratio, shape.bend
    with np.errstate(all="ignore"):  # whatever is not finite is given up below
        square = _square(shape, level)
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
    return log_masses(low, high)


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
