"""Inversion along the branch cut of the Laplace transform of e^L: random allocation under Gaussian noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from logphi.arith.scaled import Scaled
from logphi.engine.log_probability import LogProbability, from_inversion, masses
from logphi.engine.method import Method
from logphi.engine.routes import contour
from logphi.engine.routes.route import LocalProfile, NotApplicableError, Offer, Route
from logphi.inversion.contour import Inversion, Part
from logphi.inversion.demand import Demand, Promise
from logphi.laws.log_phi import LogPhi

if TYPE_CHECKING:
    from logphi.inversion.several_epochs import Kind
    from logphi.quadrature.lognormal_mean import LognormalMean

_NOT_SERVED = (
    "method 'branch-cut' serves up to 60 random allocations of Gaussian noise, with sensitivity / sigma between 0.05 and 4; "
    "leave method out"
)
_TOO_LONG = "method 'branch-cut' would need too long an integral here; leave method out"
# derived: e^x is far from the ends of the range of doubles
_LARGEST = 300.0
# measured: the width and the work; at negative thresholds the way up is long, and several epochs are many integrals
_WIDTH, _WORK, _LONG, _SEVERAL = 1e-10, 2e7, 1.5e8, 6e8


def mean_of(loss: LogPhi) -> LognormalMean | None:
    """The lognormal mean whose logarithm is the loss, if the route serves it."""
    if len(loss.terms) != 1 or not loss.terms[0][0].traits.lognormal:
        return None
    # other losses do without SciPy
    from logphi.inversion import branch_cut

    return branch_cut.mean_of(loss)


def served(loss: LogPhi) -> bool:
    """Whether all parts are random allocations under Gaussian noise."""
    return all(law.traits.lognormal for law, _ in loss.terms)


def prepare(loss: LogPhi, epsilon: float, demand: Demand) -> LocalProfile:
    """The profile near an epsilon; in the order in which a record is added, that of a contour, which loses no digits there."""
    if (answering := _answering(loss)) is not None:
        return _local(loss, answering, epsilon, demand)
    if _answering(loss.reflected()) is not None:
        return contour.prepare(loss, epsilon, demand)
    raise NotApplicableError(_NOT_SERVED)


def _forecast(loss: LogPhi, epsilon: float, demand: Demand) -> Offer:
    """The offer; in the other order there is none."""
    answering = _answering(loss)
    if answering is None:
        raise NotApplicableError(_NOT_SERVED)
    work = _SEVERAL if mean_of(loss) is None else _WORK if epsilon >= 0 else _LONG
    return Offer(Promise(_WIDTH, work), partial(_local, loss, answering, epsilon, demand))


# a function that prepares the profile near a threshold, or returns None where it would be long
_Answering = Callable[[float], Callable[[float], Scaled] | None]


def _answering(loss: LogPhi) -> _Answering | None:
    """The function that prepares the profile of one epoch, or of several."""
    mean = mean_of(loss)
    if mean is not None:
        return partial(_of_one, mean)
    if not loss.terms or not served(loss):
        return None
    from logphi.inversion import several_epochs

    kinds = several_epochs.kinds_of(loss)
    return None if kinds is None else partial(_of_several, kinds)


def _local(loss: LogPhi, answering: _Answering, epsilon: float, demand: Demand) -> LocalProfile:
    """The profile as it was prepared near an epsilon, and prepared again for distant ones."""
    known, near = masses(loss), epsilon

    def prepared(x: float) -> Callable[[float], Scaled]:
        found = answering(x) if abs(x) < _LARGEST else None
        if found is None:
            raise NotApplicableError(_TOO_LONG)
        return found

    profile = prepared(epsilon)

    def at(x: float) -> LogProbability:
        nonlocal profile, near
        if not abs(x) < _LARGEST:
            raise NotApplicableError(_TOO_LONG)
        found = from_inversion(known, x, Inversion(Part.EXCESS, profile(x)), METHOD)
        if x != near and not found.meets(demand.sufficient):
            profile, near = prepared(x), x
            found = from_inversion(known, x, Inversion(Part.EXCESS, profile(x)), METHOD)
        return found

    return at


def _of_one(mean: LognormalMean, x: float) -> Callable[[float], Scaled] | None:
    from logphi.inversion import branch_cut

    found = branch_cut.prepare(mean, x)
    return None if found is None else found.at


def _of_several(kinds: Sequence[Kind], x: float) -> Callable[[float], Scaled] | None:
    from logphi.inversion import several_epochs

    found = several_epochs.prepare(kinds, x)
    return None if found is None else found.at


METHOD = Method("branch-cut", "inversion along a branch cut: random allocation under Gaussian noise")
BRANCH_CUT = Route(METHOD, prepare, forecast=_forecast)
