"""The Skellam mechanism for integer vectors."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from logphi.algebra.release import Mechanism
from logphi.arith.floats import ULP
from logphi.arrays import Array
from logphi.inputs import check
from logphi.inputs.arguments import ADD_REMOVE, Real, RealOrNone, Relation, WholeOrNone, default, frozen
from logphi.mechanisms.concentrated import LARGEST_RHO, SMALLEST_RHO
from logphi.mechanisms.from_tradeoff import FromTradeoff
from logphi.mechanisms.integer_noise.skellam_shift import SkellamShift
from logphi.mechanisms.integer_noise.skellam_tails import LEAST_VARIANCE, errors_of_tests
from logphi.mechanisms.integer_noise.whole_vector_noise import OfWholeVectors, WholeVectorNoise
from logphi.mechanisms.integer_noise.whole_vectors import WholeVectors
from logphi.pairs.extremes import noisy
from logphi.pairs.pair import Pair

# chosen: hardly any noise
SMALLEST_VARIANCE = 0.01
# chosen: more than any release adds
LARGEST_VARIANCE = 1e12
# derived: relative error of a bound in doubles, with room
_ROOM = 1 + 32 * ULP


@dataclass(frozen=True)
class _Curve(OfWholeVectors):
    """Bounds of the divergences of integer orders, and K's chords between them, as it is convex and 0 at 0."""

    moves: WholeVectors
    variance: float
    one_query: tuple[tuple[Mechanism, int], ...] = ()

    def _divergence(self, order: Array) -> Array:
        """At integer orders from 2 on, and the same formula at order 1."""
        square, total, mu = self.moves.square, self.moves.sum, self.variance
        more = np.minimum(((2 * order - 1) * square + 6 * total) / (4 * mu**2), 3 * total / (2 * mu))
        found: Array = order * square / (2 * mu) + more
        return found

    def bound(self, z: Array) -> Array:
        """The chord, rounded up."""
        below = np.floor(z)
        low, high = below * self._divergence(below + 1), (below + 1) * self._divergence(below + 2)
        line: Array = (low * (1 - (z - below)) + high * (z - below)) * _ROOM
        return line

    @property
    def listed(self) -> tuple[float, ...]:
        """None: the curve is known at all z."""
        return ()

    @property
    def mean(self) -> float:
        """The divergence of order 2."""
        return float(self._divergence(np.array(2.0))) * _ROOM

    @property
    def rho(self) -> float:
        """The divergence of order 2: D_a is at most the bound of D_{k+1} up to a = k + 1, and this over k decreases in k."""
        return self.mean

    @property
    def line(self) -> tuple[float, float]:
        """D_a is at most D at the next whole order, below a + 1."""
        slope = self.moves.square / (2 * self.variance)
        return (slope + 3 * self.moves.sum / (2 * self.variance)) * _ROOM, slope * _ROOM


@frozen
class Skellam(WholeVectorNoise):
    """Adds Skellam noise to each coordinate of an integer vector, as in secure aggregation.

    Skellam noise is the difference of two Poisson numbers, P(x) = e^{-mu} I_x(mu) with a Bessel function, and variance mu. The
    Skellam noise of several parties adds up to Skellam noise.

    In one coordinate the pair is the noise shifted by the largest possible integer against the noise, as the law is
    log-concave: its outcomes are listed where mu is at most 62500. In several, the divergences of integer orders a > 1 are at
    most a D2^2 / (2 mu) + min( ((2 a - 1) D2^2 + 6 D1) / (4 mu^2), 3 D1 / (2 mu) ), and between them (a - 1) D_a lies below its
    chords, being convex; answers are brackets, whose lower ends are those of one difference or, where its outcomes are too many
    to list, of tests whether each coordinate is above some integer.

    Parameters
    ----------
    variance
        mu, the sum of the variances of all parties that certainly add noise, in the square of the units of the rounded query;
        from 0.01 to 1e12. Or 0, without noise: everything leaks.
    l2_sensitivity, l1_sensitivity, dimension
        D2, D1 and the number of coordinates, as of :class:`VectorDiscreteGaussian`.
    adjacency
        The relation under which the sensitivities are stated.

    Raises
    ------
    ValueError, TypeError
        If a parameter is outside its range, or the noise is so small that nothing useful is proved.

    References
    ----------
    Agarwal, Kairouz & Liu 2021 (the divergences).

    Examples
    --------
    >>> round(Skellam(variance=1600, l2_sensitivity=30).epsilon(1e-6).upper, 3)
    3.794
    """

    variance: Real
    l2_sensitivity: Real = default(1.0)
    l1_sensitivity: RealOrNone = default(None)
    dimension: WholeOrNone = default(None)
    adjacency: Relation = ADD_REMOVE
    _hints: ClassVar = {
        "sigma": "variance=, of the sum of all noise: sigma**2",
        "mu": "variance=, of the sum of all noise",
        **dict.fromkeys(("dim", "d"), "dimension="),
        "parties": "variance=, the sum of the variances of all parties",
        "sensitivity": "l2_sensitivity=, or with dimension=1 that of one number",
    }

    def __post_init__(self) -> None:
        variance = check.nonnegative("variance", self.variance)
        if variance and not SMALLEST_VARIANCE <= variance <= LARGEST_VARIANCE:
            raise ValueError(
                f"variance must be 0 or lie between {SMALLEST_VARIANCE:g} and {LARGEST_VARIANCE:g}, got {variance!r}: it is "
                "the sum over all parties, in the units of the rounded query"
            )
        self._settle(variance=variance, **WholeVectors.checked(self.l2_sensitivity, self.l1_sensitivity, self.dimension))
        if not self._extreme and not self._exact and self._slope > LARGEST_RHO:
            raise ValueError(
                f"the noise must give an l2_sensitivity^2 / (2 variance) of at most {LARGEST_RHO:g}, got {self._slope:.3g} "
                f"from l2_sensitivity={self.l2_sensitivity!r} and variance={variance!r}: are both in units of the "
                "rounded query?"
            )

    @property
    def _extreme(self) -> Pair | None:
        """The pair without noise, or of a query that does not move."""
        return noisy(self._moves.square, self.variance)

    @property
    def _slope(self) -> float:
        return self._moves.square / (2 * float(self.variance))

    def _bounds(self) -> _Curve:
        # less noise than there is gives larger divergences
        variance = min(float(self.variance), self._moves.square / (2 * SMALLEST_RHO))
        return _Curve(self._moves, variance, self._members())

    def _members(self) -> tuple[tuple[Mechanism, int], ...]:
        """The release of one difference; of a large variance, tests of every coordinate."""
        listed, variance = super()._members(), float(self.variance)
        if listed or variance < LEAST_VARIANCE:
            return listed
        counts = Counter(self._moves.one_difference())
        return tuple((FromTradeoff(*errors_of_tests(variance, move), self.adjacency), count) for move, count in counts.items())

    def _one_coordinate(self, move: int, sampled: bool = False) -> Mechanism | None:
        """One shift, where its outcomes are listed."""
        if not SkellamShift.known(self.variance, move):
            return None
        one = _Curve(WholeVectors(move * move, move, 1), float(self.variance))
        return SkellamShift(move, self.adjacency, 2 * one.rho, self.variance)
