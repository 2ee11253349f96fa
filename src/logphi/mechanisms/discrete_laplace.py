"""The discrete Laplace (two-sided geometric) mechanism."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from logphi.algebra.release import Primitive
from logphi.arith.protocol import Arithmetic, Number, Ratio
from logphi.inputs import check
from logphi.inputs.arguments import ADD_REMOVE, Real, Relation, Whole, default, frozen
from logphi.laws.atomic.cells import Cells
from logphi.laws.atomic.symmetric_lattice import GeometricShift
from logphi.laws.flat.two_point import TwoPoint
from logphi.laws.log_phi import LogPhi
from logphi.pairs.extremes import noisy
from logphi.pairs.finite import FinitePair
from logphi.pairs.pair import Pair
from logphi.text.written import exact

# measured: each step is an atom; with more, an answer takes minutes
LARGEST_SENSITIVITY = 1000
# derived: above this, e^{-s/scale} times a rate underflows
LARGEST_SAMPLED = 600.0


@frozen
class DiscreteLaplace(Primitive):
    """Adds two-sided geometric noise, with probabilities proportional to e^{-|x|/scale}, to an integer-valued query.

    Pair: the noise shifted by s against the noise. With a = 1/scale the loss is (2x - s) a for x = 0 .. s, where each tail is
    one atom, of probability 1/(1 + r) at s a and r^s/(1 + r) at -s a, r = e^{-a}. log-phi, with u = z + 1/2:
    M(z) = e^{-as/2} [2 cosh(u a s)/(1 + r) + tanh(a/2) sinh(u a (s-1))/sinh(u a)], symmetric; a lattice of span 2a. For s = 1
    it is randomized response with odds e^a.

    Parameters
    ----------
    scale
        Scale of the noise, in the units of the query; at 0, without noise, everything leaks.
    sensitivity
        L1 sensitivity of the query; an integer from 0, where nothing leaks, to 1000.
    adjacency
        The relation under which the sensitivity is stated.

    Raises
    ------
    ValueError, TypeError
        If the scale is negative or not a finite number, or the sensitivity is not an integer in its range.

    References
    ----------
    Ghosh, Roughgarden & Sundararajan 2012 (the geometric mechanism).

    Examples
    --------
    >>> round(DiscreteLaplace(scale=2, sensitivity=3).delta(0.5).value, 9)
    0.39346934
    """

    scale: Real
    sensitivity: Whole = default(1)
    adjacency: Relation = ADD_REMOVE
    _grows: ClassVar = ("sensitivity",)
    _one_formula: ClassVar = True

    def __post_init__(self) -> None:
        sensitivity = check.whole("sensitivity", self.sensitivity, 0, LARGEST_SENSITIVITY)
        self._settle(scale=check.nonnegative("scale", self.scale), sensitivity=sensitivity)
        if not self._extreme:
            check.moderate("sensitivity / scale", sensitivity / self.scale)

    @property
    def _extreme(self) -> Pair | None:
        """The pair without noise, or of a query with sensitivity zero."""
        return noisy(self.sensitivity, self.scale)

    @property
    def _exact_largest_loss(self) -> Fraction:
        return exact(self.sensitivity) / exact(self.scale)

    def pair(self) -> Pair:
        """The s + 1 outcomes: the two tails, and the single points between them."""
        if extreme := self._extreme:
            return extreme
        a, s = 1 / self.scale, self.sensitivity
        if a * s > LARGEST_SAMPLED:
            raise ValueError(
                f"a discrete Laplace with sensitivity / scale above {LARGEST_SAMPLED:g} cannot be sampled, got {a * s!r}: "
                "probabilities of its pair are too small for doubles; leave the sampling out, which is an upper bound"
            )
        end, inner = 1 / (1 + math.exp(-a)), math.tanh(a / 2)
        q = (end, *(inner * math.exp(-a * x) for x in range(1, s)), math.exp(-a * s) * end)
        # half an ulp of the scale, in the exponentials and in the slope of tanh, and their roundings
        return FinitePair(q[::-1], q, 2.0**-53 * (4 * a * s + 20), _Outcomes(self.scale, s))

    def loss_law(self) -> LogPhi:
        """Equally spaced atoms."""
        if extreme := self._extreme:
            return extreme.loss()
        if self.sensitivity == 1:
            return LogPhi.of([(TwoPoint(Ratio(1.0, self.scale)), 1)])
        return LogPhi.of([(GeometricShift(self.scale, self.sensitivity), 1)])


@dataclass(frozen=True)
class _Outcomes(Cells):
    scale: float
    sensitivity: int

    def under(self, arith: Arithmetic) -> tuple[Sequence[Number], Sequence[Number]]:
        """The probabilities of at most 0, each integer between, and at least s."""
        a, s = 1 / arith.constant(self.scale), self.sensitivity
        end = 1 / (1 + arith.exp(-a))
        q = [end, *(arith.tanh(a / 2) * arith.exp(-a * x) for x in range(1, s)), arith.exp(-a * s) * end]
        return q[::-1], q
