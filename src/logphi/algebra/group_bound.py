"""A release in the place of one that it dominates, for a group of records."""

from __future__ import annotations

from collections.abc import Iterator

from logphi.algebra.enclosed import ends_of
from logphi.algebra.families import Dominated, family_of
from logphi.algebra.release import Mechanism, compose
from logphi.algebra.written_as import WrittenAs
from logphi.inputs.adjacency import Adjacency
from logphi.inputs.arguments import frozen
from logphi.laws.log_phi import LogPhi
from logphi.pairs.pair import Pair


@frozen
class GroupBound(WrittenAs, Dominated):
    """A mechanism that dominates a release for a group of records; made by :meth:`Mechanism.group`.

    Answers have the status ``DOMINATED``.
    """

    above: Mechanism
    adjacency: Adjacency

    @property
    def _written(self) -> Mechanism:
        return self.above

    @property
    def _end(self) -> Mechanism:
        """The mechanism; its upper end where it is known by a bracket."""
        ends = ends_of(self.above)
        return self.above if ends is None else ends[1]

    def loss_law(self) -> LogPhi:
        """The loss of the mechanism above."""
        return self._end.loss_law()

    def pair(self) -> Pair:
        """The pair of the mechanism above."""
        return self._end.pair()

    def _grouped(self, size: int) -> Mechanism:
        return bound_of_group(self.above.group(size))

    def _parts(self) -> tuple[Mechanism, ...]:
        return self.above._parts()

    def _sampling(self, unit: str) -> str:
        return self.above._sampling(unit)

    def _assumptions(self) -> Iterator[str]:
        return self.above._assumptions()

    def _numbers(self) -> Iterator[float]:
        return self.above._numbers()


def bound_of_group(above: Mechanism) -> Mechanism:
    """A composition that dominates the release for a group, as a bound; what is known to be one already stays as it is."""
    return compose(
        count * (one if one._need_not_attain or one._bracketed or family_of(one) else GroupBound(one, one.adjacency))
        for one, count in above.counted()
    )
