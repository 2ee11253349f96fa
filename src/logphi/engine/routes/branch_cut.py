"""Inversion along the branch cut of the Laplace transform of e^L: one random allocation under Gaussian noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from logphi.engine.log_probability import LogProbability, from_inversion, masses
from logphi.engine.method import Method
from logphi.engine.routes import contour
from logphi.engine.routes.route import LocalProfile, NotApplicableError, Offer, Route
from logphi.inversion.contour import Inversion, Part
from logphi.inversion.demand import Demand, Promise
from logphi.laws.log_phi import LogPhi

if TYPE_CHECKING:
    from logphi.inversion.branch_cut import Integral
    from logphi.quadrature.lognormal_mean import LognormalMean

_NOT_ONE = (
    "method 'branch-cut' serves one random allocation of Gaussian noise, with sensitivity / sigma between 0.05 and 4; leave "
    "method out"
)
_TOO_LONG = "method 'branch-cut' would need too long an integral here; leave method out"
# derived: e^x is far from the ends of the range of doubles
_LARGEST = 300.0
# measured: the width and the work; at negative thresholds the way up is long
_WIDTH, _WORK, _LONG = 1e-10, 2e7, 1.5e8


def mean_of(loss: LogPhi) -> LognormalMean | None:
    """The lognormal mean whose logarithm is the loss, if the route serves it."""
    if len(loss.terms) != 1 or not loss.terms[0][0].traits.lognormal:
        return None
    # other losses do without SciPy
    from logphi.inversion import branch_cut

    return branch_cut.mean_of(loss)


def prepare(loss: LogPhi, epsilon: float, demand: Demand) -> LocalProfile:
    """The profile near an epsilon; in the order in which a record is added, that of a contour, which loses no digits there."""
    mean = mean_of(loss)
    if mean is None:
        if mean_of(loss.reflected()) is not None:
            return contour.prepare(loss, epsilon, demand)
        raise NotApplicableError(_NOT_ONE)
    return _local(loss, mean, epsilon, demand)


def _forecast(loss: LogPhi, epsilon: float, demand: Demand) -> Offer:
    """The offer; in the other order there is none."""
    mean = mean_of(loss)
    if mean is None:
        raise NotApplicableError(_NOT_ONE)
    own = mean
    return Offer(Promise(_WIDTH, _WORK if epsilon >= 0 else _LONG), lambda: _local(loss, own, epsilon, demand))


def _local(loss: LogPhi, mean: LognormalMean, epsilon: float, demand: Demand) -> LocalProfile:
    """The profile from an integral prepared near an epsilon, and prepared again for distant ones."""
    known, integral, near = masses(loss), _prepared(mean, epsilon), epsilon

    def at(x: float) -> LogProbability:
        nonlocal integral, near
        if not abs(x) < _LARGEST:
            raise NotApplicableError(_TOO_LONG)
        found = answer(integral, x)
        if x != near and not found.meets(demand.sufficient):
            integral, near = _prepared(mean, x), x
            found = answer(integral, x)
        return found

    def answer(integral: Integral, x: float) -> LogProbability:
        return from_inversion(known, x, Inversion(Part.EXCESS, integral.at(x)), METHOD)

    return at


def _prepared(mean: LognormalMean, x: float) -> Integral:
    from logphi.inversion import branch_cut

    found = branch_cut.prepare(mean, x) if abs(x) < _LARGEST else None
    if found is None:
        raise NotApplicableError(_TOO_LONG)
    return found


METHOD = Method("branch-cut", "inversion along a branch cut: one random allocation under Gaussian noise")
BRANCH_CUT = Route(METHOD, prepare, forecast=_forecast)
