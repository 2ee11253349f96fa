"""The choice of a route: the cheapest one that promises the demanded width, and the next one if it breaks its promise.

No bound depends on a promise: each answer is proved, and the answers of several routes are intersected.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce

from logphi.answers.enclosure import meet
from logphi.bracketing import near_by
from logphi.engine.ceiling import perhaps_below
from logphi.engine.log_probability import LogProbability
from logphi.engine.routes.chernoff import by_chernoff, level_of_the_omitted, may_be_beneath, may_be_certain
from logphi.engine.routes.choices import Choice, note
from logphi.engine.routes.route import LocalProfile, NotApplicableError, Offer, Route
from logphi.inversion.demand import Demand, Promise
from logphi.inversion.lines import contour
from logphi.laws.log_phi import LogPhi

# measured: a promise of so little work is accepted at once, as other forecasts take about as long
_AT_ONCE = 2e7
# measured: the same for the route that answered an earlier question, as it was the best one there
_AGAIN_AT_ONCE = 2e8
# measured: the best width is worth this factor of work over the sufficient one, and widths between are worth a part of it
_FINER = 4.0
# measured: the work that is worth doing to narrow an answer that suffices
_WORTH = 5e7
# chosen: the factor by which another route must promise to be narrower than the present answer
_GAIN = 2.0
# measured: the work above which it is quicker to check first whether the profile is far below all demands
_DEAR = 2e8
# measured: the relative distance from the epsilon of preparation within which preparing again does not narrow an answer, and
# from that of a promise within which it still stands
_NEAR = 1e-3
# chosen: the logarithm of a guessed ceiling below which the profile is not nearly one
_NEARLY_ONE = -1.0
# measured: the number of broken promises for one loss after which a route is not tried again
_AGAIN = 3
# measured: within this relative distance, a route misses its promises by about the same factor
_SIMILAR = 0.2


@dataclass(frozen=True)
class _Asked:
    route: Route
    offer: Offer

    @property
    def promise(self) -> Promise:
        return self.offer.promise


@dataclass
class _History:
    """What routes have said about a demand, at which epsilon: promises, refusals, by what factor a promise was missed."""

    promises: dict[Route, tuple[float, Promise]] = field(default_factory=dict)
    refused: dict[Route, tuple[float, str]] = field(default_factory=dict)
    missed: dict[Route, tuple[float, float]] = field(default_factory=dict)


class Planned:
    """The profile of a loss by the routes that fit it, each prepared when it is first needed.

    ``leading`` holds the route by which an earlier question to the same loss was answered, which is tried first. ``earlier``
    are profiles that such a question prepared, ``prepared`` those of each route that need not be prepared again, with their
    epsilons, and ``history`` what routes have said before.
    """

    def __init__(
        self,
        loss: LogPhi,
        demand: Demand,
        routes: Sequence[Route],
        leading: dict[int, tuple[LogPhi, Route]],
        earlier: Sequence[LocalProfile] = (),
        prepared: dict[Route, tuple[float, LocalProfile | None]] | None = None,
        history: _History | None = None,
    ) -> None:
        self._loss, self._demand, self._routes, self._leading = loss, demand, routes, leading
        self._omits = loss.support.omitted.mass > 0
        self._broken: Counter[Route] = Counter()
        self._earlier, self._prepared, self._history = earlier, prepared or {}, history or _History()

    def near(self, x: float, demand: Demand) -> Planned:
        """The same with a demand, at a later epsilon: for an equal demand, what routes have promised there still stands."""
        if demand != self._demand:
            return Planned(self._loss, demand, self._routes, self._leading, self.lasting)
        prepared = {route: (at, local) for route, (at, local) in self._prepared.items() if _beside(x, at)}
        return Planned(self._loss, demand, self._routes, self._leading, self.lasting, prepared, self._history)

    def __call__(self, x: float) -> LogProbability:
        """Log delta at an epsilon."""
        best = self.from_prepared(x)
        if best is not None and best.meets(self._demand.sufficient):
            return best
        if best is None and self._earlier:
            # an earlier preparation must meet the demand itself, unless it suffices and another one takes long
            earlier = reduce(meet, [local(x) for local in self._earlier])
            if earlier.meets(self._demand) or (self._long and earlier.meets(self._demand.sufficient)):
                return earlier
        ceiling = self._at_once(x)
        if ceiling is not None:
            return ceiling
        asked: dict[Route, Promise | str] = {}

        for one in self._in_turn(x, asked):
            if one.promise.operations >= _DEAR and ceiling is None and self._may_be_trivial(x):
                ceiling = by_chernoff(self._loss, x, hint=self._demand.hint)
                if ceiling.meets(self._demand):
                    break
            if best is not None and not self._improves(one.promise, best):
                continue
            if best is not None and best.meets(self._demand.sufficient) and one.promise.operations > _WORTH:
                break
            answer = self._answered(one, x, asked)
            if answer is not None:
                best = answer if best is None else meet(best, answer)
                if answer.meets(self._demand.sufficient):
                    self._leading[id(self._loss)] = self._loss, one.route
                if best.meets(self._demand):
                    break
        if best is None or (best.lower == -math.inf < best.upper and not self._loss.closed_form.without_transform):
            ceiling = ceiling or by_chernoff(self._loss, x)
            best = ceiling if best is None else meet(best, ceiling)
        return best

    def from_prepared(self, x: float) -> LogProbability | None:
        """The profile from routes that are prepared already; None if there are none."""
        found = [local(x) for local in self.locals]
        return reduce(meet, found) if found else None

    @property
    def locals(self) -> list[LocalProfile]:
        """All prepared profiles."""
        return [local for _, local in self._prepared.values() if local is not None]

    @property
    def lasting(self) -> list[LocalProfile]:
        """The prepared profiles that serve later questions; a sharp method is asked anew, as it is quick."""
        return [local for route, (_, local) in self._prepared.items() if local is not None and not route.method.sharp]

    def _at_once(self, x: float) -> LogProbability | None:
        """Chernoff's bound, if it suffices or if no route could do better."""
        own, level = (self._loss, self._demand.least) if x >= 0 else (self._reversed, math.log(self._demand.rtol))
        perhaps = perhaps_below(own, abs(x), level)
        if not (perhaps or (self._omits and not self._prepared)):
            return None
        if perhaps:
            found = by_chernoff(self._loss, x)
            return found if found.meets(self._demand) else None
        omitted = level_of_the_omitted(self._loss, self._demand)
        found = by_chernoff(self._loss, x, max(omitted, self._demand.least), self._demand.hint)
        return found if found.meets(self._demand) or found.upper < omitted else None

    @property
    def _long(self) -> bool:
        """Whether the last preparation of the leading route took so long that a narrower answer is not worth another one."""
        _, route = self._leading.get(id(self._loss), (None, None))
        _, promise = (math.nan, None) if route is None else self._history.promises.get(route, (math.nan, None))
        return promise is not None and promise.operations > _WORTH

    @cached_property
    def _reversed(self) -> LogPhi:
        return self._loss.reflected()

    def _may_be_trivial(self, x: float) -> bool:
        """Whether the profile may be below all demands, or one to all digits; not near an epsilon that a route has answered."""
        if id(self._loss) in self._leading:
            return False
        saddle = contour.saddle_of_excess(self._loss, x, self._demand.hint)
        if may_be_beneath(self._loss, self._demand.least, saddle):
            return True
        # an excess that may be one has no lower ceiling
        return contour.about(saddle) > _NEARLY_ONE and may_be_certain(self._loss, x, self._demand.rtol)

    def _in_turn(self, x: float, asked: dict[Route, Promise | str]) -> Iterator[_Asked]:
        """The offers of routes, the best known one first; a further route is asked only if no good offer is left."""
        leader = self._leading.get(id(self._loss))
        routes = iter(self._routes if leader is None else sorted(self._routes, key=lambda one: one is not leader[1]))
        waiting: list[_Asked] = []
        while True:
            while not any(self._at_once_by(one, leader and leader[1]) for one in waiting):
                route = next(routes, None)
                if route is None:
                    break
                offer = self._offer(route, x, asked)
                if offer is not None:
                    waiting.append(_Asked(route, offer))
            if not waiting:
                return
            yield waiting.pop(min(range(len(waiting)), key=lambda one: self._rank(waiting[one].promise)) if waiting[1:] else 0)

    def _offer(self, route: Route, x: float, asked: dict[Route, Promise | str]) -> Offer | None:
        if route in self._prepared and _beside(x, self._prepared[route][0]):
            return None
        if self._broken[route] >= _AGAIN:
            asked[route] = "too many of its promises have been broken"
            return None
        if route in self._history.refused and near_by(x, self._history.refused[route][0]):
            asked[route] = self._history.refused[route][1]
            return None
        at, promise = self._history.promises.get(route, (math.nan, None))
        if promise is not None and _beside(x, at):
            asked[route] = promise
            # it is prepared at this epsilon, where it is narrowest
            return Offer(promise, lambda: route.offer(self._loss, x, self._demand).prepare())
        try:
            offer = route.offer(self._loss, x, self._demand)
            offer = self._corrected(route, x, offer) if route in self._history.missed else offer
        except NotApplicableError as error:
            asked[route] = str(error)
            self._history.refused[route] = x, str(error)
            return None
        self._history.promises[route] = x, offer.promise
        asked[route] = offer.promise
        return offer

    def _corrected(self, route: Route, x: float, offer: Offer) -> Offer:
        """The offer of a route that has missed its promise near by, with a width that it may keep."""
        at, factor = self._history.missed[route]
        if not abs(x - at) <= _SIMILAR * abs(at):
            return offer
        return replace(offer, promise=replace(offer.promise, relative_width=factor * offer.promise.relative_width))

    def _meets(self, promise: Promise) -> bool:
        return promise.relative_width <= self._demand.sufficient.rtol

    def _at_once_by(self, one: _Asked, leader: Route | None) -> bool:
        """Whether a promise is accepted without asking other routes."""
        most = _AT_ONCE if one.route is not leader else _AGAIN_AT_ONCE
        return self._meets(one.promise) and one.promise.operations <= most

    def _rank(self, promise: Promise) -> tuple[float, float]:
        """The sort key of a promise: those that meet the demand by work, then the others by width."""
        if self._meets(promise):
            rtol, wider = self._demand.rtol, self._demand.sufficient.rtol / self._demand.rtol
            share = math.log(max(promise.relative_width / rtol, 1.0)) / math.log(wider) if wider > 1 else 0.0
            return 0.0, promise.operations * _FINER**share
        return promise.relative_width, promise.operations

    def _improves(self, promise: Promise, best: LogProbability) -> bool:
        in_vain = best.method.sharp and promise.operations > _AT_ONCE
        return not in_vain and _GAIN * promise.relative_width < best.relative_width

    def _answered(self, one: _Asked, x: float, asked: dict[Route, Promise | str]) -> LogProbability | None:
        try:
            local: LocalProfile | None = one.offer.prepare()
            answer = None if local is None else local(x)
        except NotApplicableError as error:
            local, answer, asked[one.route] = None, None, str(error)
        self._prepared[one.route] = x, local
        if one.route.forecast is None and (answer is None or answer.method.trivial):
            # a route without a forecast has made no promise to break
            if answer is not None:
                asked[one.route] = "it finds nothing here"
            return answer
        others = {str(route.method): told for route, told in asked.items() if route.method is not one.route.method}
        choice = Choice.of(x, one.route.method, one.promise, answer, self._demand, tuple(others.items()))
        self._broken[one.route] += not choice.kept
        if choice.width > choice.promise.relative_width > 0:
            self._history.missed[one.route] = x, choice.width / choice.promise.relative_width
        else:
            self._history.missed.pop(one.route, None)
        note(choice)
        return answer


def _beside(x: float, at: float) -> bool:
    """Whether a profile prepared at one epsilon is as narrow at the other as one prepared there."""
    return abs(x - at) <= _NEAR * abs(at)
