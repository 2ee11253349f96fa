"""The profile by a route, intersected with the bounds that hold for any pair."""

from __future__ import annotations

import math
from dataclasses import replace

from logphi.engine.ceiling import perhaps_below, without_large
from logphi.engine.concentration import at_once
from logphi.engine.log_probability import LogProbability, bounded, masses
from logphi.engine.routes.route import LocalProfile, Prepare, Request
from logphi.inversion.lines import contour
from logphi.laws.log_phi import LogPhi


class Evaluator:
    """Profiles of losses, prepared in one way and intersected with the bounds that hold for any pair."""

    def __init__(self, prepare: Prepare) -> None:
        self._prepare = prepare
        # the last ceiling of each loss; keys are identities, as the hash of a loss takes time for each term
        self._ceilings: dict[int, tuple[LogPhi, contour.Ceiling]] = {}

    def __call__(self, request: Request) -> LocalProfile:
        """The profile of a request, prepared when a value is first computed."""
        loss, epsilon = request.loss, request.epsilon
        known = masses(loss)
        local: LocalProfile | None = None

        def at(x: float) -> LogProbability:
            nonlocal local
            answer = at_once(loss, known, x)
            if answer is None:
                if local is None:
                    # near x, if the request's own epsilon needs no computing
                    near = x == epsilon or at_once(loss, known, epsilon) is None
                    local = self._prepare(request if near else replace(request, epsilon=x))
                answer = bounded(loss, known, x, local(x))
            return as_known(loss, answer)

        return at

    def from_prepared(self, request: Request) -> LogProbability | None:
        """The profile at the epsilon of a request, if it follows from what an earlier one has prepared."""
        return None

    def surely_below(self, request: Request, level: float) -> bool:
        """Whether a quick bound proves the profile to be below a level, a logarithm, at the epsilon of a request."""
        loss, epsilon = request.loss, request.epsilon
        if masses(loss)[0][1] > 0:
            return False
        if epsilon >= loss.support.upper:
            return level > -math.inf
        _, ceiling = self._ceilings.get(id(loss), (loss, None))
        if ceiling is None or ceiling.at(epsilon) >= level:
            ceiling = contour.ceiling(loss, epsilon, level, request.demand.hint)
            self._ceilings[id(loss)] = loss, ceiling
        if ceiling.at(epsilon) < level:
            return True
        return perhaps_below(loss, epsilon, level, by=0.0) and without_large(loss, epsilon) < level


def as_known(loss: LogPhi, found: LogProbability) -> LogProbability:
    """The answer, marked as an estimate if the loss is known by samples only."""
    return replace(found, ledger=found.ledger.estimating("truncation", "inner")) if loss.traits.estimated else found
