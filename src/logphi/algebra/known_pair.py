"""A pair as a mechanism of its own, which bounds another release."""

from __future__ import annotations

from logphi.algebra.release import Primitive
from logphi.inputs.adjacency import Adjacency
from logphi.inputs.arguments import frozen
from logphi.pairs.pair import Pair


@frozen
class KnownPair(Primitive):
    """The mechanism that has a given pair; classes of it say whose bound it is."""

    known: Pair
    adjacency: Adjacency

    def pair(self) -> Pair:
        """The pair itself."""
        return self.known
