"""Releases whose loss has estimated errors, but which are proved to lie between two others."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

from logphi.algebra.by_others import PROFILES, ByOthers, between
from logphi.algebra.families import FamilyComposition
from logphi.algebra.release import Composition, Mechanism, compose

Ends = tuple[Mechanism, Mechanism]


class Enclosed(ByOthers):
    """A release that may be known to dominate one release, and to be dominated by another: its ends.

    Questions whose answer grows with the profile are answered by the interval between the answers of the two. All others, and
    those that name a method, are answered by the loss.
    """

    _unlisted = Mechanism._unlisted | {"ends"}

    @property
    @abstractmethod
    def _enclosed(self) -> bool:
        """Whether there may be ends."""

    @abstractmethod
    def ends(self) -> Ends | None:
        """A mechanism that the release dominates, and one that dominates it; None if they are not known."""

    def _composition(self) -> type[Composition]:
        return EnclosedComposition if self._enclosed else super()._composition()

    def _by_others(self, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        ends = self.ends() if name in PROFILES and options.get("method") is None else None
        if ends is None:
            return super()._by_others(name, arguments, options)
        below, above = (getattr(one, name)(*arguments, **options) for one in ends)
        return between([above], below)


@dataclass(frozen=True, repr=False, eq=False)
class EnclosedComposition(Enclosed, FamilyComposition):
    """A composition with an enclosed release: the lower ends compose, and so do the upper ones."""

    @property
    def _enclosed(self) -> bool:
        return True

    def ends(self) -> Ends | None:
        """The compositions of all lower and of all upper ends."""
        found = [(ends_of(one), count) for one, count in self.terms]
        if any(ends is None for ends, _ in found):
            return None
        below, above = (compose(count * ends[side] for ends, count in found if ends) for side in (0, 1))
        return below, above


def ends_of(mechanism: Mechanism) -> Ends | None:
    """The ends of an enclosed release; of any other, twice the release itself."""
    return mechanism.ends() if isinstance(mechanism, Enclosed) and mechanism._enclosed else (mechanism, mechanism)
