"""Cells of product pairs: independent draws from pairs of probability vectors."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import add, mul

from logphi.arith.protocol import Arithmetic, Number
from logphi.laws.atomic.cells import Cells
from logphi.text.written import Written


@dataclass(frozen=True)
class Products(Cells):
    """Every cell of one pair with every cell of another."""

    one: Cells
    other: Cells

    def under(self, arith: Arithmetic) -> tuple[Sequence[Number], Sequence[Number]]:
        """Products of probabilities."""
        pairs = zip(self.one.under(arith), self.other.under(arith), strict=True)
        p, q = ([a * b for a in first for b in second] for first, second in pairs)
        return p, q


@dataclass(frozen=True)
class Powers(Cells):
    """The counts of each cell in ``count`` draws: multinomial probabilities."""

    cells: Cells
    count: int

    def under(self, arith: Arithmetic) -> tuple[Sequence[Number], Sequence[Number]]:
        """Multinomial coefficients times products of powers."""
        p, q = self.cells.under(arith)
        drawn = list(_drawn(len(p), self.count))
        p_powers, q_powers = ([_powers(number, self.count) for number in vector] for vector in (p, q))

        def probabilities(powers: list[list[Number]]) -> list[Number]:
            return [_coefficient(arith, times) * reduce(mul, map(list.__getitem__, powers, times)) for times in drawn]

        return probabilities(p_powers), probabilities(q_powers)


@dataclass(frozen=True)
class OneOfMany(Cells):
    """The counts of each cell in ``count`` draws, one of which, at a random index, is from p and all others from q.

    If all draws are from q, the probabilities are multinomial. The likelihood ratio is the mean of the ratios of the draws.
    """

    cells: Cells
    count: int

    def under(self, arith: Arithmetic) -> tuple[Sequence[Number], Sequence[Number]]:
        """The draw from p falls in cell i in a share n_i / count of all orders of the draws."""
        p, q = self.cells.under(arith)
        powers = [_powers(number, self.count) for number in q]
        mixed, alone = [], []
        for times in _drawn(len(p), self.count):
            ways = _coefficient(arith, times)
            alone.append(ways * reduce(mul, map(list.__getitem__, powers, times)))
            parts = [
                arith.constant(Written(Fraction(own, self.count)))
                * p[i]
                * reduce(mul, (powers[k][one - (k == i)] for k, one in enumerate(times)))
                for i, own in enumerate(times)
                if own
            ]
            mixed.append(ways * reduce(add, parts))
        return mixed, alone


def _drawn(cells: int, count: int) -> Iterator[tuple[int, ...]]:
    """All vectors of counts with sum ``count``."""
    if cells == 1:
        yield (count,)
        return
    for first in range(count + 1):
        for others in _drawn(cells - 1, count - first):
            yield (first, *others)


def _powers(number: Number, count: int) -> list[Number]:
    powers = [1 + 0 * number]
    for _ in range(count):
        powers.append(powers[-1] * number)
    return powers


def _coefficient(arith: Arithmetic, times: Sequence[int]) -> Number:
    """The number of orders of the draws, exact in an exact arithmetic."""
    ways = math.prod(math.comb(sum(times[: i + 1]), one) for i, one in enumerate(times))
    return arith.constant(Written(Fraction(ways)))
