"""The profiles of losses by the best routes, with preparations that questions to the same loss share."""

from __future__ import annotations

from logphi.engine.concentration import at_once
from logphi.engine.log_probability import LogProbability, bounded, masses
from logphi.engine.routes.automatic import Automatic
from logphi.engine.routes.evaluator import Evaluator, as_known
from logphi.engine.routes.planner import Planned
from logphi.engine.routes.registry import named
from logphi.engine.routes.route import LocalProfile, Route
from logphi.inversion.demand import Demand
from logphi.inversion.lines import contour
from logphi.laws.log_phi import LogPhi


class SharedEvaluator(Evaluator):
    """Profiles for many questions to the same losses: the preparation for one answers the others where it is sharp enough.

    One object serves one array of questions, best in increasing order: only the last preparation for a loss is kept.
    """

    def __init__(self) -> None:
        super().__init__(self._shared)
        # keys are identities, as the hash of a loss takes time for each term
        self._automatic = Automatic()
        self._kept: dict[int, tuple[LogPhi, Planned]] = {}
        self._ceilings: dict[int, tuple[LogPhi, contour.Ceiling]] = {}

    def from_prepared(self, loss: LogPhi, epsilon: float, demand: Demand) -> LogProbability | None:
        """The profile from the last preparation, unless it is known without computing."""
        known = masses(loss)
        answer = at_once(loss, known, epsilon)
        if answer is None:
            found = self._from_kept(loss, epsilon, demand)
            answer = found and bounded(loss, known, epsilon, found)
        return answer and as_known(loss, answer)

    def _ceiling(self, loss: LogPhi, epsilon: float, level: float, hint: float | None) -> float:
        if id(loss) not in self._ceilings or self._ceilings[id(loss)][1].at(epsilon) >= level:
            self._ceilings[id(loss)] = loss, contour.ceiling(loss, epsilon, level, hint)
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
    """The evaluator of a named route, or of the routes that fit a loss; ``many`` questions share preparations."""
    chosen = named(method)
    if chosen is None:
        return SharedEvaluator() if many else Evaluator(Automatic())
    return Evaluator(chosen.prepare)
