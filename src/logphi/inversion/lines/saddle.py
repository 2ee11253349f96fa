"""The saddle of an integrand: its minimum on the real axis, found approximately with few vectorised calls."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from logphi.arrays import Array
from logphi.inversion.lines.kernels import Kernel
from logphi.laws.transform import LossTransform

Objective = Callable[[Array], Array]

# derived: each refinement divides the distance by three at least, so that this many exhaust the digits of doubles
_REFINEMENTS = 16
# measured: the first points without a hint, in the coordinate; most saddles then take three calls
_FIRST = 3.0 * np.linspace(-1, 1, 13)
# measured: the first points around a hint, in the coordinate; most saddles then take one call
_HINTED = 0.25 * np.linspace(-1, 1, 11)
# chosen: further points beyond an end, in units of the distance to the farthest of them
_ONWARD = np.linspace(0, 1, 8)[1:]
# measured: with neighbours this close in value, any of them is as good as the minimum
_FLAT = 0.03
# chosen: points around the vertex of a parabola, in units of a step
_AROUND = (-1.0, 0.0, 1.0)
# chosen: over such a step the objective changes by about this
_CHANGE = 0.02
# chosen: the smallest step, as a share of the distance between neighbours
_LEAST = 0.02
# derived: points that divide a distance by three
_THIRDS = (1 / 3, 2 / 3)


@dataclass(frozen=True)
class Interval:
    """An open interval on one side of the poles, with a coordinate in which saddles are about equally likely everywhere."""

    low: float
    high: float

    def coordinate(self, point: float) -> float:
        """The inverse of :meth:`at`."""
        if np.isinf(self.high):
            return float(np.log(point - self.low))
        return float(np.log(point - self.low) - np.log(self.high - point))

    def at(self, theta: Array) -> Array:
        """Points of the interval: logarithmic towards a finite end, exponential towards infinity."""
        if np.isinf(self.high):
            return self.low + np.exp(theta)
        return self.low + (self.high - self.low) / (1 + np.exp(-theta))


# right of the poles 0 and -1, and between them
RIGHT = Interval(0.0, np.inf)
MIDDLE = Interval(-1.0, 0.0)


@dataclass(frozen=True)
class Saddle:
    """An abscissa near the minimum, the value there (infinite if no value is finite), and the approximate second derivative.

    ``curvature`` is computed from the points around the minimum; zero if they do not determine it.
    """

    abscissa: float
    value: float
    curvature: float = 0.0


def minimise(objective: Objective, interval: Interval, hint: float | None = None) -> Saddle:
    """Minimise a convex (or quasi-convex) objective; infinite values mark points to avoid.

    ``hint`` is a guess of the minimum. The result is a point at which the objective was evaluated: bounds that use it hold
    however far it is from the minimum.
    """

    def known(theta: Array) -> Array:
        # minus infinity is no minimum: far out an approximation may have lost all its digits
        found = objective(interval.at(theta))
        return np.where(np.isfinite(found), found, np.inf)

    theta = _FIRST if hint is None else interval.coordinate(hint) + _HINTED
    half = float(theta[-1] - theta[0]) / 4
    values = known(theta)
    best = int(values.argmin())
    for _ in range(12):
        inside = 0 < best < theta.size - 1 and math.isfinite(values[best])
        if inside or abs(theta[best]) > 60:
            break
        half *= 2
        all_infinite = not math.isfinite(values[best])
        side = -1 if all_infinite or best == 0 else 1
        more = (theta[0] if side < 0 else theta[-1]) + side * half * _ONWARD
        theta, values, best = _joined(theta, values, more, known(more))
    near = slice(max(best - 1, 0), best + 2)
    coordinates, heights = theta[near].tolist(), values[near].tolist()
    for _ in range(_REFINEMENTS):
        if math.isfinite(highest := max(heights)) and highest - min(heights) < _FLAT:
            break
        fresh = _between(coordinates, heights)
        found = known(np.array(fresh)).tolist()
        coordinates, heights = zip(*sorted(zip(coordinates + fresh, heights + found, strict=True)), strict=True)
        best = heights.index(min(heights))
        near = slice(max(best - 1, 0), best + 2)
        coordinates, heights = [*coordinates[near]], [*heights[near]]
    best = heights.index(min(heights))
    points = interval.at(np.array(coordinates)).tolist()
    return Saddle(points[best], heights[best], _curvature(points, heights))


def _curvature(points: list[float], values: list[float]) -> float:
    """The second derivative of the parabola through three points; zero where there is none, or it is not convex."""
    if len(points) < 3 or not math.isfinite(sum(values)):
        return 0.0
    left, middle, right = points
    if not left < middle < right:
        return 0.0
    slopes = (values[1] - values[0]) / (middle - left), (values[2] - values[1]) / (right - middle)
    return max(2 * (slopes[1] - slopes[0]) / (right - left), 0.0)


def _joined(theta: Array, values: Array, more: Array, found: Array) -> tuple[Array, Array, int]:
    """All points in order, their values, and the index of the smallest value."""
    theta, values = np.concatenate([theta, more]), np.concatenate([values, found])
    order = theta.argsort()
    values = values[order]
    return theta[order], values, int(values.argmin())


def _between(theta: list[float], values: list[float]) -> list[float]:
    """Points at thirds between neighbours and, for three neighbours, points around the vertex of their parabola."""
    thirds = [low + share * (high - low) for low, high in pairwise(theta) for share in _THIRDS]
    if len(theta) < 3 or not math.isfinite(sum(values)):
        return thirds
    left, right = theta[1] - theta[0], theta[2] - theta[1]
    if not left * right > 0:
        return thirds
    down, up = (values[0] - values[1]) / left, (values[2] - values[1]) / right
    vertex = theta[1] + (down * right - up * left) / (2 * (down + up))
    step = max(math.sqrt(_CHANGE * (left + right) / (down + up)), _LEAST * (left + right))
    return thirds + [min(max(vertex + step * side, theta[0]), theta[2]) for side in _AROUND]


def interval_of(law: LossTransform, region: Interval, farthest: float = np.inf) -> Interval:
    """The part of a region in which the transform is finite."""
    return Interval(region.low, min(region.high, law.strip[1], farthest))


def saddle(law: LossTransform, kernel: Kernel, region: Interval, hint: float | None = None) -> Saddle:
    """The minimum of K(c) - c x0 + log|factor| over real c in the region; infinite if the strip ends before the region."""

    def height(c: Array) -> Array:
        return law.approximate(c) - c * kernel.anchor + kernel.log_real(c)

    interval = interval_of(law, region, kernel.farthest)
    if not interval.low < interval.high:
        # the strip ends where the region begins
        return Saddle(interval.low, math.inf)
    return minimise(height, interval, hint if hint is not None and interval.low < hint < interval.high else None)
