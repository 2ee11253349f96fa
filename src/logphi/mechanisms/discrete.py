"""Any pair of finite probability vectors."""

from __future__ import annotations

from typing import ClassVar

from logphi.algebra.release import Primitive
from logphi.inputs import check
from logphi.inputs.arguments import ADD_REMOVE, Reals, Relation, frozen
from logphi.pairs.finite import FinitePair


@frozen
class Discrete(Primitive):
    """A mechanism with finitely many outcomes, given by its two output laws.

    Pair: (p, q), outcome by outcome. log-phi: M(z) = sum of p^{1+z} q^{-z} over the outcomes that both reach; one that only p
    reaches has an infinite loss. Where they share none, everything leaks.

    Parameters
    ----------
    p
        Probabilities of the outcomes with the record present.
    q
        Probabilities of the same outcomes without it.
    adjacency
        The relation that the two laws stand for. Under ``replace``, the pair must dominate the laws of two such data sets in
        either order: which of the two is the first may differ between the mechanisms of a composition.

    Raises
    ------
    ValueError, TypeError
        If the lists differ in length, hold anything but probabilities, or do not sum to one.

    Examples
    --------
    >>> round(Discrete(p=[0.5, 0.3, 0.2], q=[0.2, 0.3, 0.5]).delta(0.4).value, 9)
    0.20163506
    """

    p: Reals
    q: Reals
    adjacency: Relation = ADD_REMOVE
    _one_formula: ClassVar = True
    _distributions: ClassVar = ("p", "q")

    def __post_init__(self) -> None:
        p, q = check.probabilities("p", self.p), check.probabilities("q", self.q)
        if len(p) != len(q):
            raise ValueError(
                f"p and q must list the same outcomes, got {len(p)} and {len(q)} of them: "
                "an outcome that one of the two laws lacks has probability 0"
            )
        self._settle(p=p, q=q)

    def pair(self) -> FinitePair:
        """The vectors themselves."""
        return FinitePair(tuple(self.p), tuple(self.q))
