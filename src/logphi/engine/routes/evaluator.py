"""The profile by a route, intersected with the bounds that hold for any pair."""

from __future__ import annotations

from dataclasses import replace

from logphi.engine.ceiling import perhaps_below, without_large
from logphi.engine.concentration import at_once
from logphi.engine.log_probability import LogProbability, bounded, masses
from logphi.engine.routes.route import LocalProfile, Prepare
from logphi.inversion.demand import Demand
from logphi.inversion.lines import contour
from logphi.laws.log_phi import LogPhi


class Evaluator:
    """Profiles of losses, prepared in one way and intersected with the bounds that hold for any pair."""

    def __init__(self, prepare: Prepare) -> None:
        self._prepare = prepare

    def __call__(self, loss: LogPhi, epsilon: float, demand: Demand) -> LocalProfile:
        """The profile of a loss, prepared near one epsilon."""
        known = masses(loss)
        local: LocalProfile | None = None if at_once(loss, known, epsilon) else self._prepare(loss, epsilon, demand)

        def at(x: float) -> LogProbability:
            nonlocal local
            answer = at_once(loss, known, x)
            if answer is None:
                local = local or self._prepare(loss, x, demand)
                answer = bounded(loss, known, x, local(x))
            return as_known(loss, answer)

        return at

    def from_prepared(self, loss: LogPhi, epsilon: float, demand: Demand) -> LogProbability | None:
        """The profile at epsilon, if it follows from what an earlier question prepared."""
        return None

    def surely_below(self, loss: LogPhi, epsilon: float, level: float, hint: float | None = None) -> bool:
        """Whether a quick bound proves the profile to be below a level, a logarithm; ``hint`` as in a demand."""
        if masses(loss)[0][1] > 0:
            return False
        if self._ceiling(loss, epsilon, level, hint) < level:
            return True
        return perhaps_below(loss, epsilon, level, by=0.0) and without_large(loss, epsilon) < level

    def _ceiling(self, loss: LogPhi, epsilon: float, level: float, hint: float | None) -> float:
        return contour.ceiling(loss, epsilon, level, hint).at(epsilon)


def as_known(loss: LogPhi, found: LogProbability) -> LogProbability:
    """The answer, marked as an estimate if the loss is known by samples only."""
    return replace(found, ledger=found.ledger.estimating("truncation", "inner")) if loss.traits.estimated else found
