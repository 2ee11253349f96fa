"""Where a decreasing function that is known by enclosures crosses a level."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import count

from logphi.answers.enclosure import Enclosure, Ends

# the logarithm of a decreasing function at a point
Function = Callable[[float], Ends]
# wraps the steps of a search, so that a progress bar can count them
Watch = Callable[[Iterable[int]], Iterable[int]]

# measured: secant steps on a smooth logarithm need five to eight evaluations, with the bisections in between some more
_STEPS = 60
# measured: a smooth function needs two preparations, one with a wide enclosure more
_PREPARATIONS = 4
# chosen: how near the logarithm of the coarse function must come to the level
_ROUGH = 0.01
# chosen: bisection stops at this width, in units of 1 + |x|, and moves an end no nearer than this share of its distance
_RESOLUTION = 1e-11
_SHARE = 0.05
# chosen: a gap below this share of the width of the enclosure is noise
_NOISE = 1e-3
# chosen: the factor by which each step away from a guess is longer than the last; bisection then narrows the bracket
_STRIDE = 8.0
# measured: a secant step that reduces the gap by this factor converges superlinearly: its gap is the product of the two before
_SQUARING = 1e-3
# chosen: how far beyond the zero of the chord to evaluate, as a share of the bracket
_OVERSHOOT = 0.02
# measured: a function prepared at one point is still sharp within this relative distance
_NEAR = 0.02


def crossing(
    near: Callable[[float, bool], Function],
    level: float,
    floor: float,
    start: float,
    ceiling: float,
    watch: Watch = iter,
    slope: float = math.nan,
) -> Enclosure:
    """Enclose the crossing of a decreasing function with a level, on [floor, ceiling].

    The function is proved to be at least the level at ``lower`` and at most it at ``upper``. ``upper`` may be infinite and
    ``lower`` the floor of the search, where no closer point could be proved.

    Parameters
    ----------
    near
        ``near(x, sharp)`` prepares the function for the neighbourhood of x: coarsely during the search for the crossing,
        sharply once it is found.
    level
        The level, on the function's logarithmic scale.
    floor, ceiling
        The crossing is known to lie between them (the ceiling may be infinite).
    start
        A first guess.
    watch
        Called with the steps of each search, which it returns.
    slope
        An approximation of the slope of the function at the start, if known.
    """
    x = min(max(start, floor), ceiling)
    for _ in range(_PREPARATIONS):
        found, slope, _ = _secant(near(x, False), level, floor, x, ceiling, watch, slope, _ROUGH)
        settled = near_by(found, x)
        x = found
        if settled:
            break
    function = near(x, True)
    x, slope, here = _secant(function, level, floor, x, ceiling, watch, slope)
    if x <= floor and function(floor).upper <= level:
        return Enclosure(floor, floor, floor)
    return _prove(function, level, floor, x, ceiling, slope, here)


def near_by(one: float, other: float) -> bool:
    """Whether a function prepared at one point is still sharp at the other."""
    return abs(one - other) <= _NEAR * abs(other)


def bisection(
    near: Callable[[float, bool], Function],
    level: float,
    floor: float,
    start: float,
    ceiling: float,
    watch: Watch = iter,
    _slope: float = math.nan,
) -> Enclosure:
    """The enclosure of :func:`crossing` by bisection, as in Zhu, Dong & Wang (2022): of the best values, then of each end.

    The arguments are those of :func:`crossing` except the slope. If the ceiling is infinite, bisection is not possible, and
    the interval is returned unchanged. The function is prepared once, sharply.
    """
    x = min(max(start, floor), ceiling)
    if not math.isfinite(ceiling):
        return Enclosure(floor, x, ceiling)
    function = near(x, True)
    seen: dict[float, Ends] = {}

    def at(x: float) -> Ends:
        if x not in seen:
            seen[x] = function(x)
        return seen[x]

    low, high = floor, ceiling
    for _ in watch(count()):
        if high - low <= _RESOLUTION * (1 + abs(low)):
            break
        middle = low + (high - low) / 2
        here = at(middle)
        low, high = (middle, high) if here.value > level else (low, middle)
        if abs(here.value - level) <= _NOISE * (here.upper - here.lower):
            low = high = middle
    value = low + (high - low) / 2
    lower = _end(at, lambda ends: ends.lower >= level, value, floor, [x for x in seen if x <= value])
    upper = _end(at, lambda ends: ends.upper <= level, value, ceiling, [x for x in seen if x >= value])
    return Enclosure(lower, value, upper)


def _end(at: Function, proved: Callable[[Ends], bool], value: float, known: float, seen: list[float]) -> float:
    """Bisect between the nearest point to the crossing that is proved to be on its side of it, and the next that is not."""
    far = min([known, *(x for x in seen if proved(at(x)))], key=lambda x: abs(x - value))
    near = max((x for x in seen if abs(x - value) < abs(far - value)), key=lambda x: abs(x - value), default=value)
    while abs(far - near) > max(_RESOLUTION * (1 + abs(value)), _SHARE * abs(far - value)):
        middle = far + (near - far) / 2
        if proved(at(middle)):
            far = middle
        else:
            near = middle
    return far


def _secant(
    function: Function,
    level: float,
    floor: float,
    start: float,
    ceiling: float,
    watch: Watch,
    slope: float,
    enough: float = 2e-14,
) -> tuple[float, float, Ends]:
    """The crossing of the best values, until they are near enough: secant steps kept inside a shrinking bracket.

    It returns the crossing, the slope there (NaN if unknown) and the last enclosure; ``slope`` is that at the start.
    """
    low, high = floor, ceiling
    x, previous, before, earlier, known, untried = start, math.nan, math.nan, math.nan, slope, True
    for _ in watch(range(_STEPS)):
        here = function(x)
        gap = here.value - level
        if gap > 0:
            low = max(low, x)
        else:
            high = min(high, x)
        if math.isfinite(before):
            slope = (gap - before) / (x - previous) if x != previous else math.nan
            # not between points that are far apart, nor where noise decides
            if slope < 0 and near_by(previous, x) and abs(gap - before) > (here.upper - here.lower) / _NOISE:
                known = slope
        # steps far below the width of the enclosure would be spent on noise
        noise = _NOISE * (here.upper - here.lower) if here.lower <= level <= here.upper else 0.0
        if abs(gap) <= max(enough, noise) or (math.isfinite(high) and high - low <= 4e-16 * abs(high)):
            return x, known, here
        if math.isfinite(gap) and slope < 0:
            proposal = x - gap / slope
            # where the steps converge superlinearly, the next point need not be evaluated
            if abs(gap) < _SQUARING * abs(before) and gap * gap <= max(enough, noise) * abs(earlier) and low < proposal < high:
                return proposal, known, here
        elif math.isnan(previous):
            # the first step is short, because the start is nearly a crossing
            step = (1e-3 if enough >= _ROUGH else 1e-5) * max(abs(x), 1e-3)
            proposal = x + math.copysign(step, gap)
        else:
            proposal = math.nan
        previous, before, earlier = x, gap, before
        # far below the level a value may be all noise
        uninformative = here.upper < level - 1 and here.upper - here.lower > 1
        inside = low < proposal < high and not uninformative
        if untried and proposal <= floor:
            # the floor itself may be the answer
            proposal, untried = floor, False
        elif not inside:
            proposal = 0.5 * (low + high) if math.isfinite(high) else 2 * max(abs(low), 1.0)
        if abs(proposal - x) <= 4e-16 * abs(x):
            return proposal, known, here
        x = proposal
    return x, known, function(x)


def _slope(function: Function, x: float, here: Ends, away: float) -> float:
    """An approximate slope of the decreasing function, from a side on which its value is finite; one if there is none.

    If the difference is less than the noise of a wide enclosure, it is taken over a larger distance.
    """
    noise = _NOISE * (here.upper - here.lower)
    for side in (1.0, -1.0):
        step = side * away
        gap = here.value - function(x + step).value
        while abs(gap) < noise < math.inf and abs(step) < _NEAR * abs(x):
            step *= _STRIDE
            gap = here.value - function(x + step).value
        if math.isfinite(gap):
            return max(gap / step, 1e-3)
    return 1.0


def _prove(function: Function, level: float, floor: float, x: float, ceiling: float, slope: float, here: Ends) -> Enclosure:
    """Step outward until the ends of the enclosure are on the right sides of the level.

    The slope may be NaN; ``here`` is an enclosure at x or at a point very near.
    """
    width = max(here.upper - here.lower, 1e-15)
    nudge = 1e-15 * max(abs(x), 1e-3)
    slope = _slope(function, x, function(x), 1e3 * nudge) if math.isnan(slope) else max(-slope, 1e-3)
    step = max(1.2 * width / slope, 4 * nudge)
    # if the function is not known at x, it may be known very near or only far away
    step, growth = (step, 1.6) if math.isfinite(step) else (4 * nudge, 8.0)
    upper, lower = ceiling, floor
    for doubling in range(80):
        candidate = x + step * growth**doubling
        if candidate >= ceiling:
            break
        if function(candidate).upper <= level:
            upper = candidate
            break
    for doubling in range(80):
        candidate = x - step * growth**doubling
        if candidate <= floor:
            break
        if function(candidate).lower >= level:
            lower = candidate
            break
    return Enclosure(lower, min(max(x, lower), upper), upper)


def last_good(good: Callable[[float], bool], farthest: float, factor: float, steps: int, halvings: int) -> float:
    """Approximately the largest distance up to which a property holds; zero if it fails at the first.

    Distances grow by a factor, up to the farthest, until one fails; the interval before it is then halved ``halvings`` times.
    """
    held, failed = 0.0, math.inf
    for k in range(-steps, 1):
        distance = farthest * factor**k
        if not good(distance):
            failed = distance
            break
        held = distance
    for _ in range(halvings if failed < math.inf else 0):
        middle = (held + failed) / 2
        held, failed = (middle, failed) if good(middle) else (held, middle)
    return held


def fall(function: Callable[[float], float], start: float, step: float, floor: float, ceiling: float, enough: float) -> float:
    """Where a decreasing function falls below zero, to within ``enough``; it may have jumps and infinite values.

    Steps of growing length lead away from ``start`` until the sign changes, or to an end of [floor, ceiling]; the bracket is
    then narrowed by regula falsi, and by bisection where that does not halve it.
    """
    x = min(max(start, floor), ceiling)
    value = function(x)
    ends = {value > 0: (x, value)}
    onward = 1 if value > 0 else -1
    while len(ends) < 2:
        following = min(max(x + onward * step, floor), ceiling)
        if following == x:
            return x
        x, step = following, _STRIDE * step
        value = function(x)
        ends[value > 0] = (x, value)
    (low, above), (high, below) = ends[True], ends[False]
    halve = False
    while (width := high - low) > max(enough, 4e-16 * (abs(low) + abs(high))):
        share = 0.5 if halve else _share(above, below)
        # a little beyond the zero of the chord, so that both ends move in
        share = min(max(share + math.copysign(_OVERSHOOT, 0.5 - share), _OVERSHOOT), 1 - _OVERSHOOT)
        middle = low + share * width
        value = function(middle)
        low, above, high, below = (middle, value, high, below) if value > 0 else (low, above, middle, value)
        halve = high - low > width / 2
    return low + _share(above, below) * (high - low)


def _share(above: float, below: float) -> float:
    """The share of the distance between two points at which the chord is zero; one half if it is not known."""
    return above / (above - below) if math.isfinite(above - below) and above > below else 0.5
