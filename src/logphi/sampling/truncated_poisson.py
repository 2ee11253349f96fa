"""Truncated Poisson batches: of a sample with more than B records, B are kept, drawn uniformly.

notation: n records, q the rate, B the largest batch, N ~ Bin(n - 1, q) how many of the others are drawn.

Let the adversary see whether N >= B, which does not depend on the record. If N < B no record is dropped, and the release is one
on a Poisson sample. If N >= B, the batch holds B of the others, unless the record takes the place of one of them, which happens
with probability q E[B/(N + 1) | N >= B] =: q'. This changes a sum by at most twice what one record contributes: the pair of a
record that is replaced, at twice the sensitivity and the rate q', dominates. With tau = P(N >= B)

    M = (1 - tau) M[sample at rate q] + tau M[replace at rate q', twice the shift],   q' = (B/n) P(Bin(n, q) > B) / tau,

an upper bound where both data sets have n records, and where the larger of them has (Ganesh 2025 and dp_accounting's
``from_truncated_subsampled_gaussian_mechanism`` form the same).

A larger q' never leaks less, as N(0, 1) mixed with the pair at q' gives the pair at any smaller rate; so q' is rounded up. A
larger tau may give a larger answer or a smaller one: tau is enclosed to some 50 digits, and the rounding to a double is part
of its error. If one of the two cases is rarer than 1e-290, it counts as that likely, and as revealing everything.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from logphi.inputs.adjacency import Adjacency
from logphi.laws.always_infinite import ALWAYS_INFINITE
from logphi.laws.combined.convex_combination import ConvexCombination
from logphi.laws.log_phi import LogPhi
from logphi.pairs.pair import Pair
from logphi.sampling.poisson import poisson
from logphi.text.written import Written, meant

# chosen: the bits of the terms of a binomial sum
_BITS = 200
# derived: smaller weights lose digits as doubles
_RARE = Fraction(1, 10**290)
# derived: below log(1e-290), with room for the rounding of Chernoff's bound
_LOG_RARE = -680.0


def truncated_poisson(pair: Pair, rate: float, batch: int, size: int, relation: Adjacency) -> LogPhi:
    """The loss of the truncated sample in the remove direction, an upper bound; ``batch`` is at most ``size``.

    Raises
    ------
    UnsupportedError
        If the pair is not two normal laws of one width.
    """
    sampled = poisson(pair, rate, 1, relation)
    if rate == 0 or batch == size:
        return sampled
    double, exact_rate = pair.doubled(), meant(rate)
    low, high = binomial_tail(size - 1, exact_rate, batch)
    # of N + 1 >= B + 1 records, B are kept
    within = exact_rate * Fraction(batch, batch + 1)
    if low:
        within = min(within, Fraction(batch, size) * binomial_tail(size, exact_rate, batch + 1)[1] / low)
    cut_off = double.replaced_loss(Written(within))
    if low == 1:
        return cut_off
    if low == 0 or high == 1:
        often = cut_off if low else sampled
        return ConvexCombination.of([often, LogPhi.of([(ALWAYS_INFINITE, 1)])], [Written(1 - _RARE), Written(_RARE)])
    return ConvexCombination.of([sampled, cut_off], [Written(1 - high), Written(high)])


@lru_cache(maxsize=256)
def binomial_tail(size: int, rate: Fraction, least: int) -> tuple[Fraction, Fraction]:
    """P(Bin(size, rate) >= least) between two rationals, for 0 < rate <= 1 and 0 < least <= size.

    They agree to some 50 digits, and so do their distances from one. Where the probability is below 1e-290 the ends are 0 and
    1e-290, and where its complement is, 1 - 1e-290 and 1.
    """
    if rate == 1:
        return Fraction(1), Fraction(1)
    if _log_chernoff(size, rate, least) < _LOG_RARE and least > size * rate:
        return Fraction(0), _RARE
    if _log_chernoff(size, rate, least - 1) < _LOG_RARE and least - 1 < size * rate:
        return 1 - _RARE, Fraction(1)
    drawn, missed = rate.numerator, rate.denominator - rate.numerator
    # both in units of the probability of ``least``
    above = _sum(lambda k: ((size - k) * drawn, (k + 1) * missed), least, size, 1)
    below = _sum(lambda k: (k * missed, (size - k + 1) * drawn), least, 0, -1)
    unit = 1 << _BITS
    low, high = (Fraction(unit + up, unit + up + down) for up, down in zip(above, reversed(below), strict=True))
    return low, high


def _sum(ratio: Callable[[int], tuple[int, int]], first: int, last: int, step: int) -> tuple[int, int]:
    """Integers below and above the sum of the terms after the first, which is 2^200; ratios of successive terms decrease."""
    low = high = 1 << _BITS
    sums = [0, 0]
    for k in range(first, last, step):
        over, under = ratio(k)
        if over < under and high * over <= under - over:
            # a geometric series bounds the rest by one
            return sums[0], sums[1] + 1
        low, high = low * over // under, -(-high * over // under)
        sums[0] += low
        sums[1] += high
    return sums[0], sums[1]


def _log_chernoff(size: int, rate: Fraction, count: int) -> float:
    """-size times the KL divergence of count/size from the rate: a bound of the log of a tail that starts at ``count``."""
    share, q = count / size, float(rate)
    inside = share * math.log(share / q) if share else 0.0
    outside = (1 - share) * math.log((1 - share) / (1 - q)) if share < 1 else 0.0
    return -size * (inside + outside)
