"""Poisson sampling: every record takes part independently with the same probability.

Under add/remove, if (P, Q) dominates the base in the remove direction, ((1-q) Q + q P, Q) dominates the sampled
mechanism in that direction and the reversed pair in the other ([AFA] Theorem 11.1 and Lemma 28). One pair for both
directions is the spliced one ([AFA] Proposition 30 and Corollary 32), whose profile of one release is the larger of both.

Under replace_special, a record that is not in the sample counts as "nothing", which is its value in the other data set. So
given the sample of all others, the outputs are (1-q) Q' + q P' and Q', with (P', Q') a pair of the base. By convexity, a mean
over samples leaks at most what the worst one does, so that the same two pairs dominate.
"""

from __future__ import annotations

from logphi.inputs.adjacency import PRESENCE, Adjacency
from logphi.laws.log_phi import LogPhi
from logphi.pairs.pair import Pair, UnsupportedError

# the relations under which the output has the second law if the record is not in the sample
_SAMPLED = (*PRESENCE, Adjacency.REPLACE_SPECIAL)


def poisson_relation(base: Adjacency, wanted: Adjacency | None) -> Adjacency:
    """The relation of a sampled mechanism.

    Raises
    ------
    UnsupportedError
        If the base is not stated for a record that may be absent or "nothing", or the wanted relation does not follow.
    """
    if base not in _SAMPLED:
        raise UnsupportedError(
            f"Poisson sampling needs a base stated under add/remove or 'replace_special', got adjacency {base.value!r}; "
            "state the sensitivity for one record added or removed, or take a subset"
        )
    if wanted in (None, base) or (base is Adjacency.ADD_REMOVE and wanted in (*PRESENCE, Adjacency.REPLACE)):
        return wanted or base
    special = wanted is Adjacency.REPLACE_SPECIAL
    next_step = "'replace_special' too" if special else "add_remove, and ask for add_remove or replace"
    raise UnsupportedError(
        f"a Poisson sample of a base stated under {base.value!r} has no pair under {wanted.value!r}; "
        f"state the base under {next_step}"
    )


def poisson(pair: Pair, rate: float, group_size: int, relation: Adjacency) -> LogPhi:
    """The loss of the sampled mechanism in the remove direction; rate 0 leaks nothing, rate 1 changes nothing.

    Under replace, every record of the group takes part before and after with the same probability.
    """
    if rate == 0:
        return LogPhi()
    if relation is Adjacency.REPLACE:
        return pair.replaced_loss(rate) if group_size == 1 else pair.replaced_group_loss(rate, group_size)
    if group_size > 1:
        return pair.grouped_loss(rate, group_size)
    return pair.loss() if rate == 1 else pair.mixed_loss(rate)


def one_pair_of_poisson(pair: Pair, rate: float, group_size: int, relation: Adjacency) -> LogPhi:
    """The loss of one pair that dominates the sampled mechanism in both directions.

    Raises
    ------
    UnsupportedError
        If the pair of the base is not the same in both directions, or a group or another relation is asked for.
    """
    if relation is not Adjacency.ADD_REMOVE or group_size > 1:
        raise UnsupportedError(
            f"one_pair is for one record under 'add_remove', got group_size={group_size!r} under {relation.value!r}; "
            "leave it out"
        )
    if not pair.loss().traits.symmetric:
        raise UnsupportedError(
            "one_pair needs a base whose own pair is the same in both directions, as that of Gaussian and Laplace noise is: "
            "leave it out, each direction then has its own pair, which is sharper"
        )
    return LogPhi() if rate == 0 else pair.loss() if rate == 1 else pair.spliced_loss(rate)
