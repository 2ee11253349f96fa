"""Quantiles of the loss: the threshold at which a tail falls to a given mass."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from logphi.answers.bound import Bound
from logphi.answers.enclosure import Enclosure
from logphi.answers.ledger import Entry, Ledger
from logphi.answers.status import Status
from logphi.bracketing import bisection, crossing
from logphi.engine.answer import on_scale
from logphi.engine.log_moment import below_the_end
from logphi.engine.log_probability import LogProbability, ends_of
from logphi.engine.method import EXACT, Method
from logphi.engine.tail import CHORDS, above, below
from logphi.inversion.lines.lattice import reserve_at
from logphi.laws.log_phi import LogPhi
from logphi.laws.support import Lattice
from logphi.progress import searched

# measured: the largest number of doublings; two or three reach the tail of nearly every law
_DOUBLINGS = 40
# chosen: how far from the guess the search goes, in standard deviations, if no threshold is proved to bound it
_FAR = 1e3
# derived: farther from the origin, in spans, lattice points are no exact doubles
_LARGEST_CELL = 2.0**52
# measured: at most this relative width of a tail by chords shows that there is no atom
_FAINT = 0.05


def where_below(law: LogPhi, mass: float, rtol: float) -> Bound:
    """The smallest x with P(L <= x) >= mass, for a positive mass of at most half of all."""
    return _Search(law, True, math.log(mass), 0.0, rtol).found()


def where_above(law: LogPhi, mass: tuple[float, float], rtol: float) -> Bound:
    """The smallest x with P(x < L < inf) <= mass, for an enclosure of the mass; infinity if it is below zero."""
    if mass[0] > 0:
        return _Search(law, False, math.log(mass[0]), mass[1] - mass[0], rtol).found()
    whole = law.with_omitted_mass()
    top = whole.support.upper
    if mass == (0.0, 0.0) and top == math.inf and (whole.growth.right.least > 0 or math.isfinite(whole.growth.right.end)):
        return Bound(top, top, top, Status.UNBOUNDED)
    if mass[1] > 0:
        # the largest mass
        least = _Search(law, False, math.log(mass[1]), 0.0, rtol).found().lower
    else:
        least = top - whole.support.error if math.isfinite(top) else max(below_the_end(whole), law.support.lower)
    ends = min(least, top), top, math.inf if mass[0] < 0 else top
    return on_scale(Bound(*ends, ledger=_ledger(not law.traits.estimated)), rtol)


def _ledger(proved: bool) -> Ledger:
    return Ledger(truncation=Entry(proved=proved))


@dataclass(frozen=True)
class _Bracket:
    """A guess, two thresholds to which the search is limited, and proved bounds: the thresholds or the ends of the support."""

    lower: float
    floor: float
    guess: float
    ceiling: float
    upper: float

    @property
    def known(self) -> bool:
        """Whether both ends are finite."""
        return math.isfinite(self.lower) and math.isfinite(self.upper)


@dataclass
class _Search:
    """The search for the y at which log P(L <= -y), or log P(L > y), falls to ``level``, the log of a mass.

    The error of that mass is ``mass_error``.
    """

    law: LogPhi
    left: bool
    level: float
    mass_error: float
    rtol: float
    proved: bool = True
    method: Method = EXACT

    def at(self, y: float) -> LogProbability:
        """The decreasing function, with ends moved outward, as equality with the level proves nothing."""
        found = below(self.law, -y, self.rtol) if self.left else above(self.law, y, self.rtol)
        self.proved, self.method = self.proved and found.ledger.proved, found.method
        lower, upper = found.lower - self._rounding - self.mass_error / math.exp(self.level), found.upper + self._rounding
        return replace(found, lower=lower, upper=upper)

    @property
    def _rounding(self) -> float:
        """The rounding of the level."""
        return 3e-16 + 1e-16 * abs(self.level)

    def found(self) -> Bound:
        """The quantile, between two proved ends."""
        lattice = self.law.support.lattice
        if lattice is not None and math.isfinite(lattice.span):
            lower, upper = self._on(lattice)
            value = (lower + upper) / 2
        else:
            lower, value, upper = self._between()
        ledger = _ledger(self.proved and not self.law.traits.estimated)
        return on_scale(Bound(lower, value, upper, method=self.method, ledger=ledger), self.rtol)

    def _on(self, lattice: Lattice) -> tuple[float, float]:
        """The lattice point, by bisection over thresholds in the middle of cells, with each atom clearly on one side."""
        bracket = self._bracket()
        floor, ceiling = bracket.floor, bracket.ceiling
        ends = (-ceiling, -floor) if self.left else (floor, ceiling)
        if max(abs(end) for end in ends) > _LARGEST_CELL * lattice.span:
            return (-bracket.upper, -bracket.lower) if self.left else (bracket.lower, bracket.upper)
        low, high = (round((end - lattice.offset) / lattice.span) + side for end, side in zip(ends, (-2, 2), strict=True))
        seen: dict[int, LogProbability] = {}

        def at(cell: int) -> LogProbability:
            """The function between lattice point ``cell`` and the next."""
            if cell not in seen:
                x = lattice.offset + lattice.span * (cell + 0.5)
                seen[cell] = self.at(-x if self.left else x)
            return seen[cell]

        # a step whose enclosure contains the level is proved neither below nor above it
        if self.left:
            first = _first(lambda cell: at(cell).upper > self.level, low, high)
            last = _first(lambda cell: at(cell).lower >= self.level, low, high)
        else:
            first = _first(lambda cell: at(cell).lower < self.level, low, high)
            last = _first(lambda cell: at(cell).upper <= self.level, low, high)
        points = lattice.offset + lattice.span * np.array([first, last], dtype=float)
        room = reserve_at(lattice, float(np.abs(points).max()))
        least, most = (-bracket.upper, -bracket.lower) if self.left else (bracket.lower, bracket.upper)
        # an end that was not proved is replaced by an end of the support
        return (
            float(points[0]) - room if math.isfinite(least) else least,
            float(points[1]) + room if math.isfinite(most) else most,
        )

    def _between(self) -> tuple[float, float, float]:
        bracket = self._bracket()
        at = crossing(lambda *_: self.at, self.level, bracket.floor, bracket.guess, bracket.ceiling, searched)
        if at.upper - at.lower > self.rtol * max(1.0, abs(at.value)) and bracket.known and not self._smooth(at):
            # at an atom the function jumps; near it, the function is unknown
            at = bisection(lambda *_: self.at, self.level, at.lower, at.value, at.upper, searched)
        # an end that was not proved is replaced by an end of the support
        lower = at.lower if math.isfinite(bracket.lower) else bracket.lower
        upper = at.upper if math.isfinite(bracket.upper) else bracket.upper
        ends = (lower, at.value, upper)
        lower, value, upper = sorted(-end for end in ends) if self.left else ends
        return lower, value, upper

    def _smooth(self, at: Enclosure) -> bool:
        """Whether the ends are about as close as the function's errors allow, without an atom between them."""
        return self.method is CHORDS and math.isfinite(at.upper - at.lower) and self.at(at.value).relative_width < _FAINT

    def _bracket(self) -> _Bracket:
        low, middle, high = self.law.approximate(np.array([-0.75, -0.5, -0.25])).tolist()
        sign = -1.0 if self.left else 1.0
        spread = max(math.sqrt(max(16 * (low + high - 2 * middle), 0.0)), 1e-12)
        guess = sign * 2 * (high - low) + spread * math.sqrt(max(-2 * self.level - 1.4, 0.0))
        if not math.isfinite(guess + spread):
            # the transform is unknown
            guess, spread = 0.0, 1.0
        ends = (
            (-self.law.support.upper, -self.law.support.lower)
            if self.left
            else (self.law.support.lower, self.law.support.upper)
        )
        guess = min(max(guess, ends[0]), ends[1])
        floor, lower = self._outward(guess, -spread, ends[0])
        ceiling, upper = self._outward(guess, spread, ends[1])
        return _Bracket(lower, floor, guess, ceiling, upper)

    @property
    def _attained(self) -> bool:
        """Whether a lower bound of the function reaches the level anywhere."""
        return ends_of(self.law.support.masses.own)[0] - self._rounding - self.mass_error / math.exp(self.level) >= self.level

    def _outward(self, guess: float, step: float, end: float) -> tuple[float, float]:
        """Two thresholds, by doubled steps outward: the last one without a proof, and the first proved to be on one side."""
        tried = guess
        if step < 0 and not self._attained:
            # no threshold reaches the level
            return max(guess + step * _FAR, end), end
        for doubling in range(_DOUBLINGS):
            here = self.at(tried)
            if tried == end or (here.lower >= self.level if step < 0 else here.upper <= self.level):
                return tried, tried
            moved = tried + step * 2.0**doubling
            tried = max(moved, end) if step < 0 else min(moved, end)
        return (end if math.isfinite(end) else tried), end


def _first(reached: Callable[[int], bool], low: int, high: int) -> int:
    """The first number above ``low`` with a monotone property that ``high`` has."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high
