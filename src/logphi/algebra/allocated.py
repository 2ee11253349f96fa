"""A mechanism on batches to which records are allocated at random."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from logphi.algebra.families import FamilyAnswers
from logphi.algebra.group_bound import bound_of_group
from logphi.algebra.on_samples import OnSamples
from logphi.algebra.release import Mechanism, compose, operand
from logphi.inputs.adjacency import Adjacency
from logphi.inputs.arguments import Whole, frozen
from logphi.laws.log_phi import LogPhi
from logphi.sampling.allocation import allocation


class OnBatches(OnSamples):
    """A mechanism on all batches of one epoch, one of which holds the record; made by :meth:`Mechanism.allocation`."""

    batches: Whole
    _operation = "allocation"

    def _text(self, spell: Callable[[Any], str]) -> str:
        return f"{operand(self.base, spell)}.allocation({self.batches})"

    def _drawn(self) -> dict[str, Any]:
        return {"batches": self.batches}

    def _sampling(self, unit: str) -> str:
        return f"each time on {self.batches} batches: {unit} is in exactly one, drawn uniformly and independently of all others"

    def _assumptions(self) -> Iterator[str]:
        yield (
            "That every record is put into one batch as stated, afresh each time, in secret and independently of all others: "
            "batches of a shuffled data set are not drawn so. A mean must be divided by the expected size of a batch."
        )


@frozen
class Allocated(FamilyAnswers, OnBatches):
    """A mechanism on all batches of one epoch, by a law that is known."""

    base: Mechanism
    batches: Whole
    adjacency: Adjacency

    def __post_init__(self) -> None:
        self._settle()
        self.loss_law()

    @property
    def _need_not_attain(self) -> bool:
        return self.base._need_not_attain

    def loss_law(self) -> LogPhi:
        """The loss of one epoch, by the pair of the base."""
        return allocation(self.base.pair(), self.batches)

    def _grouped(self, size: int) -> Mechanism:
        """One independent allocation for each record, with its share of the noise: a bound, unless each record responds."""
        shares = [(one._share(size), one, count) for one, count in self.base.counted()]
        found = size * compose(count * share for share, _, count in shares).allocation(self.batches)
        return found if all(share is one for share, one, _ in shares) else bound_of_group(found)

    def _uncertified(self) -> str:
        # the checker knows several Gaussians in one batch, which are one
        return next((why for one, _ in self.base.counted() if (why := one._uncertified())), "")
