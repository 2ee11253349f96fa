"""Symmetric laws of sampled normal pairs, alone or among others, without their rare large losses.

notation: F is the event that one of these losses lies outside of its caps. As 0 <= (1 - e^{x - L})_+ <= 1,

    d(x) - P(F) <= delta(x) <= d(x),    d(x) = P(F) + E_P[(1 - e^{x - L})_+; not F],

so that what is left out may count as an infinite loss. With caps so far out that P(F) is negligible, the transform of the rest
is known far to the right of where rare large losses dominate that of the whole.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import log_ndtr

from logphi.arith.floats import ULP
from logphi.arith.safe import log_rest
from logphi.engine.log_probability import LogProbability
from logphi.inversion.lines import contour
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal.capped import CappedNormal
from logphi.laws.normal.curved_normal import Cappable

# chosen: the caps that are tried, in standard deviations; above the last one masses underflow
_ENDS = np.arange(2.0, 36.0, 0.25)
# chosen: the logarithms of what a first guess leaves out, and of the share of the tolerance that is left out
_FIRST, _SHARE = -30.0, -3.0
# measured: two or three rounds suffice
_ROUNDS = 5


@dataclass(frozen=True)
class Capped:
    """The loss up to the caps, and the logarithm of an upper bound of P(F)."""

    loss: LogPhi
    log_lost: float

    @staticmethod
    def of(loss: LogPhi, x: float, rtol: float) -> Capped:
        """Caps for a threshold and a relative tolerance, of a loss with such laws."""
        # left of zero delta is at least 1 - e^x
        level, floor = _FIRST, math.log(-math.expm1(x)) if x < 0 else -math.inf
        found = Capped.below(loss, level)
        for _ in range(_ROUNDS):
            estimate = max(contour.log_estimate(contour.saddle_of_excess(found.loss, abs(x))), floor)
            lower = min(estimate, 0.0) + math.log(rtol) + _SHARE
            if not lower < level - 1:
                break
            level, found = lower, Capped.below(loss, lower)
        return found

    @staticmethod
    def below(loss: LogPhi, level: float) -> Capped:
        """Caps outside of which there is about e^level of the mass, or less."""
        laws = [(law, count) for law, count in loss.terms if isinstance(law, Cappable)]
        others = [(law, count) for law, count in loss.terms if not isinstance(law, Cappable)]
        own = [(CappedNormal(law, _end(law, level - math.log(count * len(laws)))), count) for law, count in laws]
        masses = [math.log(count) + sum(law.log_outside) + 4 * ULP * math.log(count) for law, count in own]
        return Capped(LogPhi((*own, *others)), float(np.logaddexp.reduce(masses)) + 1e-12)

    def without(self, found: LogProbability) -> LogProbability:
        """The enclosure of delta from one of d."""
        lower, size = -math.inf, 1 + abs(found.lower) + abs(self.log_lost)
        # the rounding of a difference of logarithms grows with these
        log_share = self.log_lost - found.lower + 4 * ULP * size
        if log_share < 0 and found.lower > -math.inf:
            rest = log_rest(log_share)
            lower = found.lower + rest - 4 * ULP * (size + abs(rest))
        return replace(found, lower=lower, value=max(found.value, lower))


def _end(law: Cappable, level: float) -> float:
    """About the least cap outside of which the law has less than a mass."""
    m = law.curve.factors[0].slope
    logs = np.logaddexp.reduce([math.log(weight) + log_ndtr(centre * m - _ENDS) for weight, centre in law.outer_parts])
    return float(_ENDS[min(int((logs > level).sum()), _ENDS.size - 1)])
