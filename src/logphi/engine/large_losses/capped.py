"""Symmetric laws of sampled normal pairs, alone or among others, without their rare large losses.

notation: F is the event that one of these losses lies outside of its caps -B and B. As 0 <= (1 - e^{x - L})_+ <= 1,

    d(x) - P(F) <= delta(x) <= d(x),    d(x) = P(F) + E_P[(1 - e^{x - L})_+; not F],

so that what is left out may count as an infinite loss. With caps so far out that P(F) is negligible, the transform of the rest
is known far to the right of where rare large losses dominate that of the whole. Where one of them decides, P(F) is not
negligible. With S the sum of Q(l > B) = P(l < -B) over these losses, all losses symmetric and x >= 0,

    delta(x) = d(x) - P(some l < -B, none > B) - e^x Q(some l > B) + R,
    d(x) - (1 + e^x) S <= delta(x) <= d(x) - (1 + e^x) S (1 - P(F)) + R.

R consists of what exceeds B without L > x, and of what is below -B in spite of L > x. With D <= B and P_D the sum of the masses
outside of -D and D, v > 0, and kappa(v) as in :mod:`logphi.engine.large_losses.clipping`, it has four parts:

* some l > B and some l < -D: at most Q of that times e^x, and so at most e^x S P_D;
* some l > B and none < -D, but L < x: at most kappa(v) e^{x + v (x - B)} S times the product of the other
  E_P[e^{-(1+v) l}; l >= -D];
* some l < -B and some l > D: at most P of that, and so at most S P_D;
* some l < -B and none > D, but L > x: at most kappa(v) e^{-v (x + B)} S times the product of the other E_P[e^{vl}; l <= D].

The other factors are at most m + Q(l > D), with m = E_P[e^{vl}; -D <= l <= D] >= P(-D <= l <= D), as the law is symmetric. So
both products are at most e^{4 P_D} times that of all m, which is M_D(v), if P_D <= 1/2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.special import log_ndtr

from logphi.answers.enclosure import with_ends
from logphi.arith.floats import ULP
from logphi.arith.safe import log1mexp
from logphi.engine.large_losses.excess import Rest, Tails
from logphi.engine.log_probability import LogProbability
from logphi.inversion.lines import contour
from logphi.inversion.lines.half_line import spread
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal.capped import CappedNormal
from logphi.laws.normal.curved_normal import Cappable
from logphi.laws.support import PROBABILITIES

# chosen: the caps that are tried, in standard deviations; above the last one masses underflow
_ENDS = np.arange(2.0, 36.0, 0.25)
# chosen: the logarithms of what a first guess leaves out, and of the share of the tolerance that is left out
_FIRST, _SHARE = -30.0, -3.0
# measured: two or three rounds suffice
_ROUNDS = 5
# measured: the caps between which the best one for a deciding loss is found, as distances from the threshold over the spread
_DISTANCES = np.geomspace(3.0, 3e4, 13)
# chosen: a lower cap serves if it lowers the estimate of d by more than this, as a logarithm
_LOWER = 0.5
# derived: the logarithm of a half
_HALF = -0.7


@dataclass(frozen=True)
class Capped:
    """The loss up to the caps, and the logarithms of an upper bound of P(F) and of two bounds of S.

    ``least`` is a lower bound of all B. ``rest`` has the v and log(kappa(v) M_D(v)) - vB of a bound of R, and log P_D, if R is
    small.
    """

    loss: LogPhi
    log_lost: float
    log_apart: tuple[float, float]
    least: float
    rest: tuple[float, float, float] | None = None

    @staticmethod
    def of(loss: LogPhi, x: float, rtol: float) -> Capped:
        """Caps for a threshold and a relative tolerance, of a loss with such laws."""
        # left of zero delta is at least 1 - e^x
        level, floor = _FIRST, log1mexp(x)
        found = Capped.below(loss, level)
        for _ in range(_ROUNDS):
            estimate = max(found._estimate(abs(x)), floor)
            lower = min(estimate, 0.0) + math.log(rtol) + _SHARE
            if not lower < level - 1:
                break
            level, found = lower, Capped.below(loss, lower)
        return found if x < 0 else found._or_lower(loss, x, math.log(rtol) + _SHARE)

    @staticmethod
    def below(loss: LogPhi, level: float) -> Capped:
        """Caps outside of which there is about e^level of the mass, or less."""
        count_of_laws = sum(isinstance(law, Cappable) for law, _ in loss.terms)
        return Capped._at(loss, lambda law, count: _end(law, level - math.log(count * count_of_laws)))

    @staticmethod
    def _at(loss: LogPhi, end_of: Callable[[Cappable, int], float]) -> Capped:
        others = [(law, count) for law, count in loss.terms if not isinstance(law, Cappable)]
        own = [(CappedNormal(law, end_of(law, count)), count) for law, count in loss.terms if isinstance(law, Cappable)]
        doubt = 1e-12
        lost, apart = (
            [
                (math.log(count) + log, error + 4 * ULP * math.log(count))
                for (_, count), (log, error) in zip(own, logs, strict=True)
            ]
            for logs in ([law.log_outside for law, _ in own], [law.log_above_under_q for law, _ in own])
        )
        return Capped(
            LogPhi((*own, *others)),
            float(np.logaddexp.reduce([log + error for log, error in lost])) + doubt,
            (
                float(np.logaddexp.reduce([log - error for log, error in apart])) - doubt,
                float(np.logaddexp.reduce([log + error for log, error in apart])) + doubt,
            ),
            min(law.support.upper - law.support.error for law, _ in own),
        )

    def _estimate(self, x: float) -> float:
        """About the logarithm of d(x) - P(F)."""
        return contour.log_estimate(contour.saddle_of_excess(self.loss, x))

    def _or_lower(self, loss: LogPhi, x: float, log_share: float) -> Capped:
        """Lower caps, if one large loss may decide: the best ones at which R is a negligible share of the answer."""
        inner = Capped.below(loss, log_share)
        proper = all(law.traits.symmetric and law.support.masses == PROBABILITIES for law, _ in loss.terms)
        if not proper or inner.log_lost > _HALF:
            return self
        highest = self._estimate(x) - _LOWER
        for cap in (x + spread(self.loss) * _DISTANCES).tolist():
            one = Capped._at(loss, partial(_point_of, cap))
            # further caps have larger estimates
            if not one.least < self.least or max(one._estimate(x), one.log_lost) > highest:
                break
            within = min(inner, one, key=lambda caps: caps.least)
            exponent, log_rest = Rest.near(within.loss, x, cap).proved(within.loss, Tails((), (one.least,)))
            log_least = one.log_lost + log1mexp(min(x - cap, -ULP))
            if one.least > x and log_rest + (1 + exponent) * x + one.log_apart[1] < log_share + log_least:
                return replace(one, rest=(exponent, log_rest, within.log_lost))
        return self

    def without(self, found: LogProbability, x: float) -> LogProbability:
        """The enclosure of delta(x) from one of d(x)."""
        lower, value, upper = _sum(found.lower, self.log_lost, -math.inf, -1), found.value, found.upper
        if self.rest is not None and x >= 0:
            # (1 + e^x) S
            low, high = (log + float(np.logaddexp(0.0, x)) for log in self.log_apart)
            exponent, log_rest, log_inner = self.rest
            # two parts of R, and the other two with what the upper bound adds
            few = log_rest + math.log(2) + (1 + exponent) * x + self.log_apart[1] + 4 * math.exp(log_inner)
            few += 1e-13 * (1 + abs(log_rest) + (1 + exponent) * x)
            more = float(np.logaddexp(few, math.log(2) + high + log_inner)) + 1e-12
            lower = max(lower, _sum(found.lower, high + 1e-12, -math.inf, -1))
            upper = min(upper, _sum(found.upper, low - 1e-12, more, 1))
            value = _sum(value, low, -math.inf, 1)
        return with_ends(found, lower, value, max(upper, lower))


def _sum(log: float, taken: float, added: float, sign: int) -> float:
    """The logarithm of e^log - e^taken + e^added, rounded down (``sign`` -1) or up; the trivial bound, if that is negative."""
    if log == -math.inf:
        return log
    size = 1 + abs(log) + abs(taken) + (abs(added) if added > -math.inf else 0.0)
    # the rounding of a difference of logarithms grows with these
    room = 4 * ULP * size
    share = math.exp(min(added - log + room, 600.0)) - math.exp(min(taken - log - sign * room, 600.0))
    if share <= -1:
        return log if sign > 0 else -math.inf
    moved = math.log1p(share)
    return log + moved + sign * 4 * ULP * (size + abs(moved))


def _point_of(cap: float, law: Cappable, count: int) -> float:
    """About the point at which the loss reaches a cap, or the last one."""
    return min(float(law.curve.inverse(np.array(cap))), float(_ENDS[-1]))


def _end(law: Cappable, level: float) -> float:
    """About the least cap outside of which the law has less than a mass."""
    m = law.curve.factors[0].slope
    logs = np.logaddexp.reduce([math.log(weight) + log_ndtr(centre * m - _ENDS) for weight, centre in law.outer_parts])
    return float(_ENDS[min(int((logs > level).sum()), _ENDS.size - 1)])
