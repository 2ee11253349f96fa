"""From one trial outward, to where the target is met no more, or at last."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from itertools import accumulate, count
from typing import Any

from logphi.calibration.trials import Trial, Trials
from logphi.pairs.pair import UnsupportedError
from logphi.progress import shown

# what changes by less, relatively, does not change
_STILL = 1e-6
# strides in a row that lead nowhere
_PATIENCE = 2
# trials that tell nothing: before the way back, and at all
_LEAPS, _BLANKS = 2, 10


class End(enum.Enum):
    """Why a walk ends."""

    CROSSED = "the target is met on one side of here and missed on the other"
    EDGE = "the domain of the parameter ends here"
    AWAY = "what follows is farther from the target"
    LEVEL = "nothing changes any more"


@dataclass(frozen=True)
class Walk:
    """The last trial, the one before it, why no other followed, and whether it led toward the target."""

    end: End
    last: Trial
    before: Trial
    toward: bool


def walk(trials: Trials, start: Trial, sign: int) -> Walk:
    """Walk up or down from the start by strides that grow, until the target is crossed or cannot be."""
    here, still, led = start, 0, False
    # where nothing is known: leapt over at first, then come near to by halves
    blank, blanks, back = None, 0, False
    # powers of two: 1, 3, 6, 10, ...
    for doublings in shown(accumulate(count(1)), "strides", total=0):
        value = trials.scale.middle(here.value, blank) if back else trials.onward(start.value, sign * doublings)
        following = None if value is None or value == here.value else trials.at(value)
        at_edge = following is None
        if following is None:
            edge = here.value if value is None else trials.edge(here.value, value)
            following = here if edge == here.value else _known(trials.at(edge))
        if following is here or blanks > _BLANKS:
            return Walk(End.LEVEL if back else End.EDGE, here, here, led)
        if following.reading.blank:
            blanks += 1
            blank = following.value if blank is None or back else blank
            back = back or at_edge or blanks > _LEAPS
            continue
        if following.reading.meets != start.reading.meets:
            return Walk(End.CROSSED, following, here, True)
        toward = _toward(here, following)
        if toward < 0:
            return Walk(End.AWAY, following, here, led)
        still, led = (0, True) if toward else (still + 1, led)
        if at_edge:
            return Walk(End.EDGE, following, here, led)
        if still >= _PATIENCE:
            return Walk(End.LEVEL, following, here, led)
        here = following
        if not back:
            blank, blanks = None, 0
    raise ArithmeticError("internal error: a walk has no end; please report it")


def _toward(here: Trial, following: Trial) -> int:
    """Whether a step went toward the target (1), away from it (-1), or neither."""
    one, other = here.reading, following.reading
    rise = 1 if other.lower > one.upper else -1 if other.upper < one.lower else 0
    # all of delta or nothing of it is left, or bounds do not tell; the loss itself may
    rise = rise or _rise(_infinite(here), _infinite(following)) or _rise(_mean(here), _mean(following))
    return rise if one.meets else -rise


def _rise(one: float, other: float) -> int:
    if one == other or not abs(other - one) > _STILL * min(abs(one), abs(other)):
        return 0
    return 1 if other > one else -1


def _infinite(trial: Trial) -> float:
    """Minus the logarithm of the probability of a finite loss, which adds up."""
    finite, _ = trial.mechanism.loss_law().log_masses()
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
