"""Points of the privacy profile of a release, dense where it falls fast."""

from __future__ import annotations

import math

import numpy as np

from logphi.algebra.release import Mechanism, Primitive
from logphi.answers.status import Direction
from logphi.arrays import Array
from logphi.pairs.finite import FinitePair
from logphi.pairs.pair import UnsupportedError

# chosen: the profile is followed down to the first of these deltas that it reaches
_FLOORS = (1e-40, 1e-30, 1e-20, 1e-12, 1e-8)
# measured: the number of points in a first pass, at most
_COARSE = 257
# chosen: the largest epsilon that is tried
FARTHEST = 250.0
# measured: the corners of so few outcomes take less time than as many points as elsewhere
_FEW = 512
# chosen: a tenth of the relative error of chords between the points
_RTOL = 1e-5
# chosen: rough values are enough to decide where the points are
_ROUGH = 1e-3


def places(release: Mechanism, first: float, order: Direction, count: int, deepest: float = _FLOORS[0]) -> Array:
    """Epsilons of a release from the first on, dense where its profile falls fast; of few outcomes, about all its corners."""
    corners = _corners(release, order)
    if corners is not None:
        # the largest loss, rounded up
        largest = _epsilon(release, 0.0, order)
        last = min(max(largest if math.isfinite(largest) else float(corners[-1]), first + 1e-9), FARTHEST)
        # two more between two corners show that the profile is linear there
        each = np.interp(np.arange(3 * corners.size - 2) / 3, np.arange(corners.size), corners)
        return np.unique(np.concatenate([np.linspace(first, last, _COARSE), each[(each > first) & (each < last)]]))
    floors = [floor for floor in _FLOORS if floor >= deepest]
    ends = (_epsilon(release, floor, order) for floor in floors)
    last = min(next((end for end in ends if math.isfinite(end)), FARTHEST), FARTHEST)
    coarse = np.linspace(first, max(last, first + 1e-9), min(_COARSE, count))
    depths = -np.log(np.maximum(upper_profile(release, coarse, order, _ROUGH), floors[0]))
    way = np.maximum.accumulate(depths) + count**-0.5 * np.abs(depths[-1]) * np.linspace(0, 1, coarse.size)
    # where the loss has a largest value, the profile has a corner
    ends_at = _epsilon(release, 0.0, order)
    end = [ends_at] if last < ends_at < FARTHEST else []
    # with many points some are equally spaced, as the slope changes most where the profile hardly falls
    even = coarse if count > _COARSE else coarse[:0]
    return np.unique(np.concatenate([even, np.interp(np.linspace(way[0], way[-1], count), way, coarse), end]))


def upper_profile(release: Mechanism, epsilons: Array, order: Direction, rtol: float = _RTOL) -> Array:
    """The upper ends of delta at many epsilons."""
    found: Array = np.asarray(release.delta(epsilons, direction=order, rtol=rtol).upper)
    return found


def lower_and_upper_profile(release: Mechanism, epsilons: Array, order: Direction) -> tuple[Array, Array]:
    """The lower and the upper ends of delta at many epsilons."""
    found = release.delta(epsilons, direction=order, rtol=_RTOL)
    return np.asarray(found.lower), np.asarray(found.upper)


def _corners(release: Mechanism, order: Direction) -> Array | None:
    """Where the profile of one release with few outcomes is not linear in e^epsilon; None for other releases."""
    (one, count), *others = release.counted() or ((release, 0),)
    if others or count != 1 or not isinstance(one, Primitive):
        return None
    try:
        pair = one.pair()
    except UnsupportedError:
        return None
    if not isinstance(pair, FinitePair) or len(pair.p) > _FEW:
        return None
    above, below = (pair.p, pair.q) if order is Direction.REMOVE else (pair.q, pair.p)
    losses = np.unique([math.log(a) - math.log(b) for a, b in zip(above, below, strict=True) if a > 0 and b > 0])
    return losses if losses.size else None


def _epsilon(release: Mechanism, delta: float, order: Direction) -> float:
    return float(release.epsilon(delta, direction=order).upper)
