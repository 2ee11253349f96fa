"""Rounds of :mod:`logphi.convex.widest_chords` on splines: what the next one is near, and the chords that show it.

notation: as there and in :mod:`logphi.convex.smooth_chords`. Several splines may be one: their coefficients follow each other,
and ``base`` is the place of the cell that begins at knot zero, for each knot. Nothing is proved here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from logphi.arrays import Array
from logphi.convex.quintic import Quintic

# chosen: smaller values of h have an upper bound only
LEAST = 1e-25
# derived: its logarithm
_LAST = math.log(LEAST)
# chosen: splines go on to smaller values, of this logarithm
END = math.log(1e-4 * LEAST)
# chosen: picks are not sought where h is nearer to one
_UNKNOWN = 5e-11
# measured: best chords are sought until the next step gains less, relatively, which leaves far less to gain
_GAIN = 1e-5
# measured: they are sought so often at most
_TRIES = 6
# derived: knots before the first, and after the last, value
SPARE = 6


class UnprovedError(ArithmeticError):
    """Something that a proof needs does not hold."""


@dataclass(frozen=True, eq=False)
class Chords:
    """Chords of g that begin ``behind`` knots x: F at x, F_x and F_y, and the ingredients of their derivatives along a line."""

    behind: Array
    cell: NDArray[np.int64]
    level: Array
    by_x: Array
    by_y: Array
    curvature: Array
    share: Array
    near: tuple[Array, Array, Array]
    far: tuple[Array, Array, Array]


@dataclass(frozen=True, eq=False)
class Round:
    """A next spline, up to which knot its round is to be proved, and chords near the best ones, from ``-lead`` on."""

    log: Quintic
    last: int
    behind: Array


class Steps:
    """Steps of one length, ``parts`` to the width."""

    def __init__(self, width: float, parts: int) -> None:
        self.parts, self.step, self.whole = parts, width / parts, math.expm1(width)
        # knots left of zero where chords end, and where g is known
        self.lead = 3 * parts // 4 + 2
        self.left = 2 * parts + SPARE
        # of chords that are not too steep
        self._ends = (1e-3 * parts, (1 - 1e-3) * parts)

    def spline(self, values: Array) -> Quintic:
        """A spline through logarithms from zero on, reflected at zero and continued by a parabola."""
        x = np.arange(self.left + 2, 0, -1)
        left = -x * self.step + np.log(np.expm1(x * self.step) + np.exp(values[x]))
        slope, bend = values[-1] - values[-2], min(values[-1] - 2 * values[-2] + values[-3], 0.0)
        after = np.arange(1, 2 * self.parts + 2 * SPARE)
        return Quintic.through(-self.left - 2, np.concatenate([left, values, values[-1] + slope * after + bend * after**2 / 2]))

    def next(self, g: Quintic, last: int, guess: Array) -> tuple[Round, Array]:
        """One more round of a spline that is known up to a knot, and where the best chords begin, given guesses of these."""
        m = self.parts
        known = g.first + g.coefficients.size - m - SPARE
        behind = np.clip(longer(guess, known), *self._ends)
        base, x = -(g.first + 2), np.arange(-self.lead, known)
        chords = self.chords(g, base, x, self.reflected(behind))
        gain, better = self.better(chords)
        for _ in range(_TRIES):
            if float(gain[self.lead : self.lead + last].max()) < _GAIN:
                break
            chords = self.chords(g, base, x, self.reflected(better))
            gain, better = self.better(chords)
        if not np.isfinite(better).all():
            raise UnprovedError("no best chords are found")
        values = np.minimum(chords.level + gain, 0.0)[self.lead :]
        end = int(np.searchsorted(-values, -END)) + 1
        last = min(int(np.searchsorted(-values, -_LAST)), min(end, known) - 2 * m)
        return Round(self.spline(values[:end]), last, self.reflected(better)[: self.lead + last + m + 1]), better[:end]

    def better(self, chords: Chords) -> tuple[Array, Array]:
        """How much the best chords exceed these, by Newton's method, and how far behind they begin."""
        seen = (chords.curvature < 0) & (chords.level < -_UNKNOWN)
        gain = np.where(seen, -(chords.by_y**2) / (2 * chords.curvature), 0.0)
        moved = np.where(seen, chords.by_y / chords.curvature, 0.0)
        behind = chords.behind + np.clip(moved, -self.parts / 4, self.parts / 4)
        return gain, self.kept(behind[self.lead :], chords.level[self.lead :])

    def kept(self, behind: Array, level: Array) -> Array:
        """Between the ends of the width; where h is nearly one, like the first that is known."""
        clipped: Array = np.clip(behind, *self._ends)
        unknown = int(np.searchsorted(-level, _UNKNOWN))
        if 0 < unknown < clipped.size:
            clipped[:unknown] = clipped[unknown]
        return clipped

    def reflected(self, behind: Array) -> Array:
        """The same left of zero."""
        return np.concatenate([self.parts - behind[self.lead : 0 : -1], behind])

    def chords(self, g: Quintic, base: NDArray[np.int64] | int, x: NDArray[np.int64], behind: Array) -> Chords:
        """The chords to knots x."""
        m, s = self.parts, self.step
        y = x - behind
        cell = np.floor(y).astype(np.int64)
        behind = x - y
        column, inside = base + cell, y - cell
        # both ends at once, as small arrays take little longer
        value, slope, bend = g.at(np.concatenate([column, column + m]), np.concatenate([inside, inside]))
        near, far = ((value[half], slope[half], bend[half]) for half in (slice(None, x.size), slice(x.size, None)))
        grown = np.expm1(behind * s)
        fall = -np.expm1(far[0] - near[0])
        # of the far end; and the derivative of the weights, per step
        weight, turn = grown / self.whole, s / self.whole * (grown + 1)
        rest = -weight * fall
        level, total = near[0] + np.log1p(rest), 1 + rest
        share = (1 - weight) / total
        by_x = -turn * fall / total
        by_y = -by_x + share * near[1] + (1 - share) * far[1]
        curvature = (
            turn * (-s * fall + 2 * (near[1] - (1 - fall) * far[1])) / total
            + share * (near[1] ** 2 + near[2])
            + (1 - share) * (far[1] ** 2 + far[2])
            - by_y**2
        )
        return Chords(behind, cell, level, by_x, by_y, curvature, share, near, far)


def longer(values: Array, size: int) -> Array:
    """Cut, or continued by a line."""
    more = np.arange(1, max(size - values.size, 0) + 1)
    return np.concatenate([values[:size], values[-1] + (values[-1] - values[-2]) * more])
