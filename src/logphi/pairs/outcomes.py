"""The outcomes of several releases on one sample, which are the products of those of each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import reduce
from operator import mul
from typing import TYPE_CHECKING, TypeVar

from logphi.arrays import Array

if TYPE_CHECKING:
    from typing_extensions import Self


class Outcomes(ABC):
    """Outcomes with masses ``p`` and ``q`` of both laws; ``only`` are the masses of either law where the other has none."""

    p: Array
    q: Array
    only: tuple[float, float]

    @abstractmethod
    def __mul__(self, other: Self) -> Self: ...

    def power(self, count: int) -> Self:
        """So many independent copies."""
        if count == 1:
            return self
        half = self.power(count // 2)
        return half * half * self if count % 2 else half * half

    def _alone(self, other: Self) -> tuple[float, float]:
        """The masses of either law where the other has none, of both releases."""
        found = [
            mine * (float(theirs.sum()) + also) + float(own.sum()) * also
            for mine, own, theirs, also in zip(self.only, (self.p, self.q), (other.p, other.q), other.only, strict=True)
        ]
        return found[0], found[1]


Several = TypeVar("Several", bound=Outcomes)


def product(factors: Iterable[tuple[Several, int]]) -> Several:
    """The outcomes of all releases together, the shorter ones first."""
    return reduce(mul, sorted((one.power(count) for one, count in factors), key=lambda one: one.p.size))
