"""Sampled Gaussians with so little noise that each output shows whether the record takes part, in closed form.

Beside other losses there are a few short lines.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
from logphi.laws.normal.normal import Normal

if TYPE_CHECKING:
    from logphi.engine.large_losses.separated import Separated

# measured: with smaller shifts, outputs that leave it open whether the record takes part decide
_LEAST_SHIFT = 15.0
# chosen: far above all epsilons of such noise
FARTHEST = 1e30
# measured: the largest number of laws
_MOST = 8
# measured: the work of an answer
_WORK = 1e5
# derived: a logarithm that is only known to many units, by any route
_NONE_SHARPER = -1e12
# chosen: the promise of an upper bound alone, which is better than nothing
_WIDEST = 1e300


@dataclass(frozen=True)
class Found:
    """The sampled Gaussians with hardly any noise in a loss, the normal laws of one record of each kind, and other losses."""

    own: Separated
    normals: tuple[Normal, ...]
    rest: LogPhi

    def beside(self, profiles: Prepare, demand: Demand) -> Callable[[float], Scaled | None]:
        """Delta of all at thresholds from zero on, with the profiles of other losses by any route."""
        from logphi.engine.large_losses.beside import Beside

        return Beside(self.own, self.rest, self.normals, lambda *asked: profiles(Request(*asked)), demand).at


def separated_from(loss: LogPhi) -> Found | None:
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
            normals = tuple(Normal(law.shift) for law, _ in little)
            return Found(Separated(inner, outer, reflected), normals, rest.reflected() if reflected else rest)
    return None


def _moved(law: MixedNormal, sign: int) -> tuple[float, float]:
    """Shift and rate at one end of their errors."""
    (m, q), (doubt, unsure) = law.constants, law.relative_errors
    return m * (1 + sign * (doubt + 4 * ULP)), q * (1 + sign * (unsure + 4 * ULP))


def by_rest(profiles: Callable[[], Prepare]) -> Route:
    """The route, with the profiles of other losses by any route."""

    def prepare(request: Request) -> LocalProfile:
        found = separated_from(request.loss)
        if found is None or not 0 <= request.epsilon < FARTHEST:
            raise NotApplicableError("only for sampled Gaussians with hardly any noise")
        known, alone = masses(request.loss), not found.rest.terms
        demand = Demand(request.demand.rtol, enough=request.demand.enough)
        amount_at = found.own.excess if alone else found.beside(profiles(), demand)

        def at(x: float) -> LogProbability:
            amount = amount_at(x) if 0 <= x < FARTHEST else None
            if amount is None:
                return trivial(known, x)
            if alone:
                return from_inversion(known, x, Inversion(Part.EXCESS, amount), EXACT)
            return LogProbability.outward(enclosed(amount), EXACT, ledger_of(amount))

        return at

    def forecast(request: Request) -> Offer:
        epsilon, local = request.epsilon, prepare(request)
        found = local(epsilon)
        if found.method.trivial:
            raise NotApplicableError("the number of records that take part has too many likely values")
        narrow = found.meets(request.demand) or found.upper < _NONE_SHARPER
        promise = Promise(max(request.demand.rtol, 0.0 if narrow else min(found.relative_width, _WIDEST)), _WORK)
        return Offer(promise, lambda: lambda x: found if x == epsilon else local(x))

    return Route(EXACT, prepare, forecast=forecast)
