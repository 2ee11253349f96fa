"""The choice of a route: the cheapest one that promises the demanded width, and the next one if it breaks its promise.

No bound depends on a promise: each answer is proved, and the answers of several routes are intersected.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property, reduce

from logphi.answers.enclosure import meet
from logphi.engine.ceiling import perhaps_below
from logphi.engine.log_probability import LogProbability
from logphi.engine.routes.chernoff import by_chernoff, level_of_the_omitted, may_be_beneath, may_be_certain
from logphi.engine.routes.choices import Choice, note
from logphi.engine.routes.experience import Experience, Prepared, beside
from logphi.engine.routes.route import LocalProfile, NotApplicableError, Offer, Request, Route
from logphi.inversion.demand import Promise
from logphi.inversion.lines import contour
from logphi.laws.log_phi import LogPhi

# measured: a promise of so little work is accepted at once, as other forecasts take about as long
_QUICK = 2e7
# measured: the same for the route that answered an earlier question, as it was the best one there
_QUICK_FOR_LEADER = 2e8
# measured: the best width is worth this factor of work over the sufficient one, and widths between are worth a part of it
_FINER = 4.0
# measured: the work that is worth doing to narrow an answer that suffices
_WORTH = 5e7
# chosen: the factor by which another route must promise to be narrower than the present answer
_GAIN = 2.0
# measured: the work above which it is quicker to check first whether the profile is far below all demands
_DEAR = 5e7
# chosen: the logarithm of a guessed ceiling below which the profile is not nearly one
_NEARLY_ONE = -1.0
# measured: the number of broken promises for one request after which a route is not tried again
_AGAIN = 3


class Planned:
    """The profile of a request, by routes that are each prepared when they are first needed.

    It begins with what earlier requests have left in ``experience``, and adds to it.
    """

    def __init__(self, experience: Experience, request: Request) -> None:
        self._loss, self._demand, self._request, self._experience = request.loss, request.demand, request, experience
        # the route of each broken promise
        self._broken: list[Route] = []
        self._forecasts = experience.forecasts(request.demand)
        self._prepared = experience.prepared_for(request)

    def __call__(self, x: float) -> LogProbability:
        """Log delta at an epsilon."""
        enough = self._demand.sufficient
        own = [found for one in self._prepared.values() if (found := one.at(x)) is not None]
        best = reduce(meet, own) if own else None
        if best is not None and best.meets(enough):
            return best
        if best is None:
            # what another request prepared must meet the demand itself, unless it suffices and another preparation takes long
            earlier = self._experience.profile(x, self._demand)
            if earlier is not None and earlier.meets(enough if self._long else self._demand):
                return earlier
        return self._without_routes(x) or self._by_routes(x, best)

    def _without_routes(self, x: float) -> LogProbability | None:
        """Chernoff's bound, if it suffices or if no route could do better."""
        own, level = (self._loss, self._demand.least) if x >= 0 else (self._reversed, math.log(self._demand.rtol))
        if perhaps_below(own, abs(x), level):
            found = by_chernoff(self._loss, x)
            return found if found.meets(self._demand) else None
        if self._prepared or not self._loss.support.omitted.mass > 0:
            return None
        omitted = level_of_the_omitted(self._loss, self._demand)
        found = by_chernoff(self._loss, x, max(omitted, self._demand.least), self._demand.hint)
        return found if found.meets(self._demand) or found.upper < omitted else None

    def _by_routes(self, x: float, best: LogProbability | None) -> LogProbability:
        """Log delta by one route after another until the demand is met, beginning with what is known."""
        enough, ceiling = self._demand.sufficient, None
        asked: dict[Route, Promise | str] = {}
        for route, offer in self._in_turn(x, asked):
            if offer.promise.operations >= _DEAR and ceiling is None and self._may_be_trivial(x):
                ceiling = by_chernoff(self._loss, x, hint=self._demand.hint)
                if ceiling.meets(self._demand):
                    break
            if best is not None and not self._improves(offer.promise, best):
                continue
            if best is not None and best.meets(enough) and offer.promise.operations > _WORTH:
                break
            answer = self._answered(route, offer, x, asked)
            if answer is not None:
                best = answer if best is None else meet(best, answer)
                if answer.meets(enough):
                    self._experience.leader = route
                if best.meets(self._demand):
                    break
        if best is None or (best.lower == -math.inf < best.upper and not self._loss.closed_form.without_transform):
            ceiling = ceiling or by_chernoff(self._loss, x)
            best = ceiling if best is None else meet(best, ceiling)
        return best

    @property
    def _long(self) -> bool:
        """Whether the leading route takes so long that a narrower answer is not worth another preparation."""
        leader = self._experience.leader
        known = None if leader is None else self._forecasts.promises.get(leader)
        return known is not None and known[1].operations > _WORTH

    @cached_property
    def _reversed(self) -> LogPhi:
        return self._loss.reflected()

    def _may_be_trivial(self, x: float) -> bool:
        """Whether the profile may be below all demands, or one to all digits; not near an epsilon that a route has answered."""
        if self._experience.leader is not None:
            return False
        saddle = contour.saddle_of_excess(self._loss, x, self._demand.hint)
        if may_be_beneath(self._loss, self._demand.least, saddle):
            return True
        # an excess that may be one has no lower ceiling
        return contour.log_estimate(saddle) > _NEARLY_ONE and may_be_certain(self._loss, x, self._demand.rtol)

    def _in_turn(self, x: float, asked: dict[Route, Promise | str]) -> Iterator[tuple[Route, Offer]]:
        """The offers of routes, the best known one first; a further route is asked only if no good offer is left."""
        leader, known = self._experience.leader, self._experience.routes
        routes = iter(known if leader is None else sorted(known, key=lambda one: one is not leader))
        waiting: list[tuple[Route, Offer]] = []
        while True:
            while not any(self._accepted(route, offer, leader) for route, offer in waiting):
                following = next(routes, None)
                if following is None:
                    break
                made = self._offer(following, x, asked)
                if made is not None:
                    waiting.append((following, made))
            if not waiting:
                return
            if waiting[1:]:
                waiting.sort(key=lambda one: self._rank(one[1].promise))
            yield waiting.pop(0)

    def _offer(self, route: Route, x: float, asked: dict[Route, Promise | str]) -> Offer | None:
        """The offer of a route at x, if it has one; ``asked`` gets its promise, or the reason why there is none."""
        if route in self._prepared and beside(x, self._prepared[route].epsilon):
            return None
        refusal = self._forecasts.refusal(route, x)
        if self._broken.count(route) >= _AGAIN:
            refusal = "too many of its promises have been broken"
        if refusal is not None:
            asked[route] = refusal
            return None
        request = self._at(x)
        standing = self._forecasts.promise(route, x)
        if standing is not None:
            asked[route] = standing
            # it is prepared at this epsilon, where it is narrowest
            return Offer(standing, lambda: route.offer(request).prepare())
        try:
            offer = self._forecasts.corrected(route, x, route.offer(request))
        except NotApplicableError as error:
            asked[route] = str(error)
            self._forecasts.refusals[route] = x, str(error)
            return None
        asked[route] = offer.promise
        self._forecasts.promises[route] = x, offer.promise
        return offer

    def _at(self, x: float) -> Request:
        """The request at an epsilon."""
        return self._request if x == self._request.epsilon else Request(self._loss, x, self._demand)

    def _meets(self, promise: Promise) -> bool:
        return promise.relative_width <= self._demand.sufficient.rtol

    def _accepted(self, route: Route, offer: Offer, leader: Route | None) -> bool:
        """Whether an offer is accepted without asking other routes."""
        most = _QUICK if route is not leader else _QUICK_FOR_LEADER
        return offer.promise.operations <= most and self._meets(offer.promise)

    def _rank(self, promise: Promise) -> tuple[float, float]:
        """The sort key of a promise: those that meet the demand by work, then the others by width."""
        if self._meets(promise):
            rtol, wider = self._demand.rtol, self._demand.sufficient.rtol / self._demand.rtol
            share = math.log(max(promise.relative_width / rtol, 1.0)) / math.log(wider) if wider > 1 else 0.0
            return 0.0, promise.operations * _FINER**share
        return promise.relative_width, promise.operations

    def _improves(self, promise: Promise, best: LogProbability) -> bool:
        in_vain = best.method.sharp and promise.operations > _QUICK
        return not in_vain and _GAIN * promise.relative_width < best.relative_width

    def _answered(self, route: Route, offer: Offer, x: float, asked: dict[Route, Promise | str]) -> LogProbability | None:
        """The answer of a route, if it has one after all; whether it keeps its promise is noted."""
        try:
            local: LocalProfile | None = offer.prepare()
            answer = None if local is None else local(x)
        except NotApplicableError as error:
            local, answer, asked[route] = None, None, str(error)
        self._prepared[route] = Prepared(x, self._demand, local)
        self._experience.keep(route, self._prepared[route])
        if route.forecast is None and (answer is None or answer.method.trivial):
            # a route without a forecast has made no promise to break
            if answer is not None:
                asked[route] = "it finds nothing here"
            return answer
        others = {str(other.method): told for other, told in asked.items() if other.method is not route.method}
        choice = Choice.of(x, route.method, offer.promise, answer, self._demand, tuple(others.items()))
        self._broken += [] if choice.kept else [route]
        self._forecasts.compare(route, x, offer.promise.relative_width, choice.width)
        note(choice)
        return answer
