"""The distribution of the privacy loss L = log(p/q) under P."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from logphi import check
from logphi.arith.floats import ULP
from logphi.bound import Bound, Bounds, Direction, Entry, Ledger, Side, Status
from logphi.core.logphi import LogPhi
from logphi.numerics import exponential, halfline
from logphi.numerics.boxes import DENSITY
from logphi.numerics.enclosure import Scaled
from logphi.numerics.exponential import Places
from logphi.views import moments
from logphi.views.delta import each
from logphi.views.profile import enclosed, ledger_of, masses, probability
from logphi.views.quantile import where_above, where_below
from logphi.views.tail import above, below, one_release, thinned


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
        single = one_release(law)
        own = None if single is None else single[0].density(x)
        amount: Scaled | None
        if single is not None and own is not None:
            name, amount = "exact", thinned(own, single[1])
        elif exponential.served(law.terms):
            prepared = exponential.prepare(law, law.terms, x, rtol, DENSITY)
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
        low, high = masses(self.law)[0]
        # 1 - p is exact from 1/2 on
        slip = 0.0 if p >= 0.5 else ULP
        rest = 1 - p
        if rest + slip < low:
            return Bound(math.inf, math.inf, math.inf, Status.UNBOUNDED, direction=self.direction)
        if p <= (1 - low) / 2:
            return replace(where_below(self.law, p, rtol), direction=self.direction)
        ends = (rest - slip - high) * (1 - 1e-15), (rest + slip - low) * (1 + 1e-15)
        return replace(where_above(self.law, ends, rtol), direction=self.direction)
