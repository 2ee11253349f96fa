"""What a strategy matrix is asked for: how far one record moves the release."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from logphi.arrays import Array
from logphi.strategies.participation import Participation


@dataclass(frozen=True)
class Sensitivity:
    """The sensitivity of a strategy matrix between two bounds; ``float`` gives the upper one.

    It is the largest Frobenius norm that one record can move the release by. The upper bound holds for every pattern of
    participation; the lower one is attained by a record that takes part in ``steps``, counted from 0. Where they differ by more
    than rounding, columns of different signs or too many patterns leave the largest one unknown.
    """

    lower: float
    upper: float
    steps: tuple[int, ...]

    def __float__(self) -> float:
        return self.upper


class Strategy(ABC):
    """A strategy matrix C: the release is C x and noise, x the sums of the steps, one row each."""

    steps: int

    @property
    @abstractmethod
    def bands(self) -> int:
        """Columns at least this far apart have no row in common."""

    @property
    @abstractmethod
    def diagonals(self) -> int | None:
        """How many diagonals hold all of a square, lower-triangular matrix; None if it is none."""

    @abstractmethod
    def array(self) -> Array:
        """The matrix: a row for each number released, a column for each step."""

    @abstractmethod
    def under(self, participation: Participation) -> Sensitivity:
        """The sensitivity where a record takes part so."""
