"""Sums over atoms and flat parts in real space: losses with atoms that do not fade."""

from __future__ import annotations

from logphi.engine.log_probability import LogProbability, from_inversion, masses, trivial
from logphi.engine.method import EXACT, Method
from logphi.engine.routes.route import Local, NotApplicableError, Route
from logphi.inversion import real_space
from logphi.inversion.contour import Inversion, Part
from logphi.inversion.demand import Demand
from logphi.laws.log_phi import LogPhi


def prepare(loss: LogPhi, epsilon: float, demand: Demand) -> Local:
    """The excess for positive thresholds, the reversed one for negative."""
    return summed(loss, demand, _METHOD)


def summed(loss: LogPhi, demand: Demand, asked: Method) -> Local:
    """The same, refused under the name that was asked for."""
    if not real_space.served(loss.terms):
        raise NotApplicableError(
            f"method {asked.name!r} needs a loss of atoms and tilted flat parts only, and a sum over them of at most "
            f"{real_space.MAX_TERMS} terms; leave method out"
        )
    method = EXACT if real_space.listed(loss.terms) and not real_space.flat_count(loss.terms) else _METHOD
    known = masses(loss)
    prepared: dict[bool, real_space.Prepared] = {}

    def answer(turned: bool, x: float) -> LogProbability:
        found = prepared[turned]
        amount = found.at(-x).times_exp(x) if turned else found.at(x)
        return from_inversion(known, x, Inversion(Part.REVERSED if turned else Part.EXCESS, amount), method)

    def at(x: float) -> LogProbability:
        turned = x < 0
        found = answer(turned, x) if turned in prepared else trivial(known, x)
        if found.relative_width <= demand.rtol or (turned in prepared and prepared[turned].serves(abs(x))):
            return found
        fresh = real_space.prepare(loss.reflected() if turned else loss, abs(x), demand)
        if fresh is None:
            return found
        prepared[turned] = fresh
        return answer(turned, x)

    return at


_METHOD = Method("exponential", sharp=True)
EXPONENTIAL = Route(_METHOD, prepare, "sums over atoms and flat parts: losses of the Laplace family")
