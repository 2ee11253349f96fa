"""The distribution of the privacy loss L = log(p/q) under P."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from logphi import check
from logphi.bound import Bound, Bounds, Direction, Entry, Ledger, Side, Status
from logphi.core.logphi import LogPhi
from logphi.numerics import exponential, halfline
from logphi.numerics.exponential import Places
from logphi.numerics.roots import bisection, crossing
from logphi.views import moments
from logphi.views.delta import each
from logphi.views.profile import LogDelta, enclosed, ledger_of, masses, probability
from logphi.views.tail import above, below


@dataclass(frozen=True)
class LossDistribution:
    """The law of L = log(p/q) under P, whose finite part has the transform M(z) = e^{K(z)}.

    All probabilities are those of the finite part, not divided by its mass: ``cdf(x) + sf(x) = 1 - infinite_mass``. An atom
    within rounding of a threshold may be on either side of it: the bounds then contain both, and say that they are wide.

    Parameters
    ----------
    law
        K of the loss.
    direction
        The order of the pair.

    Examples
    --------
    >>> from logphi.mechanisms.gaussian import Gaussian
    >>> loss = (10 * Gaussian(sigma=3)).loss
    >>> round(loss.cdf(0.5).value, 9), round(loss.mean.value, 9), round(loss.quantile(0.99).value, 9)
    (0.478983626, 0.555555556, 3.007741526)
    """

    law: LogPhi
    direction: Direction

    def cdf(self, x: Any, *, rtol: float = 1e-9) -> Bound | Bounds:
        """P(L <= x), of the shape of x; relatively accurate in the left tail. ``float`` gives the lower end.

        Raises
        ------
        ValueError, TypeError
            If x is not finite, or no number.
        """
        check.tolerance("rtol", rtol)
        return each("x", x, lambda at: probability(self.direction, below(self.law, at, rtol), rtol, Side.LOWER))

    def sf(self, x: Any, *, rtol: float = 1e-9) -> Bound | Bounds:
        """P(x < L < inf), of the shape of x; relatively accurate in the right tail. ``float`` gives the upper end.

        Raises
        ------
        ValueError, TypeError
            If x is not finite, or no number.
        """
        check.tolerance("rtol", rtol)
        return each("x", x, lambda at: probability(self.direction, above(self.law, at, rtol), rtol))

    def pdf(self, x: Any, *, rtol: float = 1e-9) -> Bound | Bounds:
        """The density of the part of the law that has one, of the shape of x; see :meth:`atoms` for the other part.

        A density is meant as its mean over thresholds within 1e-20 of the law's spread. Where neither the transform decays
        fast enough nor the law is made of atoms and flat parts, nothing is claimed: the upper end is infinite.

        Raises
        ------
        ValueError, TypeError
            If x is not finite, or no number.
        """
        check.tolerance("rtol", rtol)
        return each("x", x, lambda at: self._density(at, rtol))

    def quantile(self, probability: Any, *, rtol: float = 1e-9) -> Bound | Bounds:
        """The smallest x with P(L <= x) >= probability, of the shape of the probability; infinity above the finite mass.

        At ``upper`` the proved lower bound of the distribution function is at least the probability, just below ``lower``
        its proved upper bound is not. ``rtol`` asks for a width in units of ``max(1, |x|)``.

        Raises
        ------
        ValueError, TypeError
            If a probability is not above zero and at most one.
        """
        check.tolerance("rtol", rtol)
        points = check.unit_array("probability", probability)
        if np.any(points <= 0):
            raise ValueError(f"probability must be above 0, got {probability!r}: every x is a quantile at 0")
        return each("probability", probability, lambda p: self._quantile(p, rtol))

    @cached_property
    def mean(self) -> Bound:
        """E[L; given L < inf] = K'(0); the Kullback-Leibler divergence where there is no infinite mass."""
        return replace(moments.mean(self.law), direction=self.direction)

    @cached_property
    def variance(self) -> Bound:
        """The variance of L, given that it is finite: K''(0)."""
        return replace(moments.variance(self.law), direction=self.direction)

    def cumulant(self, order: int) -> Bound:
        """The cumulant of an order from 1 on, given that L is finite: the derivative of K at 0.

        Raises
        ------
        ValueError, TypeError
            If the order is not a whole number from 1 on.
        """
        return replace(moments.cumulant(self.law, order), direction=self.direction)

    @property
    def infinite_mass(self) -> Bound:
        """P(L = inf) = 1 - M(0)."""
        low, high = masses(self.law)[0]
        ledger = Ledger(rounding=Entry(high - low), infinite_mass=Entry(high))
        return Bound(low, min(max((low + high) / 2, low), high), high, direction=self.direction, ledger=ledger)

    @cached_property
    def atoms(self) -> Places:
        """All places of positive probability; none where some part of the composition has no atoms.

        Raises
        ------
        ValueError
            If there are too many to list, or those of a part are not known by place.
        """
        return exponential.places(self.law.terms)

    def _density(self, x: float, rtol: float) -> Bound:
        law = self.law
        if law.lattice is not None or not law.infimum <= x <= law.supremum:
            return Bound(0.0, 0.0, 0.0, direction=self.direction)
        if exponential.served(law.terms):
            prepared = exponential.prepare(law, law.terms, x, rtol, exponential.DENSITY)
            name, amount = "exponential", None if prepared is None else prepared.at(x)
        else:
            name, amount = "contour", halfline.density(law, x, rtol)
        if amount is None or not math.isfinite(amount.high):
            return Bound(0.0, 0.0, math.inf, Status.UNRESOLVED, "trivial", self.direction)
        lower, value, upper = (math.exp(min(end, 709.0)) for end in enclosed(amount))
        lower, upper = lower * (1 - 2e-15), upper * (1 + 2e-15)
        met = upper - lower <= rtol * value or upper < 1e-300
        status = Status.WIDE if not met else Status.ESTIMATED if law.estimated else Status.MET
        return Bound(lower, min(max(value, lower), upper), upper, status, name, self.direction, ledger_of(amount))

    def _quantile(self, p: float, rtol: float) -> Bound:
        low, high = (1 - end for end in reversed(masses(self.law)[0]))
        if p > high:
            return Bound(math.inf, math.inf, math.inf, Status.UNBOUNDED, direction=self.direction)
        if p <= high / 2:
            return replace(where_below(self.law, p, rtol), direction=self.direction)
        return replace(where_above(self.law, (low - p, high - p), rtol), direction=self.direction)


def where_below(law: LogPhi, mass: float, rtol: float) -> Bound:
    """The smallest x with P(L <= x) >= mass, for a positive mass of at most half of all."""
    return _Search(law, True, math.log(mass), 0.0, rtol).found()


def where_above(law: LogPhi, mass: tuple[float, float], rtol: float) -> Bound:
    """The smallest x with P(x < L < inf) <= mass, for a mass between two numbers; they may be negative."""
    top = law.supremum
    if mass[0] > 0:
        return _Search(law, False, math.log(mass[0]), mass[1] - mass[0], rtol).found()
    # no finite loss may be above, to every digit
    least = top - law.slack if mass[1] == 0 else law.infimum
    if math.isinf(least):
        return Bound(min(least, top), top, top, Status.UNBOUNDED if least == top else Status.WIDE)
    return Bound(least, top, top, Status.MET if top - least <= rtol * max(1.0, top) else Status.WIDE)


@dataclass
class _Search:
    """Where log P(L <= -y), or log P(L > y), falls to a level; the mass that the level refers to may be ``unsure``."""

    law: LogPhi
    left: bool
    level: float
    unsure: float
    rtol: float
    proved: bool = True
    method: str = "exact"

    def at(self, y: float) -> LogDelta:
        """The decreasing function; its ends keep off the level, for a level that is touched proves nothing."""
        found = below(self.law, -y, self.rtol) if self.left else above(self.law, y, self.rtol)
        self.proved, self.method = self.proved and found.ledger.proved, found.method
        slack = 3e-16 + 1e-16 * abs(self.level)
        return replace(found, lower=found.lower - slack - self.unsure / math.exp(self.level), upper=found.upper + slack)

    def found(self) -> Bound:
        """The place, between two proved ends."""
        at = crossing(lambda *_: self.at, self.level, *self._around())
        if at.upper - at.lower > self.rtol * max(1.0, abs(at.value)):
            # at an atom the function is not known, and jumps beside it
            at = bisection(lambda *_: self.at, self.level, at.lower, at.value, at.upper)
        ends = (at.lower, at.value, at.upper)
        lower, value, upper = sorted(-end for end in ends) if self.left else ends
        met = upper - lower <= self.rtol * max(1.0, abs(value))
        proved = self.proved and not self.law.estimated
        status = Status.WIDE if not met else Status.MET if proved else Status.ESTIMATED
        return Bound(lower, value, upper, status, self.method)

    def _around(self) -> tuple[float, float, float]:
        """A proved lower end, a guess, a proved upper end."""
        low, middle, high = self.law.sketch(np.array([-0.75, -0.5, -0.25])).tolist()
        sign = -1.0 if self.left else 1.0
        spread = max(math.sqrt(max(16 * (low + high - 2 * middle), 0.0)), 1e-12)
        guess = sign * 2 * (high - low) + spread * math.sqrt(max(-2 * self.level - 1.4, 0.0))
        ends = (-self.law.supremum, -self.law.infimum) if self.left else (self.law.infimum, self.law.supremum)
        guess = min(max(guess, ends[0]), ends[1])
        floor, ceiling = guess, guess
        step = spread
        while floor > ends[0] and self.at(floor).lower < self.level:
            floor, step = max(floor - step, ends[0]), 2 * step
        step = spread
        while ceiling < ends[1] and self.at(ceiling).upper > self.level:
            ceiling, step = min(ceiling + step, ends[1]), 2 * step
        return floor, guess, ceiling
