"""One release: its excess in closed form."""

from __future__ import annotations

from typing import Any

from flint import ctx

from logphi.certified.laws.law import LawInBalls
from logphi.certified.merged_gaussians import FewReleases
from logphi.certified.route import Demand, Excess, NotThisRouteError
from logphi.laws.log_phi import LogPhi

# chosen: bits besides those in force
_SPARE = 32


def prepare(loss: LogPhi, epsilon: Any, demand: Demand) -> Excess:
    """A route for one release at the precision in force; it is as accurate at any other epsilon.

    Raises
    ------
    NotCertifiedError
        If there are several, or no closed form is known.
    """
    route = FewReleases(loss, ctx.prec + _SPARE, _closed_form)
    # refuse here what cannot be computed
    _ = route.parts
    return route.excess


def _closed_form(laws: list[LawInBalls]) -> Excess:
    if len(laws) != 1:
        raise NotThisRouteError("closed forms are known for one release alone, and for a composition of Gaussian mechanisms")
    return laws[0].closed_form()
