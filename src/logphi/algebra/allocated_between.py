"""Random allocation of a mechanism, known only between two bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from logphi.algebra.attacks import attained_part
from logphi.algebra.bracketed import Bracketed
from logphi.algebra.release import Composition, Mechanism, Primitive, operand
from logphi.inputs.adjacency import Adjacency
from logphi.inputs.arguments import Whole, frozen
from logphi.pairs.allocated import allocated_between, check_ratios
from logphi.pairs.pair import Pair, UnsupportedError
from logphi.sampling.group import refusal
from logphi.text.description import node


@frozen
class OneEnd(Primitive):
    """A pair that dominates one epoch if ``upper``, and otherwise one that the epoch dominates."""

    base: Mechanism
    batches: int
    upper: bool
    adjacency: Adjacency
    _undescribed = "it is one end of a bracket"

    def pair(self) -> Pair:
        """A pair with finitely many likelihood ratios."""
        return allocated_between(self.base.pair(), self.batches)[self.upper]


@frozen
class AllocatedBetween(Bracketed, Primitive):
    """A mechanism on all batches of one epoch, one of which holds the record; made by :meth:`Mechanism.allocation`."""

    base: Mechanism
    batches: Whole
    adjacency: Adjacency

    def __post_init__(self) -> None:
        self._settle()
        check_ratios(self.base.pair(), self.batches)

    @property
    def attack(self) -> Mechanism:
        """A pair that the epoch dominates: its ratios are below those of the base, or of an attack, in the convex order."""
        base = attained_part(self.base, sampled=True)
        try:
            allocated_between(base.pair(), self.batches)
        except UnsupportedError:
            if not self.base._need_not_attain:
                raise
            # the attack has too few losses
            return Composition((), self.adjacency)
        return OneEnd(base, self.batches, False, self.adjacency)

    @property
    def cover(self) -> Mechanism:
        """A pair that dominates the epoch: its ratios are above those of the base in the convex order."""
        return OneEnd(self.base, self.batches, True, self.adjacency)

    @property
    def _unanswered(self) -> str:
        return "random allocation of this mechanism is known only between two bounds"

    def _text(self, spell: Callable[[Any], str]) -> str:
        return f"{operand(self.base, spell)}.allocation({self.batches})"

    def _data(self, write: Callable[[str, Any], Any]) -> dict[str, Any]:
        return node("allocation", self.adjacency.value, {"batches": self.batches}, write, self.base._data(write))

    def _numbers(self) -> Iterator[float]:
        return self.base._numbers()

    def _grouped(self, size: int) -> Mechanism:
        raise refusal("mechanism on randomly allocated batches", size)

    def _uncertified(self) -> str:
        return self.base._uncertified()
