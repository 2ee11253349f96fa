"""The pairs (p, q) of probabilities of an event that Renyi bounds allow: the joint range.

notation: p = P(S), q = Q(S); F_z(p, q) = p^{1+z} q^{-z} + (1-p)^{1+z} (1-q)^{-z}, so that, by data processing, every event has
F_z(p, q) <= e^{K(z)} for z outside [-1, 0] and >= for z within. Each of these is a convex set, and

    delta(eps) <= the supremum of p - e^eps q over their intersection.

One z > 0 gives the bound of Asoodeh, Liao, Calmon, Kosut & Sankar 2020, all z together that of [AFA] Appendix F: (q, 1 - p)
are the errors of the first and second kind, and their curve is the trade-off function that the divergences imply. The first
bound is attained by a pair of laws on two points.

A delta is proved on the line p = delta + e^eps q, which meets each of the sets in an interval: the intervals have no point in
common if one of them is empty or two are disjoint. Either is proved by tangents of two convex functions, which are computed in
interval arithmetic; the search for them need not be trusted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from logphi.arrays import Array
from logphi.classical.interval_arithmetic import Interval, exact, intervals

Points = Array

# derived: exponentials of larger numbers overflow
_HUGE = 700.0
# measured: the points of one search step along a line; each step shrinks their distance sixteenfold
_ACROSS = 33
# measured: points this close count as one; the rounding of x is about 1e-14
_CLOSE = 1e-9
# measured: the distance in x at which tangents are taken; near a minimum it must be large enough for a slope
_STEPS = (0.0, 1e-6, 1e-5, 1e-4)
# measured: how many z, those of the largest excess first, are searched for one whose slope has the right sign
_TRIED = 6


@dataclass(frozen=True)
class Limits:
    """The values of z, and the bounds of K there."""

    z: Points
    k: Points

    def joined(self, other: Limits) -> Limits:
        """The union of both, in the order of z."""
        z, k = np.concatenate([self.z, other.z]), np.concatenate([self.k, other.k])
        z, first = np.unique(z, return_index=True)
        return Limits(z, k[first])

    def at(self, rows: tuple[int, ...]) -> Limits:
        """The limits of some rows."""
        return Limits(self.z[list(rows)], self.k[list(rows)])


def excess(limits: Limits, delta: float, epsilon: float, x: Points) -> Points:
    """(log F - K) / |K|, with the sign for which a positive value excludes the point q = delta e^x / e^eps; a row for each z.

    It is computed in doubles: it serves the search only, and proves nothing.
    """
    z = limits.z[:, None]
    p = np.minimum(delta * (1 + np.exp(x)), 1 - 1e-16)
    q = delta * np.exp(x - epsilon)
    ratio = epsilon + np.log1p(np.exp(-x))
    other = np.log1p(-p) - np.log1p(-q)
    first, second = np.log(p) + z * ratio, np.log1p(-p) + z * other
    parts = []
    for share, exponent, power in ((p, z * ratio, first), (1 - p, z * other, second)):
        near = np.abs(exponent) < 0.5
        parts.append(np.where(near, share * np.expm1(np.where(near, exponent, 0.0)), np.exp(np.minimum(power, _HUGE)) - share))
    small = np.log1p(np.maximum(parts[0] + parts[1], -1 + 1e-300))
    size = np.where(np.maximum(first, second) > 30, np.logaddexp(first, second), small)
    side = np.where((z > 0) | (z < -1), 1.0, -1.0)
    k = limits.k[:, None]
    found: Points = side * (size - k) / np.maximum(np.abs(k), 1e-30)
    return found


@dataclass(frozen=True)
class Place:
    """The point of a line of smallest excess: x = log(e^eps q / delta), the excess, and the rows of z that attain it."""

    x: float
    margin: float
    rows: tuple[int, ...]


def least(limits: Limits, delta: float, epsilon: float) -> Place:
    """The minimum along the line of the largest excess of all z, which is quasi-convex, by successive refinement.

    The search ends early at a point that no z excludes.
    """
    x = _whole_line(delta, epsilon)
    while True:
        values = excess(limits, delta, epsilon, x)
        worst = values.max(axis=0)
        best = int(np.argmin(worst))
        around = slice(max(best - 1, 0), best + 2)
        if worst[best] <= 0 or np.ptp(x[around]) < _CLOSE:
            rows = tuple(sorted({int(row) for row in np.argmax(values[:, around], axis=0)}))
            return Place(float(x[best]), float(worst[best]), rows)
        x = np.linspace(x[around][0], x[around][-1], _ACROSS)


def least_alone(limits: Limits, delta: float, epsilon: float) -> Place:
    """The minimum along the line of the excess of each z separately, for the z whose minimum is largest."""
    x = np.broadcast_to(_whole_line(delta, epsilon), (limits.z.size, _ACROSS))
    each = np.arange(limits.z.size)
    while True:
        values = excess(limits, delta, epsilon, x)
        best = np.argmin(values, axis=1)
        low, high = x[each, np.maximum(best - 1, 0)], x[each, np.minimum(best + 1, _ACROSS - 1)]
        lowest = values[each, best]
        row = int(np.argmax(lowest))
        if lowest[row] <= 0 or np.max(high - low) < _CLOSE:
            return Place(float(x[row, best[row]]), float(lowest[row]), (row,))
        x = np.linspace(low, high, _ACROSS, axis=1)


def _whole_line(delta: float, epsilon: float) -> Points:
    """Values of x from q near zero to where p or q is one."""
    high = _end(delta, epsilon)
    return np.linspace(min(-60.0, high - 60.0), high, _ACROSS)


def _end(delta: float, epsilon: float) -> float:
    """A value of x slightly below the one at which p or q is one."""
    return min(math.log((1 - delta) / delta), epsilon - math.log(delta)) - 1e-12


def proved(limits: Limits, delta: float, epsilon: float, x: float) -> bool:
    """Whether the line is proved to contain no allowed point, by tangents near x.

    notation: v the value and s the slope, in q, of F - e^K with the sign that makes it convex. A tangent with v > 0 excludes
    everything on its rising side, and as far as v / |s| on the other.
    """
    top = _end(delta, epsilon)
    last = (1 - exact(delta)) / intervals().exp(exact(epsilon))
    for step in _STEPS:
        q1, left = _reach(limits, delta, epsilon, min(x - step, top), rising=False)
        q2, right = _reach(limits, delta, epsilon, min(x + step, top), rising=True)
        # the line ends at q = 0 and where p or q is one, so that one side may suffice
        covered = [
            left is not None and (left - (last - q1)).a >= 0,
            right is not None and (right - q2).a >= 0,
            left is not None and right is not None and (left + right - (q2 - q1)).a >= 0,
        ]
        if any(covered):
            return True
    return False


def _reach(limits: Limits, delta: float, epsilon: float, x: float, rising: bool) -> tuple[Interval, Interval | None]:
    """The point q, and the distance to one side of it within which a tangent excludes all points; None without a tangent."""
    iv = intervals()
    q = exact(delta * math.exp(x - epsilon))
    growth = iv.exp(exact(epsilon))
    p = exact(delta) + growth * q
    if not (q.a > 0 and q.b < 1 and p.b < 1):
        return q, None
    values = excess(limits, delta, epsilon, np.array([x]))[:, 0]
    best: Interval | None = None
    for index in np.argsort(-values)[:_TRIED]:
        if not values[index] > 0:
            break
        z, k = exact(float(limits.z[index])), exact(float(limits.k[index]))
        a, b = iv.log(p / q), iv.log((1 - p) / (1 - q))
        first, second = iv.exp(z * a), iv.exp(z * b)
        side = 1 if limits.z[index] > 0 or limits.z[index] < -1 else -1
        value = side * (p * first + (1 - p) * second - iv.exp(k))
        slope = side * ((1 + z) * growth * (first - second) - z * (first * p / q - second * (1 - p) / (1 - q)))
        if not value.a > 0:
            continue
        if (slope.a >= 0) if rising else (slope.b <= 0):
            steep = max(abs(slope.a), abs(slope.b))
            reach = value.a / steep if steep > 0 else iv.mpf(1)
            best = reach if best is None or reach.a > best.a else best
    return q, best
