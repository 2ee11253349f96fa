"""Batches that are no plain samples: allocated at random, shuffled, in a fixed order, cut off."""

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
def allocation(self: Mechanism, batches: Scalar, *, epochs: Scalar = 1, participations: Scalar = 1) -> Mechanism:
    """One epoch of random allocation (balls in bins): each record is in exactly one of the batches, drawn uniformly, by itself.

    The practical stand-in for shuffling whose answer is known: batches differ in size, as those of a Poisson sample do.

    Two promises differ by orders of magnitude. ``E * m.allocation(t)`` allocates afresh in each of E epochs;
    ``m.allocation(t, epochs=E)`` allocates once and keeps the batches for all of them, so that the same batch holds the record
    E times: it is ``(E * m).allocation(t)``.

    All releases of a composition see one allocation. A record that is in k of the t batches, drawn uniformly, is covered by an
    upper bound: k epochs of one in t/k batches, rounded to whole numbers that add up to t. What is returned is then that
    composition.

    Parameters
    ----------
    batches
        How many there are in an epoch, 1 or more.
    epochs
        How often all batches are gone through, each with the same records every time.
    participations
        Of how many batches a record takes part in each epoch, at most as many as there are.

    Returns
    -------
    Mechanism
        Under the relation of this one.

    Raises
    ------
    ValueError, TypeError
        If a number is none, the base is stated under replace, or the mechanism has no known law of this kind.

    References
    ----------
    Chua et al. 2024, *Balls-and-Bins Sampling for DP-SGD*; Feldman & Shenfeld 2025, *Privacy Amplification by Random
    Allocation*.

    Examples
    --------
    >>> import logphi as lp
    >>> epoch = lp.Gaussian(sigma=1).allocation(100)
    >>> round(epoch.epsilon(1e-5).value, 9), round((5 * epoch).epsilon(1e-5).value, 9)
    (0.620939672, 1.205805255)
    """
    number, times = check.whole("batches", batches, 1, LARGEST_SIZE), check.count("epochs", epochs)
    shares = check.whole("participations", participations, 1, LARGEST_SIZE)
    if times == 0:
        raise ValueError("epochs must be at least 1, got 0: nothing is released; 0 * m is the release of nothing")
    if shares > number:
        raise ValueError(
            f"participations must not exceed batches={number}, got {shares}: a record is in a batch once at most; where it is "
            "used several times in one batch, multiply the sensitivity"
        )
    from logphi.sampling.allocation import blocks, check_relation

    check_relation(self.adjacency)
    base = self if times == 1 else times * self
    parts = [count * _allocated(base, size) for size, count in blocks(number, shares)]
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


def _allocated(base: Mechanism, batches: int) -> Mechanism:
    """One of the batches, drawn uniformly; the base itself where there is one."""
    from logphi.algebra.allocated import Allocated

    return base if batches == 1 else Allocated(base, batches, base.adjacency)


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
