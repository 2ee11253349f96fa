"""The attack risks of a release that others enclose: those of releases that dominate it, and of releases that it dominates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from logphi.algebra.by_others import BY_RELEASES, Asked, Proofs, between, dominated
from logphi.algebra.release import Mechanism
from logphi.questions.risk import AttackRisk

# those that the profile of the release itself does not answer; all grow with the pair
_FIGURES = ("tpr", "ppv", "success", "reconstruction", "gaussian_mu")


@dataclass(frozen=True, repr=False)
class RiskBetween(AttackRisk):
    """The risk of a release, from those of releases above and below it; the loss is that of the first one above.

    With nothing below, there is one release above.
    """

    above: tuple[AttackRisk, ...] = field(default=(), compare=False)
    below: tuple[AttackRisk, ...] = field(default=(), compare=False)
    proofs: Proofs = field(default=BY_RELEASES, compare=False)
    _unlisted: ClassVar = AttackRisk._unlisted | {"above", "below", "proofs", "of"}

    @staticmethod
    def of(
        release: Mechanism, above: Sequence[Mechanism], below: Sequence[Mechanism], proofs: Proofs = BY_RELEASES
    ) -> RiskBetween:
        """The risk of a release between others."""
        covers = tuple(one.risk for one in above)
        return RiskBetween(covers[0].loss, release.delta, covers, tuple(one.risk for one in below), proofs)

    def _by_others(self, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """The least upper end of the releases above, and the largest lower end of those below, if there are any."""
        above, below = ([getattr(one, name)(*arguments, **options) for one in side] for side in (self.above, self.below))
        return between(above, *below, proofs=self.proofs) if below else dominated(above[0])


# type checkers read the figures themselves
for _name in _FIGURES:
    setattr(RiskBetween, _name, Asked(AttackRisk, _name))
