"""A mechanism on every batch of a shuffled data set."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from logphi.algebra.by_others import Proofs
from logphi.algebra.release import Mechanism, Primitive, operand
from logphi.algebra.unamplified import Unamplified, one_below
from logphi.inputs.adjacency import Adjacency
from logphi.inputs.arguments import frozen
from logphi.pairs.equal import Equal
from logphi.pairs.largest import largest_output
from logphi.pairs.normal import NormalShift
from logphi.pairs.pair import Pair

# measured: with this number of cells, the delta of the attack agrees with that of the best threshold to seven digits, in a
# quarter of a second
_CELLS = 1 << 15
# measured: with this number, a composition takes less than two seconds, and its epsilon is smaller by 1e-5
_FEW_CELLS = 1 << 10


def one_epoch(base: Mechanism, batches: int) -> Mechanism:
    """One epoch of shuffled batches; the base itself where there is nothing to amplify."""
    pair = base.pair()
    if batches == 1 or isinstance(pair, Equal) or pair.loss().empty:
        return base
    return Shuffled(base, batches, base.adjacency)


@frozen
class LargestOutput(Primitive):
    """The largest of the outputs on all batches, rounded to cells."""

    pair_of_one: NormalShift
    batches: int
    cells: int
    adjacency: Adjacency
    _undescribed = "it is one of many attacks"

    def pair(self) -> Pair:
        """Under replace the other records hold what the second law does; otherwise the opposite of the record."""
        shift: Any = self.pair_of_one.shift
        means = (1, 0) if self.adjacency is Adjacency.REPLACE else (2, 1)
        return largest_output(shift, means, self.batches, self.cells)


@frozen
class Shuffled(Unamplified):
    """A mechanism on every batch of a shuffled data set; made by :meth:`Mechanism.shuffled`."""

    base: Mechanism
    batches: int
    adjacency: Adjacency
    _operation = "shuffled"

    @property
    def attack(self) -> Mechanism:
        """The attack by the largest of Gaussian outputs; for other noise by the output on one batch."""
        return self._attack(_CELLS)

    @property
    def few_outcomes(self) -> Mechanism:
        """The same attack in few cells, which compose."""
        return self._attack(_FEW_CELLS)

    @property
    def _proofs(self) -> Proofs:
        if not isinstance(one_below(self.base).pair(), NormalShift):
            return super()._proofs
        return "an attack that looks at the largest output of an epoch", super()._proofs[1]

    @property
    def _unanswered(self) -> str:
        return "the loss of shuffled batches is not known"

    def _attack(self, cells: int) -> Mechanism:
        pair = one_below(self.base).pair()
        if isinstance(pair, NormalShift):
            return LargestOutput(pair, self.batches, cells, self.adjacency)
        return super().attack

    def _text(self, spell: Callable[[Any], str]) -> str:
        return f"{operand(self.base, spell)}.shuffled({self.batches})"

    def _drawn(self) -> dict[str, Any]:
        return {"batches": self.batches}

    def _sampling(self, unit: str) -> str:
        return (
            f"each time on all {self.batches} batches of a freshly shuffled data set: {unit} is in exactly one; the "
            "upper bounds rest on no more than that"
        )

    def _assumptions(self) -> Iterator[str]:
        yield (
            "That every record is in one batch of an epoch only, and that its place stays empty without it: no other record "
            "moves into another batch."
        )

    def _uncertified(self) -> str:
        return "certificates do not know shuffled batches, whose answers are brackets: certify one release an epoch"
