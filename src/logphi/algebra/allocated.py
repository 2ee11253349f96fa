"""A mechanism on batches to which records are allocated at random."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from logphi.algebra.release import Mechanism, Primitive, compose, operand
from logphi.inputs.adjacency import Adjacency
from logphi.inputs.arguments import Whole, frozen
from logphi.laws.log_phi import LogPhi
from logphi.sampling.allocation import allocation
from logphi.sampling.group import refusal
from logphi.text.description import node


@frozen
class Allocated(Primitive):
    """A mechanism on all batches of one epoch, one of which holds the record; made by :meth:`Mechanism.allocation`."""

    base: Mechanism
    batches: Whole
    adjacency: Adjacency

    def __post_init__(self) -> None:
        self._settle()
        self.loss_law()

    def loss_law(self) -> LogPhi:
        """By the pair of the base."""
        return allocation(self.base.pair(), self.batches)

    def _text(self, spell: Callable[[Any], str]) -> str:
        return f"{operand(self.base, spell)}.allocation({self.batches})"

    def _data(self, write: Callable[[str, Any], Any]) -> dict[str, Any]:
        return node("allocation", self.adjacency.value, {"batches": self.batches}, write, self.base._data(write))

    def _numbers(self) -> Iterator[float]:
        return self.base._numbers()

    def _grouped(self, size: int) -> Mechanism:
        """As many allocations by themselves, each with its share of the noise: an upper bound."""
        shared = compose(count * _shared(one, size) for one, count in self.base.counted())
        return size * shared.allocation(self.batches)

    def _uncertified(self) -> str:
        return (
            "certificates do not know random allocation; m.fixed_order(batches), one release an epoch, has certificates and is "
            "an upper bound"
        )


def _shared(one: Mechanism, size: int) -> Mechanism:
    """What each of ``size`` records sees where every one has a release by itself, and all together make up this one."""
    share: Callable[[Mechanism, int], Mechanism] | None = getattr(type(one), "_shared", None)
    if share is None:
        raise refusal(f"random allocation of a {type(one).__name__}", size)
    return share(one, size)
