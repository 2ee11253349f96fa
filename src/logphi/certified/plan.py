"""Where to put a line and how finely to divide it, in doubles: whatever is chosen, the balls prove what follows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from logphi.certified.part import Part
from logphi.certified.route import NotCertifiedError, NotThisRouteError
from logphi.inversion.saddle import Interval, minimise
from logphi.laws.log_phi import LogPhi

Array = NDArray[np.float64]

# a slower fall is refused: the sum would take minutes
MOST_NODES, FEW_NODES = 400_000, 20_000
# measured: a formula at a node takes as long as sums of powers at eight
MOST_FORMULAS = MOST_NODES // 8
# measured: a mixture of normal laws is a sum over hundreds of points at each node, ten seconds in all
MOST_SUMS = FEW_NODES
# how near the end of its strip a transform is taken, and how small an abscissa may be
_WITHIN, _LEAST = 0.98, 1e-9
# measured: a step this near to the widest does
_NEARLY = 0.97
_SHARES = np.concatenate([2.0 ** np.arange(-10, 0.0, 0.5), 1 - 2.0 ** -np.arange(2.0, 8.0), [1.0]])
_TIMES = 2.0 ** np.arange(-10, 12, 0.5)


@dataclass(frozen=True)
class Plan:
    """The abscissa, the shifts that bound the aliasing from the right and from the left, and the step that they call for.

    ``level`` is about log D, ``peak`` about K(c) - c x, ``need`` the logarithm of what an error may be below D.
    """

    abscissa: float
    up: float
    down: float
    step: float
    level: float
    peak: float
    need: float


def plan(loss: LogPhi, epsilon: float, digits: int) -> Plan:
    """For a loss near an epsilon.

    Raises
    ------
    NotCertifiedError
        If no abscissa to the right of zero is inside the strip, or none bounds the aliasing.
    """
    high = loss.strip[1]
    if high < _LEAST:
        raise NotCertifiedError(
            "no moment of the loss exists, so that no line to the right of zero bounds the answer relatively: ask without a "
            "certificate"
        )

    def exponent(c: Array) -> Array:
        with np.errstate(all="ignore"):  # far out K overflows, and an infinite value is avoided
            found = loss.approximate(np.asarray(c, dtype=float)) - c * epsilon
        return np.asarray(np.where(np.isnan(found), np.inf, found), dtype=float)

    def objective(c: Array) -> Array:
        return exponent(c) - np.log(c) - np.log1p(c)

    c = float(f"{minimise(objective, Interval(0.0, high)).abscissa:.3g}")
    room = _WITHIN * (high - c)
    near = c * np.array([0.95, 1.0, 1.05]) if 0.05 * c < room else np.array([c] * 3)
    left, here, right = objective(near).tolist()
    bend = max((left - 2 * here + right) / (0.05 * c) ** 2, 1e-6 / c**2)
    level, need = here - 0.5 * math.log(2 * math.pi * bend), digits * math.log(10) + 3

    def widest(shifts: Array, side: int) -> tuple[float, float]:
        places = np.maximum(c + side * shifts, 0.0)
        with np.errstate(all="ignore"):  # kappa(0) = 1, and infinities lose
            kappa = np.where(places > 0, places * np.log(places) - (1 + places) * np.log1p(places), 0.0)
            steps = 2 * np.pi * shifts / np.maximum(need + exponent(places) + kappa - level, 1.0)
        steps = np.where(np.isfinite(steps), steps, 0.0)
        # the nearest that is nearly the best: the transform is the dearer the farther out
        good = np.flatnonzero(steps >= _NEARLY * steps.max())
        best = good[np.argmin(shifts[good])]
        return float(shifts[best]), float(steps[best])

    down, step = widest(c * _SHARES, -1)
    up, other = widest(np.unique(np.minimum(c * _TIMES, room)), 1)
    if min(step, other) <= 0:
        raise NotCertifiedError("this epsilon is beyond what a line of nodes resolves: ask at a smaller one")
    return Plan(c, up, down, min(step, other), level, float(exponent(np.array([c]))[0]), need)


def height_of(parts: Sequence[tuple[Part, int]], chosen: Plan, most: int) -> float:
    """Where the composed transform has fallen far enough.

    Raises
    ------
    NotCertifiedError
        If that is farther than ``most`` steps.
    """

    def enough(height: float) -> bool:
        fall = sum(count * part.fall(chosen.abscissa, height) for part, count in parts)
        return fall + chosen.peak - math.log(math.pi * height) <= chosen.level - chosen.need

    high = 8 * chosen.step
    while not enough(high):
        high *= 2
        if high > most * chosen.step:
            if not any(part.fall(chosen.abscissa, high) for part, _ in parts):
                raise NotThisRouteError(
                    "no part of these losses falls along a line, and their sum is not written out: ask without a certificate"
                )
            raise NotCertifiedError(
                "the transform of so few releases falls too slowly for a line of nodes: ask for fewer digits, or without a "
                "certificate"
            )
    return _bisected(enough, high / 2, high)


def _bisected(enough: Callable[[float], bool], low: float, high: float) -> float:
    while high > 1.02 * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
