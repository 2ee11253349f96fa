"""Privacy loss distributions of dp-accounting from proved bounds of a profile, as upper or lower bounds of the truth.

notation: a = e^eps, h(a) = delta(eps) of the pair (P, Q); for eps < 0 it follows from the profile h' of the reversed pair,
h(a) = 1 - a + a h'(1/a). A pair whose profile is piecewise linear in a has losses at the vertices of the profile only.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

from logphi.algebra.release import Mechanism
from logphi.answers.bound import single
from logphi.answers.status import Direction
from logphi.arrays import Array
from logphi.convex.hull import Hull, exponential
from logphi.convex.lower_hull import Known, hull_below
from logphi.engine.answer import probability
from logphi.engine.log_probability import masses
from logphi.engine.routes.registry import evaluator
from logphi.engine.routes.route import Request
from logphi.inputs import check
from logphi.inputs.adjacency import ONE_ORDER
from logphi.inversion.demand import Demand
from logphi.laws.log_phi import LogPhi
from logphi.pairs.pair import UnsupportedError
from logphi.progress import shown

# chosen: the finest interval
FINEST_INTERVAL = 1e-6
# derived: the logarithm of a vertex is accurate to 1e-13, which is 1e-7 of the finest interval
_BEND_ERROR = 1e-5
# chosen: the largest length of a list of losses, in dp-accounting too
MOST_CELLS = 10**7
# chosen: the largest number of points of a profile
MOST_POINTS = 10_000
# measured: the export extends to the largest loss if that is at most this factor above the quantile
_NEAR = 1.1
# measured: a tail this small relative to the infinite mass is found quickly
_BESIDE = 1e-6


def to_privacy_loss_distribution(
    mechanism: Mechanism,
    *,
    value_discretization_interval: float = 1e-4,
    pessimistic: bool = True,
    tail_mass: float = 1e-18,
    points: int = 1000,
    rtol: float = 1e-6,
) -> PrivacyLossDistribution:
    """The loss of a release as a ``PrivacyLossDistribution`` of dp-accounting, whose profile is above or below the exact one.

    Pessimistic: the pair whose profile interpolates proved upper bounds of delta at ``points`` epsilons linearly in e^eps; it
    dominates the release in both directions, and its two distributions are those of one pair, as riskcal assumes.
    Optimistic: a pair whose profile is convex in e^eps and below the proved lower bounds, its losses rounded down.

    Parameters
    ----------
    mechanism
        The release to export; under any relation that has both directions.
    value_discretization_interval
        The interval that losses are multiples of, in nats, from 1e-6 to 1. dp-accounting composes only distributions of equal
        interval.
    pessimistic
        True for answers that are never below the truth, False for answers that are never above it.
    tail_mass
        Losses above the epsilon at this delta count as infinite if pessimistic, and are left out if not; from 1e-290 to 0.1.
    points
        The number of epsilons, in each direction, at which the profile is computed, from 2 to 10,000; fewer are faster, and the
        result is farther from the truth.
    rtol
        Requested relative width of the bounds of delta; the export is a bound whatever width they have.

    Returns
    -------
    PrivacyLossDistribution
        ``get_delta_for_epsilon`` of a number is a bound, its own rounding included. For arrays of epsilons, and in
        ``get_epsilon_for_delta``, dp-accounting subtracts sums, and in ``compose`` it uses Fourier transforms; their rounding,
        about 1e-16, is not compensated.

    Raises
    ------
    UnsupportedError
        If the relation has one direction only, errors are estimates, or the law of the loss is unknown.
    ValueError, TypeError
        If an argument is outside its range, or the losses need more than ten million intervals.

    References
    ----------
    Doroshenko et al. 2022 (Connect the Dots); [AFA] Corollary 26 (dominance by the hull).

    Examples
    --------
    >>> import logphi as lp
    >>> training = 1000 * lp.Gaussian(sigma=1.1).poisson(0.01)
    >>> above = to_privacy_loss_distribution(training, points=100)
    >>> below = to_privacy_loss_distribution(training, points=100, pessimistic=False)
    >>> truth = training.delta(1.5)
    >>> low, high = (one.get_delta_for_epsilon(1.5) for one in (below, above))
    >>> print(low <= truth.lower <= truth.upper <= high)
    True
    """
    if not isinstance(mechanism, Mechanism):
        raise TypeError(f"only a mechanism has a loss to export, got {mechanism!r} of type {type(mechanism).__name__}")
    if mechanism.adjacency in ONE_ORDER:
        raise UnsupportedError(
            f"a PrivacyLossDistribution holds both directions, got a release under {mechanism.adjacency.value!r}; "
            "state it under 'add_remove'"
        )
    interval = check.positive("value_discretization_interval", value_discretization_interval)
    if not FINEST_INTERVAL <= interval <= 1:
        raise ValueError(f"value_discretization_interval must lie between {FINEST_INTERVAL:g} and 1, got {interval!r}")
    tail = check.positive("tail_mass", tail_mass)
    if not 1e-290 <= tail <= 0.1:
        raise ValueError(f"tail_mass must lie between 1e-290 and 0.1, got {tail!r}")
    count = check.whole("points", points, 2, MOST_POINTS)
    rtol = check.tolerance("rtol", rtol)
    law = mechanism.loss_law()
    if law.traits.estimated:
        raise UnsupportedError("the errors of this loss are estimates: an export would not be proved")

    ends = [_reach(mechanism, one, interval, tail) for one in (Direction.REMOVE, Direction.ADD)]
    remove = _known(law, interval, ends[0], count, rtol)
    symmetric = law.traits.symmetric
    add = remove if symmetric else _known(law.reflected(), interval, ends[1], count, rtol)
    known = [_turned(point) for point in reversed(add[1:])] + remove
    if pessimistic:
        hull = Hull.of([(a, high) for a, _, high in known])
    else:
        floor, rest = (Fraction(masses(part)[0][0]) for part in (law, law.reflected()))
        hull = hull_below(known, floor, 1 - rest)

    # the first and the last outcome have mass under one law only
    p, q = hull.pair()
    losses = np.array([_log(a) for a, _ in hull.vertices[1:]]) / interval
    settled = _above if pessimistic else _below
    parts = settled(losses, p[1:-1], p[-1], -ends[1], ends[0]), settled(-losses, q[1:-1], q[0], -ends[0], ends[1])
    (mass, infinite), (mass_add, infinite_add) = parts
    reverse = {} if symmetric else {"rounded_probability_mass_function_add": mass_add, "infinity_mass_add": infinite_add}
    return PrivacyLossDistribution.create_from_rounded_probability(
        mass, infinite, interval, pessimistic_estimate=pessimistic, symmetric=symmetric, **reverse
    )


def _reach(mechanism: Mechanism, direction: Direction, interval: float, tail: float) -> int:
    """The largest loss of one direction, in intervals."""
    law = mechanism.loss_law() if direction is Direction.REMOVE else mechanism.loss_law().reflected()
    infinite = masses(law)[0][1]
    far = single(mechanism.epsilon(min(infinite + max(tail, _BESIDE * infinite), 1.0), direction=direction)).upper
    if far <= law.support.upper <= _NEAR * far:
        far = law.support.upper
    if not far / interval < MOST_CELLS / 2:
        raise ValueError(
            f"losses up to {far:g} in intervals of {interval:g} are more than {MOST_CELLS:,}: give a larger "
            "value_discretization_interval or a larger tail_mass"
        )
    return max(math.ceil(far / interval), 1)


def _known(law: LogPhi, interval: float, highest: int, count: int, rtol: float) -> list[Known]:
    """Values e^eps from eps = 0 upward, with bounds of delta; eps is a double, as dp-accounting's losses are."""
    at = [int(place) * interval for place in np.unique(np.rint(np.linspace(0, highest, count)))]
    # in increasing order: neighbouring epsilons share their computations
    profile = evaluator()(Request(law, 0.0, Demand(rtol)))
    found = (probability(profile(x), rtol) for x in shown(at, "exporting"))
    return [(exponential(Fraction(x)), Fraction(one.lower), Fraction(one.upper)) for x, one in zip(at, found, strict=True)]


def _turned(point: Known) -> Known:
    """A point of the profile as one of the reversed pair's profile."""
    a, low, high = point
    return 1 / a, 1 - (1 - low) / a, 1 - (1 - high) / a


def _log(number: Fraction) -> float:
    """The logarithm to within 1e-13, also of fractions outside the range of doubles."""
    size = number.numerator.bit_length() - number.denominator.bit_length()
    return math.log(number / Fraction(2) ** size) + size * math.log(2.0)


Masses = tuple[dict[int, float], float]


def _above(losses: Array, probabilities: Sequence[Fraction], infinite: Fraction, *_: int) -> Masses:
    """Losses, which are on the grid, with probabilities raised by more than the rounding of dp-accounting's sums."""
    more = 1 + _rounding(len(losses))
    mass = {round(place): _rounded(p * more, math.inf) for place, p in zip(losses.tolist(), probabilities, strict=True)}
    return mass, _rounded(infinite * more, math.inf)


def _below(losses: Array, probabilities: Sequence[Fraction], infinite: Fraction, lowest: int, highest: int) -> Masses:
    """Losses rounded down to the grid, without those below it, with probabilities lowered by more than the rounding of sums."""
    mass: dict[int, Fraction] = defaultdict(Fraction)
    for place, p in zip(losses.tolist(), probabilities, strict=True):
        if place >= lowest:
            mass[min(math.floor(place - _BEND_ERROR), highest)] += p
    less = 1 - _rounding(len(losses))
    return {place: _rounded(p * less, 0.0) for place, p in mass.items()}, _rounded(infinite * less, 0.0)


def _rounding(terms: int) -> Fraction:
    """A bound of the relative rounding of a sum of so many positive terms, their factors included."""
    return Fraction(terms + 16, 2**51)


def _rounded(number: Fraction, toward: float) -> float:
    """The nearest double on the side of ``toward``."""
    nearest = float(number)
    wrong = nearest < number if toward > nearest else nearest > number
    return math.nextafter(nearest, toward) if wrong else nearest
