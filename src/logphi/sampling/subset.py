"""Subset sampling: a uniformly random subset of fixed size, without replacement, of a data set of fixed size.

The base pair (P, Q) dominates under replace, and g is the size of the subset over that of the data set. Under add/remove
the sampled mechanism is dominated by (P, (1-g) P + g Q) in the add direction and by its reversal in the remove direction
([AFA] Theorem 11.2); under replace by the spliced pair ([AFA] Proposition 30 and Corollary 32).
"""

from __future__ import annotations

from fractions import Fraction

from logphi.inputs.adjacency import Adjacency
from logphi.laws.log_phi import LogPhi
from logphi.pairs.pair import Pair, UnsupportedError
from logphi.text.written import Written, meant


def subset_relation(base: Adjacency, wanted: Adjacency) -> Adjacency:
    """The relation of a sampled mechanism.

    Raises
    ------
    UnsupportedError
        If the base is not stated under replace, or no pair is known under the wanted relation.
    """
    if base is not Adjacency.REPLACE:
        raise UnsupportedError(
            f"a subset needs a base stated under 'replace', got adjacency {base.value!r}; state the sensitivity for a record "
            "that takes another value (for a sum, twice that for one added or removed), or sample with poisson"
        )
    if wanted is Adjacency.REPLACE_SPECIAL:
        raise UnsupportedError("no pair of a subset is known under 'replace_special'; ask for 'replace' or 'add_remove'")
    return wanted


def subset(pair: Pair, rate: float, relation: Adjacency) -> LogPhi:
    """The loss of the sampled mechanism in the remove direction; rate 0 leaks nothing."""
    if rate == 0:
        return LogPhi()
    if relation is Adjacency.REPLACE:
        return pair.loss() if rate == 1 else pair.spliced_loss(rate)
    exchanged = pair.reversed()
    return exchanged.loss() if rate == 1 else exchanged.mixed_loss(rate)


def meeting(rate: float, size: int) -> Written:
    """An upper bound of the probability that a subset holds any of ``size`` records: the sum over the records."""
    return Written(min(size * meant(rate), Fraction(1)))
