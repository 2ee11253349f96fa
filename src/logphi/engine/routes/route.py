"""The interface of a route to a privacy profile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from logphi.answers.enclosure import Enclosure
from logphi.arith.scaled import Scaled
from logphi.bracketing import Function, Watch, crossing
from logphi.engine.log_probability import LogProbability, from_inversion, masses, trivial
from logphi.engine.method import Method
from logphi.inversion.demand import Demand, Promise
from logphi.inversion.lines.contour import Inversion, Part
from logphi.laws.log_phi import LogPhi


@dataclass(frozen=True)
class Request:
    """What a route is asked for: log delta of a loss near an epsilon, as narrow as demanded.

    A question makes one request for each profile that it needs, and every layer passes it on as it is.
    """

    loss: LogPhi
    epsilon: float
    demand: Demand

    @property
    def sufficient(self) -> Request:
        """The request for the width that suffices."""
        return replace(self, demand=self.demand.sufficient)


# a function that gives log delta at any epsilon, narrow near the one for which it has been prepared
LocalProfile = Callable[[float], LogProbability]
# a function that prepares the profile of a request
Prepare = Callable[[Request], LocalProfile]
# a function that encloses the crossing of a profile with a level. Arguments: the profile prepared near a point, coarsely or
# sharply; the level; two ends; a guess; a watch; about the slope at the crossing
Solver = Callable[[Callable[[float, bool], Function], float, float, float, float, Watch, float], Enclosure]


class NotApplicableError(ValueError):
    """The named route does not apply to this loss; the message says why and what does."""


@dataclass(frozen=True, eq=False)
class Offer:
    """The promise of a route for a request, and the function that completes its preparation."""

    promise: Promise
    prepare: Callable[[], LocalProfile]


# a function that makes an offer for a request, or raises a NotApplicableError that says why there is none
Offering = Callable[[Request], Offer]

# measured: the promise of a route without a forecast of its own
_MOSTLY = Promise(0.0, 1e6)


@dataclass(frozen=True, eq=False)
class Route:
    """A method that computes the privacy profile of a loss.

    Parameters
    ----------
    method
        The method of its answers; its name is the name of the route.
    prepare
        The profile of a request. Its bounds hold at every epsilon; it raises a ``NotApplicableError`` for a loss that it does
        not serve.
    solver
        The function that inverts its profile.
    forecast
        The offer for a request, made quickly. No bound depends on it.
    mostly
        Without a forecast: the usual width and work, as measured.
    slow
        Whether an answer may take seconds, as on a line along atoms; the conformance suite passes over such a route.
    """

    method: Method
    prepare: Prepare
    solver: Solver = crossing
    forecast: Offering | None = None
    mostly: Promise = _MOSTLY
    slow: bool = False

    @property
    def name(self) -> str:
        """The name of the route."""
        return str(self.method)

    def offer(self, request: Request) -> Offer:
        """The offer for a request.

        Raises
        ------
        NotApplicableError
            If it does not apply; the message says why.
        """
        if self.forecast is not None:
            return self.forecast(request)
        width = self.mostly.relative_width
        # if narrow answers are expensive, the sufficient width is demanded
        asked = request.sufficient if width > 0 else request
        promise = Promise(max(width, asked.demand.rtol), self.mostly.operations)
        return Offer(promise, lambda: self.prepare(asked))


def inverted(loss: LogPhi, method: Method, at: Callable[[float], Inversion] | None) -> LocalProfile:
    """The profile from one of its functionals; the bounds for any pair if there is none."""
    known = masses(loss)
    if at is None:
        return lambda x: trivial(known, x)
    return lambda x: from_inversion(known, x, at(x), method)


def by_excess(loss: LogPhi, method: Method, prepare: Callable[[], Callable[[float], Scaled]]) -> LocalProfile:
    """The profile from an excess; what a lower floor refuses, the route refuses."""
    try:
        at = prepare()
    except ValueError as error:
        raise refusal(method, error) from error
    return inverted(loss, method, lambda x: Inversion(Part.EXCESS, at(x)))


def refusal(method: Method, error: ValueError) -> NotApplicableError:
    """A refusal from a lower floor as one of the route."""
    return NotApplicableError(f"method {method!r} does not apply: {error}")
