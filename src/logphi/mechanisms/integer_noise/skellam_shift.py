"""Skellam noise in one coordinate: its probabilities to more digits than doubles have, and the pair of a shift."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache

from logphi.inputs.arguments import frozen
from logphi.mechanisms.integer_noise.listed_shift import DEEPEST, LARGEST_VARIANCE, ListedShift, reaches
from logphi.text.written import meant

# chosen: ten digits more than are needed
_DIGITS = 40
# derived: begun this many e-foldings above, the continued fraction is exact to thirty digits
_FOLDS = 92.0
# derived: the relative error of a probability, which is far above that of the continued fraction
_ERROR = 1e-25


@frozen
class SkellamShift(ListedShift):
    """Skellam noise shifted by an integer, against the noise."""

    variance: float

    @staticmethod
    def known(variance: float, shift: int) -> bool:
        """Whether the outcomes of a shift are listed."""
        return variance <= LARGEST_VARIANCE and reaches(probabilities(meant(variance)), shift)

    def noise(self) -> tuple[tuple[float, ...], float]:
        """The probabilities of the whole variance."""
        return probabilities(meant(self.variance)), _ERROR


@lru_cache(maxsize=16)
def probabilities(variance: Fraction) -> tuple[float, ...]:
    """The probabilities e^-mu I_x(mu) of x = 0, 1, 2, ..., as long as doubles have all their digits.

    The ratios r_k of I_{k+1} and I_k obey r_{k-1} = 1 / (2 k / mu + r_k), in which a relative error of r_k counts by less than
    1 / (1 + 2 k / mu). They begin far enough above with r = 0. All probabilities sum to one.
    """
    context = Context(prec=_DIGITS)
    mu = context.divide(Decimal(variance.numerator), Decimal(variance.denominator))
    last, rough = 1, float(variance)
    while last * math.asinh(last / rough) - math.hypot(last, rough) + rough < DEEPEST + 20:
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
    return tuple(share for share in shares if share > math.exp(-DEEPEST))
