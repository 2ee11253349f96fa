"""Inversion along the branch cut of the Laplace transform of e^L: random allocation under Gaussian noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from logphi.arith.scaled import Scaled
from logphi.engine.cancellation import width_left
from logphi.engine.log_probability import LogProbability, from_inversion, masses
from logphi.engine.method import Method
from logphi.engine.routes import contour
from logphi.engine.routes.route import LocalProfile, NotApplicableError, Offer, Request, Route
from logphi.inversion.demand import Promise
from logphi.inversion.lines.contour import Inversion, Part, smallest_functional
from logphi.laws.log_phi import LogPhi

if TYPE_CHECKING:
    from logphi.inversion.cut.one_epoch import Kind
    from logphi.quadrature.lognormal.mean import LognormalMean

_NOT_SERVED = (
    "method 'branch-cut' serves up to 200 random allocations of Gaussian noise, with sensitivity / sigma between 0.02 and 8, "
    "or 4 for several; leave method out"
)
_TOO_LONG = "method 'branch-cut' would need too long an integral here; leave method out"
# chosen: standard deviations above which a rough upper bound suffices
_FAR = 12.0
# derived: e^x is far from the ends of the range of doubles
_LARGEST = 300.0
# measured: the width for one epoch, and the least one
_WIDTH = 1e-10
# measured: the work for one epoch
_WORK = 2e7
# measured: the work for one epoch at a negative threshold, where the integral is long
_LONG = 1.5e8
# measured: the part of the width that each of several epochs adds, over the square root of the number of its batches
_WIDTH_OF_EPOCH = 2e-12
# measured: the work for several epochs, which are many integrals, and what each epoch adds to it
_SEVERAL = 1.5e8
_EACH = 1.5e6
# measured: on a contour, the rounding relative to the integrand, over the square root of the number of all batches, times the
# shift
_NOISE = 4e-13
# measured: on a contour, the work that each unit of the abscissa adds
_CONTOUR = 1.5e7


def mean_of(loss: LogPhi) -> LognormalMean | None:
    """The lognormal mean whose logarithm is the loss, if the route serves it."""
    if len(loss.terms) != 1 or not loss.terms[0][0].traits.lognormal:
        return None
    # other losses do without SciPy
    from logphi.inversion.cut import branch_cut

    return branch_cut.mean_of(loss)


def served(loss: LogPhi) -> bool:
    """Whether all parts are random allocations under Gaussian noise."""
    return all(law.traits.lognormal for law, _ in loss.terms)


def prepare(request: Request) -> LocalProfile:
    """The profile near an epsilon; in the order in which a record is added, that of a contour, which loses no digits there."""
    if (answering := _answering(request.loss)) is not None:
        return _local(request, answering)
    if _answering(request.loss.reflected()) is not None:
        return contour.prepare(request)
    raise NotApplicableError(_NOT_SERVED)


def _forecast(request: Request) -> Offer:
    """The offer; in the other order there is none."""
    answering = _answering(request.loss)
    if answering is None:
        raise NotApplicableError(_NOT_SERVED)
    promise = Promise(_WIDTH, _WORK if request.epsilon >= 0 else _LONG)
    kinds = _kinds(request.loss)
    if kinds is not None:
        width = _WIDTH_OF_EPOCH * sum(math.sqrt(one.mean.count) * number for one, number in kinds)
        promise = Promise(max(_WIDTH, width), _SEVERAL + _EACH * sum(number for _, number in kinds))
    return Offer(promise, partial(_local, request, answering))


def _on_contour(request: Request) -> Offer:
    """The offer of a contour for several epochs: it loses digits where one large variable and many small ones compete."""
    loss, epsilon, demand = request.loss, request.epsilon, request.demand
    offer, kinds = contour.CONTOUR.offer(request), _kinds(loss)
    chosen = smallest_functional(loss, epsilon, demand.hint)
    if kinds is None or chosen is None or epsilon < 0:
        return offer
    from logphi.inversion.cut.epochs_guess import log_guess

    answer = log_guess(kinds, epsilon) if chosen.part is Part.EXCESS else chosen.log_estimate
    batches = sum(one.mean.count * number for one, number in kinds)
    noise = _NOISE * math.sqrt(batches) / min(one.mean.shift for one, _ in kinds)
    width = width_left(chosen.log_estimate, answer, noise, demand)
    return replace(offer, promise=Promise(width, offer.promise.operations + _CONTOUR * abs(chosen.abscissa)))


# a function that prepares the profile near a threshold, or returns None where it would be long
_Answering = Callable[[float], Callable[[float], Scaled] | None]


def _answering(loss: LogPhi) -> _Answering | None:
    """The function that prepares the profile of one epoch, or of several."""
    mean = mean_of(loss)
    if mean is not None:
        return partial(_of_one, mean)
    kinds = _kinds(loss)
    return None if kinds is None else partial(_of_several, kinds)


def _kinds(loss: LogPhi) -> tuple[Kind, ...] | None:
    """The epochs, if there are several that the route serves."""
    if not loss.terms or not served(loss):
        return None
    from logphi.inversion.cut import several_epochs

    return several_epochs.kinds_of(loss)


def _local(request: Request, answering: _Answering) -> LocalProfile:
    """The profile as it was prepared near an epsilon, and prepared again for distant ones."""
    known, near = masses(request.loss), request.epsilon

    def prepared(x: float) -> Callable[[float], Scaled]:
        found = answering(x) if abs(x) < _LARGEST else None
        if found is None:
            raise NotApplicableError(_TOO_LONG)
        return found

    profile = prepared(near)

    def at(x: float) -> LogProbability:
        nonlocal profile, near
        if not abs(x) < _LARGEST:
            raise NotApplicableError(_TOO_LONG)
        found = from_inversion(known, x, Inversion(Part.EXCESS, profile(x)), METHOD)
        if x != near and not found.meets(request.demand.sufficient):
            profile, near = prepared(x), x
            found = from_inversion(known, x, Inversion(Part.EXCESS, profile(x)), METHOD)
        return found

    return at


def _of_one(mean: LognormalMean, x: float) -> Callable[[float], Scaled] | None:
    from logphi.inversion.cut import branch_cut

    found = branch_cut.prepare(mean, x, quickly=True)
    if found is not None or not x > 0:
        return None if found is None else found.at
    # the profile falls: an upper bound far out is one from nearby
    place = min(x / 2, _FAR * math.sqrt(math.expm1(mean.shift**2) / mean.count))
    near = branch_cut.prepare(mean, place)
    if near is None:
        return None
    most = near.at(place).log_ends[1]
    return lambda y: near.at(y) if y < place else Scaled(most, 0.5, rounding=0.5)


def _of_several(kinds: Sequence[Kind], x: float) -> Callable[[float], Scaled] | None:
    from logphi.inversion.cut import several_epochs

    found = several_epochs.prepare(kinds, x)
    return None if found is None else found.at


METHOD = Method("branch-cut", "inversion along a branch cut: random allocation under Gaussian noise")
BRANCH_CUT = Route(METHOD, prepare, forecast=_forecast)
EPOCHS_ON_CONTOUR = replace(contour.CONTOUR, forecast=_on_contour)
