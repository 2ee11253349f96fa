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

# derived: each refinement divides the distance by three, so this many reach the limits of doubles
_REFINEMENTS = 16
_POINTS = 7


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
    half = 2.0 if hint is None else 0.25
    start = 0.0 if hint is None else interval.coordinate(hint)
    theta = start + half * np.linspace(-1, 1, _POINTS)
    values = objective(interval.at(theta))
    best = int(np.argmin(values))
    for _ in range(12):
        inside = 0 < best < theta.size - 1 and np.isfinite(values[best])
        if inside or abs(theta[best]) > 60:
            break
        half *= 2
        all_infinite = not np.isfinite(values[best])
        side = -1 if all_infinite or best == 0 else 1
        more = (theta[0] if side < 0 else theta[-1]) + side * half * np.linspace(0, 1, _POINTS)[1:]
        theta = np.concatenate([theta, more])
        values = np.concatenate([values, objective(interval.at(more))])
        order = np.argsort(theta)
        theta, values = theta[order], values[order]
        best = int(np.argmin(values))
    for _ in range(_REFINEMENTS):
        near = slice(max(best - 1, 0), best + 2)
        theta, values = theta[near], values[near]
        # measured: neighbours this close in value make any point as good as the minimum
        if np.isfinite(values).all() and np.ptp(values) < 0.25:
            break
        fresh = (theta[:-1, None] + np.diff(theta)[:, None] * np.array([1 / 3, 2 / 3])).ravel()
        theta, values = np.concatenate([theta, fresh]), np.concatenate([values, objective(interval.at(fresh))])
        order = np.argsort(theta)
        theta, values = theta[order], values[order]
        best = int(np.argmin(values))
    best = int(np.argmin(values))
    return Saddle(float(interval.at(theta[best : best + 1])[0]), float(values[best]))


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
