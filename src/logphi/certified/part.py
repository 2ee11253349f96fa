"""What a contour needs of a law in balls: its transform on a line, and how that falls along it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from flint import arb


class Part(ABC):
    """The transform M of one law; abscissas are not negative."""

    @property
    def omitted_mass(self) -> float:
        """A bound of the mass that is left out of M, where the loss may be anything."""
        return 0.0

    @abstractmethod
    def on_line(self, c: Any, step: Any, size: int) -> list[Any]:
        """M(c + i step j) for j = 0 .. size - 1; the first is real."""

    def ceiling(self, c: Any, height: Any, count: int, whole: Any) -> Any:
        """A bound of |M(c + it)| for all t >= height, sharp enough for its power ``count``; ``whole`` is a bound of M(c).

        That itself, as of every positive measure, unless it is known to fall.
        """
        return whole

    def fall(self, c: float, height: float) -> float:
        """About log(ceiling / M(c)), in doubles."""
        return 0.0

    def at(self, c: Any) -> Any:
        """M(c), real."""
        return self.on_line(c, arb(0), 1)[0].real
