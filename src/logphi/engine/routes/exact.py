"""The closed profile of one release: its own or, of a sampled one, that of its base."""

from __future__ import annotations

from logphi.engine.combined_profile import combination_of
from logphi.engine.log_probability import LogProbability, from_inversion, masses, trivial
from logphi.engine.method import EXACT
from logphi.engine.routes.exponential import summed
from logphi.engine.routes.route import LocalProfile, Prepare
from logphi.engine.sampled_profile import release_of, single_release
from logphi.inversion.contour import Inversion, Part
from logphi.inversion.demand import Demand
from logphi.laws.log_phi import LogPhi


def closed_form(loss: LogPhi, demand: Demand, base_profile: Prepare) -> LocalProfile:
    """From the profile of its base, which may take any route; where there is no closed form, by a sum over atoms."""
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
    """Whether the loss has a profile of its own: that of one release, or of normal noise alone."""
    return loss.closed_form.has_profile


def closed(loss: LogPhi, x: float) -> bool:
    """Whether the loss is that of one release with a closed profile, its own or that of its base; or is below x anyway."""
    return x >= loss.support.upper or release_of(loss) is not None or has_closed_profile(loss)
