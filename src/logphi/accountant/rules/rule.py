"""The interface of a rule: what has been spent after each release, and whether it is within the budget."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache, reduce
from typing import Any, Generic, TypeVar

from logphi.algebra.release import Mechanism
from logphi.answers.status import Direction
from logphi.engine.directions import directions_under
from logphi.text.written import exactly

Amount = Fraction | float
"""An exact number, or infinity."""
# derived: the factors of two and five of every double
_DECIMAL = 10**1100
# chosen: a denominator is short if it has at most this many bits besides those
_SHORT = 32
# chosen: costs with other denominators are rounded up to this many bits
_KEPT = 256
Expense = TypeVar("Expense")
Sums = Mapping[Direction, tuple[Amount, ...]]


class Rule(ABC, Generic[Expense]):
    """A rule of a budget: :meth:`after` computes an expense from the one before; releases whose expense fits are private."""

    @property
    @abstractmethod
    def nothing(self) -> Expense:
        """The expense of no releases."""

    @abstractmethod
    def after(self, spent: Expense, mechanism: Mechanism, count: int) -> Expense:
        """The expense after ``count`` more releases.

        Raises an UnsupportedError if the rule does not know what the mechanism costs.
        """

    @abstractmethod
    def fits(self, spent: Expense) -> bool:
        """Whether an expense is within the budget."""

    @abstractmethod
    def amounts(self, spent: Expense) -> dict[str, Amount]:
        """An expense as numbers, by name."""

    @property
    @abstractmethod
    def budget(self) -> dict[str, Fraction]:
        """The largest value of each number."""


class Additive(Rule[Sums]):
    """A rule whose costs are additive, exactly and separately in each direction."""

    @abstractmethod
    def costs(self, mechanism: Mechanism, direction: Direction) -> tuple[Amount, ...]:
        """What one release costs, by the names of :attr:`budget`: proved, and never negative."""

    @abstractmethod
    def within(self, sums: tuple[Amount, ...]) -> bool:
        """Whether the sums of one order are within the budget."""

    @property
    def nothing(self) -> Sums:
        """No sums yet."""
        return {}

    def after(self, spent: Sums, mechanism: Mechanism, count: int) -> Sums:
        """Each sum plus the cost of each term times its count."""
        terms = [(one, own * count) for one, own in mechanism.counted() if own * count]
        return {
            direction: reduce(
                _added,
                (tuple(_times(own, cost) for cost in _cost(self, one, exactly(one), direction)) for one, own in terms),
                spent.get(direction, (Fraction(0),) * len(self.budget)),
            )
            for direction in directions_under(mechanism.adjacency)
        }

    def fits(self, spent: Sums) -> bool:
        """Whether the sums of all orders are within the budget."""
        return all(map(self.within, spent.values()))

    def amounts(self, spent: Sums) -> dict[str, Amount]:
        """The larger sum of both directions."""
        columns = zip(*spent.values(), strict=True) if spent else ((Fraction(0),) for _ in self.budget)
        return {name: max(column) for name, column in zip(self.budget, columns, strict=True)}


# a training run spends the same few mechanisms repeatedly, each in two orders
@lru_cache(maxsize=256)
def _cost(rule: Additive, mechanism: Mechanism, written: Any, direction: Direction) -> tuple[Amount, ...]:
    """What one release costs; ``written`` distinguishes equal mechanisms whose numbers were written differently."""
    return tuple(map(_shortened, rule.costs(mechanism, direction)))


def _added(sums: tuple[Amount, ...], costs: tuple[Amount, ...]) -> tuple[Amount, ...]:
    # infinity plus a quotient that overflows
    return tuple(math.inf if math.inf in pair else sum(pair) for pair in zip(sums, costs, strict=True))


def _shortened(cost: Amount) -> Amount:
    """The cost itself if its denominator is short; other denominators would grow with every step, and are rounded."""
    if not isinstance(cost, Fraction):
        return cost
    above, below = cost.numerator, cost.denominator
    if (below // math.gcd(below, _DECIMAL)).bit_length() <= _SHORT:
        return cost
    scale = Fraction(2) ** (_KEPT + below.bit_length() - above.bit_length())
    return math.ceil(cost * scale) / scale


def _times(count: int, cost: Amount) -> Amount:
    return cost if cost == math.inf else count * cost
