"""Sampled Gaussians with so little noise that each output shows whether the record takes part, in closed form.

Beside other losses the profile of these is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from logphi.arith.floats import ULP
from logphi.arith.scaled import Scaled
from logphi.engine.log_probability import LogProbability, enclosed, from_inversion, ledger_of, masses, trivial
from logphi.engine.method import EXACT
from logphi.engine.routes.route import LocalProfile, NotApplicableError, Offer, Prepare, Request, Route
from logphi.inversion.demand import Demand, Promise
from logphi.inversion.lines.contour import Inversion, Part
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal.mixed_normal import MixedNormal, mixed_normals

if TYPE_CHECKING:
    from logphi.engine.large_losses.separated import Separated

# measured: with smaller shifts, outputs that leave it open whether the record takes part decide
_LEAST_SHIFT = 15.0
# chosen: far above all epsilons of such noise
_FARTHEST = 1e30
# measured: the largest number of laws
_MOST = 8
# measured: the work of an answer
_WORK = 1e5


def separated_from(loss: LogPhi) -> tuple[Separated, LogPhi] | None:
    """The sampled Gaussians with hardly any noise, and all other losses; None without any."""
    for reflected in (False, True):
        own, others = mixed_normals((loss.reflected() if reflected else loss).terms)
        little = [(law, count) for law, count in own if law.constants[0] > _LEAST_SHIFT] if len(own) <= _MOST else []
        if little:
            # SciPy's special functions would double the time of importing the package
            from logphi.engine.large_losses.separated import Kind, Separated

            inner, outer = (tuple(Kind(*_moved(law, sign), count) for law, count in little) for sign in (-1, 1))
            if not max(one.rate for one in outer) < 1:
                return None
            rest = LogPhi((*others, *(one for one in own if one not in little)))
            return Separated(inner, outer, reflected), rest.reflected() if reflected else rest
    return None


def _moved(law: MixedNormal, sign: int) -> tuple[float, float]:
    """Shift and rate at one end of their errors."""
    (m, q), (doubt, unsure) = law.constants, law.relative_errors
    return m * (1 + sign * (doubt + 4 * ULP)), q * (1 + sign * (unsure + 4 * ULP))


def excess_of(loss: LogPhi) -> Callable[[float], Scaled | None] | None:
    """The excess of a loss at thresholds from zero on, if it has hardly any noise and nothing else; None for other losses."""
    found = separated_from(loss)
    return None if found is None or found[1].terms else found[0].excess


def by_rest(profiles: Callable[[], Prepare]) -> Route:
    """The route, with the profiles of other losses by any route."""

    def prepare(request: Request) -> LocalProfile:
        found = separated_from(request.loss)
        if found is None or not 0 <= request.epsilon < _FARTHEST:
            raise NotApplicableError("only for sampled Gaussians with hardly any noise")
        own, rest = found
        known, profile_of = masses(request.loss), profiles()
        demand = Demand(request.demand.rtol, enough=request.demand.enough)

        def of_rest(x: float) -> tuple[float, float]:
            there = profile_of(Request(rest, x, demand))(x)
            return there.lower, there.upper

        def at(x: float) -> LogProbability:
            amount = None
            if 0 <= x < _FARTHEST:
                amount = own.beside(x, of_rest) if rest.terms else own.excess(x)
            if amount is None:
                return trivial(known, x)
            if rest.terms:
                return LogProbability.outward(enclosed(amount), EXACT, ledger_of(amount))
            return from_inversion(known, x, Inversion(Part.EXCESS, amount), EXACT)

        return at

    def forecast(request: Request) -> Offer:
        epsilon, local = request.epsilon, prepare(request)
        found = local(epsilon)
        if found.method.trivial:
            raise NotApplicableError("too many numbers of those who take part")
        promise = Promise(max(found.relative_width, request.demand.rtol), _WORK)
        return Offer(promise, lambda: lambda x: found if x == epsilon else local(x))

    return Route(EXACT, prepare, forecast=forecast)
