"""Where a tail of the loss falls to a given mass."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from logphi.bound import Bound, Status
from logphi.core.logphi import LogPhi
from logphi.numerics.lattice import reserve_at
from logphi.numerics.law import Lattice
from logphi.numerics.roots import bisection, crossing
from logphi.views.profile import LogDelta
from logphi.views.tail import above, below

# measured: two or three reach the tails of all but the strangest laws
_DOUBLINGS = 40


def where_below(law: LogPhi, mass: float, rtol: float) -> Bound:
    """The smallest x with P(L <= x) >= mass, for a positive mass of at most half of all."""
    return _Search(law, True, math.log(mass), 0.0, rtol).found()


def where_above(law: LogPhi, mass: tuple[float, float], rtol: float) -> Bound:
    """The smallest x with P(x < L < inf) <= mass, for a mass between two numbers; they may be negative."""
    top = law.supremum
    if mass[0] > 0:
        return _Search(law, False, math.log(mass[0]), mass[1] - mass[0], rtol).found()
    # no finite loss may be above, to every digit
    least = top - law.slack if mass[1] == 0 else law.infimum
    if math.isinf(least):
        return Bound(min(least, top), top, top, Status.UNBOUNDED if least == top else Status.WIDE)
    return Bound(least, top, top, Status.MET if top - least <= rtol * max(1.0, top) else Status.WIDE)


@dataclass
class _Search:
    """Where log P(L <= -y), or log P(L > y), falls to a level; the mass that the level refers to may be ``unsure``."""

    law: LogPhi
    left: bool
    level: float
    unsure: float
    rtol: float
    proved: bool = True
    method: str = "exact"

    def at(self, y: float) -> LogDelta:
        """The decreasing function; its ends keep off the level, for a level that is touched proves nothing."""
        found = below(self.law, -y, self.rtol) if self.left else above(self.law, y, self.rtol)
        self.proved, self.method = self.proved and found.ledger.proved, found.method
        slack = 3e-16 + 1e-16 * abs(self.level)
        return replace(found, lower=found.lower - slack - self.unsure / math.exp(self.level), upper=found.upper + slack)

    def found(self) -> Bound:
        """The place, between two proved ends."""
        lattice = self.law.lattice
        if lattice is not None and math.isfinite(lattice.span):
            lower, upper = self._on(lattice)
            value = (lower + upper) / 2
        else:
            lower, value, upper = self._between()
        met = upper - lower <= self.rtol * max(1.0, abs(value))
        proved = self.proved and not self.law.estimated
        status = Status.WIDE if not met else Status.MET if proved else Status.ESTIMATED
        return Bound(lower, value, upper, status, self.method)

    def _on(self, lattice: Lattice) -> tuple[float, float]:
        """The lattice point: halvings between thresholds in the middle of the cells, where no atom is in doubt."""
        floor, _, ceiling = self._around()
        ends = (-ceiling, -floor) if self.left else (floor, ceiling)
        low, high = (round((end - lattice.offset) / lattice.span) + side for end, side in zip(ends, (-2, 2), strict=True))
        seen: dict[int, LogDelta] = {}

        def at(cell: int) -> LogDelta:
            """Between lattice point ``cell`` and the next."""
            if cell not in seen:
                x = lattice.offset + lattice.span * (cell + 0.5)
                seen[cell] = self.at(-x if self.left else x)
            return seen[cell]

        # a step that touches the level is neither surely below nor surely reached
        if self.left:
            first = _first(lambda cell: at(cell).upper > self.level, low, high)
            last = _first(lambda cell: at(cell).lower >= self.level, low, high)
        else:
            first = _first(lambda cell: at(cell).lower < self.level, low, high)
            last = _first(lambda cell: at(cell).upper <= self.level, low, high)
        points = lattice.offset + lattice.span * np.array([first, last], dtype=float)
        room = reserve_at(lattice, float(np.abs(points).max()))
        return float(points[0]) - room, float(points[1]) + room

    def _between(self) -> tuple[float, float, float]:
        at = crossing(lambda *_: self.at, self.level, *self._around())
        if at.upper - at.lower > self.rtol * max(1.0, abs(at.value)):
            # at an atom the function is not known, and jumps beside it
            at = bisection(lambda *_: self.at, self.level, at.lower, at.value, at.upper)
        ends = (at.lower, at.value, at.upper)
        lower, value, upper = sorted(-end for end in ends) if self.left else ends
        return lower, value, upper

    def _around(self) -> tuple[float, float, float]:
        """A proved lower end, a guess, a proved upper end."""
        low, middle, high = self.law.sketch(np.array([-0.75, -0.5, -0.25])).tolist()
        sign = -1.0 if self.left else 1.0
        spread = max(math.sqrt(max(16 * (low + high - 2 * middle), 0.0)), 1e-12)
        guess = sign * 2 * (high - low) + spread * math.sqrt(max(-2 * self.level - 1.4, 0.0))
        ends = (-self.law.supremum, -self.law.infimum) if self.left else (self.law.infimum, self.law.supremum)
        guess = min(max(guess, ends[0]), ends[1])
        floor, ceiling = guess, guess
        for doubling in range(_DOUBLINGS):
            if floor <= ends[0] or self.at(floor).lower >= self.level:
                break
            floor = max(floor - spread * 2.0**doubling, ends[0])
        else:
            floor = ends[0]
        for doubling in range(_DOUBLINGS):
            if ceiling >= ends[1] or self.at(ceiling).upper <= self.level:
                break
            ceiling = min(ceiling + spread * 2.0**doubling, ends[1])
        else:
            ceiling = ends[1]
        return floor, guess, ceiling


def _first(reached: Callable[[int], bool], low: int, high: int) -> int:
    """The first number above ``low`` where a property holds that holds at ``high`` and goes on holding."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high
