"""Skellam noise in one coordinate: its probabilities to more digits than doubles have, and the pair of a shift."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache

from logphi.algebra.release import Primitive
from logphi.inputs.adjacency import Adjacency
from logphi.inputs.arguments import frozen
from logphi.pairs.finite import FinitePair
from logphi.text.written import meant

# measured: as for discrete Gaussians, outcomes are atoms without a lattice
LARGEST_VARIANCE = 62_500.0
# derived: doubles above e^-706 have all their digits; of a shift, outcomes to three times as far are listed
_DEEPEST, _FARTHER = 706.0, 3
# derived: the continued fraction is exact to thirty digits from so many e-foldings above
_DIGITS, _FOLDS, _ERROR = 40, 92.0, 1e-25


@frozen
class SkellamShift(Primitive):
    """Skellam noise moved by one whole number, against the noise."""

    variance: float
    shift: int
    adjacency: Adjacency
    # z (z + 1) times half of this bounds K
    growth: float
    _undescribed = "it is a part of another release"

    @staticmethod
    def known(variance: float, shift: int) -> bool:
        """Whether the outcomes of so large a shift are listed."""
        return variance <= LARGEST_VARIANCE and _FARTHER * shift < len(probabilities(meant(variance)))

    def pair(self) -> FinitePair:
        """The outcomes whose probabilities are doubles under both laws; the omitted mass is far below every relevant delta."""
        noise, s = probabilities(meant(self.variance)), self.shift
        reach = len(noise) - 1
        # the noise outside of the ends, or within a shift of them: at most a geometric series, as the law is log-concave
        first = reach - s + 1
        omitted = 4 * noise[first] / (1 - noise[first] / noise[first - 1])
        places = range(s - reach, reach + 1)
        p, q = (tuple(noise[abs(x - moved)] for x in places) for moved in (s, 0))
        return FinitePair(p, q, _ERROR, None, omitted, self.growth)


@lru_cache(maxsize=16)
def probabilities(variance: Fraction) -> tuple[float, ...]:
    """Of 0, 1, 2, ..., e^-mu I_x(mu), as long as doubles have all their digits.

    The ratios r_k of I_{k+1} and I_k obey r_{k-1} = 1 / (2 k / mu + r_k), in which a relative error of r_k counts by less than
    1 / (1 + 2 k / mu). They begin far enough above with r = 0. All probabilities sum to one.
    """
    context = Context(prec=_DIGITS)
    mu = context.divide(Decimal(variance.numerator), Decimal(variance.denominator))
    last, rough = 1, float(variance)
    while last * math.asinh(last / rough) - math.hypot(last, rough) + rough < _DEEPEST + 20:
        last += max(1, last // 64)
    ratios, ratio = [], Decimal(0)
    start = last + 2 + math.ceil(_FOLDS / math.log1p(2 * last / rough))
    for k in range(start, 0, -1):
        ratio = context.divide(1, context.add(context.divide(2 * k, mu), ratio))
        if k <= last:
            ratios.append(ratio)
    weights = [Decimal(1)]
    for ratio in reversed(ratios):
        weights.append(context.multiply(weights[-1], ratio))
    total = weights[0]
    for weight in reversed(weights[1:]):
        total = context.add(total, 2 * weight)
    shares = (float(context.divide(weight, total)) for weight in weights)
    return tuple(share for share in shares if share > math.exp(-_DEEPEST))
