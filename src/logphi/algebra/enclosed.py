"""Releases with a loss of their own that are also proved to lie between two others, their ends."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from logphi.algebra.asking import Questions
from logphi.algebra.by_others import PROFILES, ByOthers, Proofs, between, narrower
from logphi.algebra.families import FamilyComposition
from logphi.algebra.release import Composition, Mechanism, compose
from logphi.answers.bound import Bound
from logphi.answers.status import Status
from logphi.laws.log_phi import LogPhi

Ends = tuple[Mechanism, Mechanism]

# chosen: ends that are further apart, relatively, are compared with the loss
_WIDE = 1e-2


class Enclosed(ByOthers):
    """A release that may be known to dominate one release, and to be dominated by another: its ends.

    Questions whose answer grows with the profile are answered by the interval between the answers of both ends. All other
    questions, and those that name a method, are answered by the loss.
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

    @property
    def _proofs(self) -> Proofs:
        """What the ends are, in words."""
        return "a finite pair below it in the convex order", "a finite pair above it in the convex order"

    def _answering(self) -> Ends | None:
        """The ends, where they answer questions to this release itself; None where the loss does."""
        return self.ends()

    @property
    def _loss_is_proved(self) -> bool:
        """Whether the errors of the loss are proved, so that it may answer where the ends are far apart."""
        return False

    def _loss_is_sharp(self, count: int = 1, whole: LogPhi | None = None) -> bool:
        """Whether the loss of ``count`` such releases may give a narrower answer than the ends.

        ``whole`` is the loss of all that is released together, if there is more.
        """
        return False

    def _explained(self, ends: Ends, options: dict[str, Any]) -> Any:
        """The account of the upper end, with the answer of both; None where the loss answers."""
        asked = [name for name in ("epsilon", "delta") if options.get(name) is not None]
        if len(asked) != 1 or options.get("method") is not None:
            return None
        bound = (self.delta if asked == ["epsilon"] else self.epsilon)(options[asked[0]])
        if not isinstance(bound, Bound) or (ends[0] != ends[1] and bound.status is not Status.BRACKET):
            return None
        return replace(ends[1].explain(**options), mechanism=repr(self), bound=bound)

    def _by_others(self, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        if name == "explain" and (both := self._answering()) and (found := self._explained(both, options)):
            return found
        ends = self._answering() if name in PROFILES and options.get("method") is None else None
        if ends is None:
            return super()._by_others(name, arguments, options)
        by_loss = getattr(Questions, name)
        own = by_loss(self, *arguments, **options) if self._loss_is_sharp() else None
        if own is not None and np.all([status.met for status in np.ravel(own.status)]):
            return own
        found = getattr(ends[1], name)(*arguments, **options)
        if ends[0] != ends[1]:
            found = between([found], getattr(ends[0], name)(*arguments, **options), proofs=self._proofs)
        if own is None and self._loss_is_proved and not np.all(found.upper - found.lower <= _WIDE * np.abs(found.upper)):
            own = by_loss(self, *arguments, **options)
        return found if own is None else narrower(own, found)


@dataclass(frozen=True, repr=False, eq=False)
class EnclosedComposition(Enclosed, FamilyComposition):
    """A composition with an enclosed release: the lower ends compose, and so do the upper ones."""

    @property
    def _enclosed(self) -> bool:
        return True

    @property
    def _loss_is_proved(self) -> bool:
        return all(one._loss_is_proved for one, _ in self.terms if isinstance(one, Enclosed) and one._enclosed)

    def _loss_is_sharp(self, count: int = 1, whole: LogPhi | None = None) -> bool:
        enclosed = [(one, own) for one, own in self.terms if isinstance(one, Enclosed) and one._enclosed]
        return all(one._loss_is_sharp(count * own, whole or self.loss_law()) for one, own in enclosed)

    def ends(self) -> Ends | None:
        """The compositions of all lower and of all upper ends."""
        found = [(ends_of(one), count) for one, count in self.terms]
        if any(ends is None for ends, _ in found):
            return None
        below, above = (compose(count * ends[side] for ends, count in found if ends) for side in (0, 1))
        return below, above

    @property
    def _proofs(self) -> Proofs:
        """Those of all parts."""
        found = [one._proofs for one, _ in self.terms if isinstance(one, Enclosed) and one._enclosed]
        below, above = ("; ".join(dict.fromkeys(one[side] for one in found)) for side in (0, 1))
        return below, above


def ends_of(mechanism: Mechanism) -> Ends | None:
    """The ends of an enclosed release; any other release is its own lower and upper end."""
    return mechanism.ends() if isinstance(mechanism, Enclosed) and mechanism._enclosed else (mechanism, mechanism)
