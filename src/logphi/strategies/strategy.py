"""The interface of strategy matrices, and their sensitivity: how much one record changes the release."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from logphi.arrays import Array
from logphi.strategies.participation import Participation


@dataclass(frozen=True)
class Sensitivity:
    """The sensitivity of a strategy matrix between two bounds; ``float`` gives the upper one.

    It is the largest Frobenius norm of the change of C x by one record. The upper bound holds for every pattern of
    participation; the lower one is attained by a record that takes part in ``steps``, counted from 0. They differ by more than
    rounding if the exact value is not known: with entries of both signs, or too many patterns.
    """

    lower: float
    upper: float
    steps: tuple[int, ...]

    def __float__(self) -> float:
        return self.upper


class Strategy(ABC):
    """A strategy matrix C: the release is C x plus independent noise; x has a row for each step, the sum of its batch."""

    steps: int

    @property
    @abstractmethod
    def bands(self) -> int:
        """The smallest distance at which no two columns have a row in common."""

    @property
    @abstractmethod
    def diagonals(self) -> int | None:
        """The number of nonzero diagonals of a square, lower-triangular matrix; None for any other."""

    @abstractmethod
    def array(self) -> Array:
        """The matrix: a row for each number released, a column for each step."""

    @abstractmethod
    def under(self, participation: Participation) -> Sensitivity:
        """The sensitivity for these patterns of participation."""
