"""Attacks on a sparse vector: how many queries were "below" before an answer "above", integrated over the threshold's noise.

notation: lengths in units of the scale of the queries' noise; z the noise of the threshold, w its width; a query whose value is
x above the threshold is answered by "above" with probability A(z - x), A the tail of Laplace noise of scale one. The record
moves a query by ``moves``; without it, all queries are at the threshold, or at a ``level`` above it.

Survival: all of ``tests`` queries must be "below", then one query is asked again and again until c answers are "above". Moved
in opposite directions, they show that z is large, where "above" is as telling as noise can be. The further out in normal noise,
the more its shift tells: a larger level shows a larger z.

Split: one query is asked until c_1 answers are "above", then one that moves otherwise, until c - c_1 are. The two counts tell
the moves apart from z, which moves both.

Given z, outcomes are sums of A^i (1 - A)^j with positive factors. Their integrals are sums over Gauss-Legendre nodes on panels
that no kink is inside of. If |(log f)'| <= G at a distance of up to 2.125 h of the middle of a panel of half-length h, then f
is at most e^{2.125 G h} f(middle) on the Bernstein ellipse with rho = 4, and at least e^{-G h} f(middle) on the panel: the
relative error is at most 32/15 * 16/15 * e^{3.125 G h} 4^{2 - 2n} with n nodes (Trefethen 2013, Theorem 19.3), and so is
that of a sum of such f and of panels, as all are positive. At distances up to 0.22, |(log A)'| and |(log(1 - A))'| are below
1.7.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from logphi.arith.floats import ULP
from logphi.arrays import Array
from logphi.laws.atomic.binomial import log_binomial
from logphi.pairs.finite import FinitePair
from logphi.pairs.merged_outcomes import merged

# chosen: the nodes of a panel
_NODES = 32
# chosen: the largest half-length of a panel
_LONGEST = 0.1
# chosen: the largest G h
_STEEPEST = 16.0
# derived: with these, the relative error is below
_ERROR = 1e-15
# derived: bounds |(log A)'| and |(log(1 - A))'| there
_SLOPE = 1.7
# chosen: the mass of the noise that is left out on either side
_OUTSIDE = math.exp(-80)
# derived: so many widths of Laplace noise leave it out
_REACH = 80.0
# derived: so many widths of normal noise do
_REACH_NORMAL = 12.7
# derived: at so many scales of the queries' noise, one answer is certain but for this mass
_CERTAIN = 82.0
# measured: so many probabilities, of all counts at all nodes, take half a second; for more, some answers are not used
_WORK = 1 << 23
# derived: for larger moves, even the fewest answers would need more
LARGEST_MOVE = 400.0
# chosen: blocks of counts in one standard deviation
_BLOCKS = 3.0
# derived: logarithms of doubles
_LOG_SMALLEST = 745.0


@dataclass(frozen=True)
class Threshold:
    """The noise of the threshold: its width in units of the queries' scale, and whether it is normal."""

    width: float
    normal: bool

    def reach(self, queries: tuple[float, ...]) -> float:
        """Where it is cut off: there is hardly any, or one answer is certain."""
        return min(self.width * (_REACH_NORMAL if self.normal else _REACH), _CERTAIN + max(map(abs, queries)))

    def slope(self, reach: float) -> float:
        """A bound of the derivative of its log density, also 0.22 beyond."""
        return (reach + 0.25) / self.width**2 if self.normal else 1 / self.width

    def density(self, z: Array) -> Array:
        """Its density."""
        y = np.abs(z) / self.width
        found: Array = np.exp(-y * y / 2) / math.sqrt(2 * math.pi) if self.normal else np.exp(-y) / 2
        return found / self.width

    def beyond(self, reach: float) -> float:
        """The mass on one side."""
        y = reach / self.width
        return math.erfc(y / math.sqrt(2)) / 2 if self.normal else math.exp(-y) / 2


@dataclass(frozen=True)
class _Questions:
    """An integral over the noise of a threshold, of outcomes that depend on at most so many answers."""

    threshold: Threshold
    moves: tuple[float, float]
    asked: int
    level: float = 0.0

    @property
    def reach(self) -> float:
        return self.threshold.reach((*self.queries, 0.0))

    @property
    def queries(self) -> tuple[float, ...]:
        """Where queries are, with the record and without it."""
        return self.level, *(self.level + move for move in self.moves)

    @property
    def slope(self) -> float:
        """G."""
        return self.threshold.slope(self.reach) + _SLOPE * self.asked

    def parts(self) -> list[tuple[float, float, int]]:
        """The ends of the parts between kinks, and the number of panels of each."""
        reach, length = self.reach, 2 * min(_LONGEST, _STEEPEST / self.slope)
        kinks = sorted({-reach, 0.0, reach, *(place for place in self.queries if abs(place) < reach)})
        return [(low, high, math.ceil((high - low) / length)) for low, high in pairwise(kinks)]

    def panels(self) -> Array:
        """The ends of the panels."""
        parts = [np.linspace(low, high, size + 1)[:-1] for low, high, size in self.parts()]
        return np.append(np.concatenate(parts), self.reach)

    def nodes(self) -> tuple[Array, Array]:
        """The nodes and their weights, the density included."""
        ends = self.panels()
        x, weights = np.polynomial.legendre.leggauss(_NODES)
        half = np.diff(ends)[:, None] / 2
        z = ((ends[1:] + ends[:-1])[:, None] / 2 + half * x).ravel()
        return z, (half * weights).ravel() * self.threshold.density(z)

    @property
    def work(self) -> int:
        """Probabilities that are computed."""
        return sum(size for _, _, size in self.parts()) * _NODES * self.asked

    def pair(self, with_record: Array, without: Array) -> FinitePair:
        """The pair of two laws whose first outcome is certain where z is small, and the last one where it is large."""
        for law in (with_record, without):
            law[[0, -1]] += self.threshold.beyond(self.reach)
        terms = self.panels().size * _NODES
        rounded = ULP * (8 * self.slope * self.reach + terms + 16 * (_LOG_SMALLEST + 2 * self.asked))
        return merged(with_record, without, _ERROR + rounded, absolute=(self.asked + 2) * _OUTSIDE)


@lru_cache(maxsize=32)
def survival(threshold: Threshold, moves: tuple[float, float], answers: int, tests: int, level: float = 0.0) -> FinitePair:
    """The law with the record against that without it, of the attack by survival."""
    used = answers
    while (made := _Questions(threshold, moves, used + _longest(used) + tests, level)).work > _WORK and used > 1:
        used //= 2
    z, weight = made.nodes()
    z, laws = z - level, []
    for test, asked in (moves, (0.0, 0.0)):
        above, below = _log_answers(z - test)
        early = np.exp(above + np.arange(tests)[:, None] * below) @ weight
        laws.append(np.append(early, _counts(z - asked, used) @ (weight * np.exp(tests * below))))
    return made.pair(*laws)


@lru_cache(maxsize=32)
def split(threshold: Threshold, moves: tuple[float, float], answers: int) -> FinitePair:
    """The law with the record against that without it, of the attack by two counts, for two or more answers."""
    used = answers
    while (made := _Questions(threshold, moves, used + sum(map(_longest, _halves(used))))).work > _WORK and used > 2:
        # each count needs an answer
        used = max(2, used // 2)
    z, weight = made.nodes()
    laws = []
    for own in (moves, (0.0, 0.0)):
        first, second = (_counts(z - move, count) for move, count in zip(own, _halves(used), strict=True))
        laws.append(((first * weight) @ second.T).ravel())
    return made.pair(*laws)


def _halves(answers: int) -> tuple[int, int]:
    return answers // 2, answers - answers // 2


def _longest(answers: int) -> int:
    """Counts of "below" from which on all are one outcome."""
    return 2 * answers + math.ceil(8 * math.sqrt(2 * answers)) + 8


def _log_answers(z: Array) -> tuple[Array, Array]:
    """The logarithms of A and of 1 - A."""
    rare = -np.abs(z) - math.log(2)
    usual = np.log1p(-np.exp(rare))
    return np.where(z > 0, rare, usual), np.where(z > 0, usual, rare)


def _counts(z: Array, answers: int) -> Array:
    """Probabilities at all z of the number of "below" before so many "above", in blocks, the last of which has no end."""
    above, below = _log_answers(z)
    longest = _longest(answers)
    size = max(1, math.floor(math.sqrt(2 * answers) / _BLOCKS))
    rows = []
    for start in range(0, longest, size):
        count = np.arange(start, min(start + size, longest), dtype=float)
        logs = _log_choose(count + answers - 1, count)[:, None] + answers * above + count[:, None] * below
        rows.append(np.exp(logs).sum(axis=0))
    # too few answers "above" among the first ones
    few, asked = np.arange(answers, dtype=float), float(longest + answers - 1)
    logs = _log_choose(np.full(few.shape, asked), few)[:, None] + few[:, None] * above + (asked - few[:, None]) * below
    rows.append(np.exp(logs).sum(axis=0))
    return np.array(rows)


def _log_choose(size: Array, count: Array) -> Array:
    """The logarithm of a binomial coefficient."""
    found = np.zeros(size.shape)
    some = size > 0
    found[some] = log_binomial(size[some], count[some], count[some] - size[some] / 2, 0.5)[0] + size[some] * math.log(2)
    return found
