"""The supremum of a concave function that is known by enclosures at a few points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

# derived: differences of abscissae that exceed a millionth of these are right to nine digits or more
_INFLATION = 1 + 1e-9
# derived: the rounding of a product and a sum
_ROUNDING = 4e-16


@dataclass(frozen=True)
class Known:
    """``low <= g(at) <= high``."""

    at: float
    low: float
    high: float


@dataclass(frozen=True)
class Ceiling:
    """An upper bound of a supremum, and where it is attained if the bound is sharp."""

    height: float
    at: float


def ceiling(points: Sequence[Known]) -> Ceiling:
    """An upper bound of the supremum over the line of a concave function, infinite where none is proved.

    Outside of two points, a concave function lies below the line through them. So between two neighbours it is bounded by the
    lines of the two points on the left and of the two on the right. The function must be proved to rise between the first two
    points and to fall between the last two.
    """
    known = sorted(points, key=lambda one: one.at)
    if len(known) < 2 or known[0].high > known[1].low or known[-1].high > known[-2].low:
        return Ceiling(math.inf, math.nan)
    return max((_between(known, i) for i in range(len(known) - 1)), key=lambda one: one.height)


def _between(known: Sequence[Known], i: int) -> Ceiling:
    """The highest point below both chords, between the neighbours i and i + 1."""
    here, there = known[i], known[i + 1]
    length = there.at - here.at
    # rises per unit, each continued towards the other end
    forward = _rise(known[i - 1], here) if i > 0 else math.inf
    backward = _rise(known[i + 2], there) if i + 2 < len(known) else math.inf
    far = Ceiling(here.high + max(forward, 0.0) * length, there.at if forward > 0 else here.at)
    near = Ceiling(there.high + max(backward, 0.0) * length, here.at if backward > 0 else there.at)
    best = min(far, near, key=lambda one: one.height)
    if math.isinf(forward + backward) or min(forward, backward) <= 0:
        return best
    # both lines rise towards the middle and meet near t: the bound holds for any t, as one is below its value there, or the
    # other
    t = min(max((there.high - here.high + backward * length) / (forward + backward), 0.0), length)
    up, down = forward * t, backward * (length - t)
    rounding = _ROUNDING * (abs(here.high) + up + abs(there.high) + down)
    meeting = Ceiling(max(here.high + up, there.high + down) + rounding, here.at + t)
    return min(best, meeting, key=lambda one: one.height)


def _rise(far: Known, near: Known) -> float:
    """The steepest ascent from the far point to the near one, per unit."""
    rise = (near.high - far.low) / abs(near.at - far.at)
    return rise * (_INFLATION if rise > 0 else 1 / _INFLATION)
