"""Pairs of probability vectors, as formulas of their parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from operator import add
from typing import Protocol

from logphi.arith.balls import Balls
from logphi.arith.names import Names
from logphi.arith.protocol import Arithmetic, Number
from logphi.text.written import meant

# derived: at this precision exponentials and mixtures of doubles compare correctly unless 300 digits agree
_ORDERING = 1024


class Cells(Protocol):
    """Two probability vectors, as formulas of their parameters."""

    def under(self, arith: Arithmetic) -> tuple[Sequence[Number], Sequence[Number]]:
        """Both vectors as numbers of an arithmetic, cell by cell.

        Probabilities that are equal for all parameters are best written as one formula: only then are they known to be equal.
        """


@dataclass(frozen=True)
class Given(Cells):
    """Vectors of parameters, each divided by its sum, because the sum of doubles may miss one by an ulp.

    With a ``relative_error`` they are the doubles nearest to probabilities that are not known.
    """

    p: tuple[float, ...]
    q: tuple[float, ...]
    relative_error: float = 0.0

    def under(self, arith: Arithmetic) -> tuple[Sequence[Number], Sequence[Number]]:
        """The parameters themselves.

        Raises
        ------
        NotImplementedError
            If all errors are to be enclosed and there is a relative error.
        """
        if self.relative_error and _proving(arith):
            raise NotImplementedError(
                "the probabilities of this law are known to doubles only, not as formulas of its parameters: no ball holds them"
            )
        numbers = {meant(one): arith.constant(one) for one in self.p + self.q}
        vectors = [[meant(one) for one in vector] for vector in (self.p, self.q)]
        if self.relative_error:
            p, q = ([numbers[one] for one in vector] for vector in vectors)
            return p, q

        def shares(vector: Sequence[Fraction]) -> dict[Fraction, Number]:
            total = reduce(add, (numbers[one] for one in vector))
            return {one: numbers[one] / total for one in vector}

        p, q = vectors
        of_p = shares(p)
        of_q = of_p if sorted(p) == sorted(q) else shares(q)
        return [of_p[one] for one in p], [of_q[one] for one in q]


@dataclass(frozen=True)
class Chosen(Cells):
    """A part of the cells."""

    cells: Cells
    indices: tuple[int, ...]

    def under(self, arith: Arithmetic) -> tuple[Sequence[Number], Sequence[Number]]:
        """The probabilities of the cells with these indices."""
        p, q = self.cells.under(arith)
        return [p[i] for i in self.indices], [q[i] for i in self.indices]


@dataclass(frozen=True)
class Exchanged(Cells):
    """The two vectors exchanged."""

    cells: Cells

    def under(self, arith: Arithmetic) -> tuple[Sequence[Number], Sequence[Number]]:
        """The two vectors, exchanged."""
        p, q = self.cells.under(arith)
        return q, p


@dataclass(frozen=True)
class Mixed(Cells):
    """The pair of (1 - rate) Q + rate P and Q."""

    cells: Cells
    rate: float

    def under(self, arith: Arithmetic) -> tuple[Sequence[Number], Sequence[Number]]:
        """Cell by cell."""
        rate = arith.constant(self.rate)
        p, q = self.cells.under(arith)
        return [(1 - rate) * b + rate * a for a, b in zip(p, q, strict=True)], q


@dataclass(frozen=True)
class Spliced(Cells):
    """The pair of (1 - rate) Q + rate P and Q in the cells ``above``, of P and (1 - rate) P + rate Q in the cells ``below``.

    With ``rest``, one more cell has the remaining mass. Doubles decide which cells are above and below; an arithmetic that
    proves checks their order.
    """

    cells: Cells
    rate: float
    above: tuple[int, ...]
    below: tuple[int, ...]
    rest: bool

    def under(self, arith: Arithmetic) -> tuple[Sequence[Number], Sequence[Number]]:
        """The cells above, the cells below, and one cell for the remaining mass.

        Raises
        ------
        NotImplementedError
            If nothing is to be rounded, and two probabilities are too close to each other to tell which is larger.
        """
        p, q = self.cells.under(arith)
        if (_proving(arith) or isinstance(p[0], Fraction)) and not self._ordered:
            raise NotImplementedError(
                "two probabilities of the sampled pair are so close to each other that it is not known which is larger; "
                "leave the sampling out, which is an upper bound"
            )
        rate = arith.constant(self.rate)
        high = [((1 - rate) * q[i] + rate * p[i], q[i]) for i in self.above]
        low = [(p[i], (1 - rate) * p[i] + rate * q[i]) for i in self.below]
        rest = [1 - reduce(add, (a for a, _ in high + low), 0)] if self.rest else []
        return [*(a for a, _ in high + low), *rest], [*(b for _, b in high + low), *rest]

    @cached_property
    def _ordered(self) -> bool:
        """Whether P is larger above, smaller below, and equal to Q elsewhere."""
        p, q = self.cells.under(Balls(_ORDERING, proving=True))
        same = [a == b for a, b in _named(self.cells)]
        sides = {**dict.fromkeys(self.above, 1), **dict.fromkeys(self.below, -1)}
        return all(same[i] if i not in sides else bool((sides[i] * (p[i] - q[i])).value.real > 0) for i in range(len(p)))


def same_exchanged(cells: Cells) -> bool:
    """Whether the pair (Q, P) is (P, Q) in another order of its cells, whatever the parameters."""
    pairs = _named(cells)
    return Counter(pairs) == Counter((b, a) for a, b in pairs)


def _named(cells: Cells) -> list[tuple[Number, Number]]:
    """The formulas of both vectors by name, cell by cell."""
    return list(zip(*cells.under(Names()), strict=True))


def _proving(arith: Arithmetic) -> bool:
    return isinstance(arith, Balls) and arith.proving
