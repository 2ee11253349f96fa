"""The profiles of losses by the best routes, and what questions to the same loss share."""

from __future__ import annotations

from logphi.answers.enclosure import meet
from logphi.engine.concentration import at_once
from logphi.engine.log_probability import LogProbability, bounded, masses
from logphi.engine.routes.automatic import Automatic
from logphi.engine.routes.evaluator import Evaluator, as_known
from logphi.engine.routes.planner import Planned
from logphi.engine.routes.registry import named
from logphi.engine.routes.route import LocalProfile, Route
from logphi.inversion import contour
from logphi.inversion.demand import Demand
from logphi.laws.log_phi import LogPhi


class SharedEvaluator(Evaluator):
    """Profiles for many questions to the same losses: what was prepared for one answers the others, where it is sharp.

    Made for one array of questions, best asked in order: only the last preparation for a loss is kept.
    """

    def __init__(self) -> None:
        super().__init__(self._shared)
        # by identity, as the hash of a loss takes as long as it has terms
        self._automatic = Automatic()
        self._kept: dict[int, tuple[LogPhi, Planned]] = {}
        self._ceilings: dict[int, tuple[LogPhi, contour.Ceiling]] = {}

    def from_prepared(self, loss: LogPhi, epsilon: float, demand: Demand) -> LogProbability | None:
        """From the last preparation, unless nothing need be computed."""
        known = masses(loss)
        answer = at_once(loss, known, epsilon)
        if answer is None:
            found = self._from_kept(loss, epsilon, demand)
            answer = found and meet(found, bounded(loss, known, epsilon))
        return answer and as_known(loss, answer)

    def _ceiling(self, loss: LogPhi, epsilon: float, level: float) -> float:
        if id(loss) not in self._ceilings or self._ceilings[id(loss)][1].at(epsilon) >= level:
            self._ceilings[id(loss)] = loss, contour.ceiling(loss, epsilon)
        return self._ceilings[id(loss)][1].at(epsilon)

    def _from_kept(self, loss: LogPhi, x: float, demand: Demand) -> LogProbability | None:
        found = self._kept[id(loss)][1].from_prepared(x) if id(loss) in self._kept else None
        return found if found is not None and found.meets(demand) else None

    def _shared(self, loss: LogPhi, epsilon: float, demand: Demand) -> LocalProfile:
        own = self._automatic(loss, epsilon, demand)

        def at(x: float) -> LogProbability:
            kept = self._kept.get(id(loss))
            found = None if kept is None or kept[1] is own else self._from_kept(loss, x, demand)
            if found is None:
                self._kept[id(loss)] = loss, own
                found = own(x)
            return found

        return at


def evaluator(method: str | Route | None = None, *, many: bool = False) -> Evaluator:
    """By a named route; else by those that fit a loss, until one meets the tolerance, which many questions share."""
    chosen = named(method)
    if chosen is None:
        return SharedEvaluator() if many else Evaluator(Automatic())
    return Evaluator(chosen.prepare)
