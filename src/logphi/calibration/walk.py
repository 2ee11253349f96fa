"""From one trial outward, to where the target is met no more, or at last."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from itertools import accumulate, count
from typing import Any

from logphi.calibration.trials import Trial, Trials
from logphi.core.pair import UnsupportedError

# what changes by less, relatively, does not change
_STILL = 1e-6
# strides in a row that lead nowhere
_PATIENCE = 2


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
    # powers of two: 1, 3, 6, 10, ...
    for doublings in accumulate(count(1)):
        value = trials.onward(start.value, sign * doublings)
        following = None if value is None or value == here.value else trials.at(value)
        at_edge = following is None
        if following is None:
            edge = here.value if value is None else trials.edge(here.value, value)
            if edge == here.value:
                return Walk(End.EDGE, here, here, led)
            following = _known(trials.at(edge))
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
    raise ArithmeticError("internal error: a walk has no end; please report it")


def _toward(here: Trial, following: Trial) -> int:
    """Whether a step went toward the target (1), away from it (-1), or neither."""
    if following.reading.blank:
        return 0
    loss = _change(here.reading.value, following.reading.value)
    # all of delta or nothing of it is left: the mean of the loss still tells which way is more private
    loss = loss or _change(_mean_loss(here), _mean_loss(following))
    return loss if here.reading.meets else -loss


def _change(one: float, other: float) -> int:
    if one == other or abs(other - one) <= _STILL * min(abs(one), abs(other)) or math.isnan(other - one):
        return 0
    return 1 if other > one else -1


def _mean_loss(trial: Trial) -> float:
    try:
        return trial.mechanism.kl_divergence().value
    except UnsupportedError:
        return math.nan


def _known(trial: Trial | None) -> Any:
    if trial is None:
        raise ArithmeticError("internal error: a mechanism was made once, and not again; is the family a function?")
    return trial
