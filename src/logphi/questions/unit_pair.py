"""The pair on [0, 1] with the profile of a release: every pair has an equivalent one of this form ([AFA] Lemma 9).

notation: (P, Q) the pair of the release, L = log(p/q), f its trade-off function with null hypothesis Q. On [0, 1] the second
law is uniform, and the first has the distribution function f(1 - x) below 1. So x is Q(L <= l) at the loss l, the density e^l
is minus the slope of f at 1 - x, and the mass of P where Q has none is an atom at 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np

from logphi.answers.bound import Bound, Bounds, single
from logphi.answers.enclosure import with_ends
from logphi.answers.status import Direction, Side
from logphi.arith.floats import ULP
from logphi.engine.answer import infinite_mass, judged
from logphi.engine.directions import Loss
from logphi.engine.log_probability import masses
from logphi.engine.quantile import where_above, where_below
from logphi.inputs import check
from logphi.inputs.adjacency import Adjacency
from logphi.inputs.arguments import Number, Numbers
from logphi.laws.log_phi import LogPhi
from logphi.listed import Listed
from logphi.questions.exponential import exponential
from logphi.questions.pointwise import each
from logphi.questions.tradeoff import tradeoff


@dataclass(frozen=True)
class UnitPair(Listed):
    """Two laws on [0, 1] with the profile of a release: the second is uniform, this is the first ([AFA] Lemma 9).

    The density of the first is increasing: it is e^l, l the quantile of the loss under Q. The pair has the profile of the
    release at every eps: H_a = atom + integral of (density - a)_+ over [0, 1].

    Parameters
    ----------
    law
        The log-phi of the loss.
    direction
        The order of the pair.

    Examples
    --------
    >>> from logphi.mechanisms.gaussian import Gaussian
    >>> pair = Gaussian(sigma=1).unit_pair()
    >>> round(pair.cdf(0.5).value, 9), round(pair.density(0.5).value, 9)
    (0.158655254, 0.60653066)
    """

    law: LogPhi
    direction: Direction

    @overload
    def cdf(self, x: Number, *, rtol: float = 1e-9) -> Bound: ...
    @overload
    def cdf(self, x: Numbers, *, rtol: float = 1e-9) -> Bounds: ...
    def cdf(self, x: Any, *, rtol: float = 1e-9) -> Bound | Bounds:
        """The probability of [0, x] under the first law; under the second it is x. It jumps by the atom at 1.

        Absolutely accurate to a few roundings of 1 - x.

        Parameters
        ----------
        x
            One number or an array, in [0, 1].
        rtol
            Requested ``upper - lower`` relative to the value. Wider answers are valid and say so in their status.

        Returns
        -------
        Bound or Bounds
            Probabilities, of the shape of ``x``; ``float`` gives the lower end.

        Raises
        ------
        ValueError, TypeError
            If x is outside [0, 1].

        Examples
        --------
        >>> import logphi as lp
        >>> pair = lp.Gaussian(sigma=1).unit_pair()
        >>> round(pair.cdf(0.5).value, 9)
        0.158655254
        """
        rtol = check.tolerance("rtol", rtol)
        check.unit_array("x", x)
        return each("x", x, lambda at: self._cdf(at, rtol))

    @overload
    def log_density(self, x: Number, *, rtol: float = 1e-9) -> Bound: ...
    @overload
    def log_density(self, x: Numbers, *, rtol: float = 1e-9) -> Bounds: ...
    def log_density(self, x: Any, *, rtol: float = 1e-9) -> Bound | Bounds:
        """The natural logarithm of the density at x: the loss there; minus infinity where only Q has mass.

        Where the density jumps, the bounds contain both limits.

        Parameters
        ----------
        x
            One number or an array, strictly between 0 and 1.
        rtol
            Requested ``upper - lower`` in units of ``max(1, |log density|)``.

        Returns
        -------
        Bound or Bounds
            In nats, of the shape of ``x``; ``float`` gives the upper end.

        Raises
        ------
        ValueError, TypeError
            If x is not strictly between 0 and 1.

        Examples
        --------
        >>> import logphi as lp
        >>> pair = lp.Gaussian(sigma=1).unit_pair()
        >>> round(pair.log_density(0.5).value, 9)
        -0.5
        """
        rtol = check.tolerance("rtol", rtol)
        points = check.unit_array("x", x)
        if np.any((points <= 0) | (points >= 1)):
            raise ValueError(f"x must lie strictly between 0 and 1, where the density is, got {x!r}")
        return each("x", x, lambda at: self._log_density(at, rtol))

    @overload
    def density(self, x: Number, *, rtol: float = 1e-9) -> Bound: ...
    @overload
    def density(self, x: Numbers, *, rtol: float = 1e-9) -> Bounds: ...
    def density(self, x: Any, *, rtol: float = 1e-9) -> Bound | Bounds:
        """The density of the first law at x, which is increasing.

        Parameters
        ----------
        x
            One number or an array, strictly between 0 and 1.
        rtol
            As in :meth:`log_density`.

        Returns
        -------
        Bound or Bounds
            Of the shape of ``x``; ``float`` gives the upper end.

        Raises
        ------
        ValueError, TypeError
            If x is not strictly between 0 and 1.

        Examples
        --------
        >>> import logphi as lp
        >>> pair = lp.Gaussian(sigma=1).unit_pair()
        >>> round(pair.density(0.5).value, 9)
        0.60653066
        """

        def one(at: float) -> Bound:
            return exponential(single(self.log_density(at, rtol=rtol)))

        return each("x", x, one)

    @property
    def atom(self) -> Bound:
        """The mass of the first law at 1: the probability of an infinite loss.

        Examples
        --------
        >>> import logphi as lp
        >>> round(lp.ApproximateDP(epsilon=1, delta=0.25).unit_pair().atom.value, 9)
        0.25
        """
        return infinite_mass(self.law, self.direction)

    def _cdf(self, x: float, rtol: float) -> Bound:
        if x == 1:
            return Bound(1.0, 1.0, 1.0, direction=self.direction, side=Side.LOWER)
        # exact from 1/2 on; the curve falls
        near = 1 - x
        rounding = 0.0 if x >= 0.5 else math.ulp(near)
        loss = Loss(self.law, Adjacency.REMOVE)
        high, low = (single(tradeoff(loss, min(max(near + side * rounding, 0.0), 1.0), rtol=rtol)) for side in (-1, 1))
        found = with_ends(high, min(low.lower, high.upper), high.value, high.upper, direction=self.direction)
        # the error of x adds the same amount
        return judged(found, max(2 * rtol * high.upper, high.width if high.status.met else 0.0))

    def _log_density(self, x: float, rtol: float) -> Bound:
        """The log-density from the quantile of the reversed pair's loss log(q/p) under Q, whose upper tail there is x."""
        reflected = self.law.reflected()
        low, high = masses(reflected)[0]
        if x < low:
            return Bound(-math.inf, -math.inf, -math.inf, direction=self.direction)
        if x >= 0.5 and 1 - x <= (1 - low) / 2:
            found = where_below(reflected, 1 - x, rtol)
        else:
            found = where_above(reflected, ((x - high) * (1 - ULP), (x - low) * (1 + ULP)), rtol)
        return replace(
            found, lower=-found.upper, value=-found.value, upper=-found.lower, direction=self.direction, side=Side.UPPER
        )
