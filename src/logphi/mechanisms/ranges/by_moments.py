"""A pair above mechanisms of bounded ranges, whichever are picked, in whatever order, by their largest moments.

notation: K(z) the sum of the largest log E e^{zL} of all steps (:mod:`logphi.mechanisms.ranges.bounded_range`).

Whatever was observed before, a step multiplies E e^{zL} by no more than its largest moment, so that K bounds log E e^{zL} for
all picks in every order. As (1 - e^{x - l})_+ is at most e^{z (l - x)} z^z / (1 + z)^{1 + z}, the profile at x is at most

    e^{K(z) - z x} z^z / (1 + z)^{1 + z}

at every z > 0, in both directions, and zero from the sum of all ranges on. The pair is that of the hull of some hundred points.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from logphi.algebra.known_pair import KnownPair
from logphi.algebra.release import Mechanism
from logphi.arith.floats import FLOATS, ULP, Discs
from logphi.arrays import Array
from logphi.convex.hull import exponential
from logphi.inputs.adjacency import Adjacency
from logphi.pairs.finite import FinitePair
from logphi.pairs.pair_above import pair_above

# measured: with so many orders and points, epsilon is larger by less than 1e-3 of it than with all
_ORDERS, _POINTS = 512, 600
# measured: over the narrowest range, the largest order that is best at deltas of 1e-15, next to the largest loss
_LARGEST_ORDER = 1e6
# chosen: how often the best z is sought, with so many of them between the neighbours of the last one
_REFINED = 2
# chosen: the logarithm of the smallest delta that is followed, and of one that must be reached
_DEEPEST, _SHALLOW = -80.0, -25.0
# derived: the exponentials of smaller losses, and of their opposites, are doubles
_LARGEST = 600.0


class ByMoments(KnownPair):
    """A mechanism with the pair that the moments imply."""

    _undescribed = "it is a bound of a composition"


def by_moments(ranges: Sequence[tuple[float, int]], adjacency: Adjacency) -> Mechanism | None:
    """The mechanism for ranges and their counts; None if its losses are out of the range of doubles."""
    pair = _pair(tuple(ranges))
    return None if pair is None else ByMoments(pair, adjacency)


@lru_cache(maxsize=64)
def _pair(ranges: tuple[tuple[float, int], ...]) -> FinitePair | None:
    z = _orders(ranges)
    logs, wrong = _log_bounds(ranges, z)
    total = sum((count * Fraction(epsilon) for epsilon, count in ranges), Fraction(0))
    # about where the bound is so small
    shallow, deep = (float(((logs - depth) / z).min()) for depth in (_SHALLOW, _DEEPEST))
    if min(shallow, float(total)) > _LARGEST:
        return None
    x = np.linspace(0.0, min(deep, float(total), _LARGEST), _POINTS)
    lines = z * x[:, None]
    bounds = np.exp((logs + wrong - lines + 8 * ULP * lines).min(axis=1)) * (1 + 4 * ULP)
    points = [(exponential(Fraction(a)), Fraction(b)) for a, b in zip(x.tolist(), bounds.tolist(), strict=True) if b < 1]
    if float(total) <= _LARGEST:
        points.append((exponential(total), Fraction(0)))
    return pair_above(points, points)


def epsilon_of_moments(ranges: Sequence[tuple[float, int]], delta: float) -> float:
    """An upper bound of epsilon at a delta below one, by the bound of the profile at the best z."""
    z, found = _orders(ranges), np.array([math.inf])
    for _ in range(_REFINED):
        logs, wrong = _log_bounds(ranges, z)
        found = (logs - math.log(delta) + wrong + 8 * ULP * abs(math.log(delta))) / z
        best = int(found.argmin())
        z = np.geomspace(z[max(best - 1, 0)], z[min(best + 1, z.size - 1)], _ORDERS)
    return max(float(found.min()) * (1 + 8 * ULP), 0.0)


def _orders(ranges: Sequence[tuple[float, int]]) -> Array:
    variance = sum(count * epsilon**2 / 4 for epsilon, count in ranges)
    narrowest = min(epsilon for epsilon, _ in ranges)
    return np.geomspace(0.02 / (1 + variance), _LARGEST_ORDER / narrowest + 30 / math.sqrt(variance), _ORDERS)


def _log_bounds(ranges: Sequence[tuple[float, int]], z: Array) -> tuple[Array, Array]:
    """K(z) + log( z^z / (1 + z)^{1 + z} ), and a bound of its rounding."""
    moments = sum((count * largest_moments(epsilon, z) for epsilon, count in ranges), np.zeros(z.size))
    moments *= 1 + 2 * ULP * (1 + len(ranges))
    parts = np.array([moments, z * np.log(z), -(1 + z) * np.log1p(z)])
    return parts.sum(axis=0), 8 * ULP * np.abs(parts).sum(axis=0)


def largest_moments(epsilon: float, z: Array) -> Array:
    """Upper bounds of K of one step at several z > 0."""
    order, half = Discs.exact(z), Discs.exact(np.array([epsilon / 2]))
    terms = (order + 1.0) * FLOATS.log_sinhc((order + 1.0) * half) - order * FLOATS.log_sinhc(order * half)
    known = terms - FLOATS.log_sinhc(half)
    found: Array = np.minimum(known.mid.real + known.rad, epsilon**2 / 8 * z * (z + 1) * (1 + 8 * ULP))
    return found
