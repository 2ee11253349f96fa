"""Single releases of dp-accounting as mechanisms, each as the documentation of its event describes it.

A noise multiplier is the scale of the noise over the largest *norm* of a record's contribution. Adding, removing or zeroing out
a record changes the sum by at most that norm; replacing a record changes it by up to twice as much.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from dp_accounting import dp_event

from logphi.adapters.dp_accounting.leaves import Leak, UnreadableEventError
from logphi.algebra.release import Mechanism
from logphi.inputs import check
from logphi.inputs.adjacency import Adjacency
from logphi.mechanisms.concentrated import ZCDP
from logphi.mechanisms.discrete_gaussian import DiscreteGaussian
from logphi.mechanisms.discrete_laplace import DiscreteLaplace
from logphi.mechanisms.exponential_mechanism import ExponentialMechanism
from logphi.mechanisms.gaussian import Gaussian
from logphi.mechanisms.gaussian_mixture import GaussianMixture
from logphi.mechanisms.kary_randomized_response import KaryRandomizedResponse
from logphi.mechanisms.laplace import Laplace
from logphi.mechanisms.pure_dp import ApproximateDP, PureDP
from logphi.mechanisms.vector_discrete_gaussian import VectorDiscreteGaussian
from logphi.text.written import Written, exact, meant

# their names in dp-accounting
RELATIONS = {
    Adjacency.ADD_REMOVE: "ADD_OR_REMOVE_ONE",
    Adjacency.REPLACE: "REPLACE_ONE",
    Adjacency.REPLACE_SPECIAL: "REPLACE_SPECIAL",
}
# chosen: larger epsilons are meaningless
LARGEST_EPSILON = 1e100

Released = Mechanism | Leak


def release(event: Any, relation: Adjacency) -> Released:
    """One release under a relation.

    Raises an UnreadableEventError if the event or its pair under the relation is not known, or a parameter is out of range.
    """
    name = type(event).__name__
    # a subclass, or a class of the same name from elsewhere, may mean something else
    known = getattr(dp_event, name, None) is type(event)
    if not known or name not in _READERS:
        reason = _REFUSED.get(name, "the event is not known") if known else "the event is not one of dp-accounting"
        raise UnreadableEventError(event, f"unsupported event: {reason}")
    try:
        return _READERS[name](event, relation)
    except UnreadableEventError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise UnreadableEventError(event, str(error)) from error


def _steps(relation: Adjacency) -> int:
    """The sensitivity of the sum, in norms of a record."""
    return 2 if relation is Adjacency.REPLACE else 1


def stated(event: Any, relation: Adjacency, *allowed: Adjacency) -> None:
    """Refuse an event under a relation that it has no pair for."""
    if relation not in allowed:
        names = " or ".join(f"`{RELATIONS[one]}`" for one in allowed)
        raise UnreadableEventError(
            event,
            f"neighboring_relation must be {names} for this event, found `{RELATIONS[relation]}`: no pair is known under it",
        )


def _gaussian(event: Any, relation: Adjacency) -> Released:
    noise = check.nonnegative("noise_multiplier", event.noise_multiplier)
    return Gaussian(noise, sensitivity=_steps(relation), adjacency=relation) if noise else Leak.EVERYTHING


def _laplace(event: Any, relation: Adjacency) -> Released:
    noise = check.nonnegative("noise_multiplier", event.noise_multiplier)
    return Laplace(noise, sensitivity=_steps(relation), adjacency=relation) if noise else Leak.EVERYTHING


def _discrete_laplace(event: Any, relation: Adjacency) -> Released:
    inverse = check.nonnegative("noise_parameter", event.noise_parameter)
    norm = check.count("sensitivity", event.sensitivity)
    if not norm:
        return Leak.NOTHING
    if not inverse:
        # at zero the law does not exist; dp-accounting treats it as no noise
        return Leak.EVERYTHING
    return DiscreteLaplace(Written(1 / exact(inverse)), sensitivity=norm * _steps(relation), adjacency=relation)


def _randomized_response(event: Any, relation: Adjacency) -> Released:
    stated(event, relation, Adjacency.REPLACE, Adjacency.REPLACE_SPECIAL)
    share, buckets = check.unit("noise_parameter", event.noise_parameter), check.count("num_buckets", event.num_buckets)
    if not buckets:
        raise ValueError("num_buckets must be at least 1, got 0")
    if share == 1 or buckets == 1:
        return Leak.NOTHING
    return KaryRandomizedResponse(buckets, share, adjacency=relation) if share else Leak.EVERYTHING


def _mixture(event: Any, relation: Adjacency) -> Released:
    stated(event, relation, Adjacency.ADD_REMOVE, Adjacency.REPLACE_SPECIAL)
    noise = check.nonnegative("standard_deviation", event.standard_deviation)
    moves = check.nonnegatives("sensitivities", list(event.sensitivities))
    shares = check.probabilities("sampling_probs", list(event.sampling_probs))
    if len(moves) == len(shares) and not any(move and share for move, share in zip(moves, shares, strict=True)):
        return Leak.NOTHING
    return GaussianMixture(noise, moves, shares, adjacency=relation) if noise else Leak.EVERYTHING


def _guarantee(event: Any, relation: Adjacency) -> Released:
    failure = check.unit("delta", event.delta)
    if failure == 1 or event.epsilon > LARGEST_EPSILON:
        return Leak.EVERYTHING
    return ApproximateDP(event.epsilon, failure, adjacency=relation)


def _tree(event: Any, relation: Adjacency) -> Released:
    """One Gaussian for each level: a record is in one tree, and in one node of each level (Kairouz et al. 2021, appendix D)."""
    stated(event, relation, Adjacency.REPLACE_SPECIAL)
    listed = np.atleast_1d(np.asarray(event.step_counts, dtype=object))
    if not listed.size:
        raise ValueError("step_counts must hold at least one number of steps, got none")
    # as many levels as the largest number of steps has binary digits
    levels = max(check.count("step_counts", steps).bit_length() for steps in listed.flat)
    node = _gaussian(event, relation)
    if not levels:
        return Leak.NOTHING
    return node if isinstance(node, Leak) else levels * node


def _truncated(event: Any, relation: Adjacency) -> Released:
    """A Gaussian on a truncated Poisson sample of records of norm one."""
    noise = check.nonnegative("noise_multiplier", event.noise_multiplier)
    rate = check.unit("sampling_probability", event.sampling_probability)
    size, batch = (check.count(name, getattr(event, name)) for name in ("dataset_size", "truncated_batch_size"))
    if not (rate and size and batch):
        return Leak.NOTHING
    if not noise:
        return Leak.EVERYTHING
    special = relation is Adjacency.REPLACE_SPECIAL
    return Gaussian(noise, adjacency=relation if special else Adjacency.ADD_REMOVE).poisson(
        rate,
        adjacency=relation,
        truncated_batch_size=min(batch, size),
        dataset_size=size,
    )


def _discrete_gaussian(event: Any, relation: Adjacency) -> Released:
    """The noise of one coordinate where a query changes in one only; otherwise of a vector, which is known by bounds."""
    sigma = check.nonnegative("sigma", event.sigma)
    norm = _steps(relation) * meant(check.nonnegative("sensitivity", event.sensitivity))
    # an integer-valued query changes by integers: if two coordinates change, the norm is at least sqrt(2)
    moved = math.floor(norm)
    dimension = None if event.dimension is None else check.count("dimension", event.dimension)
    if dimension == 0:
        raise ValueError("dimension must be at least 1, got 0; None stands for an unknown one")
    if not moved:
        return Leak.NOTHING
    if sigma and norm**2 >= 2 and dimension != 1:
        return VectorDiscreteGaussian(sigma, Written(norm), dimension=dimension, adjacency=relation)
    return DiscreteGaussian(sigma, moved, adjacency=relation) if sigma else Leak.EVERYTHING


def _exponential(event: Any, relation: Adjacency) -> Released:
    """The exponential mechanism, with the event's epsilon as the bound of its range."""
    epsilon = check.nonnegative("epsilon", event.epsilon)
    if epsilon > LARGEST_EPSILON:
        return Leak.EVERYTHING
    return ExponentialMechanism(epsilon, adjacency=relation) if epsilon else Leak.NOTHING


def _permute_and_flip(event: Any, relation: Adjacency) -> Released:
    """Epsilon-DP only: its range is not bounded by epsilon, unlike that of the exponential mechanism."""
    epsilon = check.nonnegative("epsilon", event.epsilon)
    return Leak.EVERYTHING if epsilon > LARGEST_EPSILON else PureDP(epsilon, adjacency=relation)


def _zcdp(event: Any, relation: Adjacency) -> Released:
    """Divergences of at most xi + rho a at every order a; for rho = 0 this is xi-DP."""
    rho, xi = check.nonnegative("rho", event.rho), check.nonnegative("xi", event.xi)
    if not rho and xi > LARGEST_EPSILON:
        return Leak.EVERYTHING
    return ZCDP(rho, xi, adjacency=relation) if rho else PureDP(xi, adjacency=relation)


_READERS: dict[str, Callable[[Any, Adjacency], Released]] = {
    "NoOpDpEvent": lambda event, relation: Leak.NOTHING,
    "NonPrivateDpEvent": lambda event, relation: Leak.EVERYTHING,
    "GaussianDpEvent": _gaussian,
    "LaplaceDpEvent": _laplace,
    "DiscreteLaplaceDpEvent": _discrete_laplace,
    "RandomizedResponseDpEvent": _randomized_response,
    "MixtureOfGaussiansDpEvent": _mixture,
    "EpsilonDeltaDpEvent": _guarantee,
    "SingleEpochTreeAggregationDpEvent": _tree,
    "TruncatedSubsampledGaussianDpEvent": _truncated,
    "DiscreteGaussianDpEvent": _discrete_gaussian,
    "ExponentialMechanismDpEvent": _exponential,
    "PermuteAndFlipDpEvent": _permute_and_flip,
    "ZCDpEvent": _zcdp,
}

_REFUSED = {
    "SampledWithReplacementDpEvent": "no useful bound is known for a sample with replacement, which may contain a "
    "record several times; sample without replacement",
    "RepeatAndSelectDpEvent": "no pair of a sample of the best of several runs is known; sample each run",
}
