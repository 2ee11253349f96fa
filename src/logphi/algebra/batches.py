"""Batches that are no plain samples: shuffled, in a fixed order, cut off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from logphi.inputs import check
from logphi.inputs.adjacency import Adjacency
from logphi.inputs.arguments import RealLike, Scalar
from logphi.inputs.guesses import guided
from logphi.pairs.pair import UnsupportedError
from logphi.sampling.group import LARGEST_SIZE

if TYPE_CHECKING:
    from logphi.algebra.release import Mechanism


@guided()
def shuffled(self: Mechanism, batches: Scalar, epochs: Scalar = 1) -> Mechanism:
    """The mechanism on every batch of a data set that is shuffled afresh in each epoch: a bracket and not a number.

    A record is in one batch of an epoch. Not known is how much its secret place amplifies; it is far from what Poisson
    samples do. The upper end is one release an epoch without amplification, as in batches of a fixed order. The lower end is
    the attack by the largest output, which holds for some records and some data set: the noisy sums are T outputs, one
    of which has the mean 2s under P and s under Q, as all other records hold the opposite value.

    Neighbours differ by a record whose place in its batch stays empty, or under ``"replace"`` takes another value. Answered
    are ``delta``, ``epsilon``, trade-off functions, divergences and zCDP, also of compositions with it.

    Parameters
    ----------
    batches
        Their number in one epoch, 1 or more.
    epochs
        How many times all batches are gone through: ``epochs * m.shuffled(batches)``.

    Returns
    -------
    Mechanism
        Its answers have the status ``BRACKET``; ``float`` gives the upper end.

    Raises
    ------
    ValueError, TypeError
        If a number is none, or the mechanism is not Gaussian.

    References
    ----------
    Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha & Zhang 2024, *How Private are DP-SGD Implementations?*

    Examples
    --------
    >>> import logphi as lp
    >>> spent = lp.Gaussian(sigma=0.4).shuffled(10_000).delta(4)
    >>> round(spent.lower, 6), round(spent.upper, 6)
    (0.226056, 0.24382)
    """
    number, times = check.whole("batches", batches, 1, LARGEST_SIZE), check.count("epochs", epochs)
    from logphi.algebra.shuffled import one_epoch

    return times * one_epoch(self, number)


@guided()
def fixed_order(self: Mechanism, batches: Scalar) -> Mechanism:
    """One epoch of the mechanism on every batch of a data set in a fixed order: the release on the batch with the record.

    An adversary may know which batch holds the record, and the others tell nothing of it, so that one release is left,
    without amplification. ``epochs * m.fixed_order(batches)`` goes through all batches again.

    Parameters
    ----------
    batches
        Their number in one epoch, 1 or more, which the answer does not depend on.

    Returns
    -------
    Mechanism
        The mechanism itself.

    Raises
    ------
    ValueError, TypeError
        If the number is none.

    Examples
    --------
    >>> import logphi as lp
    >>> 60 * lp.Gaussian(sigma=1.1).fixed_order(234)
    60 * Gaussian(sigma=1.1)
    """
    check.whole("batches", batches, 1, LARGEST_SIZE)
    return self


def truncated(
    self: Mechanism,
    rate: RealLike,
    relation: Adjacency,
    *,
    group_size: Scalar,
    one_pair: bool,
    truncated_batch_size: Any,
    dataset_size: Any,
) -> Mechanism:
    """The mechanism on a Poisson sample that is cut off.

    Raises
    ------
    ValueError, TypeError
        If one of both sizes is missing or none, a group or one pair is asked for, or the mechanism is not Gaussian.
    """
    if truncated_batch_size is None or dataset_size is None:
        missing = "truncated_batch_size" if truncated_batch_size is None else "dataset_size"
        raise ValueError(f"{missing} is missing: how often a batch is cut off depends on truncated_batch_size and dataset_size")
    if group_size != 1 or one_pair is not False:
        name = "one_pair" if group_size == 1 else "group_size"
        raise UnsupportedError(f"{name} is not known for batches that are cut off: leave it or truncated_batch_size out")
    from logphi.algebra.truncated_sample import TruncatedSample

    return TruncatedSample(self, rate, truncated_batch_size, dataset_size, relation)
