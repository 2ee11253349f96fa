"""Normal masses of the set where a quadratic of a normal variable exceeds a level.

Notation of :mod:`logphi.laws.normal.quadratic`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from logphi.arith.floats import LOG_ROOT_TWO_PI, ULP, Discs
from logphi.arith.scaled import Scaled
from logphi.arith.summation import log_sum
from logphi.arrays import Array
from logphi.laws.normal.quadratic import Quadratic
from logphi.normal.tails import log_masses


def excess(quadratic: Quadratic, x: float) -> Scaled | None:
    """E[(1 - e^{x-X})_+] = P(X > x) - e^x Q(X > x); None where doubles overflow.

    With any other region in place of {X > x} the difference is too small, by a second-order amount, as p = e^x q at the roots.
    So rounded roots are used, and the effect of their error is bounded separately.
    """
    roots = quadratic.roots(x)
    if roots is None:
        return _excess_near_vertex(quadratic, x)
    with np.errstate(over="ignore", invalid="ignore"):  # values that are not finite are refused below
        scale, value, rounding = _difference(quadratic, roots, x)
    if not (math.isfinite(scale) and math.isfinite(value) and math.isfinite(rounding)):
        return None
    return Scaled(scale, value, rounding=rounding)


def partial_masses(quadratic: Quadratic, x: float, *, tilted: bool) -> tuple[Scaled, Scaled] | None:
    """P(X > x) and P(X <= x), or those of Q if ``tilted``; None where doubles overflow."""
    roots = quadratic.roots(x)
    if roots is None:
        vertex = _near_vertex(quadratic, x)
        if vertex is None:
            return None
        # in the interval the density of P is at most e^(x + loss_error) times that of Q
        held = vertex.mass_bound(0.0 if tilted else x + vertex.loss_error)
        inside, outside = Scaled(0.0, held / 2, rounding=held / 2), Scaled(0.0, 1 - held / 2, rounding=held / 2)
    else:
        centres = roots if tilted else tuple(map(quadratic.in_units_of_p, roots))
        ends, radius = (np.array([float(getattr(one, part)) for one in centres]) for part in ("mid", "rad"))
        with np.errstate(over="ignore", invalid="ignore"):  # values that are not finite are refused below
            inside, outside = (_mass(ends, radius, outer) for outer in (False, True))
    found = (outside, inside) if quadratic.opens_upward else (inside, outside)
    return found if all(math.isfinite(one.high) and math.isfinite(one.log_scale) for one in found) else None


def density(quadratic: Quadratic, x: float) -> Scaled | None:
    """The density of X at x under P: with t the two roots in units of P, (phi(t_1) + phi(t_2)) r/s."""
    roots = quadratic.roots(x)
    if roots is None:
        return None
    centres, square = [quadratic.in_units_of_p(root) for root in roots], quadratic.discriminant(x)
    exponent = np.array([-(float(t.mid) ** 2) / 2 for t in centres])
    exponent_error = np.array([float((np.abs(t.mid) + t.rad) * t.rad) + 2 * ULP * float(t.mid) ** 2 for t in centres])
    scale = float(exponent.max())
    part = np.exp(exponent - scale)
    value = float(part.sum()) / math.sqrt(2 * math.pi * float(square.mid))
    # the square is at least four times its radius, or there are no roots
    of_square = float(square.rad / square.mid)
    of_parts = float((part * np.expm1(np.minimum(exponent_error, 700.0))).sum() / part.sum())
    relative_error = of_parts + of_square + 32 * ULP + 2 * ULP * abs(scale)
    return Scaled(scale, value, rounding=value * (relative_error + of_square * of_square))


def _excess_near_vertex(quadratic: Quadratic, x: float) -> Scaled | None:
    """The excess where rounding hides the roots: it is 0 or 1 - e^x, but for the mass between the roots.

    There log(p/q) is within g = s^2 / (2 |v| r^2) of x, on an interval of length 2 s / |v|.
    """
    vertex = _near_vertex(quadratic, x)
    if vertex is None:
        return None
    with np.errstate(all="ignore"):  # values that are not finite are refused below
        rest = vertex.mass_bound(x) * float(np.expm1(vertex.loss_error))
    if not math.isfinite(rest):
        return None
    if not quadratic.opens_upward:
        return Scaled(0.0, rest / 2, rounding=rest / 2)
    # the loss exceeds x outside the interval
    value = -math.expm1(x)
    return Scaled(0.0, value + rest / 2, rounding=rest / 2 + 1e-15 * (value + rest + abs(x)))


@dataclass(frozen=True)
class _Vertex:
    """An interval of half-length ``half``, ``distance`` or more from 0 to its middle, with |log(p/q) - x| <= ``loss_error``."""

    half: float
    distance: float
    loss_error: float

    def mass_bound(self, log_unit: float) -> float:
        """An upper bound of e^log_unit times the mass of the interval under Q."""
        return 2 * self.half * float(_density(np.array(max(self.distance - self.half, 0.0)), log_unit)) * (1 + 1e-12)


def _near_vertex(quadratic: Quadratic, x: float) -> _Vertex | None:
    """An interval that contains the true roots, if they are real; None where rounding does not hide them."""
    d, r, v = quadratic.shift, quadratic.ratio, quadratic.curvature
    with np.errstate(all="ignore"):  # values that are not finite are refused below
        square = quadratic.discriminant(x)
        # an upper bound of s/r, and a lower bound of |v|
        most, curvature = float(np.sqrt(np.maximum(square.mid + square.rad, 0.0))), float(np.abs(v.mid) - v.rad)
        half, middle = most * float(r.mid + r.rad) / curvature, d / v
        distance = max(float(np.abs(middle.mid) - middle.rad), 0.0)
        loss_error = most * most / (2 * curvature)
    known = square.mid <= 4 * square.rad and curvature > 0 and math.isfinite(half) and math.isfinite(distance)
    return _Vertex(half, distance, loss_error) if known else None


def _mass(ends: Array, radius: Array, outer: bool) -> Scaled:
    """The normal mass between two points, or outside of them, each point known to within a radius."""
    log_mass, error = _log_masses(ends, outer)
    scale = float(log_sum(log_mass))
    mass = np.exp(log_mass - scale)
    # the mass between the rounded point and the true one
    uncovered = radius * _density(np.abs(ends) - radius, -scale)
    return Scaled(scale, float(mass.sum()), rounding=(float((mass * error).sum() + uncovered.sum()) + 4 * ULP) * (1 + 1e-9))


def _difference(quadratic: Quadratic, roots: tuple[Discs, Discs], x: float) -> tuple[float, float, float]:
    """The logarithm of P(X > x); the excess and its error, both over P(X > x)."""
    outer = quadratic.opens_upward
    centres = np.array([float(root.mid) for root in roots])
    in_units_of_p = quadratic.in_units_of_p(Discs.exact(centres))
    of_p = _mass(in_units_of_p.mid, np.broadcast_to(in_units_of_p.rad, centres.shape), outer)
    log_q, q_error = _log_masses(centres, outer)
    scale = of_p.log_scale
    of_q = np.exp(log_q + x - scale)
    rounding = of_p.rounding + float((of_q * (q_error + ULP * (4 + 2 * abs(x) + 2 * abs(scale)))).sum())
    rounding += _root_error(quadratic, roots, x - scale)
    return scale, float(1 - of_q.sum()), rounding * (1 + 1e-9)


def _log_masses(ends: Array, outer: bool) -> tuple[Array, Array]:
    """Logarithms of the normal masses between two points, or of each outer part, with their relative errors."""
    low, high = (np.array([-np.inf, ends[1]]), np.array([ends[0], np.inf])) if outer else (ends[:1], ends[1:])
    return log_masses(low, high)


def _density(distance: Array, log_unit: float) -> Array:
    """An upper bound of the normal density at least this far from its centre, times e^log_unit."""
    exponent = log_unit - np.maximum(distance, 0.0) ** 2 / 2 - LOG_ROOT_TWO_PI
    return np.asarray(np.exp(exponent + 1e-12 * (1 + np.abs(exponent))))


def _root_error(quadratic: Quadratic, roots: tuple[Discs, Discs], log_unit: float) -> float:
    """A bound of the integral of |p - e^x q| between the true roots and the rounded ones, times e^(log_unit - x)."""
    centres = np.array([float(root.mid) for root in roots])
    radius = np.array([float(root.rad) for root in roots])
    ratio = float(quadratic.ratio.mid - quadratic.ratio.rad)
    # the slope of log(p/q) is |v (y - d/v)|/r^2, and at each root |y - d/v| is half the distance of the roots
    slope = float(np.abs(quadratic.curvature.mid)) * (float(centres[1] - centres[0]) / 2 + 2 * radius.max()) / ratio**2 * 1.01
    change = np.expm1(slope * radius)
    return float((radius * change * _density(np.abs(centres) - radius, log_unit)).sum())
