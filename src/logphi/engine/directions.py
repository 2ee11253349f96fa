"""The two orders of a pair, and those that an adjacency relation requires."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

from logphi.answers.bound import Bound, Bounds
from logphi.answers.status import Direction
from logphi.inputs.adjacency import Adjacency
from logphi.laws.log_phi import LogPhi


def direction_of(value: Direction | str) -> Direction:
    """``value`` as a direction; accepts the lower-case name."""
    try:
        return Direction(value)
    except ValueError:
        raise ValueError(f"direction must be 'remove' or 'add', got {value!r}") from None


def directions_under(adjacency: Adjacency) -> tuple[Direction, ...]:
    """The orders of a pair that a relation requires."""
    return {
        Adjacency.ADD: (Direction.ADD,),
        Adjacency.REMOVE: (Direction.REMOVE,),
    }.get(adjacency, (Direction.REMOVE, Direction.ADD))


class HasLoss(Protocol):
    """An object that answers questions: a release, or its loss."""

    def _loss(self) -> Loss:
        """The loss of the release."""
        ...


class Certifiable(HasLoss, Protocol):
    """An object that also answers in ball arithmetic."""

    def _certified(self, quantity: str, question: Any, direction: Direction | str | None, rtol: float) -> Bound | Bounds:
        """The answer in ball arithmetic."""
        ...


@dataclass(frozen=True)
class Loss:
    """The loss of a release in the remove direction, and the relation that it is meant for."""

    remove: LogPhi
    adjacency: Adjacency

    def orders(self, direction: Direction | str | None) -> list[tuple[Direction, LogPhi]]:
        """The losses in the requested orders, of which the largest answer counts; one loss if both orders agree.

        The maximum over directions is taken after composition, never before it ([AFA] Lemma 28).

        Raises
        ------
        ValueError
            If the direction is unknown or foreign to the relation.
        """
        own = directions_under(self.adjacency)
        if direction is not None:
            wanted = direction_of(direction)
            if wanted is not Direction.BOTH and wanted not in own:
                raise ValueError(f"direction {wanted.value!r} does not exist under adjacency {self.adjacency.value!r}")
            own = own if wanted is Direction.BOTH else (wanted,)
        if len(own) == 2 and self.remove.traits.symmetric:
            return [(Direction.BOTH, self.remove)]
        return [(one, self.remove if one is Direction.REMOVE else self.remove.reflected()) for one in own]

    def _loss(self) -> Loss:
        return self

    def _certified(self, quantity: str, question: Any, direction: Direction | str | None, rtol: float) -> NoReturn:
        # ball arithmetic is a floor above, and only the release knows how the parameters were written
        raise ValueError(f"a loss has no certified {quantity}: ask the release that it belongs to")
