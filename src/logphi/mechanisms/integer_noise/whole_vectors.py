"""Differences of queries whose answers are integer vectors, by bounds of their norms."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from logphi.inputs import check
from logphi.text.written import meant

# chosen: the largest norm
LARGEST_NORM = 1e6
# derived: a sum of integers is at most the square of the norm
LARGEST_SUM = 1e12
# chosen: the largest dimension
LARGEST_DIMENSION = 10**15
# chosen: a norm that was computed in doubles may be slightly below the root of an integer, which is meant
_ROOM = 1 + Fraction(1, 10**9)


@dataclass(frozen=True)
class WholeVectors:
    """All integer vectors with a square of the Euclidean norm, a sum of absolute values and a number of coordinates.

    All are at most these; ``coordinates`` counts those that are not zero. For integers x is at most x^2 in absolute value,
    and so none of the three exceeds the square of the norm, nor does the square exceed that of the sum.
    """

    square: int
    sum: int
    coordinates: int

    @staticmethod
    def of(l2: float, l1: float | None, dimension: int | None) -> WholeVectors:
        """The smallest bounds that follow."""
        return _of(meant(l2), None if l1 is None else meant(l1), dimension)

    @staticmethod
    def checked(l2: Any, l1: Any, dimension: Any) -> dict[str, Any]:
        """The parameters of a mechanism, checked."""
        l2 = check.nonnegative("l2_sensitivity", l2)
        if l2 > LARGEST_NORM:
            raise ValueError(
                f"l2_sensitivity must be at most {LARGEST_NORM:g}, got {l2!r}: is it in the units of the rounded query? "
                "If so, round to coarser integers"
            )
        if l1 is not None:
            l1 = check.nonnegative("l1_sensitivity", l1)
            if l1 > LARGEST_SUM:
                raise ValueError(f"l1_sensitivity must be at most {LARGEST_SUM:g}, got {l1!r}; leave it out if it is not known")
        if dimension is not None:
            dimension = check.whole("dimension", dimension, 1, LARGEST_DIMENSION)
        return {"l2_sensitivity": l2, "l1_sensitivity": l1, "dimension": dimension}

    @property
    def farthest(self) -> int:
        """The largest coordinate."""
        return min(math.isqrt(self.square), self.sum)

    def one_difference(self) -> Iterator[int]:
        """The coordinates of one such vector, its norm as large as large coordinates first make it."""
        square, left = self.square, self.sum
        for _ in range(self.coordinates):
            move = min(math.isqrt(square), left)
            if not move:
                return
            yield move
            square, left = square - move * move, left - move


@lru_cache(maxsize=1024)
def _of(l2: Fraction, l1: Fraction | None, dimension: int | None) -> WholeVectors:
    square = math.floor(l2 * l2 * _ROOM)
    total = square if l1 is None else min(square, math.floor(l1 * _ROOM))
    square = min(square, total * total)
    coordinates = total if dimension is None else min(total, dimension)
    # the mean square is at least the square of the mean
    return WholeVectors(square, min(total, math.isqrt(coordinates * square)), coordinates)
