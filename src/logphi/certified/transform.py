"""The transform of a law on a vertical line in balls, and its decay along the line."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from flint import arb

# measured: longer lines take minutes, as do lines of an eighth of the length if each node evaluates a formula
MOST_NODES = 400_000
MOST_FORMULAS = MOST_NODES // 8
# measured: this many sums over hundreds of points, as for a mixture of normal laws, take ten seconds
MOST_SUMS = 20_000


class Transform(ABC):
    """The transform M of one law, at non-negative abscissas."""

    @property
    def most_nodes(self) -> int:
        """The largest number of nodes that takes at most minutes."""
        return MOST_NODES

    @abstractmethod
    def on_line(self, c: Any, step: Any, size: int) -> list[Any]:
        """M(c + i step j) for j = 0 .. size - 1; the first is real."""

    def ceiling(self, c: Any, height: Any, count: int, whole: Any) -> Any:
        """A bound of |M(c + it)| for all t >= height, sharp enough for its power ``count``; ``whole`` is a bound of M(c).

        That is M(c) itself, which bounds |M| of every positive measure, unless M is known to fall.
        """
        return whole

    def fall(self, c: float, height: float) -> float:
        """An estimate of log(ceiling / M(c)), in doubles."""
        return 0.0

    def at(self, c: Any) -> Any:
        """M(c), real."""
        return self.on_line(c, arb(0), 1)[0].real
