"""The exponential mechanism."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from logphi.algebra.families import Representative
from logphi.algebra.family import Family
from logphi.algebra.release import Primitive
from logphi.arith.protocol import Plain
from logphi.inputs import check
from logphi.inputs.adjacency import Adjacency, AdjacencyLike
from logphi.inputs.arguments import RealLike, frozen
from logphi.pairs.equal import EQUAL
from logphi.pairs.flat import TiltedUniform
from logphi.pairs.pair import Pair
from logphi.text.written import exact


@frozen
class ExponentialMechanism(Representative, Primitive):
    """Any mechanism of epsilon-bounded range, by the hull of the two-point pairs that dominate such mechanisms.

    Pair: a loss with density proportional to e^{x/2} on [-eps, eps]. log-phi, with u = z + 1/2:
    M(z) = sinh(u eps) / (2u sinh(eps/2)). Profile of one release: (e^{eps/2} - e^{x/2})^2 / (e^eps - 1) for |x| <= eps.

    Several releases leak less than as many hulls, as each of them has one two-point pair, chosen before its output is seen.
    ``delta``, ``epsilon`` and trade-off functions are those of the worst adaptive choices, in the worst order, divergences and
    zCDP those of the worst pair at each order. ``log_phi``, ``loss`` and certificates are those of the hulls: for several
    releases their upper ends hold, their lower ends do not.

    Parameters
    ----------
    epsilon
        Range of the loss, in nats; at 0 nothing leaks. With outputs of probability proportional to e^{c u}, u a quality of
        sensitivity s, it is 2 c s, or c s if the quality is monotonic.
    adjacency
        The relation under which the range is stated.

    Raises
    ------
    ValueError, TypeError
        If epsilon is negative or not a finite number.

    References
    ----------
    Dong, Durfee & Rogers 2020, *Optimal Differential Privacy Composition for Exponential Mechanisms* (bounded range, its
    two-point pairs, and their adaptive composition).

    Examples
    --------
    >>> print(ExponentialMechanism(epsilon=1).delta(0.3).method)
    exact
    """

    range_epsilon: float
    adjacency: Adjacency
    _one_formula: ClassVar = True
    _stored: ClassVar = {"epsilon": "range_epsilon"}
    _grows: ClassVar = ("epsilon",)

    def __init__(self, epsilon: RealLike, adjacency: AdjacencyLike = Adjacency.ADD_REMOVE) -> None:
        self._settle(range_epsilon=check.moderate_or_zero("epsilon", epsilon), adjacency=adjacency)

    @property
    def _extreme(self) -> Pair | None:
        """The pair of a loss of zero."""
        return None if self.range_epsilon else EQUAL

    def family(self) -> Family | None:
        """All mechanisms of this range; None for a range of zero."""
        if not self.range_epsilon:
            return None
        from logphi.mechanisms.ranges.bounded_range import BoundedRange

        return BoundedRange(self, self.range_epsilon, self.adjacency)

    @property
    def _exact_largest_loss(self) -> Fraction:
        return exact(self.range_epsilon)

    def pair(self) -> Pair:
        """The hull of the two-point pairs."""
        return self._extreme or TiltedUniform(Plain(self.range_epsilon), with_atoms=False)
