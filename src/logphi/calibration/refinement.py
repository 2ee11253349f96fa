"""Refinement: from a bracket to two values within the tolerance, one that is proved to meet the target and one to miss it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from logphi.calibration.scale import Scale
from logphi.calibration.target import Reading
from logphi.calibration.trials import NEAR, Trial, Trials
from logphi.progress import shown

# derived: bisection alone needs some forty steps to reach neighbouring doubles
_STEPS = 100
# chosen: a step overshoots the crossing by this part of the tolerance, so that both ends approach it
_PAST = 0.4
# chosen: the relative distance of a value that an attack proves to miss the target
_ATTACKED = 1e-2
# chosen: if this many steps do not halve the bracket, the next one bisects it
_HALVE = 3

Condition = Callable[[Reading], bool]
# the end of a reading whose sign decides a property
End = Callable[[Reading], float]


def refine(trials: Trials, good: Trial, bad: Trial, rtol: float) -> tuple[Trial, Trial]:
    """The nearest proved values on both sides of the crossing; the second may be undecided.

    Both readings are of the question itself.
    """
    good, other = _converge(trials, good, bad, lambda reading: reading.meets, lambda reading: reading.upper, rtol)
    if not other.reading.fails:
        # between the two the bounds are undecided: the nearest value proved to miss is approached as well
        missing = [
            one for one in trials.seen.values() if one.reading.fails and (one.value > good.value) == (bad.value > good.value)
        ]
        if missing:
            if good.mechanism._bracketed or good.mechanism._need_not_attain:
                # the distance then depends on the attack, and not on the computation
                rtol = max(rtol, _ATTACKED)
            nearest = min(missing, key=lambda one: trials.scale.apart(one.value, good.value))
            other, _ = _converge(trials, nearest, good, lambda reading: reading.fails, lambda reading: reading.lower, rtol)
    return good, other


def _converge(trials: Trials, inside: Trial, outside: Trial, holds: Condition, end: End, rtol: float) -> tuple[Trial, Trial]:
    """Two adjacent values, such that a property is proved for the first and not for the second."""
    behind, scale, spare = [inside], trials.scale, None
    widths: list[float] = []
    for _ in shown(range(_STEPS), "trials", total=0):
        if scale.adjacent(inside.value, outside.value, rtol):
            break
        widths.append(scale.apart(inside.value, outside.value))
        # the logarithms of two large integers may be equal
        if widths[-1] == 0 or (len(widths) > _HALVE and widths[-1] > widths[-1 - _HALVE] / 2):
            value = scale.middle(inside.value, outside.value)
        else:
            share = _share(inside, outside, spare, scale, end)
            # toward the end that is farther away
            share += math.copysign(_PAST * rtol / widths[-1], 0.5 - share)
            value = scale.between(inside.value, outside.value, share)
        if value is None:
            break
        trial = _decided_trial(trials, value, min(abs(inside.reading.value), abs(outside.reading.value)))
        if holds(trial.reading):
            inside, spare = trial, inside
            behind.append(trial)
        else:
            outside, spare = trial, outside
    # the bounds of the answer may be wider than those of its logarithm
    while not holds(trials.proof(behind[-1]).reading) and len(behind) > 1:
        behind.pop()
    return trials.proof(behind[-1]), trials.proof(outside)


def _decided_trial(trials: Trials, value: Any, gap: float) -> Trial:
    """A trial that decides, if possible; a coarse one far from the limit."""
    trial = trials.at(value, sharp=gap <= NEAR)
    if trial is None:
        raise ValueError(
            f"the family refuses {value!r}, and allows both smaller and larger values ({trials.refusal}); if it takes only "
            "integers, say integer=True, otherwise give lower= or upper="
        )
    return trial if trial.reading.meets or trial.reading.fails else trials.proof(trial)


def _share(one: Trial, other: Trial, spare: Trial | None, scale: Scale, end: End) -> float:
    """The estimated zero of the reading between two trials, as a share of the distance; one half if unknown."""
    first, last = _known(one), _known(other)
    if not first * last < 0:
        # readings of one sign may have deciding ends of different signs
        first, last = end(one.reading), end(other.reading)
        return first / (first - last) if -math.inf < first * last < 0 else 0.5
    chord = first / (first - last)
    third = _known(spare) if spare else math.nan
    if spare is None or not first != third != last or math.isnan(third):
        return chord
    place = scale.apart(one.value, spare.value) / scale.apart(one.value, other.value)
    place = place if (spare.value > one.value) == (other.value > one.value) else -place
    # the inverse parabola through all three points
    parabola = first * third / ((last - first) * (last - third)) + place * first * last / ((third - first) * (third - last))
    return parabola if 0 < parabola < 1 else chord


def _known(trial: Trial) -> float:
    value = trial.reading.value
    return value if math.isfinite(value) and not trial.reading.uninformative else math.nan
