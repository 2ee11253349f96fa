"""The distribution of the privacy loss L = log(p/q) under P.

The file is longer than others because ``help()`` explains each question to the distribution in full.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, overload

import numpy as np

from logphi.answers.bound import Bound, Bounds
from logphi.answers.enclosure import with_ends
from logphi.answers.status import Direction, Side, Status
from logphi.arith.floats import ULP
from logphi.arith.scaled import Scaled
from logphi.engine import cumulants
from logphi.engine.answer import infinite_mass, judged, probability, unresolved
from logphi.engine.log_probability import enclosed, ends_of, ledger_of, masses
from logphi.engine.method import EXACT, TRIVIAL
from logphi.engine.quantile import where_above, where_below
from logphi.engine.routes.contour import CONTOUR
from logphi.engine.routes.exponential import EXPONENTIAL
from logphi.engine.tail import above, below, one_release, times_constants
from logphi.inputs import check
from logphi.inputs.arguments import Number, Numbers
from logphi.inversion.demand import Demand
from logphi.inversion.lines import half_line
from logphi.inversion.pieces import real_space, term_counts
from logphi.inversion.pieces.atom_list import ListedAtoms, atom_list
from logphi.inversion.pieces.payoffs import DENSITY
from logphi.laws.log_phi import LogPhi
from logphi.listed import Listed
from logphi.questions.pointwise import each

# derived: smaller densities lose digits to underflow
_NEGLIGIBLE = 1e-300
# derived: a factor that rounds a product or a quotient of doubles down
_LESS = 1 - 4e-16
# derived: a factor that rounds it up
_MORE = 1 + 4e-16


@dataclass(frozen=True)
class LossDistribution(Listed):
    """The law of L = log(p/q) under P, whose finite part has the transform M(z) = e^{K(z)}.

    All probabilities are those of the finite part, not divided by its mass: ``cdf(x) + sf(x) = 1 - infinite_mass``. Those of
    :attr:`inner` are divided by it. An atom within rounding of a threshold may be on either side of it: the bounds then contain
    both values, and their status says that they are wide.

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

    @overload
    def cdf(self, x: Number, *, rtol: float = 1e-9) -> Bound: ...
    @overload
    def cdf(self, x: Numbers, *, rtol: float = 1e-9) -> Bounds: ...
    def cdf(self, x: Any, *, rtol: float = 1e-9) -> Bound | Bounds:
        """P(L <= x), the distribution function; relatively accurate in the left tail.

        Parameters
        ----------
        x
            One number or an array, finite, in nats.
        rtol
            Requested ``upper - lower`` relative to the value. Wider answers are valid and say so in their status.

        Returns
        -------
        Bound or Bounds
            Of the shape of ``x``; ``float`` gives the lower end.

        Raises
        ------
        ValueError, TypeError
            If x is not finite, or no number.

        Examples
        --------
        >>> import logphi as lp
        >>> loss = (10 * lp.Gaussian(sigma=3)).loss
        >>> round(loss.cdf(0.5).value, 9)
        0.478983626
        """
        rtol = check.tolerance("rtol", rtol)
        return each("x", x, lambda at: self._below(at, rtol))

    @overload
    def sf(self, x: Number, *, rtol: float = 1e-9) -> Bound: ...
    @overload
    def sf(self, x: Numbers, *, rtol: float = 1e-9) -> Bounds: ...
    def sf(self, x: Any, *, rtol: float = 1e-9) -> Bound | Bounds:
        """P(x < L < inf), the survival function of the finite losses; relatively accurate in the right tail.

        Parameters
        ----------
        x
            One number or an array, finite, in nats.
        rtol
            Requested ``upper - lower`` relative to the value. Wider answers are valid and say so in their status.

        Returns
        -------
        Bound or Bounds
            Of the shape of ``x``; ``float`` gives the upper end.

        Raises
        ------
        ValueError, TypeError
            If x is not finite, or no number.

        Examples
        --------
        >>> import logphi as lp
        >>> loss = (10 * lp.Gaussian(sigma=3)).loss
        >>> round(loss.sf(0.5).value, 9)
        0.521016374
        """
        rtol = check.tolerance("rtol", rtol)
        return each("x", x, lambda at: self._above(at, rtol))

    @overload
    def pdf(self, x: Number, *, rtol: float = 1e-9) -> Bound: ...
    @overload
    def pdf(self, x: Numbers, *, rtol: float = 1e-9) -> Bounds: ...
    def pdf(self, x: Any, *, rtol: float = 1e-9) -> Bound | Bounds:
        """The density of the part of the law that has one, per nat; :attr:`atoms` has the other part.

        The density is its mean over thresholds within 1e-20 of the law's standard deviation. If the transform does not decay
        fast enough and the law is not made of atoms and flat parts, the upper end is infinite.

        Parameters
        ----------
        x
            One number or an array, finite, in nats.
        rtol
            Requested ``upper - lower`` relative to the value. Wider answers are valid and say so in their status.

        Returns
        -------
        Bound or Bounds
            Of the shape of ``x``; ``float`` gives the upper end.

        Raises
        ------
        ValueError, TypeError
            If x is not finite, or no number.

        Examples
        --------
        >>> import logphi as lp
        >>> loss = (10 * lp.Gaussian(sigma=3)).loss
        >>> round(loss.pdf(0.5).value, 9)
        0.377944591
        """
        rtol = check.tolerance("rtol", rtol)
        return each("x", x, lambda at: self._density(at, rtol))

    @overload
    def quantile(self, probability: Number, *, rtol: float = 1e-9) -> Bound: ...
    @overload
    def quantile(self, probability: Numbers, *, rtol: float = 1e-9) -> Bounds: ...
    def quantile(self, probability: Any, *, rtol: float = 1e-9) -> Bound | Bounds:
        """The smallest x with P(L <= x) >= probability, in nats; infinity above the finite mass.

        At ``upper`` the proved lower bound of the distribution function is at least the probability, just below ``lower``
        its proved upper bound is not.

        Parameters
        ----------
        probability
            One number or an array, above 0 and at most 1.
        rtol
            Requested ``upper - lower`` in units of ``max(1, |x|)``.

        Returns
        -------
        Bound or Bounds
            Of the shape of ``probability``; ``float`` gives the upper end.

        Raises
        ------
        ValueError, TypeError
            If a probability is not above zero and at most one.

        Examples
        --------
        >>> import logphi as lp
        >>> loss = (10 * lp.Gaussian(sigma=3)).loss
        >>> round(loss.quantile(0.99).value, 9)
        3.007741526
        """
        rtol = check.tolerance("rtol", rtol)
        points = check.unit_array("probability", probability)
        if np.any(points <= 0):
            raise ValueError(f"probability must be above 0, got {probability!r}: every x is a quantile at 0")
        return each("probability", probability, lambda p: self._quantile(p, rtol))

    @cached_property
    def mean(self) -> Bound:
        """E[L | L < inf] = K'(0), in nats; the Kullback-Leibler divergence if there is no infinite mass.

        Raises
        ------
        ValueError
            If every loss is infinite.

        Examples
        --------
        >>> import logphi as lp
        >>> loss = (10 * lp.Gaussian(sigma=3)).loss
        >>> round(loss.mean.value, 9)
        0.555555556
        """
        return replace(cumulants.mean(self.law), direction=self.direction)

    @cached_property
    def variance(self) -> Bound:
        """The variance of L, given that it is finite: K''(0), in squared nats.

        Raises
        ------
        ValueError
            If every loss is infinite.

        Examples
        --------
        >>> import logphi as lp
        >>> loss = (10 * lp.Gaussian(sigma=3)).loss
        >>> round(loss.variance.value, 9)
        1.111111111
        """
        return replace(cumulants.variance(self.law), direction=self.direction)

    def cumulant(self, order: int) -> Bound:
        """The cumulant of an order from 1 on, given that L is finite: the derivative of K at 0.

        Parameters
        ----------
        order
            An integer from 1 on: 1 is the mean, 2 the variance.

        Returns
        -------
        Bound
            In nats to the power of the order.

        Raises
        ------
        ValueError, TypeError
            If the order is not an integer from 1 on, or every loss is infinite.

        Examples
        --------
        >>> import logphi as lp
        >>> round(lp.Laplace(scale=1).loss.cumulant(3).value, 9)
        -0.42800753
        """
        return replace(cumulants.cumulant(self.law, order), direction=self.direction)

    @property
    def infinite_mass(self) -> Bound:
        """P(L = inf) = 1 - M(0): the probability of an output that only data with the record can give.

        Examples
        --------
        >>> import logphi as lp
        >>> round(lp.ApproximateDP(epsilon=1, delta=1e-5).loss.infinite_mass.value, 9)
        1e-05
        """
        return infinite_mass(self.law, self.direction)

    @property
    def inner(self) -> InnerLoss:
        """The law of L given that it is finite: the inner distribution of [PLC] Definition 4.

        Raises
        ------
        ValueError
            If every loss is infinite.

        Examples
        --------
        >>> import logphi as lp
        >>> loss = lp.ApproximateDP(epsilon=1, delta=0.1).loss
        >>> round(loss.cdf(0).value, 9), round(loss.inner.cdf(0).value, 9)
        (0.242047279, 0.268941421)
        """
        return InnerLoss(self.law, self.direction)

    @cached_property
    def atoms(self) -> ListedAtoms:
        """The atoms: all losses of positive probability; none if some part of the composition has no atoms.

        Raises
        ------
        ValueError
            If there are too many to list, or those of a part are not known one by one.

        Examples
        --------
        >>> import logphi as lp
        >>> lp.RandomizedResponse(p=0.75).loss.atoms.locations
        array([-1.098612289,  1.098612289])
        """
        return atom_list(self.law.terms)

    def _below(self, x: float, rtol: float) -> Bound:
        return probability(replace(below(self.law, x, rtol), direction=self.direction), rtol, Side.LOWER)

    def _above(self, x: float, rtol: float) -> Bound:
        return probability(replace(above(self.law, x, rtol), direction=self.direction), rtol)

    def _density(self, x: float, rtol: float) -> Bound:
        law = self.law
        if law.support.lattice is not None or not law.support.lower <= x <= law.support.upper:
            return Bound(0.0, 0.0, 0.0, direction=self.direction)
        single = one_release(law)
        own = None if single is None else single[0].closed_form.density(x)
        amount: Scaled | None
        if single is not None and own is not None:
            method, amount = EXACT, times_constants(own, single[1])
        elif term_counts.listed(law.terms):
            prepared = real_space.prepare(law, x, Demand(rtol), DENSITY)
            method, amount = EXPONENTIAL.method, None if prepared is None else prepared.at(x)
        else:
            method, amount = CONTOUR.method, half_line.density(law, x, rtol)
        if amount is None or not math.isfinite(amount.high):
            return replace(unresolved(0.0, 0.0, math.inf, TRIVIAL), direction=self.direction)
        lower, value, upper = (math.exp(min(end, 709.0)) for end in enclosed(amount))
        lower, upper = lower * (1 - 2e-15), upper * (1 + 2e-15)
        ledger = ledger_of(amount).estimating("truncation", "inner") if law.traits.estimated else ledger_of(amount)
        value = min(max(value, lower), upper)
        found = Bound(lower, value, upper, method=method, direction=self.direction, ledger=ledger)
        return judged(found, math.inf if upper < _NEGLIGIBLE else rtol * value)

    def _quantile(self, p: float, rtol: float) -> Bound:
        low, high = masses(self.law)[0]
        if self.law.empty:
            return Bound(math.inf, math.inf, math.inf, Status.UNBOUNDED, direction=self.direction)
        # 1 - p is exact from 1/2 on
        half_error = 0.0 if p >= 0.5 else ULP
        rest = 1 - p
        if rest + half_error < low:
            return Bound(math.inf, math.inf, math.inf, Status.UNBOUNDED, direction=self.direction)
        if p <= (1 - low) / 2:
            return replace(where_below(self.law, p, rtol), direction=self.direction)
        ends = (rest - half_error - high) * (1 - 1e-15), (rest + half_error - low) * (1 + 1e-15)
        return replace(where_above(self.law, ends, rtol), direction=self.direction)


@dataclass(frozen=True)
class InnerLoss(LossDistribution):
    """The law of L given that it is finite: every probability divided by 1 - P(L = inf) ([PLC] Definition 4).

    Means, variances and cumulants are those of the loss itself, which are of its finite part as well.

    Examples
    --------
    >>> from logphi.mechanisms.pure_dp import ApproximateDP
    >>> loss = ApproximateDP(epsilon=1, delta=0.1).loss
    >>> round(loss.cdf(0).value, 9), round(loss.inner.cdf(0).value, 9)
    (0.242047279, 0.268941421)
    """

    def __post_init__(self) -> None:
        if not self._kept[0] > 0:
            raise ValueError(f"P(L < inf) is at most {self._kept[1]!r}: there is no finite loss to describe")

    @property
    def infinite_mass(self) -> Bound:
        """P(L = inf) given that L is finite: zero."""
        return Bound(0.0, 0.0, 0.0, direction=self.direction)

    @cached_property
    def atoms(self) -> ListedAtoms:
        """The atoms of the loss, with their masses divided by P(L < inf)."""
        whole, (low, high) = super().atoms, self._kept
        return replace(whole, lower=whole.lower / high * _LESS, upper=whole.upper / low * _MORE)

    @cached_property
    def _kept(self) -> tuple[float, float]:
        """An enclosure of P(L < inf)."""
        low, high = ends_of(self.law.support.masses.own)
        return math.exp(low) * (_LESS if low else 1.0), math.exp(high) * (_MORE if high else 1.0)

    def _share(self, found: Bound, most: float = 1.0) -> Bound:
        low, high = self._kept
        lower, upper = found.lower / high * _LESS, min(found.upper / low * _MORE, most)
        return with_ends(found, lower, found.value * 2 / (low + high), upper, ledger=found.ledger.scaled(1 / low))

    def _below(self, x: float, rtol: float) -> Bound:
        return self._share(super()._below(x, rtol))

    def _above(self, x: float, rtol: float) -> Bound:
        return self._share(super()._above(x, rtol))

    def _density(self, x: float, rtol: float) -> Bound:
        return self._share(super()._density(x, rtol), math.inf)

    def _quantile(self, p: float, rtol: float) -> Bound:
        low, high = (super(InnerLoss, self)._quantile(min(end, 1.0), rtol) for end in self._levels(p))
        return with_ends(high, low.lower, low.value, min(high.upper, self.law.support.upper))

    def _levels(self, p: float) -> tuple[float, float]:
        """An enclosure of the mass up to the quantile."""
        low, high = self._kept
        return (p * low * _LESS, p * high * _MORE) if low < 1 else (p, p)
