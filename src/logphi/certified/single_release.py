"""One release: its excess in closed form."""

from __future__ import annotations

from typing import Any

from flint import ctx

from logphi.certified.laws.law import LawInBalls
from logphi.certified.merged_gaussians import FewReleases
from logphi.certified.normal_mixtures import NormalMixtures
from logphi.certified.route import ClosedForm, Demand, NotThisRouteError
from logphi.laws.log_phi import LogPhi

# chosen: bits besides those in force
_SPARE = 32
_WITNESS_DIGITS = 20


def prepare(loss: LogPhi, epsilon: Any, demand: Demand) -> FewReleases:
    """A route for one release at the precision in force; it is as accurate at any other epsilon.

    Raises
    ------
    NotCertifiedError
        If there are several, or no closed form is known.
    """
    route = FewReleases("single", loss, ctx.prec + _SPARE, _closed_form, _root)
    # refuse here what cannot be computed
    _ = route.parts
    return route


def _closed_form(laws: list[LawInBalls]) -> ClosedForm:
    if len(laws) != 1:
        raise NotThisRouteError("closed forms are known for one release alone, and for a composition of Gaussian mechanisms")
    return laws[0].closed_form()


def _root(form: ClosedForm, epsilon: Any) -> dict[str, str]:
    """The outcome at which the loss is epsilon, if there is exactly one."""
    if isinstance(form, NormalMixtures) and form.ends[0] < epsilon < form.ends[1]:
        return {"root": form.root(epsilon).mid().str(_WITNESS_DIGITS, radius=False)}
    return {}
