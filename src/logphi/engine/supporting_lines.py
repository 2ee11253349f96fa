"""Supporting lines of a trade-off function, from the profile, from that of the reversed pair, or from the tails.

notation: as of :mod:`logphi.questions.tradeoff`; g(a) = 1 - delta(x) - a alpha, beta = 1 - alpha, delta' the reversed profile.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from logphi.answers.enclosure import Enclosure
from logphi.answers.ledger import Entry, Ledger
from logphi.engine.log_probability import LogProbability
from logphi.engine.routes.registry import evaluator
from logphi.engine.routes.route import LocalProfile, Request
from logphi.engine.tail import below
from logphi.inversion.demand import Demand
from logphi.inversion.lines.contour import LARGEST_THRESHOLD
from logphi.laws.log_phi import LogPhi

# derived: a handful of roundings, relative to each part of g
ROUNDING = 1.5e-15
# derived: half an ulp of a number up to one
_HALF_ULP = 1.2e-16
# derived: the exponential of this is a double
_FAR = 600.0


@dataclass(frozen=True)
class ProfileLines:
    """g(a) = 1 - delta(x) - a alpha, from delta."""

    loss: LogPhi
    alpha: float
    demand: Demand

    # the curve whose slope in a is a tail is e^{tilt x} times the computed function
    tilt: ClassVar[int] = 0
    # whether that curve increases in a
    rising: ClassVar[bool] = False
    # whether it is convex in a
    convex: ClassVar[bool] = False

    @property
    def level(self) -> float:
        """The logarithm of the tail at the largest line."""
        return math.log(self.alpha)

    def near(self, x: float) -> LocalProfile:
        """The computed function near x, on a logarithmic scale: delta."""
        return evaluator()(Request(self.loss, x, self.demand))

    def unit(self, x: float, found: LogProbability) -> float:
        """The logarithm of a number like g near x."""
        return 0.0

    def line(self, x: float, found: LogProbability, unit: float) -> Enclosure:
        """g(a) e^-unit."""
        less = math.exp(x) * self.alpha
        low, value, high = (-math.expm1(end) for end in (found.upper, found.value, found.lower))
        wrong = ROUNDING * (less + high)
        return Enclosure(low - less - wrong, value - less, high - less + wrong)

    def ledger(self, x: float, found: LogProbability) -> Ledger:
        """The errors of g."""
        return found.ledger

    def _sum(self, x: float, found: LogProbability, unit: float, sign: int, rounded: float) -> Enclosure:
        """The computed function with ``rounded`` roundings, plus or minus a alpha, in units of e^unit."""
        exponent = x - unit + math.log(self.alpha)
        if max(exponent, found.upper - unit) > _FAR:
            # so far from the largest line that no bound is needed
            return Enclosure(-math.inf, -math.inf, math.inf)
        low, value, high = (math.exp(end - unit) for end in (found.lower, found.value, found.upper))
        more = sign * math.exp(exponent)
        wrong = ROUNDING * ((1 + abs(x) + abs(unit) + abs(math.log(self.alpha))) * abs(more) + rounded * high)
        return Enclosure(low + more - wrong, value + more, high + more + wrong)


class ReversedLines(ProfileLines):
    """g(a) = a (beta - delta'(-x)), from delta'; a delta'(-x) has the slope Q(L <= x)."""

    tilt = 1
    rising = True
    convex = True

    @property
    def level(self) -> float:
        """Log beta."""
        return math.log1p(-self.alpha)

    def near(self, x: float) -> LocalProfile:
        """The profile of the reversed pair."""
        local = evaluator()(Request(self.loss.reflected(), -x, self.demand))
        return lambda y: local(-y)

    def unit(self, x: float, found: LogProbability) -> float:
        """Log a."""
        return x

    def line(self, x: float, found: LogProbability, unit: float) -> Enclosure:
        """g(a) e^-unit."""
        factor, beta = math.exp(x - unit), 1 - self.alpha
        low, value, high = (beta - math.exp(end) for end in (found.upper, found.value, found.lower))
        wrong = ROUNDING * (1 + abs(x - unit)) * (beta + math.exp(found.upper)) + _HALF_ULP * self.alpha
        return Enclosure(factor * (low - wrong), factor * value, factor * (high + wrong))

    def ledger(self, x: float, found: LogProbability) -> Ledger:
        """The errors of the reversed profile, times a."""
        return found.ledger.scaled(math.exp(min(x, 700.0)))


class TailLines(ProfileLines):
    """g(a) = P(L <= x) + a (Q(L > x) - alpha), from the two tails; their sum P(L <= x) + a Q(L > x) has the slope Q(L > x)."""

    rising = True

    def near(self, x: float) -> LocalProfile:
        """The computed function near x: the sum P(L <= x) + a Q(L > x) = 1 - delta."""
        reflected = self.loss.reflected()

        def at(x: float) -> LogProbability:
            under = below(self.loss, x, self.demand.rtol)
            # the loss under Q is the negative of the reversed one; an atom at x does not belong to Q(L > x)
            over = below(reflected, -x, self.demand.rtol)
            least = below(reflected, -math.nextafter(x, math.inf), self.demand.rtol)
            ends = ((under.lower, least.lower), (under.value, over.value), (under.upper, over.upper))
            lower, value, upper = (float(np.logaddexp(part, x + other)) for part, other in ends)
            doubt = ROUNDING * (1 + abs(x))
            ledger = Ledger(truncation=Entry(0.0, under.ledger.proved and over.ledger.proved))
            return LogProbability(lower - doubt, value, upper + doubt, under.method, ledger)

        return at

    def unit(self, x: float, found: LogProbability) -> float:
        """The logarithm of the sum, or of its bound."""
        return max(found.value, found.upper - _FAR, -LARGEST_THRESHOLD)

    def line(self, x: float, found: LogProbability, unit: float) -> Enclosure:
        """g(a) e^-unit."""
        return self._sum(x, found, unit, -1, 1.0)


class PowerLines(ProfileLines):
    """g(a) = -(delta(x) + a alpha), from delta: minus an upper bound of the power of a test, without cancellation."""

    def unit(self, x: float, found: LogProbability) -> float:
        """The logarithm of the power."""
        return max(float(np.logaddexp(found.value, x + math.log(self.alpha))), -LARGEST_THRESHOLD)

    def line(self, x: float, found: LogProbability, unit: float) -> Enclosure:
        """g(a) e^-unit."""
        total = self._sum(x, found, unit, 1, 1 + abs(unit))
        return Enclosure(-total.upper, -total.value, -total.lower)
