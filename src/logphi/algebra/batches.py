"""Batches other than Poisson samples: randomly allocated, shuffled, in a fixed order, or truncated samples."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from logphi.algebra.operations import done_by
from logphi.algebra.release import Mechanism
from logphi.inputs import check
from logphi.inputs.adjacency import Adjacency
from logphi.inputs.arguments import RealLike, Scalar
from logphi.pairs.pair import UnsupportedError
from logphi.sampling.group import LARGEST_SIZE


@done_by
def shuffled(base: Mechanism, batches: Scalar, epochs: Scalar) -> Mechanism:
    """See :meth:`Operations.shuffled`."""
    number, times = check.whole("batches", batches, 1, LARGEST_SIZE), _epochs(epochs)
    from logphi.algebra.shuffled import one_epoch

    return times * one_epoch(base, number)


@done_by
def allocation(base: Mechanism, batches: Scalar, epochs: Scalar, participations: Scalar) -> Mechanism:
    """See :meth:`Operations.allocation`."""
    number, times = check.whole("batches", batches, 1, LARGEST_SIZE), _epochs(epochs)
    shares = check.whole("participations", participations, 1, LARGEST_SIZE)
    if shares > number:
        raise ValueError(
            f"participations must not exceed batches={number}, got {shares}: a record is in a batch at most once; where it is "
            "used several times in one batch, multiply the sensitivity"
        )
    from logphi.sampling.allocation import check_relation

    check_relation(base.adjacency)
    kept = base if times == 1 else times * base
    if shares == number:
        return shares * kept
    if shares == 1:
        return _allocated(kept, number)
    from logphi.algebra.participations import Participations

    return Participations(kept, number, shares, kept.adjacency)


def _epochs(epochs: Scalar) -> int:
    times = check.count("epochs", epochs)
    if times == 0:
        raise ValueError("epochs must be at least 1, got 0: nothing is released; 0 * m is the release of nothing")
    return times


def _allocated(base: Mechanism, batches: int) -> Mechanism:
    """The base on one of several batches, drawn uniformly: a bracket where no law is known, the base itself for one batch."""
    from logphi.algebra.allocated import Allocated

    if batches == 1:
        return base
    with suppress(UnsupportedError):
        return Allocated(base, batches, base.adjacency)
    from logphi.algebra.allocated_between import AllocatedBetween, AllocatedUnamplified

    with suppress(UnsupportedError):
        return AllocatedBetween(base, batches, base.adjacency)
    return AllocatedUnamplified(base, batches, base.adjacency)


@done_by
def fixed_order(base: Mechanism, batches: Scalar) -> Mechanism:
    """See :meth:`Operations.fixed_order`."""
    check.whole("batches", batches, 1, LARGEST_SIZE)
    return base


def truncated(
    base: Mechanism,
    rate: RealLike,
    relation: Adjacency,
    *,
    group_size: Scalar,
    one_pair: bool,
    truncated_batch_size: Any,
    dataset_size: Any,
) -> Mechanism:
    """The mechanism on a Poisson sample that is truncated at a largest size.

    Raises
    ------
    ValueError, TypeError
        If one of the two sizes is missing or out of range, if a group or one pair is asked for, or the mechanism is not
        Gaussian.
    """
    if truncated_batch_size is None or dataset_size is None:
        missing = "truncated_batch_size" if truncated_batch_size is None else "dataset_size"
        raise ValueError(
            f"{missing} is missing: how often a batch is truncated depends on truncated_batch_size and dataset_size"
        )
    if group_size != 1 or one_pair is not False:
        name = "one_pair" if group_size == 1 else "group_size"
        raise UnsupportedError(f"{name} is not known for truncated batches: leave out either it or truncated_batch_size")
    from logphi.algebra.truncated_sample import TruncatedSample

    return TruncatedSample(base, rate, truncated_batch_size, dataset_size, relation)
