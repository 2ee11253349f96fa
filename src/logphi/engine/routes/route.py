"""What a route to a privacy profile is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from logphi.answers.enclosure import Enclosure
from logphi.bracketing import Function, Watch, crossing
from logphi.engine.log_probability import LogProbability, from_inversion, masses, trivial
from logphi.engine.method import Method
from logphi.inversion.contour import Inversion
from logphi.inversion.demand import Demand, Promise
from logphi.laws.log_phi import LogPhi

# a profile near one epsilon: whatever is worth preparing for the neighbourhood has been prepared
LocalProfile = Callable[[float], LogProbability]
# of a loss, near an epsilon
Prepare = Callable[[LogPhi, float, Demand], LocalProfile]
# encloses the crossing of a profile, prepared near a point, coarsely or sharply, with a level: between two ends, from a guess
# and about the slope there
Solver = Callable[[Callable[[float, bool], Function], float, float, float, float, Watch, float], Enclosure]


class NotApplicableError(ValueError):
    """The named route does not apply to this loss; the message says why and what does."""


@dataclass(frozen=True, eq=False)
class Offer:
    """What a route promises for a loss near an epsilon, and the preparation that has begun with finding out."""

    promise: Promise
    prepare: Callable[[], LocalProfile]


# of a loss, near an epsilon; raises a NotApplicableError that says why there is none
Offering = Callable[[LogPhi, float, Demand], Offer]

# measured: of a route that says nothing of itself, what is mostly so
_MOSTLY = Promise(0.0, 1e6)


@dataclass(frozen=True, eq=False)
class Route:
    """A way to the privacy profile of a loss.

    Parameters
    ----------
    method
        Of its answers; the name is that by which the route is asked for.
    prepare
        The profile of a loss near an epsilon. Its bounds hold at every epsilon; it raises a ``NotApplicableError`` for a loss
        that it does not serve.
    reason
        What it does, for which losses: a line of ``explain``.
    solver
        How its profile is inverted.
    forecast
        What it promises for a loss, from what is cheap. No bound depends on it.
    mostly
        Without a forecast: the width that it comes to and the work that it takes mostly, as measured.
    slow
        Whether an answer may take seconds, as on a line along atoms; the conformance suite passes over such a route.
    """

    method: Method
    prepare: Prepare
    reason: str
    solver: Solver = crossing
    forecast: Offering | None = None
    mostly: Promise = _MOSTLY
    slow: bool = False

    @property
    def name(self) -> str:
        """The name by which it is asked for."""
        return self.method.name

    def offer(self, loss: LogPhi, epsilon: float, demand: Demand) -> Offer:
        """What it promises near an epsilon.

        Raises
        ------
        NotApplicableError
            If it does not apply, or is known to lead nowhere; the message says why.
        """
        if self.forecast is not None:
            return self.forecast(loss, epsilon, demand)
        width = self.mostly.relative_width
        # where width costs much, no more is asked for than suffices
        asked = demand.sufficient if width > 0 else demand
        return Offer(Promise(max(width, asked.rtol), self.mostly.operations), lambda: self.prepare(loss, epsilon, asked))


def inverted(loss: LogPhi, method: Method, at: Callable[[float], Inversion] | None) -> LocalProfile:
    """The profile from one of its functionals; what holds for every pair where there is none."""
    known = masses(loss)
    if at is None:
        return lambda x: trivial(known, x)
    return lambda x: from_inversion(known, x, at(x), method)


def refusal(method: Method, error: ValueError) -> NotApplicableError:
    """What a lower floor refuses, as a refusal of the route."""
    return NotApplicableError(f"method {method.name!r} does not apply: {error}")
