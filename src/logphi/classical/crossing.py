"""The crossing of a claim of delta, a decreasing function of epsilon, with a level."""

from __future__ import annotations

import math
from collections.abc import Callable


def crossing(holds: Callable[[float], bool], farthest: float = 1e9) -> tuple[float, float]:
    """The last eps >= 0 at which a condition was seen to fail, and the first at which it holds; infinite if it never holds."""
    if holds(0.0):
        return (0.0, 0.0)
    bad, good = 0.0, 1.0
    while not holds(good):
        bad, good = good, 2 * good
        if good > farthest:
            return (bad, math.inf)
    while good - bad > 1e-10 * max(1.0, good):
        middle = (bad + good) / 2
        bad, good = (bad, middle) if holds(middle) else (middle, good)
    return (bad, good)
