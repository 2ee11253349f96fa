"""Bracketing: from a first trial outward in growing strides, until two values enclose the crossing of the target."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from itertools import accumulate, count
from typing import Any

from logphi.calibration.trials import Trial, Trials
from logphi.pairs.pair import UnsupportedError
from logphi.progress import shown

# chosen: smaller relative changes count as no change
_STILL = 1e-6
# chosen: the search ends after this many strides without a change
_PATIENCE = 2
# chosen: the number of undecided trials that are skipped before the search turns back
_LEAPS = 2
# chosen: the largest number of undecided trials
_UNDECIDED = 10


class End(enum.Enum):
    """The reason why the search ends."""

    CROSSED = "the target is met on one side of here and missed on the other"
    EDGE = "the domain of the parameter ends here"
    AWAY = "the next values are farther from the target"
    LEVEL = "nothing changes any more"


@dataclass(frozen=True)
class Bracket:
    """The last two trials, why the search ended, and whether it came closer to the target."""

    end: End
    last: Trial
    before: Trial
    toward: bool


def bracket(trials: Trials, start: Trial, sign: int) -> Bracket:
    """Search upward (sign 1) or downward (-1) from the start, until the target is crossed or cannot be reached."""
    here, still, approached = start, 0, False
    # undecided trials are skipped at first; then the search bisects back to the first of them
    undecided, number, back = None, 0, False
    # powers of two: 1, 3, 6, 10, ...
    for doublings in shown(accumulate(count(1)), "strides", total=0):
        value = trials.scale.middle(here.value, undecided) if back else trials.onward(start.value, sign * doublings)
        following = None if value is None or value == here.value else trials.at(value)
        at_edge = following is None
        if following is None:
            edge = here.value if value is None else trials.edge(here.value, value)
            following = here if edge == here.value else _known(trials.at(edge))
        if following is here or number > _UNDECIDED:
            return Bracket(End.LEVEL if back else End.EDGE, here, here, approached)
        if following.reading.uninformative:
            number += 1
            undecided = following.value if undecided is None or back else undecided
            back = back or at_edge or number > _LEAPS
            continue
        if following.reading.meets != start.reading.meets:
            return Bracket(End.CROSSED, following, here, True)
        toward = _approach(here, following)
        if toward < 0:
            return Bracket(End.AWAY, following, here, approached)
        still, approached = (0, True) if toward else (still + 1, approached)
        if at_edge:
            return Bracket(End.EDGE, following, here, approached)
        if still >= _PATIENCE:
            return Bracket(End.LEVEL, following, here, approached)
        here = following
        if not back:
            undecided, number = None, 0
    raise ArithmeticError("internal error: a search has no end; please report it")


def _approach(here: Trial, following: Trial) -> int:
    """The direction of a step: toward the target (1), away from it (-1), or neither."""
    one, other = here.reading, following.reading
    rise = 1 if other.lower > one.upper else -1 if other.upper < one.lower else 0
    # delta is 0 or 1, or its bounds overlap: the masses and means of the losses may still differ
    rise = rise or _rise(_infinite(here), _infinite(following)) or _rise(_mean(here), _mean(following))
    return rise if one.meets else -rise


def _rise(one: float, other: float) -> int:
    if one == other or not abs(other - one) > _STILL * min(abs(one), abs(other)):
        return 0
    return 1 if other > one else -1


def _infinite(trial: Trial) -> float:
    """Minus the logarithm of the probability of a finite loss, which is additive under composition."""
    finite = trial.mechanism.loss_law().support.masses.own
    return max(-float(finite.mid[0].real), 0.0)


def _mean(trial: Trial) -> float:
    try:
        return trial.mechanism.kl_divergence().value
    except UnsupportedError:
        return math.nan


def _known(trial: Trial | None) -> Any:
    if trial is None:
        raise ArithmeticError("internal error: a mechanism was made once, and not again; is the family a function?")
    return trial
