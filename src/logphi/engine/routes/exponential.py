"""Sums over atoms and flat parts in real space, for losses with noticeable atoms."""

from __future__ import annotations

from logphi.engine.log_probability import LogProbability, from_inversion, masses, trivial
from logphi.engine.method import EXACT, Method
from logphi.engine.routes.route import LocalProfile, NotApplicableError, Request, Route
from logphi.inversion.lines.contour import Inversion, Part
from logphi.inversion.pieces import real_space


def prepare(request: Request) -> LocalProfile:
    """The profile from the excess for positive thresholds, and from the reversed excess for negative ones."""
    return summed(request, _METHOD)


def summed(request: Request, asked: Method) -> LocalProfile:
    """The profile by sums, with refusals that name the requested method."""
    loss, demand = request.loss, request.demand
    if not real_space.served(loss.terms):
        raise NotApplicableError(
            f"method {asked!r} needs a loss of atoms and tilted flat parts only, and a sum over them of at most "
            f"{real_space.MAX_TERMS} terms; leave method out"
        )
    method = EXACT if real_space.listed(loss.terms) and not real_space.flat_count(loss.terms) else _METHOD
    known = masses(loss)
    prepared: dict[bool, real_space.Prepared] = {}

    def answer(reflected: bool, x: float) -> LogProbability:
        found = prepared[reflected]
        amount = found.at(-x).times_exp(x) if reflected else found.at(x)
        return from_inversion(known, x, Inversion(Part.REVERSED if reflected else Part.EXCESS, amount), method)

    def at(x: float) -> LogProbability:
        reflected = x < 0
        found = answer(reflected, x) if reflected in prepared else trivial(known, x)
        if found.relative_width <= demand.rtol or (reflected in prepared and prepared[reflected].serves(abs(x))):
            return found
        fresh = real_space.prepare(loss.reflected() if reflected else loss, abs(x), demand)
        if fresh is None:
            return found
        prepared[reflected] = fresh
        return answer(reflected, x)

    return at


_METHOD = Method("exponential", "sums over atoms and flat parts: losses of the Laplace family", sharp=True)
EXPONENTIAL = Route(_METHOD, prepare)
