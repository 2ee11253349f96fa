"""Mechanisms known only by their guarantee: (epsilon, 0) and (epsilon, delta)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any, ClassVar

from logphi.algebra.release import Mechanism, Primitive
from logphi.arith.protocol import Arithmetic, Number, Plain
from logphi.convex.hull import exponential
from logphi.inputs import check
from logphi.inputs.adjacency import ONE_ORDER, Adjacency, AdjacencyLike
from logphi.inputs.arguments import RealLike, frozen
from logphi.laws.atomic.cells import Cells
from logphi.laws.flat.two_point import TwoPoint
from logphi.laws.log_phi import LogPhi
from logphi.laws.zero_or_infinite import ZeroOrInfinite
from logphi.mechanisms.discrete_laplace import LARGEST_SENSITIVITY, DiscreteLaplace
from logphi.pairs.disjoint import DISJOINT
from logphi.pairs.equal import EQUAL
from logphi.pairs.finite import FinitePair
from logphi.pairs.pair import Pair
from logphi.text.written import Written, exact, meant

# derived: for larger epsilons e^-epsilon times a rate underflows
LARGEST_SAMPLED = 600.0
# derived: a double holds fifteen digits, so that a decimal of this many digits and its double print alike
_UPWARD = Context(prec=15, rounding=ROUND_CEILING)


@frozen
class ApproximateDP(Primitive):
    """Any mechanism that is (epsilon, delta)-DP, by the pair that dominates them all.

    Pair: with probability delta the outcome reveals everything, otherwise it is randomized response with odds e^eps.
    log-phi: M(z) = (1 - delta) (e^{(z+1) eps} + e^{-z eps}) / (1 + e^eps); P(L = inf) = delta.

    Parameters
    ----------
    epsilon
        The guarantee's epsilon, in nats; zero or more. Where it is infinite, everything may leak.
    delta
        The guarantee's delta, in [0, 1]; at 1 everything may leak.
    adjacency
        The relation under which the guarantee is stated: one in which both directions count.

    Raises
    ------
    ValueError, TypeError
        If a parameter is outside its range, or the relation has one direction only.

    References
    ----------
    Kairouz, Oh & Viswanath 2015, Theorem 3.4 (the dominating pair); [LT] Corollary 4.7 (exact composition).

    Examples
    --------
    >>> round(ApproximateDP(epsilon=1, delta=1e-5).delta(1.0).value, 15)
    1e-05
    """

    guaranteed_epsilon: float
    guaranteed_delta: float
    adjacency: Adjacency
    _one_formula: ClassVar = True
    _dominating: ClassVar = True
    _stored: ClassVar = {"epsilon": "guaranteed_epsilon", "delta": "guaranteed_delta"}

    def __init__(self, epsilon: RealLike, delta: RealLike, adjacency: AdjacencyLike = Adjacency.ADD_REMOVE) -> None:
        kept = {
            "guaranteed_epsilon": _level(epsilon),
            "guaranteed_delta": check.probability("delta", delta),
        }
        self._settle(**kept, adjacency=_of_both_orders(adjacency, epsilon, delta))

    def _grouped(self, size: int) -> Mechanism:
        """The guarantee for a group, delta rounded up in the last of fifteen digits."""
        if self._extreme:
            return self
        epsilon, delta = meant(self.guaranteed_epsilon), meant(self.guaranteed_delta)
        # every positive delta is at least e^-745
        if delta and ((size - 1) * epsilon > 745 or delta * _geometric_sum(epsilon, size) >= 1):
            raise ValueError(f"{self!r} guarantees nothing to a group of {size}, whose delta may be 1: take a smaller group")
        grown = delta * _geometric_sum(epsilon, size) if delta else delta
        rounded = _UPWARD.divide(Decimal(grown.numerator), Decimal(grown.denominator))
        return ApproximateDP(Written(size * epsilon), Written(Fraction(rounded)), self.adjacency)

    @property
    def _extreme(self) -> Pair | None:
        return without_guarantee(self.guaranteed_epsilon, self.guaranteed_delta)

    @property
    def _exact_largest_loss(self) -> Fraction:
        return exact(self.guaranteed_epsilon)

    @property
    def _exact_infinite_mass(self) -> Fraction:
        return exact(self.guaranteed_delta)

    def pair(self) -> Pair:
        """Four outcomes, two of which reveal everything."""
        return guarantee_pair(self.guaranteed_epsilon, self.guaranteed_delta)

    def loss_law(self) -> LogPhi:
        """Two opposite atoms, infinite with probability delta."""
        return guarantee_loss(self.guaranteed_epsilon, self.guaranteed_delta)


@frozen
class PureDP(Primitive):
    """Any mechanism that is epsilon-DP, by the pair that dominates them all: randomized response with odds e^eps.

    Pair: (e^eps, 1) against (1, e^eps), over 1 + e^eps. log-phi: M(z) = cosh((z + 1/2) eps) / cosh(eps/2).

    Parameters
    ----------
    epsilon
        The guarantee, in nats; zero or more. At 0 nothing leaks; where it is infinite, everything may.
    adjacency
        The relation under which the guarantee is stated: one in which both directions count.

    Raises
    ------
    ValueError, TypeError
        If epsilon is negative or not a number, or the relation has one direction only.

    References
    ----------
    Kairouz, Oh & Viswanath 2015, Theorem 3.4.

    Examples
    --------
    >>> round(PureDP(epsilon=1).delta(0.5).value, 9)
    0.287649137
    """

    guaranteed_epsilon: float
    adjacency: Adjacency
    _one_formula: ClassVar = True
    _dominating: ClassVar = True
    _stored: ClassVar = {"epsilon": "guaranteed_epsilon"}

    def __init__(self, epsilon: RealLike, adjacency: AdjacencyLike = Adjacency.ADD_REMOVE) -> None:
        self._settle(guaranteed_epsilon=_level(epsilon), adjacency=_of_both_orders(adjacency, epsilon, 0))

    def _grouped(self, size: int) -> Mechanism:
        """Two-sided geometric noise, the worst case for a group; the pure guarantee of a group that is too large for it."""
        if self._extreme:
            return self
        epsilon = meant(self.guaranteed_epsilon)
        if epsilon and size <= LARGEST_SENSITIVITY:
            return DiscreteLaplace(Written(1 / epsilon), size, self.adjacency)
        return PureDP(Written(size * epsilon), self.adjacency)

    @property
    def _extreme(self) -> Pair | None:
        return without_guarantee(self.guaranteed_epsilon, 0.0)

    @property
    def _exact_largest_loss(self) -> Fraction:
        return exact(self.guaranteed_epsilon)

    def pair(self) -> Pair:
        """Randomized response with odds e^eps."""
        return guarantee_pair(self.guaranteed_epsilon, 0.0)

    def loss_law(self) -> LogPhi:
        """Two opposite atoms."""
        return guarantee_loss(self.guaranteed_epsilon, 0.0)


def _geometric_sum(epsilon: Fraction, size: int) -> Fraction:
    """1 + e^eps + ... + e^{(size - 1) eps}, rounded up."""
    if size == 1:
        return Fraction(1)
    half = size // 2
    total = _geometric_sum(epsilon, half) * (1 + exponential(half * epsilon))
    return total + exponential((size - 1) * epsilon) if size % 2 else total


def _of_both_orders(adjacency: AdjacencyLike, epsilon: RealLike, delta: RealLike) -> Adjacency:
    """The relation, if a guarantee under it bounds both directions of a pair, as the dominating pair does."""
    relation = Adjacency.of(adjacency)
    if relation in ONE_ORDER:
        raise ValueError(
            f"a guarantee under {relation.value!r} alone bounds one direction, and the pair of this mechanism "
            "needs both: state it under 'add_remove' if it holds in both, or write "
            f"FromProfile(epsilons=[{epsilon!r}], deltas=[{delta!r}], adjacency={relation.value!r})"
        )
    return relation


def without_guarantee(epsilon: float, delta: float) -> Pair | None:
    """The pair without a guarantee, which may reveal everything."""
    return DISJOINT if epsilon == math.inf or delta == 1 else None


def _level(epsilon: Any) -> float:
    """An epsilon, which may be infinite."""
    unlimited = isinstance(epsilon, (float, Decimal)) and epsilon == math.inf
    return math.inf if unlimited else check.moderate_or_zero("epsilon", epsilon)


def guarantee_loss(epsilon: float, delta: float) -> LogPhi:
    """The loss of the pair that dominates every (epsilon, delta)-DP mechanism."""
    if nothing_promised := without_guarantee(epsilon, delta):
        return nothing_promised.loss()
    if epsilon == delta == 0:
        return LogPhi()
    failing = [(ZeroOrInfinite(delta), 1)] if delta else []
    return LogPhi.of([(TwoPoint(Plain(epsilon)), 1), *failing])


def guarantee_pair(epsilon: float, delta: float) -> Pair:
    """The pair that dominates every (epsilon, delta)-DP mechanism."""
    if nothing_promised := without_guarantee(epsilon, delta):
        return nothing_promised
    if epsilon == delta == 0:
        return EQUAL
    if epsilon > LARGEST_SAMPLED:
        raise ValueError(
            f"a guarantee with epsilon above {LARGEST_SAMPLED:g} cannot be sampled, got epsilon={epsilon!r}: "
            "the probabilities of its pair are too small for doubles; leave the sampling out, which is an upper bound"
        )
    truth, lie = (1 - delta) / (1 + math.exp(-epsilon)), (1 - delta) / (1 + math.exp(epsilon))
    # half an ulp of delta, and of epsilon in the exponential
    relative_error = 2.0**-53 * (delta / (1 - delta) + epsilon + 8)
    return FinitePair((delta, truth, lie, 0.0), (0.0, lie, truth, delta), relative_error, _Guaranteed(epsilon, delta))


@dataclass(frozen=True)
class _Guaranteed(Cells):
    epsilon: float
    delta: float

    def under(self, arith: Arithmetic) -> tuple[Sequence[Number], Sequence[Number]]:
        """The outcomes of P alone, of both, of both, and of Q alone."""
        failure, none = arith.constant(self.delta), arith.constant(0.0)
        odds = arith.exp(-arith.constant(self.epsilon))
        truth = (1 - failure) / (1 + odds)
        # for epsilon = 0 both probabilities are one formula
        lie = truth * odds if self.epsilon else truth
        return (failure, truth, lie, none), (none, lie, truth, failure)
