"""Attacks on shuffled reports: those of randomized responses, counted. All other records hold one value.

notation: n reports; r the probability of each wrong symbol, t that of the true one. As r is rounded up, t / r is at most e^e0,
so that the response is e0-DP.

Two symbols, t = 1 - r. The others report the wrong symbol J ~ Bin(n - 1, r) times, and the count of it is all there is to see:
under P the record holds the value of the others, under Q the other one.

Three symbols, t = 1 - 2 r. The record holds the first symbol under P and the second one under Q, the others the third one. So
C ~ Bin(n - 1, 2 r) of the others report the first or second symbol, each with probability 1/2, and so does the record itself
with probability t + r. Of c such reports the attack keeps m at random, m the smallest number of its block of c. The record's
report is among them with probability K, summed over the block; of the a kept reports of the first symbol

    P(m, a) = Bin(m, 1/2)(a) (2 K (t a + r (m - a)) / ((t + r) m) + rest),

and Q the same with a and m - a exchanged. Fewer clones show in more blocks: for large n a few suffice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from logphi.arith.floats import ULP
from logphi.arrays import Array
from logphi.laws.binomial import log_binomial
from logphi.pairs.clones import DEPTH, half_width, likely_counts
from logphi.pairs.finite import FinitePair
from logphi.pairs.merged_outcomes import merged

# chosen: outcomes of three symbols, in all blocks
_OUTCOMES = 1 << 20


@dataclass(frozen=True)
class _Others:
    """Counts s, the probabilities of s and of s - 1 among the others, their relative error, and what is left out at most."""

    count: Array
    here: Array
    before: Array
    error: float
    omitted: float

    @staticmethod
    def of(others: int, chance: float) -> _Others:
        """The others, each of which counts with a chance."""
        count, chances, error = likely_counts(others, chance)
        # next to counts that are left out, one of the two probabilities is not known
        first, last = int(count[0] > 0), count.size + int(count[-1] == others)
        omitted = (chances[0] if first else 0.0) + (chances[-1] if last == count.size else 0.0) + 4 * math.exp(-DEPTH)
        every, here, before = np.append(count, count[-1] + 1), np.append(chances, 0.0), np.insert(chances, 0, 0.0)
        return _Others(every[first:last], here[first:last], before[first:last], error, float(omitted) * (1 + 1e-9))


@lru_cache(maxsize=32)
def two_symbols(local_epsilon: float, records: int) -> FinitePair:
    """All reports are alike under P; under Q that of the record differs."""
    wrong = _wrong(local_epsilon, 2)
    others = _Others.of(records - 1, wrong)
    p, q = (own * others.here + (1 - own) * others.before for own in (1 - wrong, wrong))
    return merged(p, q, others.error + 8 * ULP, others.omitted)


@lru_cache(maxsize=32)
def three_symbols(local_epsilon: float, records: int) -> FinitePair:
    """The record reports the first symbol more often under P, and the second one under Q."""
    wrong = _wrong(local_epsilon, 3)
    true = 1 - 2 * wrong
    others = _Others.of(records - 1, 2 * wrong)
    visible, within = others.count, np.maximum(others.count, 1)
    width = 2 * half_width(DEPTH, visible[-1]) + 3
    starts = np.arange(0, visible.size, math.ceil(visible.size / max(1, _OUTCOMES // math.ceil(width))))
    kept = visible[starts]
    least = np.repeat(kept, np.diff(np.append(starts, visible.size)))
    # the record's report is among the kept ones, or it is not
    own = (true + wrong) * others.before / within
    inside = np.add.reduceat(own * least, starts)
    outside = np.add.reduceat(wrong * others.here + own * (visible - least), starts)
    p, q, worst = list[Array](), list[Array](), 0.0
    for m, with_own, rest in zip(kept.tolist(), inside.tolist(), outside.tolist(), strict=True):
        reach = math.ceil(half_width(DEPTH, m))
        first = np.arange(max(0, math.floor(m / 2) - reach), min(m, math.ceil(m / 2) + reach) + 1, dtype=float)
        mass, share = np.ones(1), 0.0
        if m > 0:
            logs, errors = log_binomial(np.array([m]), first, first - m / 2, 0.5)
            mass, share, worst = np.exp(logs), 2 * with_own / ((true + wrong) * m), max(worst, float(errors.max()))
        for law, own_kind in ((p, first), (q, m - first)):
            law.append(mass * (share * (true * own_kind + wrong * (m - own_kind)) + rest))
    rounded = others.error + worst + (32 + visible.size) * ULP
    # beyond the windows, P and Q are at most twice the binomial law
    return merged(np.concatenate(p), np.concatenate(q), rounded, others.omitted + 4 * math.exp(-DEPTH))


def _wrong(local_epsilon: float, symbols: int) -> float:
    """The probability of each wrong symbol, rounded up."""
    least = math.exp(-local_epsilon)
    return least / (1 + (symbols - 1) * least) * (1 + 16 * ULP)
