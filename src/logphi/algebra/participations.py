"""A mechanism on batches, several of which hold the record: known by an upper bound."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from logphi.algebra.enclosed import ends_of
from logphi.algebra.families import Dominated
from logphi.algebra.group_bound import bound_of_group
from logphi.algebra.on_samples import OnSamples
from logphi.algebra.release import Mechanism, compose, operand
from logphi.inputs.adjacency import Adjacency
from logphi.inputs.arguments import Whole, frozen
from logphi.laws.log_phi import LogPhi
from logphi.sampling.allocation import blocks


@frozen
class Participations(Dominated, OnSamples):
    """A mechanism on all batches of one epoch, in some of which the record is; made by :meth:`Mechanism.allocation`.

    No attack is known that comes near the bound: answers have the status ``DOMINATED``.
    """

    base: Mechanism
    batches: Whole
    participations: Whole
    adjacency: Adjacency
    _operation = "allocation"

    def __post_init__(self) -> None:
        self._settle()
        self.loss_law()

    @property
    def above(self) -> Mechanism:
        """The composition that dominates it: one batch of each block; upper ends of what is known by brackets."""
        return compose(count * _upper_end(self.base.allocation(size)) for size, count in self._blocks)

    @property
    def _blocks(self) -> tuple[tuple[int, int], ...]:
        return blocks(self.batches, self.participations)

    def loss_law(self) -> LogPhi:
        """The loss of the composition that dominates it."""
        return self.above.loss_law()

    def _text(self, spell: Callable[[Any], str]) -> str:
        return f"{operand(self.base, spell)}.allocation({self.batches}, participations={self.participations})"

    def _drawn(self) -> dict[str, Any]:
        return {"batches": self.batches, "participations": self.participations}

    def _sampling(self, unit: str) -> str:
        return f"each time on {self.batches} batches: {unit} is in {self.participations} of them, drawn uniformly"

    def _assumptions(self) -> Iterator[str]:
        yield (
            "That the batches of every record are drawn as stated, afresh each time, in secret and independently of all other "
            "records. A mean must be divided by the expected size of a batch."
        )

    def _grouped(self, size: int) -> Mechanism:
        return bound_of_group(self.above.group(size))

    @property
    def _certified_by(self) -> Mechanism:
        """One batch of each block."""
        return compose(count * self.base.allocation(size) for size, count in self._blocks)

    def _uncertified(self) -> str:
        return f"certificates know records in one batch of an epoch: certify the upper bound {self._certified_by!r}"


def _upper_end(one: Mechanism) -> Mechanism:
    ends = ends_of(one)
    return one if ends is None else ends[1]
