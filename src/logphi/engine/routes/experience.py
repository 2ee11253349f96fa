"""What questions to one loss leave for later ones: prepared profiles, forecasts, and the route that answered.

No bound depends on it: a prepared profile holds at every epsilon, and every answer is proved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from logphi.answers.enclosure import meet
from logphi.bracketing import near_by
from logphi.engine.log_probability import LogProbability
from logphi.engine.routes.route import LocalProfile, NotApplicableError, Offer, Request, Route
from logphi.inversion.demand import Demand, Promise
from logphi.laws.log_phi import LogPhi

# measured: within this relative distance another preparation is no narrower, and a promise still stands
_BESIDE = 1e-3
# measured: within this relative distance a route misses its promises by about the same factor
_SIMILAR = 0.2


class Prepared(NamedTuple):
    """The profile that a route prepared near an epsilon for a demand; None if it turned out not to apply."""

    epsilon: float
    demand: Demand
    profile: LocalProfile | None

    def at(self, x: float) -> LogProbability | None:
        """Log delta at any epsilon; None if the route does not apply there."""
        try:
            return None if self.profile is None else self.profile(x)
        except NotApplicableError:
            return None


@dataclass
class Forecasts:
    """What routes have said about one demand, and at which epsilon: promises, refusals, and the factors of missed promises."""

    demand: Demand
    promises: dict[Route, tuple[float, Promise]] = field(default_factory=dict)
    refusals: dict[Route, tuple[float, str]] = field(default_factory=dict)
    misses: dict[Route, tuple[float, float]] = field(default_factory=dict)

    def promise(self, route: Route, x: float) -> Promise | None:
        """The promise of a route that still stands at x."""
        at, promise = self.promises.get(route, (0.0, None))
        return promise if promise is not None and beside(x, at) else None

    def refusal(self, route: Route, x: float) -> str | None:
        """The reason of a route that has refused near x."""
        at, reason = self.refusals.get(route, (0.0, None))
        return reason if reason is not None and near_by(x, at) else None

    def corrected(self, route: Route, x: float, offer: Offer) -> Offer:
        """An offer, with a width that the route may keep if it has missed a promise near x."""
        at, factor = self.misses.get(route, (0.0, 1.0))
        if factor == 1.0 or not abs(x - at) <= _SIMILAR * abs(at):
            return offer
        return replace(offer, promise=replace(offer.promise, relative_width=factor * offer.promise.relative_width))

    def compare(self, route: Route, x: float, promised: float, width: float) -> None:
        """Note by what factor the width of an answer misses the promised one, if it does."""
        if width > promised > 0:
            self.misses[route] = x, width / promised
        else:
            self.misses.pop(route, None)


class Experience:
    """The routes that fit one loss, the last profile that each has prepared, and their forecasts for the last demand."""

    def __init__(self, loss: LogPhi, routes: Sequence[Route]) -> None:
        self.loss, self.routes = loss, routes
        # the route by which a request was last answered
        self.leader: Route | None = None
        self._prepared: dict[Route, Prepared] = {}
        self._forecasts: Forecasts | None = None

    def forecasts(self, demand: Demand) -> Forecasts:
        """The forecasts for a demand, which replace those for another one."""
        if self._forecasts is None or self._forecasts.demand != demand:
            self._forecasts = Forecasts(demand)
        return self._forecasts

    def keep(self, route: Route, prepared: Prepared) -> None:
        """Keep what a route has prepared last: sharp methods come first, and of these and of the others the latest."""
        self._prepared.pop(route, None)
        latest_first = [(route, prepared), *self._prepared.items()]
        self._prepared = dict(sorted(latest_first, key=lambda kept: not kept[0].method.sharp))

    def prepared_for(self, request: Request) -> dict[Route, Prepared]:
        """What has been prepared for the same demand beside the same epsilon."""
        return {
            route: one
            for route, one in self._prepared.items()
            if beside(request.epsilon, one.epsilon) and one.demand == request.demand
        }

    def profile(self, x: float, demand: Demand) -> LogProbability | None:
        """Log delta at x from prepared profiles until it meets a demand, sharp methods first; None if there are none."""
        best: LogProbability | None = None
        for one in self._prepared.values():
            found = one.at(x)
            if found is not None:
                best = found if best is None else meet(best, found)
                if best.meets(demand):
                    break
        return best


def beside(x: float, at: float) -> bool:
    """Whether a profile prepared at one epsilon is as narrow at the other as one prepared there."""
    return abs(x - at) <= _BESIDE * abs(at)
