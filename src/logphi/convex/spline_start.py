"""The spline of the first rounds, which are those of a grid: where h_k is not smooth, only a grid is accurate.

The lower bound of the grid, less what chords between its nodes exceed it by, is nearly the spline S. The upper bound is at most
e^a ((1 - p) S + p T S) + c, for a small p: it exceeds the lower one about as a few thousandths of a round more would.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from logphi.arrays import Array
from logphi.convex.quintic import Quintic
from logphi.convex.spline_proofs import ROUNDED, Off, convex, falls, offs, refolded
from logphi.convex.spline_rounds import END, Steps, UnprovedError
from logphi.convex.widest_chords import Bounds

# chosen: a factor of the mean, above its rounding
_EQUAL = 1e-9
# chosen: errors of values with smaller logarithms are counted as amounts
_TINY = -42.0
# chosen: the share of a round that is no longer small
_MOST = 0.01
# derived: from one node to the next one, what is bounded changes by a tenth at most if its logarithm changes by so much
_STEEPEST = 0.05


@dataclass(frozen=True, eq=False)
class Start:
    """S, up to a knot, where the best chords of the grid began, and bounds of h_k: ``below`` and ``less`` as of AfterRound.

    ``folded`` is how far log S is from its reflection. The upper bound is ``high`` at the ``places``, in steps, and in all
    ``more`` is added to it.
    """

    steps: Steps
    log: Quintic
    last: int
    behind: Array
    below: Off
    less: float
    folded: float
    more: float
    places: Array
    high: Array

    @staticmethod
    def of(steps: Steps, below: Bounds, above: Bounds) -> Start:
        """From both bounds of a finer grid.

        Raises
        ------
        UnprovedError
            If the spline is not near.
        """
        times = above.parts // steps.parts
        size = min(below.values.size, above.values.size)
        size = int(np.searchsorted(-above.values[:size], -math.exp(END)))
        last = (size - 1) // times
        if last < 3 * steps.parts:
            raise UnprovedError("the rounds before the splines do not reach far enough")
        every = np.arange(last * times + 1)
        low, high = below.values[every], above.values[every]
        fine = math.expm1(steps.step / times)
        (chords,) = below.chords
        slopes = chords.at(every.astype(float), below.step, every)[1]
        # between two nodes the lower bound is above the lines of both, which are below the chord by at most this
        bend = np.maximum(slopes[1:] * math.exp(-steps.step / times) - slopes[:-1], 0.0) * (fine / 4 * 1.01)
        target = low - _nodes(bend)
        nodes = every[::times]
        log = steps.spline(np.log(target[nodes]))
        zero = np.array([[-(log.first + 2)]])
        folded = float(refolded(log, zero, steps)[0])
        places = every / times
        logs = _logs(log, places, last)
        errors, before = logs - np.log(target), np.append(logs[:1], logs[:-1])
        tiny = before < _TINY
        (off,) = offs(np.where(tiny, 0.0, errors), before)
        less = max(float((errors * np.exp(before))[tiny].max(initial=0.0)), math.exp(float(logs[-1]))) * 1.001
        columns = log.column(np.arange(last))
        if not (
            np.isfinite(errors).all() and convex(log, columns, steps.step).all() and falls(log, last) and math.isfinite(folded)
        ):
            raise UnprovedError("the splines do not describe the first rounds")
        return Start(
            steps,
            log,
            last,
            (nodes + below.parts - chords.best[nodes]) / times,
            off + Off(folded + ROUNDED),
            less,
            folded,
            above.truncated + float(high[-1]) * 1.001,
            places,
            high,
        )

    def compared(self, following: Quintic, down: Off) -> tuple[float, Off]:
        """The share p of a further round, and the logarithm a of a factor; T S is at least e^-down of the spline that follows.

        Raises
        ------
        UnprovedError
            If p is not small.
        """
        fine = math.expm1(self.steps.step * self.places[1])
        one, other = (_logs(log, self.places, self.last) for log in (self.log, following))
        here = np.exp(one)
        there = np.exp(other - down.at(other) - self.folded)
        # between two nodes both are above their chords less this, relatively
        times = round(1 / self.places[1])
        bent = _nodes(np.repeat(np.maximum(*(self._bent(log, fine, times) for log in (self.log, following))), times))
        lacking = self.high * ((1 + bent) * (1 - _EQUAL * 0.9)) - here
        lacks = lacking > 0
        share = float((lacking[lacks] / (there - here)[lacks]).max(initial=0.0)) * (1 + 1e-9)
        if not (0 <= share < _MOST and (there > here)[lacks].all()):
            raise UnprovedError("the bounds of the first rounds are too far apart")
        return share, Off(self.folded + _EQUAL)

    def _bent(self, log: Quintic, fine: float, times: int) -> Array:
        columns = log.column(np.arange(self.last))
        s, second = self.steps.step, log.near[0][columns]
        steep = (np.abs(log.cells[1])[columns] + second) / s
        if not float(steep.max()) * s / times < _STEEPEST:
            raise UnprovedError("the first rounds fall too steeply")
        found: Array = (second / s**2 + steep + steep**2) * (fine**2 / 8 * 1.2)
        return found


def _logs(log: Quintic, places: Array, last: int) -> Array:
    cells = np.minimum(np.floor(places), last - 1).astype(np.int64)
    return log.at(log.column(cells), places - cells)[0]


def _nodes(cells: NDArray[np.float64]) -> Array:
    """The larger of the values of both cells next to a node."""
    return np.maximum(np.append(cells[:1], cells), np.append(cells, cells[-1:]))
