"""The profile along a route, within what holds for every pair."""

from __future__ import annotations

from dataclasses import replace

from logphi.enclosure import meet
from logphi.engine.profile import LogProbability, bounded, masses, settled
from logphi.engine.routes.route import Local, Prepare
from logphi.inversion import contour
from logphi.inversion.demand import Demand
from logphi.laws.log_phi import LogPhi


class Profiles:
    """Profiles of losses along a route, within what holds for every pair and computed where that does not settle them."""

    def __init__(self, along: Prepare) -> None:
        self._along = along

    def __call__(self, loss: LogPhi, epsilon: float, demand: Demand) -> Local:
        """Prepared near one epsilon."""
        known = masses(loss)
        local: Local | None = None if settled(loss, known, epsilon) else self._along(loss, epsilon, demand)

        def at(x: float) -> LogProbability:
            nonlocal local
            answer = settled(loss, known, x)
            if answer is None:
                local = local or self._along(loss, x, demand)
                answer = meet(local(x), bounded(loss, known, x))
            return as_known(loss, answer)

        return at

    def at_hand(self, loss: LogPhi, epsilon: float, demand: Demand) -> LogProbability | None:
        """The profile at epsilon, if an earlier question left all that is needed for it."""
        return None

    def surely_below(self, loss: LogPhi, epsilon: float, level: float) -> bool:
        """Whether a quick bound proves the profile to be below a level, a logarithm."""
        return masses(loss)[0][1] == 0 and self._ceiling(loss, epsilon, level) < level

    def _ceiling(self, loss: LogPhi, epsilon: float, level: float) -> float:
        return contour.ceiling(loss, epsilon).at(epsilon)


def as_known(loss: LogPhi, found: LogProbability) -> LogProbability:
    """An answer of a loss that is known by samples only is an estimate."""
    return replace(found, ledger=found.ledger.estimating("truncation", "inner")) if loss.estimated else found
