"""The crossing of a profile in closed form with a level: secants of its logarithm, and a proof on either side."""

from __future__ import annotations

import math
from dataclasses import dataclass

from logphi.answers.bound import Bound
from logphi.answers.ledger import Ledger
from logphi.arith.scaled import Scaled
from logphi.engine.log_probability import ledger_of, masses
from logphi.engine.method import EXACT
from logphi.engine.search.crossing_search import level_error
from logphi.inputs.tolerance import Tolerance
from logphi.laws.closed_form import Amount
from logphi.laws.log_phi import LogPhi

# measured: the largest number of steps; most crossings take seven, and halving takes more where values are zero
_STEPS = 100
# measured: the distance from the level, relative to it, within which the logarithm of a closed form is only rounding
_ENOUGH = 2e-15
# chosen: a difference below this share of the width of the profile is noise
_NOISE = 0.1
# derived: the first distance, in widths of the profile, at which an end is tried
_AWAY = 1.2
# derived: the factor by which that distance grows
_FARTHER = 1.6
# derived: the largest number of distances that are tried
_TRIES = 12


@dataclass(frozen=True)
class _Point:
    """The logarithm of an excess at a threshold, less the level."""

    x: float
    difference: float
    amount: Scaled


def epsilon_in_closed_form(loss: LogPhi, delta: float, tolerance: Tolerance) -> Bound | None:
    """The smallest eps >= 0 with delta(eps) <= delta, for a loss that is always finite and has a profile in closed form.

    None for another loss, if the closed form overflows, and if the answer is not as narrow as requested.
    """
    own = loss.closed_form
    if not (own.has_profile and 0 < delta < 1 and masses(loss)[0] == (0.0, 0.0)):
        return None
    top, spread = loss.support.upper, loss.growth.right.most
    # the mass above x bounds the excess; that of a normal law is at most e^{-a^2/2}
    start = top / 2 if math.isfinite(top) else spread / 2 + math.sqrt(-2 * math.log(delta) * spread)
    found = crossing_of(own.excess, delta, start, top)
    return found if found is not None and found.width <= tolerance.aim * max(1.0, found.value) else None


def crossing_of(excess: Amount, delta: float, start: float, top: float = math.inf) -> Bound | None:
    """The smallest x >= 0 at which a decreasing function is at most delta, from a first guess; None if it is unknown."""
    level = math.log(delta)
    slack = level_error(level)
    nothing = excess(0.0)
    if nothing is None:
        return None
    if nothing.log_ends[1] + slack <= level:
        return Bound(0.0, 0.0, 0.0, method=EXACT)
    found = _secant(excess, level, start, top)
    if found is None:
        return None
    here, slope = found
    lower, upper = _proved(excess, level, here, slack, slope)
    ledger = ledger_of(here.amount).scaled(1 / (delta * slope)) if delta > 1e-300 else Ledger()
    return Bound(lower, min(max(here.x, lower), upper), upper, method=EXACT, ledger=ledger)


def _at(excess: Amount, level: float, x: float) -> _Point | None:
    amount = excess(x)
    if amount is None:
        return None
    return _Point(x, (math.log(amount.value) if amount.value > 0 else -math.inf) + amount.log_scale - level, amount)


def _secant(excess: Amount, level: float, start: float, top: float) -> tuple[_Point, float] | None:
    """A point next to the crossing, and minus the slope of the logarithm there."""
    low, high = 0.0, top
    before = _at(excess, level, start)
    here = _at(excess, level, start * (1 - 1e-3))
    for _ in range(_STEPS):
        if before is None or here is None:
            return None
        for one in (before, here):
            low, high = (max(low, one.x), high) if one.difference > 0 else (low, min(high, one.x))
        slope = (
            (before.difference - here.difference) / (here.x - before.x)
            if math.isfinite(before.difference + here.difference)
            else math.nan
        )
        enough = _ENOUGH * (1 + abs(level)) + _NOISE * min(here.amount.relative_width, 1.0)
        if abs(here.difference) <= enough or high - low <= 4e-16 * high < math.inf:
            return (here, slope) if slope > 0 else None
        proposal = here.x + here.difference / slope if slope > 0 else math.nan
        if not low < proposal < high:
            proposal = (low + high) / 2 if math.isfinite(high) else 2 * here.x
        if abs(proposal - here.x) <= 4e-16 * here.x:
            return (here, slope) if slope > 0 else None
        before, here = here, _at(excess, level, proposal)
    return None


def _proved(excess: Amount, level: float, here: _Point, slack: float, slope: float) -> tuple[float, float]:
    """Two thresholds at which the excess is proved to be at least, and at most, the level."""
    low, high = here.amount.log_ends
    step = max(_AWAY * (high - low + 2 * slack + abs(here.difference)) / slope, 4e-16 * here.x)
    lower, upper = 0.0, math.inf
    for k in range(_TRIES):
        x = here.x + step * _FARTHER**k
        amount = excess(x)
        if amount is not None and amount.log_ends[1] + slack <= level:
            upper = x
            break
    for k in range(_TRIES):
        x = here.x - step * _FARTHER**k
        if x <= 0:
            break
        amount = excess(x)
        if amount is not None and amount.log_ends[0] - slack >= level:
            lower = x
            break
    return lower, upper
