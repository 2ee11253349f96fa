"""The pair of n shuffled reports of one local randomizer: counts of clones, rounded up to a lattice of losses.

notation: E = e^{-e0}. R a randomizer with R(x) <= e^{e0} R(y) for all x, y; record 1 has the value x under P and x' under Q.

Theorem (Feldman, McMillan & Talwar 2021, for one randomizer that all records use). With R(x) = (Q0 + E Q1) / (1 + E) and
R(x') = (E Q0 + Q1) / (1 + E), which defines two laws Q0, Q1 with Q0 + Q1 = R(x) + R(x'), every R(y) is at least
E max(R(x), R(x')) >= E (Q0 + Q1) / 2. So each other record sends a report from Q0 or from Q1 with probability E/2 each, as a
clone, and otherwise one from a law of its own, which is the same under P and Q. The shuffled reports are a function of the
numbers of reports from Q0 and from Q1, and of chance, as it is uniformly random which records are clones given their number.
Hence the two counts dominate:

    C ~ Bin(n - 1, E), a + b = C + 1, a from Q0:   P(a, b) = P(C) Bin(C + 1, 1/2)(a) 2 (a + E b) / ((1 + E)(C + 1)),

and Q the same with a and b exchanged: L = log((a + E b) / (E a + b)), between -e0 and e0.

Rounding up. No step makes a profile smaller. E in the law of C is rounded down, as more clones are a post-processing. For the
same reason C counts as the least of its block where there are too many counts, and as zero far below its mean. The tails of a
that are left out on both sides are replaced by losses of -e0 and e0, which dominate them. A loss between two points of the
lattice is split between them so that both masses stay: the chord of its profile.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache

import numpy as np

from logphi.arith.floats import ULP
from logphi.arrays import Array
from logphi.laws.atomic.binomial import log_binomial, log_chernoff
from logphi.laws.support import Lattice
from logphi.pairs.equal import EQUAL
from logphi.pairs.finite import FinitePair
from logphi.pairs.pair import Pair

# chosen: events of probability e^-80 count as the worst case
_DEPTH = 80.0
# measured: lattice points from zero to beyond nearly all losses; epsilon grows by less than 1e-6 of itself
_PLACES = 1 << 14
# measured: fewer outcomes are kept without a lattice
_FEW = 1 << 14
# measured: this many outcomes take a second
_MOST = 1 << 23
# chosen: entries of the intermediate arrays
_ROWS = 1 << 20


@lru_cache(maxsize=32)
def clones(local_epsilon: float, records: int) -> Pair:
    """The pair of ``records`` shuffled reports, rounded up; ``local_epsilon`` is 0 or between 1e-6 and 300."""
    if local_epsilon == 0:
        return EQUAL
    ratio = math.exp(-local_epsilon)
    counts, chances, missed, of_chance = _numbers_of_clones(records - 1, ratio * (1 - (local_epsilon + 4) * 2 * ULP))
    reports, largest = counts + 1, math.log1p((1 - ratio) / ratio)
    few = reports.sum() < _FEW
    places: Array = np.zeros(0)
    if not few:
        farthest = (math.sqrt(2 * _DEPTH * reports[0]) + 6) / reports[0] * (1 - ratio) / (1 + ratio)
        reach = min(largest, 2 * math.atanh(farthest)) if farthest < 1 else largest
        # the largest loss is on the lattice too
        span = largest / math.ceil(_PLACES * largest / reach)
        places = np.arange(min(_PLACES + 1, round(largest / span)) + 1, dtype=np.float64) * span
    masses, most, of_share = np.zeros(places.size), np.zeros(places.size), 0.0
    for losses, weights, error in _outcomes(reports, chances, ratio):
        of_share = max(of_share, error)
        if few:
            places, masses = np.concatenate([places, losses]), np.concatenate([masses, weights])
            continue
        lower = np.clip(np.searchsorted(places, losses, side="right") - 1, 0, places.size - 2)
        share = np.clip(np.expm1(losses - places[lower]) / math.expm1(places[1]), 0.0, 1.0)
        masses += np.bincount(lower, weights * (1 - share), places.size) + np.bincount(lower + 1, weights * share, places.size)
        most += np.bincount(lower, minlength=places.size) + np.bincount(lower + 1, minlength=places.size)
    # the omitted mass
    places = np.append(places, largest)
    masses = np.append(masses, (missed + 2 * math.exp(-_DEPTH) * counts.size) * ratio / (1 + ratio))
    kept = masses > 0
    low, high = masses[kept], masses[kept] * np.exp(places[kept])
    # an error of a loss is one of its mass under P; a sum of n terms has an error of at most n half ulps
    wrong = of_chance + of_share + ULP * (32 * (1 + local_epsilon) + float(most.max(initial=0.0)))
    errors = (wrong, wrong, 8 * ULP * (1 + local_epsilon))
    p, q = np.concatenate([high, low]).tolist(), np.concatenate([low, high]).tolist()
    # places have an error of half an ulp of the largest, besides that of their quotients
    lattice = None if few else Lattice(0.0, float(places[1]), errors[2] + ULP * largest)
    return FinitePair(tuple(p), tuple(q), wrong, cell_errors=tuple((error,) * len(p) for error in errors), lattice=lattice)


def _numbers_of_clones(others: int, chance: float) -> tuple[Array, Array, float, float]:
    """Numbers of clones, their probabilities, the probability of far fewer clones, and a bound of the relative errors."""
    mean = others * Fraction(chance)

    def deep(count: int) -> bool:
        excess = np.array([float(count - mean)])
        return bool(others) and float(log_chernoff(np.array([float(others)]), excess, chance)[0][0]) > _DEPTH * (1 + 1e-9)

    centre = math.floor(mean)
    first, last = _edge(deep, centre, 0), _edge(deep, min(centre + 1, others), others)
    missed = math.exp(-_DEPTH) if deep(first) else 0.0
    if not others:
        return np.zeros(1), np.ones(1), 0.0, 0.0
    size = float(others)
    count = np.arange(first + bool(missed), last + 1, dtype=float)
    excess = (count - centre) - float(mean - centre)
    logs, errors = log_binomial(np.array([size]), count, excess, chance)
    chances = np.exp(logs)
    chances[-1] += math.exp(-_DEPTH) if deep(last) else 0.0
    # all outcomes in the windows of all counts
    work = count.size * (_half_width(_DEPTH, count[-1] + 1) + 1)
    block = max(1, math.ceil(work / _MOST))
    starts = np.arange(0, count.size, block)
    sums: Array = np.add.reduceat(chances, starts)
    return count[starts], sums, missed, float(errors.max()) + ULP * (block + 8)


def _edge(deep: Callable[[int], bool], near: int, far: int) -> int:
    """The first count from ``near`` towards ``far`` whose probability is negligible; ``far`` if there is none."""
    if deep(near) or not deep(far):
        return near if deep(near) else far
    while abs(far - near) > 1:
        middle = (near + far) // 2
        near, far = (near, middle) if deep(middle) else (middle, far)
    return far


def _half_width(depth: float, reports: float) -> float:
    """The deviation of a count from one half of the reports that has probability e^-depth at most, by Hoeffding's bound."""
    return math.sqrt(depth * reports / 2)


def _outcomes(reports: Array, chances: Array, ratio: float) -> Iterator[tuple[Array, Array, float]]:
    """Losses from 0 upward, their probabilities under Q, and a bound of the relative errors, in batches.

    Negative losses have the same probabilities under P; half of an outcome with loss zero counts among these.
    """
    begin = 0
    while begin < reports.size:
        width = math.ceil(_half_width(_DEPTH, reports[begin])) + 1
        end = min(begin + max(1, _ROWS // width), reports.size)
        chance, m = chances[begin:end, None], reports[begin:end, None]
        depth = _DEPTH + math.log(float(chance.max()))
        width = math.ceil(_half_width(max(depth, 1.0), reports[end - 1])) + 1
        # a - b, which is even or odd as a + b is
        ahead = m % 2 + 2 * np.arange(width, dtype=float)
        row, column = np.nonzero(ahead <= m)
        ahead, m, chance = ahead[row, column], m[row, 0], chance[row, 0]
        logs, errors = log_binomial(m, (m + ahead) / 2, ahead / 2, 0.5)
        under_q = ratio * (m + ahead) / 2 + (m - ahead) / 2
        losses = np.log1p(ahead * (1 - ratio) / under_q)
        weights = chance * np.exp(logs) * np.where(ahead == 0, 1.0, 2.0) * under_q / ((1 + ratio) * m)
        yield losses, weights, float(errors.max())
        begin = end
