"""The smallest pair that dominates every pair with given bounds of its Renyi divergences.

notation: z is one less than the order, K(z) a bound of z D_{1+z}; p and q are the probabilities of one event under the two
laws. By data processing every event of every such pair has

    F_z(p, q) = p^{1+z} q^{-z} + (1-p)^{1+z} (1-q)^{-z} <= e^{K(z)},     z > 0,

a convex set for each z. A tangent of F_z, taken anywhere, gives p - a q <= c for all events in the set: c is an upper bound of
the profile at log a and, as q is not negative, at every larger epsilon. Tangents at the boundary of the intersection of these
sets give the sharpest bounds that follow from all orders ([AFA] Appendix F). The bounds hold for any choice of the places and
of the z of each tangent. Bounds of the reversed pair give more bounds of the same profile; the pair is that of the hull of all.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from logphi.arith.floats import ULP
from logphi.arrays import Array
from logphi.pairs.pair import Pair
from logphi.pairs.pair_above import Point, pair_above

# chosen: the grid of log q, coarser where deltas are negligible
_TOP, _SHALLOW, _MIDDLE, _DEEP = -0.005, -0.5, -60.0, -300.0
# measured: the number of points at which the best orders are searched
_LOOKED = 260
# measured: the number of halvings that find half of the boundary's digits
_ROUGH = 30
# measured: the number of halvings that find most of the boundary's digits
_FINE = 54
# measured: the number of refinements near one epsilon that give eleven digits
_CLOSER = 3
# measured: the number of points, and of orders, of each refinement
_ACROSS = 61
# chosen: offsets from that epsilon at which single orders are tried, too
_BESIDE = np.concatenate([-np.geomspace(1e-2, 1e-8, 7), [0.0], np.geomspace(1e-8, 1e-2, 7)])
# chosen: the number of refinements of the best order
_BETTER = 6
# measured: the number of subdivisions next to corners of the boundary that give ten digits of a corner
_CORNERS = 3
# measured: the number of points of each subdivision
_SPLIT = 12
# measured: the largest number of corners
_MOST_CORNERS = 120
# chosen: the grid of orders from which the best are refined
_SOME = 160
# derived: near p = 1 the difference 1 - p loses its digits
_CERTAIN = -1e-9
# derived: e^K and its products do not overflow
LARGEST_EXPONENT = 300.0
# derived: the exponential of this and of its opposite are doubles
_LARGEST_LOG = 700.0


def _places(many: int, few: int) -> Array:
    deep, middle = np.linspace(_DEEP, _MIDDLE, few), np.linspace(_MIDDLE, _SHALLOW, many)
    return np.concatenate([deep[:-1], middle[:-1], np.linspace(_SHALLOW, _TOP, 10 + many // 20)])


# measured: with tangents at these places epsilon is larger than with all by 1e-5 of it, by 1e-4, and by 1e-3
MANY, FAIR, FEW = _places(2500, 900), _places(600, 120), _places(150, 25)
# the places at which the best orders are searched
_ROUGHLY = _places(_LOOKED, _LOOKED // 4)


def implied(z: Array, bounds: Array, reversed_bounds: Array, places: Array = MANY) -> Pair:
    """The pair implied by bounds K(z) of it and of the reversed pair, at increasing z; infinite where nothing is known.

    Orders between these z are not used, so that those at which K is 0.01 to 50 should be close together. ``places`` are values
    of log q of events.
    """
    points = _exactly(z, bounds, places)
    reversed_points = points if np.array_equal(bounds, reversed_bounds) else _exactly(z, reversed_bounds, places)
    return pair_above(points, reversed_points)


def implied_near(bound: Callable[[Array], Array], z: Array, epsilon: float) -> Pair:
    """The pair implied by one bound of both orders that is known for all z, sharp at one epsilon and its opposite."""
    target = min(abs(epsilon), _LARGEST_LOG)
    places, points = FEW, _usable(*_one_order(bound, z, target + _BESIDE))
    for _ in range(1 + _CLOSER):
        z = z[bound(z) <= LARGEST_EXPONENT]
        if not z.size:
            break
        a, c, used = profile_points(z, bound(z), places)
        points += _usable(a, c)
        with np.errstate(divide="ignore", invalid="ignore"):  # points without a tangent
            away = np.abs(np.log(a) - target)
        if not (c < 1).any():
            break
        nearest = int(np.nanargmin(np.where(c < 1, away, np.inf)))
        step = np.diff(places)[[max(nearest - 1, 0), min(nearest, places.size - 2)]]
        places = places[nearest] + np.linspace(-step[0], step[1], _ACROSS) * 2
        places = places[places < _TOP]
        # orders near the best one, as far as those of the neighbouring points
        apart = np.log(used[max(nearest - 1, 0) : nearest + 2])
        reach = max(4 * float(np.diff(np.log(z)).max()), 2 * float(np.ptp(apart)), 1e-8)
        logs = np.log(used[nearest]) + np.linspace(-reach, reach, _ACROSS)
        z = np.exp(logs[np.abs(logs) <= _LARGEST_LOG])
    return pair_above(points, points)


def _one_order(bound: Callable[[Array], Array], z: Array, epsilon: Array) -> tuple[Array, Array]:
    """For each epsilon = log a, a and an upper bound of p - a q from the best single order.

    Without the second term of F_z, p^{1+z} q^{-z} <= e^K, and p - a q is at most e^{K - z log a} z^z / (1+z)^{1+z} (Canonne,
    Kamath & Steinke 2020, Proposition 12).
    """
    ends = np.log(z[[0, -1]])
    at, reach = np.full(epsilon.shape, ends.mean()), float(np.ptp(ends)) / 2
    excess = np.full(epsilon.shape, np.inf)
    for _ in range(_BETTER):
        tried = np.exp(at[:, None] + np.linspace(-reach, reach, 4 * _ACROSS))
        parts = np.array([bound(tried), -tried * epsilon[:, None], tried * np.log(tried), -(1 + tried) * np.log1p(tried)])
        found = parts.sum(axis=0) + 8 * ULP * np.abs(parts).sum(axis=0)
        best = found.argmin(axis=1)[:, None]
        at = np.log(np.take_along_axis(tried, best, axis=1)[:, 0])
        excess = np.minimum(excess, np.take_along_axis(found, best, axis=1)[:, 0])
        reach *= 2 / _ACROSS
    # rounded up: the bound at a holds for every larger a
    return np.exp(epsilon) * (1 + 4 * ULP * (1 + np.abs(epsilon))), np.exp(np.minimum(excess, 0.0)) * (1 + 4 * ULP)


def epsilon_of_one_order(bound: Callable[[Array], Array], z: Array, delta: float) -> float:
    """About the epsilon that the best of these orders implies at delta."""
    log_delta = math.log(delta) if delta > 0 else -math.inf
    return max(0.0, float(np.min((bound(z) + z * np.log(z) - (1 + z) * np.log1p(z) - log_delta) / z)))


def _exactly(z: Array, bounds: Array, places: Array) -> list[Point]:
    known = np.isfinite(bounds) & (bounds <= LARGEST_EXPONENT)
    if not known.any():
        return []
    z, bounds = z[known], bounds[known]
    a, c, used = profile_points(z, bounds, places)
    points = _usable(a, c)
    for _ in range(_CORNERS):
        # with few orders the boundary has corners, which need close tangents on both sides
        changes = np.flatnonzero(np.diff(used))
        if not 0 < changes.size <= _MOST_CORNERS:
            break
        places = (places[changes, None] + np.diff(places)[changes, None] * np.linspace(0, 1, _SPLIT)).ravel()
        a, c, used = profile_points(z, bounds, places)
        points += _usable(a, c)
    return points


def _usable(a: Array, c: Array) -> list[Point]:
    # a bound that is no larger than 1 - a after rounding proves nothing
    use = np.isfinite(a) & np.isfinite(c) & (a > 0) & (c > np.maximum(1 - a + ULP, 0.0)) & (c < 1)
    return [(Fraction(x), Fraction(y)) for x, y in zip(a[use].tolist(), c[use].tolist(), strict=True)]


def profile_points(z: Array, bounds: Array, places: Array) -> tuple[Array, Array, Array]:
    """For each log q a point a = e^eps, an upper bound c of p - a q, and the z that proves it."""
    some = np.unique(np.linspace(0, z.size - 1, _SOME).astype(int))
    at = _border(np.exp(_ROUGHLY), z[some, None], bounds[some, None], _ROUGH)
    best = some[np.argmin(at, axis=0)]
    # the best orders of the neighbouring points, and some between them
    near = np.interp(places, _ROUGHLY, best) + np.linspace(-1, 1, 5)[:, None] * max(1.0, z.size / _SOME)
    right = np.clip(np.searchsorted(_ROUGHLY, places), 1, best.size - 1)
    rows = np.clip(np.round([*near, best[right - 1], best[right]]).astype(int), 0, z.size - 1)
    q = np.exp(places)
    p = _border(q, z[rows], bounds[rows], _FINE)
    row = rows[np.argmin(p, axis=0), np.arange(q.size)]
    return (*_tangents(p.min(axis=0), q, z[row], bounds[row]), z[row])


def _logarithms(p: Array, q: Array) -> tuple[Array, Array]:
    """The logarithms of p/q and of (1-p)/(1-q) for p above q, each with a relative error below 6 ulp."""
    moved = p - q
    share = moved / (1 - q)
    return np.log1p(moved / q), np.where(share < 0.5, np.log1p(-np.minimum(share, 0.5)), np.log((1 - p) / (1 - q)))


def _border(q: Array, z: Array, bounds: Array, halvings: int) -> Array:
    """About the largest probability p that the bounds allow for an event with this q; at least q."""
    low = np.log(q) + np.zeros_like(z)
    high = np.maximum(np.minimum((bounds + z * low) / (1 + z), _CERTAIN), low)
    allowed = np.expm1(bounds)
    for _ in range(halvings):
        middle = (low + high) / 2
        p = np.exp(middle)
        ratio, other = _logarithms(p, q)
        excluded = p * np.expm1(np.minimum(z * ratio, 2 * LARGEST_EXPONENT)) + (1 - p) * np.expm1(z * other) > allowed
        low, high = np.where(excluded, low, middle), np.where(excluded, middle, high)
    return np.exp(low)


def _tangents(p: Array, q: Array, z: Array, bounds: Array) -> tuple[Array, Array]:
    """Slopes a and offsets c of tangents, rounded outward by twice their errors."""
    ratio, other = _logarithms(p, q)
    # e^x - 1 has (1 + x) times the relative error of x > 0, and less than that of x < 0
    wrong = 16 * ULP * (2 + (1 + z) * ratio)
    with np.errstate(all="ignore"):  # the caller drops what is not finite
        gained, lost = p * np.expm1(z * ratio), -(1 - p) * np.expm1(z * other)
        rise = (1 + z) * (np.expm1(z * ratio) - np.expm1(z * other))
        fall = z * (np.expm1((1 + z) * ratio) - np.expm1((1 + z) * other))
        slope = fall / rise
        allowed = np.expm1(bounds)
        left = allowed - (gained - lost) + wrong * (gained + lost) + 16 * ULP * (2 + bounds) * allowed
        offset = p - slope * (1 - 3 * wrong) * q + np.maximum(left, 0.0) / (rise * (1 - wrong))
        offset += 8 * ULP * (p + slope * q + offset)
        slope = slope * (1 + 3 * wrong)
    # where F does not grow with p, a tangent does not bound p from above
    return slope, np.where((p > q) & (rise > 0), offset, np.inf)
