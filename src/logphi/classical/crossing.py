"""Where a claimed delta, a decreasing function of epsilon, crosses a level."""

from __future__ import annotations

import math
from collections.abc import Callable


def crossing(holds: Callable[[float], bool], farthest: float = 1e9) -> tuple[float, float]:
    """The largest eps >= 0 at which a condition was found to fail, and the smallest at which it was found to hold.

    The second is infinite if the condition holds nowhere up to ``farthest``.
    """
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
