"""Random allocation (balls in bins): every record is in exactly one of t batches, drawn uniformly and independently.

Under add/remove, the record affects one output of an epoch, that of a uniformly random batch. For a base with the pair (P, Q)
the pair of the epoch is ((1/t) sum_i Q x .. x P x .. x Q, Q x .. x Q), P in place i. As (P, Q) dominates the base, a random map
takes P to the output with the record and Q to that without it (Blackwell). Such maps, applied batch by batch and chosen by
earlier outputs, take the pair of the epoch to its outputs, also where mechanisms are chosen adaptively. The Gaussian mechanism
attains the bound (Chua et al. 2024, *Balls-and-Bins Sampling for DP-SGD*; Choquette-Choo et al. 2024, *Near Exact Privacy
Amplification for Matrix Mechanisms*; Feldman & Shenfeld 2025, *Privacy Amplification by Random Allocation*).

Under replace_special a record becomes "nothing" and its place stays empty: the same pair.

A record in k of t batches, drawn uniformly: divide the batches at random into k blocks of nearly equal size, and draw one batch
of each. This draws k of t uniformly. By convexity, the mean over all divisions leaks at most what the worst one does, and each
division is a composition of the same k epochs over fewer batches: an upper bound.
"""

from __future__ import annotations

from logphi.inputs.adjacency import PRESENCE, Adjacency
from logphi.laws.log_phi import LogPhi
from logphi.pairs.pair import Pair, UnsupportedError

_RELATIONS = (*PRESENCE, Adjacency.REPLACE_SPECIAL)


def allocation(pair: Pair, batches: int) -> LogPhi:
    """The loss of one epoch of two or more batches, in the remove direction; a base of infinite losses only is unchanged."""
    loss = pair.loss()
    return loss if loss.empty else pair.allocated_loss(batches)


def check_relation(base: Adjacency) -> None:
    """Check that the relation is one under which all batches without the record have the second law.

    Raises
    ------
    UnsupportedError
        If the relation has no such law.
    """
    if base not in _RELATIONS:
        raise UnsupportedError(
            f"random allocation needs a base stated under add/remove or 'replace_special', got adjacency {base.value!r}: state "
            "the sensitivity for one record added or removed"
        )


def blocks(batches: int, participations: int) -> tuple[tuple[int, int], ...]:
    """Sizes of the blocks, from each of which a record takes one batch, and the number of blocks of each size."""
    size, larger = divmod(batches, participations)
    counts = ((size, participations - larger), (size + 1, larger))
    return tuple((one, count) for one, count in counts if count)
