"""Inversion without large losses that are negligible: Gaussian samples under replacement."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from logphi.answers.enclosure import meet
from logphi.engine.log_probability import LogProbability
from logphi.engine.routes.clipped import CLIPPED
from logphi.engine.routes.contour import CONTOUR
from logphi.engine.routes.route import LocalProfile, NotApplicableError, Offer, Request, Route
from logphi.engine.routes.smoothed import SMOOTHED
from logphi.inversion.demand import Promise
from logphi.laws.normal.curved_normal import Cappable

# measured: the operations for a line along an atom
_WORK = 1e8
# derived: from here on exponentials overflow
_FARTHEST = 600.0


def _forecast(request: Request) -> Offer:
    """The offer of a contour for the loss without the large ones."""
    if not abs(request.epsilon) < _FARTHEST or not any(isinstance(law, Cappable) for law, _ in request.loss.terms):
        raise NotApplicableError("only for samples of Gaussians under replacement")
    # SciPy's normal tails would double the time of importing the package
    from logphi.engine.large_losses.capped import Capped

    capped = Capped.of(request.loss, request.epsilon, request.demand.rtol)
    own = replace(request, loss=capped.loss)
    try:
        offer = CONTOUR.offer(own)
    except NotApplicableError:
        # an atom at zero, the loss where the record does not matter
        offer = Offer(Promise(own.sufficient.demand.rtol, _WORK), lambda: CONTOUR.prepare(own))

    def prepare() -> LocalProfile:
        local = offer.prepare()
        known = [local]
        if not local(own.epsilon).meets(own.sufficient.demand):
            # of long lines the transform is a sum of its own
            known.append(SMOOTHED.prepare(own))

        def at(x: float) -> LogProbability:
            return replace(capped.without(reduce(meet, [one(x) for one in known]), x), method=CLIPPED.method)

        return at

    return Offer(offer.promise, prepare)


def _prepare(request: Request) -> LocalProfile:
    return _forecast(request).prepare()


CAPPED = Route(CLIPPED.method, _prepare, forecast=_forecast)
