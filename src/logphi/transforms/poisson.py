"""Poisson sampling: every record takes part independently with the same probability.

Under add/remove, if (P, Q) dominates the base in the remove direction, ((1-q) Q + q P, Q) dominates the sampled
mechanism in that direction and the reversed pair in the other ([AFA] Theorem 11.1 and Lemma 28).
"""

from __future__ import annotations

from logphi.core.logphi import LogPhi
from logphi.core.pair import Pair


def poisson(pair: Pair, rate: float) -> LogPhi:
    """The loss of the sampled mechanism in the remove direction; rate 0 leaks nothing, rate 1 changes nothing."""
    if rate == 0:
        return LogPhi()
    if rate == 1:
        return pair.loss()
    return pair.mixed_loss(rate)
