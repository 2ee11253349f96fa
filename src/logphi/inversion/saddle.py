"""Where the line crosses the real axis: near the minimum of the integrand on it, found with few vectorised calls."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from logphi.arrays import Array
from logphi.inversion.kernels import Kernel
from logphi.laws.transform import LossTransform

Objective = Callable[[Array], Array]

# derived: each refinement divides the distance by three at least, so this many reach the limits of doubles
_REFINEMENTS = 16
# measured: how far about a first guess or a hint, in the coordinate, and how many points; most saddles then take two calls
_FIRST = 3.0 * np.linspace(-1, 1, 13)
_HINTED = 0.25 * np.linspace(-1, 1, 7)
_ONWARD = np.linspace(0, 1, 8)[1:]
# measured: neighbours this close in value make any point as good as the minimum
_FLAT = 0.03
# points about the vertex of a parabola, at which the objective changes by less than that, but not below a share of the gap
_AROUND = np.array([-1.0, 0.0, 1.0])
_CHANGE = 0.02
_LEAST = 0.02
_THIRDS = np.array([1 / 3, 2 / 3])


@dataclass(frozen=True)
class Interval:
    """An open interval on one side of the poles, with a coordinate in which saddles are evenly likely."""

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
    """An abscissa near the minimum and the value there; the value is infinite if none was finite."""

    abscissa: float
    value: float


def minimise(objective: Objective, interval: Interval, hint: float | None = None) -> Saddle:
    """Minimise a convex (or quasi-convex) objective; infinite values mark points to avoid.

    ``hint`` is a point that may be near. The result is a point at which the objective was evaluated: whatever is proved
    with it does not depend on how near the minimum it is.
    """

    def known(theta: Array) -> Array:
        # no minimum is at minus infinity: far out an approximation may have lost all digits
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
    for _ in range(_REFINEMENTS):
        near = slice(max(best - 1, 0), best + 2)
        theta, values = theta[near], values[near]
        if math.isfinite(highest := values.max()) and highest - values.min() < _FLAT:
            break
        fresh = _between(theta, values.tolist())
        theta, values, best = _joined(theta, values, fresh, known(fresh))
    best = int(values.argmin())
    return Saddle(float(interval.at(theta[best : best + 1])[0]), float(values[best]))


def _joined(theta: Array, values: Array, more: Array, found: Array) -> tuple[Array, Array, int]:
    """All points in order, their values, and the place of the least."""
    theta, values = np.concatenate([theta, more]), np.concatenate([values, found])
    order = theta.argsort()
    values = values[order]
    return theta[order], values, int(values.argmin())


def _between(theta: Array, values: list[float]) -> Array:
    """Thirds of the gaps between neighbours and, where there are three, the vertex of their parabola with its surroundings."""
    gaps = np.diff(theta)
    thirds: Array = (theta[:-1, None] + gaps[:, None] * _THIRDS).ravel()
    if theta.size < 3 or not math.isfinite(sum(values)):
        return thirds
    left, right = gaps.tolist()
    if not left * right > 0:
        return thirds
    down, up = (values[0] - values[1]) / left, (values[2] - values[1]) / right
    vertex = float(theta[1]) + (down * right - up * left) / (2 * (down + up))
    step = max(math.sqrt(_CHANGE * (left + right) / (down + up)), _LEAST * (left + right))
    return np.concatenate([thirds, np.clip(vertex + step * _AROUND, theta[0], theta[2])])


def interval_of(law: LossTransform, region: Interval, farthest: float = np.inf) -> Interval:
    """The part of a region in which the transform is finite."""
    return Interval(region.low, min(region.high, law.strip[1], farthest))


def saddle(law: LossTransform, kernel: Kernel, region: Interval, hint: float | None = None) -> Saddle:
    """The minimum of K(c) - c x0 + log|factor| over real c in the region; infinite where the strip ends before the region."""

    def height(c: Array) -> Array:
        return law.approximate(c) - c * kernel.anchor + kernel.log_real(c)

    interval = interval_of(law, region, kernel.farthest)
    if not interval.low < interval.high:
        # the strip ends where the region begins
        return Saddle(interval.low, math.inf)
    return minimise(height, interval, hint if hint is not None and interval.low < hint < interval.high else None)
