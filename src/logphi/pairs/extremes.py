"""The two extreme pairs: equal laws, and laws without a common outcome."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from logphi.laws.log_phi import LogPhi
from logphi.pairs.equal import EQUAL
from logphi.pairs.pair import Joint, Pair


def disjoint() -> Pair:
    """Laws without a common outcome. The import is deferred, because a first answer rarely needs finite laws."""
    from logphi.pairs.disjoint import DISJOINT

    return DISJOINT


def noisy(size: float, width: float) -> Pair | None:
    """The pair of a query of sensitivity ``size`` with noise of a ``width``, if one of them is zero; None otherwise.

    Without sensitivity both laws are equal; without noise they are disjoint.
    """
    if size == 0:
        return EQUAL
    return disjoint() if width == 0 else None


def known_by(loss: LogPhi) -> Pair:
    """A pair of which only the loss is known."""
    if loss.empty:
        return disjoint()
    return Joint(loss) if loss.terms else EQUAL


def product(pairs: Iterable[Pair]) -> Pair:
    """The product of pairs, as of several releases on one sample."""
    listed = [(pair, pair.loss()) for pair in pairs]
    if any(loss.empty for _, loss in listed):
        return disjoint()
    proper = [pair for pair, loss in listed if loss.terms]
    return reduce(lambda one, other: one.product_with(other), proper) if proper else EQUAL
