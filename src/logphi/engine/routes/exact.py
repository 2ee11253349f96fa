"""The closed profile of one release: its own or, for a sampled one, from that of its base."""

from __future__ import annotations

from functools import partial

from logphi.engine.combined_profile import combination_of
from logphi.engine.log_probability import LogProbability, from_inversion, masses, trivial
from logphi.engine.method import EXACT
from logphi.engine.routes.exponential import summed
from logphi.engine.routes.route import LocalProfile, Prepare, Request
from logphi.engine.sampled_profile import release_of, single_release
from logphi.inversion.demand import Demand
from logphi.inversion.lines.contour import Inversion, Part
from logphi.laws.log_phi import LogPhi


def closed_form(request: Request, prepare: Prepare) -> LocalProfile:
    """The profile in closed form, or from those of the base or the parts, prepared by any route; otherwise a sum over atoms."""
    loss, demand = request.loss, Demand(request.demand.rtol)

    def profile_of(part: LogPhi, x: float) -> LogProbability:
        return prepare(Request(part, x, demand))(x)

    combined = combination_of(loss)
    if combined is not None:
        return lambda x: combined.profile(lambda part: profile_of(part, x))
    found = release_of(loss)
    if found is not None:
        return lambda x: single_release(found, x, partial(profile_of, found.base))
    if not has_closed_profile(loss):
        return summed(request, EXACT)
    known, own = masses(loss), loss.closed_form

    def at(x: float) -> LogProbability:
        amount = own.excess(x)
        return trivial(known, x) if amount is None else from_inversion(known, x, Inversion(Part.EXCESS, amount), EXACT)

    return at


def has_closed_profile(loss: LogPhi) -> bool:
    """Whether the loss has a closed profile of its own: that of one release, or of normal terms only."""
    return loss.closed_form.has_profile


def closed(loss: LogPhi, x: float) -> bool:
    """Whether the profile at x is closed: that of one release or of its base; or zero, as all losses are below x."""
    return x >= loss.support.upper or release_of(loss) is not None or has_closed_profile(loss)
