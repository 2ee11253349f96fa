"""Random allocation of a mechanism, known only between two bounds."""

from __future__ import annotations

from logphi.algebra.allocated import OnBatches
from logphi.algebra.bracket_end import BracketEnd
from logphi.algebra.bracketed import Bracketed
from logphi.algebra.release import Composition, Mechanism
from logphi.algebra.unamplified import Unamplified, one_below
from logphi.answers.status import Direction
from logphi.inputs.adjacency import Adjacency
from logphi.inputs.arguments import Whole, frozen
from logphi.pairs.allocated import allocated_between, check_ratios
from logphi.pairs.pair import UnsupportedError
from logphi.sampling.group import refusal


@frozen
class AllocatedBetween(Bracketed, OnBatches):
    """A mechanism on all batches of one epoch, known only between two bounds."""

    base: Mechanism
    batches: Whole
    adjacency: Adjacency

    def __post_init__(self) -> None:
        self._settle()
        check_ratios(self.base.pair(), self.batches)

    @property
    def attack(self) -> Mechanism:
        """A pair that the epoch dominates: its ratios are below those of the base, or of an attack, in the convex order."""
        own = one_below(self.base)
        pair = own.pair()
        try:
            allocated_between(pair, self.batches)
        except UnsupportedError:
            if own is self.base:
                raise
            # the attack has too few losses
            return Composition((), self.adjacency)
        return BracketEnd(allocated_between, (pair, self.batches), False, self.adjacency)

    @property
    def cover(self) -> Mechanism:
        """A pair that dominates the epoch: its ratios are above those of the base in the convex order."""
        return BracketEnd(allocated_between, (self.base.pair(), self.batches), True, self.adjacency)

    def _moment_above(self, name: str, asked: float, direction: Direction) -> float:
        """Moments without amplification, as the cover may leave out large losses."""
        return float(getattr(self.base, name)(asked, direction=direction).upper)

    @property
    def _unanswered(self) -> str:
        return "random allocation of this mechanism is known only between two bounds"

    def _grouped(self, size: int) -> Mechanism:
        raise refusal("mechanism on randomly allocated batches", size)


@frozen
class AllocatedUnamplified(Unamplified, OnBatches):
    """A mechanism on all batches of one epoch, whose likelihood ratio is not known, or too large for doubles."""

    base: Mechanism
    batches: Whole
    adjacency: Adjacency

    def __post_init__(self) -> None:
        self._settle()
        self.base.pair()

    @property
    def _unanswered(self) -> str:
        return "random allocation of this mechanism is known only between two bounds"

    def _uncertified(self) -> str:
        return "certificates do not know random allocation of this mechanism, whose answers are brackets: certify the base"
