"""Inversion along a bent contour, for few kinds of Poisson-sampled Gaussians with tiny sampling rates."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from logphi.engine.large_losses.sampled_terms import sampled_terms
from logphi.engine.method import Method
from logphi.engine.routes.route import LocalProfile, NotApplicableError, Offer, Request, Route, inverted
from logphi.inversion.demand import Demand, Promise
from logphi.inversion.lines.contour import Inversion, Part

if TYPE_CHECKING:
    from logphi.inversion.bent.clipped_ceiling import SampledPairs
    from logphi.inversion.bent.forecast import Forecast

# derived: e^epsilon does not overflow
_FARTHEST = 600.0
# measured: this number of terms takes a third of a second
_LONG = 4e6
# measured: the number of operations for each term of an inner sum
_TERM = 60.0
# measured: the number of operations to lay out any contour
_LAYOUT = 1.2e7


def prepare(request: Request) -> LocalProfile:
    """The profile from a contour along a hyperbola."""
    question = _Question.of(request)
    return inverted(request.loss, _METHOD, None if question is None else question.prepared(None))


@dataclass(frozen=True)
class _Question:
    """The terms of a loss, the threshold and the demand, in the order of the pair in which no law is reflected."""

    terms: SampledPairs
    reflected: bool
    x: float
    demand: Demand

    @staticmethod
    def of(request: Request) -> _Question | None:
        """The question of a request; None if epsilon is too large."""
        loss, epsilon, demand = request.loss, request.epsilon, request.demand
        found = sampled_terms(loss)
        if found is None:
            raise NotApplicableError(
                "method 'bent' needs a few kinds of Poisson-sampled Gaussians and nothing else; leave method out"
            )
        if not abs(epsilon) < _FARTHEST:
            return None
        terms, reflected = found
        # left of zero delta is 1 - e^eps plus the functional, whose error may be relative to delta
        added = math.log(math.expm1(-epsilon)) + (0.0 if reflected else epsilon) if epsilon < 0 else -math.inf
        scale = -epsilon if reflected else 0.0
        least = max(added, demand.least + scale)
        return _Question(terms, reflected, -epsilon if reflected else epsilon, Demand(demand.rtol, least=least))

    def forecast(self) -> Forecast | None:
        """The contour, with guesses of its width and length."""
        from logphi.inversion.bent.forecast import forecast

        return forecast(self.terms, self.x, self.demand)

    def prepared(self, first: Forecast | None) -> Callable[[float], Inversion] | None:
        """The functional of the loss; None if there is no contour."""
        # SciPy's normal tails would double the time of importing the package
        from logphi.inversion.bent.layout import prepare

        found = prepare(self.terms, self.x, self.demand, first)
        if found is None:
            return None
        return (lambda x: _of_reflected(found.at(-x), x)) if self.reflected else found.at


def _forecast(request: Request) -> Offer:
    asked, question = request, _Question.of(request)
    found = None if question is None else question.forecast()
    if found is None or not (found.worthwhile and found.work <= _LONG):
        # where the sum is this long, the width that suffices is demanded, not the best one
        asked = request.sufficient
        question = _Question.of(asked)
        found = None if question is None else question.forecast()
    if question is None or found is None:
        raise NotApplicableError("the integrand does not decay along any hyperbola")
    if not found.worthwhile:
        raise NotApplicableError(
            f"about {found.work:.1g} terms would leave a relative width of {found.width:.1g}: too many, or too wide"
        )
    promise = Promise(max(found.width, asked.demand.rtol), _LAYOUT + _TERM * found.work)
    return Offer(promise, lambda: inverted(request.loss, _METHOD, question.prepared(found)))


def _of_reflected(found: Inversion, x: float) -> Inversion:
    """The functional of the reflected law at x, from that of the law at -x: the two excesses change places, times e^x."""
    part = Part.REVERSED if found.part is Part.EXCESS else Part.EXCESS
    return replace(found, part=part, amount=found.amount.times_exp(x))


_METHOD = Method("bent", "inversion along a hyperbola: few sampled Gaussians, small sampling rates")
BENT = Route(_METHOD, prepare, forecast=_forecast)
