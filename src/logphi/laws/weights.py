"""Weights of mixtures, as doubles with the errors they carry and as formulas."""

from __future__ import annotations

import decimal
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from logphi.arith.floats import ULP
from logphi.arith.protocol import Arithmetic, Number, Parameter, Plain, Product


class Weight(NamedTuple):
    """A weight (it may be below every double), its logarithm, and a bound of the relative error of the weight from either."""

    value: float
    log: float
    relative_error: float

    @staticmethod
    def of(value: float, relative_error: float) -> Weight:
        """The weight that is a double."""
        return Weight(value, math.log(value), relative_error)


class Weights(ABC):
    """Positive numbers that sum to one."""

    @abstractmethod
    def under(self, arith: Arithmetic) -> Sequence[Number]:
        """The weights as numbers of an arithmetic."""

    @property
    def second(self) -> Parameter | None:
        """The second of two weights, where it is a parameter as written."""
        return None

    @abstractmethod
    def table(self) -> Sequence[Weight]:
        """The weights as doubles, to within a fraction of an ulp of their logarithms and ``relative_error``."""


@dataclass(frozen=True)
class Listed(Weights):
    """Sums of numbers as they were written, over the total."""

    groups: tuple[tuple[float, ...], ...]

    def under(self, arith: Arithmetic) -> Sequence[Number]:
        """The quotients."""
        sums = [_sum(arith.constant(value) for value in group) for group in self.groups]
        total = _sum(sums)
        return [part / total for part in sums]

    @property
    def second(self) -> Plain | None:
        """The second number as it was written, if there are two, and they sum to one."""
        numbers = [value for group in self.groups for value in group]
        return Plain(numbers[1]) if len(numbers) == len(self.groups) == 2 and math.fsum(numbers) == 1 else None

    def table(self) -> Sequence[Weight]:
        """The quotients; their errors are half an ulp of each number, of a sum and of the total, and a rounding."""
        total = math.fsum(value for group in self.groups for value in group)
        return [Weight.of(math.fsum(group) / total, 3 * ULP) for group in self.groups]


@dataclass(frozen=True)
class SampledWeights(Weights):
    """Weights of a sample: q times other weights, with 1 - q added to the first or, if ``alone``, put before it."""

    weights: Weights
    rate: float
    alone: bool

    def under(self, arith: Arithmetic) -> Sequence[Number]:
        """The products."""
        q = arith.constant(self.rate)
        own = [q * weight for weight in self.weights.under(arith)]
        return [1 - q, *own] if self.alone else [1 - q + own[0], *own[1:]]

    @property
    def second(self) -> Product | None:
        """The product."""
        own = None if self.alone else self.weights.second
        return Product(self.rate, own.value) if isinstance(own, Plain) else None

    def table(self) -> Sequence[Weight]:
        """The products; half an ulp of the rate counts in their errors, and in that of 1 - q."""
        q, base = self.rate, self.weights.table()
        own = [Weight.of(q * one.value, one.relative_error + 2 * ULP) for one in base]
        kept = 0.0 if self.alone else own[0].value
        rest = Weight.of(1 - q + kept, ULP * (2 + q / (1 - q + kept)) + (0.0 if self.alone else own[0].relative_error))
        return [rest, *(own if self.alone else own[1:])]


@dataclass(frozen=True)
class Binomial(Weights):
    """C(n, j) q^j (1 - q)^{n - j} for j = 0 .. n."""

    size: int
    rate: float

    def under(self, arith: Arithmetic) -> Sequence[Number]:
        """The probabilities."""
        n, q = self.size, arith.constant(self.rate)
        return [math.comb(n, j) * q**j * (1 - q) ** (n - j) for j in range(n + 1)]

    def table(self) -> Sequence[Weight]:
        """The probabilities, from a recurrence in 40 digits; half an ulp of q moves one by |j/q - (n - j)/(1 - q)| q ulp/2."""
        n, rate = self.size, self.rate
        found = []
        # weights may be far below every double
        with decimal.localcontext(decimal.Context(prec=40, Emin=-(10**6), Emax=10**6)):
            q = Decimal(rate)
            weight, odds = (1 - q) ** n, q / (1 - q)
            for j in range(n + 1):
                relative_error = ULP / 2 * abs(j - (n - j) * rate / (1 - rate)) * (1 + 1e-9) + ULP
                found.append(Weight(float(weight), float(weight.ln()), relative_error))
                weight = weight * (n - j) / (j + 1) * odds
        return found


def _sum(numbers: Iterable[Number]) -> Number:
    first, *rest = numbers
    for one in rest:
        first = first + one
    return first
