"""Random allocation, also called balls in bins: every record is in exactly one of t batches, drawn uniformly and by itself.

Under add/remove the outputs on all batches of an epoch are those without the record but for one, drawn uniformly. For a base
with the pair (P, Q) the pair of the epoch is ((1/t) sum_i Q x .. x P x .. x Q, Q x .. x Q), P in place i. As (P, Q) dominates
in both orders, some random map takes P to the output with the record and Q to that without it (Blackwell); applied batch by
batch, each map chosen by what came before, the maps take the pair of the epoch to its outputs, also where batches are chosen
adaptively. The Gaussian mechanism attains it (Chua et al. 2024, *Balls-and-Bins Sampling for DP-SGD*; Choquette-Choo et al.
2024, *Near Exact Privacy Amplification for Matrix Mechanisms*; Feldman & Shenfeld 2025, *Privacy Amplification by Random
Allocation*).

Under replace_special a record becomes "nothing" and its place stays empty: the same pair.

A record in k of t batches, drawn uniformly: cut the batches at random into k blocks, as equal in size as can be, and draw one
batch of each. That draws k of t uniformly, and a mean over ways to cut is no further apart than the worst of them, all of which
are compositions of the same k epochs over fewer batches: an upper bound.
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
    """Check that the batches without a record all have one and the same law, as random allocation needs.

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
