"""The closed profile of one release: its own or, for a sampled one, from that of its base."""

from __future__ import annotations

from logphi.engine.combined_profile import combination_of
from logphi.engine.log_probability import LogProbability, from_inversion, masses, trivial
from logphi.engine.method import EXACT
from logphi.engine.routes.exponential import summed
from logphi.engine.routes.route import LocalProfile, Prepare
from logphi.engine.sampled_profile import release_of, single_release
from logphi.inversion.demand import Demand
from logphi.inversion.lines.contour import Inversion, Part
from logphi.laws.log_phi import LogPhi


def closed_form(loss: LogPhi, demand: Demand, base_profile: Prepare) -> LocalProfile:
    """The profile in closed form or from that of the base, by any route; without a closed form, a sum over atoms."""
    combined = combination_of(loss)
    if combined is not None:
        return lambda x: combined.profile(lambda part: base_profile(part, x, Demand(demand.rtol))(x))
    found = release_of(loss)
    if found is not None:
        return lambda x: single_release(found, x, lambda at: base_profile(found.base, at, Demand(demand.rtol))(at))
    if not has_closed_profile(loss):
        return summed(loss, demand, EXACT)
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
