"""Sums over atoms and flat parts in real space, for losses with noticeable atoms."""

from __future__ import annotations

from logphi.engine.log_probability import LogProbability, from_inversion, masses, trivial
from logphi.engine.method import EXACT, Method
from logphi.engine.routes.route import LocalProfile, NotApplicableError, Offer, Request, Route
from logphi.inversion.demand import Promise
from logphi.inversion.lines.contour import Inversion, Part
from logphi.inversion.pieces import real_space, term_counts
from logphi.inversion.pieces.real_space import Draft

# measured: the operations of a term, and of what every preparation does besides
_TERM, _BESIDES = 10.0, 1e6
# measured: with more terms, it is tried whether the width that suffices takes fewer
_MANY = 1 << 20


def prepare(request: Request) -> LocalProfile:
    """The profile from the excess for positive thresholds, and from the reversed excess for negative ones."""
    return summed(request, _METHOD)


def _forecast(request: Request) -> Offer:
    """The offer from the number of terms; of the width that suffices if the demanded one takes many."""
    _refuse_unserved(request, _METHOD)
    asked, draft = request, _drafted(request)
    if draft is not None and draft.terms > _MANY:
        sufficient = _drafted(request.sufficient)
        if sufficient is not None and sufficient.terms < draft.terms:
            asked, draft = request.sufficient, sufficient
    work = _BESIDES + (0.0 if draft is None else _TERM * draft.terms)
    return Offer(Promise(asked.demand.rtol, work), lambda: summed(asked, _METHOD, draft))


def _drafted(request: Request) -> Draft | None:
    x = request.epsilon
    return real_space.draft(request.loss.reflected() if x < 0 else request.loss, abs(x), request.demand)


def _refuse_unserved(request: Request, asked: Method) -> None:
    if not term_counts.served(request.loss.terms):
        raise NotApplicableError(
            f"method {asked!r} needs a loss that consists of atoms and of parts like those of Laplace noise, with at most "
            f"{term_counts.MAX_TERMS} terms in its sum; leave method out"
        )


def summed(request: Request, asked: Method, draft: Draft | None = None) -> LocalProfile:
    """The profile by sums, with refusals that name the requested method; the first preparation may be drafted already."""
    _refuse_unserved(request, asked)
    loss, demand = request.loss, request.demand
    method = EXACT if term_counts.listed(loss.terms) and not term_counts.flat_count(loss.terms) else _METHOD
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
        if draft is not None and x == request.epsilon:
            fresh = draft.laid()
        else:
            fresh = real_space.prepare(loss.reflected() if reflected else loss, abs(x), demand)
        if fresh is None:
            return found
        prepared[reflected] = fresh
        return answer(reflected, x)

    return at


_METHOD = Method("exponential", "sums over atoms and flat parts: losses of the Laplace family", sharp=True)
EXPONENTIAL = Route(_METHOD, prepare, forecast=_forecast)
