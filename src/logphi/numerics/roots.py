"""Where a decreasing function that is known by enclosures crosses a level."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol


class Ends(Protocol):
    """An enclosure of the function's logarithm at one point."""

    @property
    def lower(self) -> float:
        """Lower end."""

    @property
    def value(self) -> float:
        """Best value."""

    @property
    def upper(self) -> float:
        """Upper end."""


Function = Callable[[float], Ends]

# measured: secant steps on a smooth logarithm need five to eight evaluations, the bisections between them some more
_STEPS = 60
# measured: two preparations settle a smooth function; a wide enclosure settles for less
_PREPARATIONS = 4
# measured: how near the coarse function's logarithm comes to the level
_ROUGH = 0.01
# measured: a function prepared at one point is still sharp this far from it, relatively
_NEAR = 0.02


@dataclass(frozen=True)
class Crossing:
    """Proved ``lower <= crossing <= upper``: the function is at least the level at lower, at most it at upper.

    ``upper`` may be infinite and ``lower`` the floor of the search, where no closer point could be proved.
    """

    lower: float
    value: float
    upper: float


def crossing(near: Callable[[float, bool], Function], level: float, floor: float, start: float, ceiling: float) -> Crossing:
    """Enclose the crossing of a decreasing function with a level, on [floor, ceiling].

    Parameters
    ----------
    near
        ``near(x, sharp)`` prepares the function for the neighbourhood of x: coarsely while the crossing is looked for,
        sharply once it is found.
    level
        The level, on the function's logarithmic scale.
    floor, ceiling
        The crossing is known to lie between them (the ceiling may be infinite).
    start
        A first guess.
    """
    x = min(max(start, floor), ceiling)
    for _ in range(_PREPARATIONS):
        found = _secant(near(x, False), level, floor, x, ceiling, _ROUGH)
        settled = abs(found - x) <= _NEAR * abs(x)
        x = found
        if settled:
            break
    function = near(x, True)
    return _prove(function, level, floor, _secant(function, level, floor, x, ceiling), ceiling)


def _secant(function: Function, level: float, floor: float, start: float, ceiling: float, enough: float = 2e-14) -> float:
    """The crossing of the best values, until they are near enough: secant steps kept inside a shrinking bracket."""
    low, high = floor, ceiling
    x, previous, before = start, math.nan, math.nan
    for _ in range(_STEPS):
        here = function(x)
        gap = here.value - level
        if gap > 0:
            low = max(low, x)
        else:
            high = min(high, x)
        # steps far below the width of the enclosure would be spent on noise
        noise = 1e-3 * (here.upper - here.lower) if here.lower <= level <= here.upper else 0.0
        if abs(gap) <= max(enough, noise) or (math.isfinite(high) and high - low <= 4e-16 * abs(high)):
            return x
        slope = (gap - before) / (x - previous) if x != previous and math.isfinite(before) else math.nan
        if math.isnan(previous):
            step = 1e-3 * max(abs(x), 1e-3)
            proposal = x + math.copysign(step, gap)
        elif math.isfinite(gap) and slope < 0:
            proposal = x - gap / slope
        else:
            proposal = math.nan
        previous, before = x, gap
        inside = low < proposal < high
        if not inside:
            proposal = 0.5 * (low + high) if math.isfinite(high) else 2 * max(abs(low), 1.0)
        if abs(proposal - x) <= 4e-16 * abs(x):
            return proposal
        x = proposal
    return x


def _prove(function: Function, level: float, floor: float, x: float, ceiling: float) -> Crossing:
    """Step outward until the ends of the enclosure are on the right sides of the level."""
    here = function(x)
    width = max(here.upper - here.lower, 1e-15)
    nudge = 1e-15 * max(abs(x), 1e-3)
    probe = function(x + 1e3 * nudge).value
    slope = max((here.value - probe) / (1e3 * nudge), 1e-3) if math.isfinite(probe) else 1.0
    slope = slope if math.isfinite(slope) else 1.0
    step = max(1.2 * width / slope, 4 * nudge)
    step = step if math.isfinite(step) else 1e-3 * max(abs(x), 1.0)
    upper, lower = ceiling, floor
    for doubling in range(80):
        candidate = x + step * 1.6**doubling
        if candidate >= ceiling:
            break
        if function(candidate).upper <= level:
            upper = candidate
            break
    for doubling in range(80):
        candidate = x - step * 1.6**doubling
        if candidate <= floor:
            break
        if function(candidate).lower >= level:
            lower = candidate
            break
    return Crossing(lower, min(max(x, lower), upper), upper)
