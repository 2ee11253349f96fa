"""The discrete Gaussian mechanism for integer vectors, with noise of one party or summed over several."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from logphi.algebra.release import Mechanism
from logphi.arith.floats import ULP
from logphi.arrays import Array
from logphi.inputs import check
from logphi.inputs.arguments import ADD_REMOVE, Real, RealOrNone, Relation, Whole, WholeOrNone, default, frozen
from logphi.mechanisms.concentrated import LARGEST_RHO, SMALLEST_RHO, LinearDivergence
from logphi.mechanisms.declared_curves import Curve
from logphi.mechanisms.discrete import Discrete
from logphi.mechanisms.discrete_gaussian import (
    LARGEST_SAMPLED_SHIFT,
    LARGEST_SAMPLED_SIGMA,
    LARGEST_SIGMA,
    SMALLEST_SIGMA,
    DiscreteGaussian,
)
from logphi.mechanisms.from_profile import FromProfile
from logphi.mechanisms.gaussian import Gaussian
from logphi.mechanisms.integer_noise.discrete_gaussian_shift import MOST_PARTIES, DiscreteGaussianShift
from logphi.mechanisms.integer_noise.discrete_gaussian_sums import rounding_variance, shares_above, spread_of_sum
from logphi.mechanisms.integer_noise.shifts_of_sums import largest_of_shifts, rho_of_shifts
from logphi.mechanisms.integer_noise.whole_vector_noise import OfWholeVectors, WholeVectorNoise
from logphi.mechanisms.integer_noise.whole_vectors import WholeVectors
from logphi.pairs.extremes import noisy
from logphi.pairs.pair import Pair

# chosen: more parties than any release has
LARGEST_PARTIES = 10**6
# chosen: the probability that the Gaussian which is rounded at random misses, for a vector; far below every relevant delta
_MISSED = 1e-20
# derived: what is rounded up may exceed the largest rho by this factor
_AT_MOST = 1 + 1e-9
# chosen: with a larger probability left out, that Gaussian is no use
_MOST_MISSED = 1e-3
# chosen: with a smaller t, the sum of all is as good as a discrete Gaussian
_CLOSE = 1e-9
# chosen: how many numbers of parties are tried, where the sum of all is far from a discrete Gaussian
_TRIED = 64


@dataclass(frozen=True)
class _Curve(OfWholeVectors, LinearDivergence):
    """zCDP, with what else is known of the noise; a rho with an offset may be sharper at large orders."""

    one_query: tuple[tuple[Mechanism, int], ...] = ()
    close: tuple[Mechanism, Mechanism] | None = None
    with_offset: tuple[tuple[float, float], ...] = ()
    # the square of the norm, with the noise and the largest coordinate, if shifts are known one by one
    shifts: tuple[int, float, int, int] | None = None

    def bound(self, z: Array) -> Array:
        """The smallest bound, rounded up."""
        bounds = [super().bound(z)]
        if self.shifts is not None:
            bounds.append(self.shifts[0] * largest_of_shifts(z, *self.shifts[1:]) * (1 + 2 * ULP))
        bounds += [z * ((1 + z) * rho + offset) * (1 + 8 * ULP) for rho, offset in self.with_offset]
        found: Array = np.min(bounds, axis=0)
        return found

    @property
    def nearly(self) -> tuple[Mechanism, Mechanism] | None:
        """A Gaussian mechanism of slightly less noise."""
        return self.close


@frozen
class VectorDiscreteGaussian(WholeVectorNoise):
    """Adds discrete Gaussian noise of every party to each coordinate of an integer vector, as in secure aggregation.

    With n parties, the noise of a coordinate is the sum of n draws of probabilities proportional to e^{-x^2 / (2 sigma^2)}. In
    one coordinate the pair is the noise shifted by the largest possible integer against the noise, for up to 1000 parties and a
    variance n sigma^2 of up to 62500. Elsewhere two bounds are computed, and the sharper one answers.

    1. Renyi divergences. For one party D_a is at most a D2^2 / (2 sigma^2), at all orders a > 1. For n the sum of a coordinate
       is within a factor e^t of a discrete Gaussian of variance n sigma^2, with t by the proof in
       ``logphi.mechanisms.integer_noise.discrete_gaussian_sums``. Bounded ranges are t^2/8-zCDP, and the roots of rho obey a
       triangle inequality, so that D_a is at most a/2 times the sum of (abs(v_i) / (sqrt(n) sigma) + t)^2 over the coordinates
       of a difference v that are not zero. With m of these, the sum is at most D2^2 / (n sigma^2) + 2 D1 t / (sqrt(n) sigma) +
       m t^2. Another bound is a D2^2 / (2 n sigma^2) + m t, as the loss is off by at most t a coordinate, and the moment
       generating function of a discrete Gaussian is at most that of the normal law. Noise of fewer parties, to which the others
       add, is an upper bound too, and is used where it is smaller. Where t is not tiny, for up to 1000 parties, the divergences
       of single shifts are computed from the probabilities of the sum: D_a is at most D2^2 times the largest of a shift s over
       s^2 (``logphi.mechanisms.integer_noise.shifts_of_sums``).
    2. A discrete Gaussian is a Gaussian of slightly less variance, by about 1.5, that is rounded at random, except with a
       probability below 1e-20. For wide noise this is the sharper one, as no divergence is converted; samples have it too.

    The lower end is that of one difference v. If the outcomes of several parties are too many to list, it is that of a test
    whether each coordinate is above half of v. D2^2, D1 and m are integers, and related: see the parameters.

    Parameters
    ----------
    sigma
        Width of the noise of one party, in the units of the rounded query; from 0.1 to 1e6. Or 0, without noise: everything
        leaks.
    l2_sensitivity
        D2, the largest Euclidean norm of a difference of two queries, after scaling, clipping and rounding to integers,
        from 0 to 1e6. The square is rounded down to an integer, unless that would take off less than a billionth of it.
        Stochastic rounding makes norms larger: Kairouz, Liu & Steinke 2021, Proposition 22, has bounds of them.
    l1_sensitivity
        D1, the largest sum of absolute values of a difference, if known. None for what follows from integers: D2^2, or D2
        times the root of the dimension.
    parties
        The number n of parties that certainly add noise: honest ones, which do not drop out; up to 1e6.
    dimension
        The number of coordinates, if known. None for any number.
    adjacency
        The relation under which the sensitivities are stated.

    Raises
    ------
    ValueError, TypeError
        If a parameter is outside its range, or the noise is so small that nothing useful is proved.

    References
    ----------
    Canonne, Kamath & Steinke 2020 (one party); Kairouz, Liu & Steinke 2021 (several, with a larger t); Bun & Steinke 2016 (the
    triangle inequality).

    Examples
    --------
    >>> release = VectorDiscreteGaussian(sigma=4, l2_sensitivity=30, parties=100)
    >>> round(release.epsilon(1e-6).upper, 3)
    3.534
    """

    sigma: Real
    l2_sensitivity: Real = default(1.0)
    l1_sensitivity: RealOrNone = default(None)
    parties: Whole = default(1)
    dimension: WholeOrNone = default(None)
    adjacency: Relation = ADD_REMOVE
    _hints: ClassVar = {
        "sensitivity": "l2_sensitivity=, or with dimension=1 that of one number",
        "variance": "sigma=, of the noise of one party",
        **dict.fromkeys(("n", "num_clients", "clients", "num_parties"), "parties=, those that certainly add noise"),
        **dict.fromkeys(("local_stddev", "local_scale"), "sigma=, of the noise of one party in the units of the rounded query"),
        **dict.fromkeys(("dim", "d"), "dimension="),
    }

    def __post_init__(self) -> None:
        sigma = check.nonnegative("sigma", self.sigma)
        if sigma and not SMALLEST_SIGMA <= sigma <= LARGEST_SIGMA:
            raise ValueError(
                f"sigma must be 0 or lie between {SMALLEST_SIGMA:g} and {LARGEST_SIGMA:g}, got {sigma!r}: is it in the units "
                "of the rounded query?"
            )
        given = WholeVectors.checked(self.l2_sensitivity, self.l1_sensitivity, self.dimension)
        self._settle(sigma=sigma, parties=check.whole("parties", self.parties, 1, LARGEST_PARTIES), **given)
        if not self._extreme and not self._exact and self._rho > LARGEST_RHO * _AT_MOST:
            raise ValueError(
                f"the noise must give a rho of at most {LARGEST_RHO:g}, got {self._rho:.3g} from sigma={sigma!r} and "
                f"l2_sensitivity={self.l2_sensitivity!r}: are both in the units of the rounded query?"
            )

    @property
    def _extreme(self) -> Pair | None:
        """The pair without noise, or of a query that does not move."""
        return noisy(self._moves.square, self.sigma)

    @property
    def _rho(self) -> float:
        return _rho(float(self.sigma), self.parties, self._moves)

    def _one_coordinate(self, move: int, sampled: bool = False) -> Mechanism | None:
        """The discrete Gaussian mechanism; of several parties, where the outcomes are listed."""
        if self.parties > 1:
            if not DiscreteGaussianShift.known(float(self.sigma), self.parties, move):
                return None
            rho = _rho(float(self.sigma), self.parties, WholeVectors(move * move, move, 1))
            return DiscreteGaussianShift(move, self.adjacency, 2 * rho, float(self.sigma), self.parties)
        wide = self.sigma > LARGEST_SAMPLED_SIGMA or move > LARGEST_SAMPLED_SHIFT * self.sigma
        return None if sampled and wide else DiscreteGaussian(self.sigma, move, adjacency=self.adjacency)

    def _members(self) -> tuple[tuple[Mechanism, int], ...]:
        """The release of one difference; if the outcomes are not listed, of whether each coordinate is above half of it."""
        listed = super()._members()
        if listed or self.parties == 1:
            return listed
        counts = Counter(self._moves.one_difference())
        found = [(shares_above(float(self.sigma), self.parties, move), count) for move, count in counts.items()]
        return tuple(
            (Discrete([above[0], 1 - above[0]], [above[1], 1 - above[1]], self.adjacency), count)
            for above, count in found
            if above
        )

    def _bounds(self) -> Curve:
        sigma, moves = float(self.sigma), self._moves
        _, fewer = _fewer(sigma, self.parties, moves)
        each = (moves.square, sigma, self.parties, moves.farthest) if _shifts_matter(sigma, self.parties) else None
        # with an offset, more parties may be better
        with_offset = tuple(
            (
                moves.square / (2 * number * sigma**2) * (1 + 8 * ULP),
                moves.coordinates * spread_of_sum(sigma, number) * (1 + 2 * ULP),
            )
            for number in sorted({fewer, self.parties} if self.parties > 1 else ())
        )
        return _Curve(max(self._rho, SMALLEST_RHO), 0.0, self._members(), self._rounded(), with_offset, each)

    def _rounded(self) -> tuple[Mechanism, Mechanism] | None:
        """A Gaussian of slightly less variance, and what is left out."""
        moves, variance = self._moves, self.parties * float(self.sigma) ** 2
        less = rounding_variance(variance, _MISSED / moves.coordinates)
        missed = (_MISSED + moves.coordinates * spread_of_sum(float(self.sigma), self.parties)) * (1 + 4 * ULP)
        left = variance * (1 - 4 * ULP) - less
        if left < 0 or missed > _MOST_MISSED:
            return None
        sigma, norm = math.sqrt(left) * (1 - 4 * ULP), math.sqrt(moves.square) * (1 + 4 * ULP)
        return Gaussian(sigma, norm, self.adjacency), FromProfile([0], [missed], self.adjacency)


def _shifts_matter(sigma: float, parties: int) -> bool:
    """Whether bounds by single shifts are sharper."""
    return 1 < parties <= MOST_PARTIES and spread_of_sum(sigma, parties) > _CLOSE


def _rho(sigma: float, parties: int, moves: WholeVectors) -> float:
    """The smallest rho, rounded up."""
    rho, _ = _fewer(sigma, parties, moves)
    if not _shifts_matter(sigma, parties):
        return rho
    return min(rho, moves.square * rho_of_shifts(sigma, parties, moves.farthest) * (1 + 2 * ULP))


@lru_cache(maxsize=1024)
def _fewer(sigma: float, parties: int, moves: WholeVectors) -> tuple[float, int]:
    """The smallest rho that the noise of some of the parties gives, rounded up, and their number."""

    def of(number: int) -> tuple[float, int]:
        own, t = sigma * math.sqrt(number) * (1 - 2 * ULP), spread_of_sum(sigma, number)
        return (moves.square / own**2 + 2 * moves.sum * t / own + moves.coordinates * t**2) / 2 * (1 + 16 * ULP), number

    found = of(parties)
    if found[0] * parties <= of(1)[0] * (1 + 1e-9):
        return found
    fewer = np.unique(np.geomspace(1, parties, _TRIED).astype(int))
    return min(found, *(of(int(number)) for number in fewer))
