"""One end of a bracket around a release, as a mechanism of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from logphi.algebra.release import Primitive
from logphi.inputs.adjacency import Adjacency
from logphi.inputs.arguments import frozen
from logphi.pairs.pair import Pair


@frozen
class BracketEnd(Primitive):
    """A pair that dominates a release if ``upper``, and otherwise one that the release dominates.

    ``pairs`` gives both for its ``arguments``, and remembers them: it is asked each time, as large pairs take long to compare.
    """

    pairs: Callable[..., Any]
    arguments: tuple[Any, ...]
    upper: bool
    adjacency: Adjacency
    _undescribed = "it is one end of a bracket"

    def pair(self) -> Pair:
        """The pair of this end."""
        found: Pair = self.pairs(*self.arguments)[self.upper]
        return found
