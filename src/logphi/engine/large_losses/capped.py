"""Symmetric laws of sampled normal pairs among others, without rare large losses.

notation: F is the event that the size of any of these losses exceeds its cap. An adversary who sees F at least as clearly knows
more, and one who never does knows less by at most F:

    delta'(x) - P(F) <= delta(x) <= delta'(x),    delta'(x) = P(F) + E_P[(1 - e^{x - L})_+; not F].

So F counts as an infinite loss. With caps so high that P(F) is negligible, the transform without F is known far to the right of
where rare large losses have the whole one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import log_ndtr

from logphi.engine.log_probability import LogProbability
from logphi.inversion.lines import contour
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal.capped import CappedNormal
from logphi.laws.normal.curved_normal import Cappable

# chosen: the ends that are tried, in standard deviations; above the last one masses underflow
_ENDS = np.arange(2.0, 36.0, 0.25)
# chosen: the logarithm of a first guess of what may be left out, and the share of the tolerance that is
_FIRST, _SHARE = -30.0, -3.0
# measured: the number of times that the caps are raised
_TIMES = 5


@dataclass(frozen=True)
class Capped:
    """The loss without large ones, and the logarithm of an upper bound of P(F)."""

    loss: LogPhi
    log_lost: float

    @staticmethod
    def of(loss: LogPhi, x: float, rtol: float) -> Capped | None:
        """With caps for a threshold x >= 0 and a relative tolerance; None without such laws."""
        laws = [(law, count) for law, count in loss.terms if isinstance(law, Cappable)]
        if not laws:
            return None
        others = [(law, count) for law, count in loss.terms if not isinstance(law, Cappable)]
        level, found = _FIRST, None
        for _ in range(_TIMES):
            own = [(CappedNormal(law, _end(law, level - math.log(count * len(laws)))), count) for law, count in laws]
            found = Capped(LogPhi((*own, *others)), _log_sum(own))
            lower = min(contour.about(found.saddle), 0.0) + math.log(rtol) + _SHARE
            if not lower < level - 1:
                break
            level = lower
        return found

    @cached_property
    def _x_saddle(self) -> dict[float, contour.Saddle]:
        return {}

    def without(self, found: LogProbability) -> LogProbability:
        """Delta from delta'."""
        lower = -math.inf
        if self.log_lost < found.lower:
            lower = found.lower + math.log1p(-math.exp(self.log_lost - found.lower)) - 1e-15
        return replace(found, lower=lower, value=max(found.value, lower))


def _end(law: Cappable, level: float) -> float:
    """About the least end above which the law has less than a mass."""
    m = law.approximate_shift
    logs = np.logaddexp.reduce([math.log(weight) + log_ndtr(centre * m - _ENDS) for weight, centre in law.outer_parts], axis=0)
    return float(_ENDS[min(int((logs > level).sum()), _ENDS.size - 1)])
