"""Inversion on a vertical line: losses with a smooth part."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np

from logphi.engine import clipping
from logphi.engine.method import Method
from logphi.engine.routes.cancellation import hard, log_answer, width_left
from logphi.engine.routes.route import LocalProfile, NotApplicableError, Offer, Route, inverted
from logphi.inversion import contour
from logphi.inversion.contour import Part
from logphi.inversion.demand import Demand, Promise
from logphi.inversion.line_sum import MAX_NODES
from logphi.inversion.threshold_sum import SummedContour
from logphi.laws.log_phi import LogPhi

# measured: a transform that never falls below this needs the longest lines even for a coarse answer
_DECAYED = 1e-2
# measured: a line of so many nodes takes milliseconds, and of so many some fifty of them; a longer one than the last takes
# longer than one with a smoothed threshold
_SHORT, _QUICK, _LONGER = 1 << 12, 1 << 14, 1 << 15
# measured: where more digits are lost, other routes are quicker
_LOST = 1e6
# measured: a line leaves a thousandth of the tolerance; with this factor, a tenth
_SLOWLY = 100.0
# measured: on longer lines the summands are not formed again for each threshold
_LONG = 1 << 12
# a height beyond which no envelope falls any more
_FAR = np.array([1e100])
_TOO_LONG = "the transform does not decay far enough for a contour of reasonable length"


def prepare(loss: LogPhi, epsilon: float, demand: Demand) -> LocalProfile:
    """On a line as long as it may be."""
    return _local(loss, contour.prepare(loss, epsilon, demand), epsilon)


def _forecast(loss: LogPhi, epsilon: float, demand: Demand) -> Offer:
    """On a line beyond which nothing is left; it loses digits where rare large losses hold the saddle back."""
    # the longest line gains no more than its number of nodes over what atoms do not lose by themselves, and is long
    low, high = loss.strip
    atoms = -math.inf if loss.support.atomless else float(loss.log_envelope(0.0 if low < 0 < high else -0.5, _FAR)[0])
    if atoms > math.log(min(demand.rtol * MAX_NODES, _DECAYED)):
        raise NotApplicableError(_TOO_LONG)
    saddle = contour.saddle_of_excess(loss, epsilon, demand.hint)
    stand = contour.smallest_functional(loss, epsilon, demand.hint, excess=saddle)
    if stand is None:
        raise NotApplicableError("the transform is out of reach at every abscissa")
    held_back = stand.part is Part.EXCESS and (hard(loss) or clipping.decides(loss, epsilon, saddle.abscissa))
    # a line on which M falls slowly is long, and what it leaves need not be far below the tolerance
    lines = [
        (demand, 1.0, _SHORT),
        (demand, _SLOWLY, MAX_NODES if demand.enough <= demand.rtol else _QUICK),
        (demand.sufficient, _SLOWLY, _LONGER),
    ]
    for asked, ease, most in lines:
        one = replace(asked, rtol=ease * asked.rtol) if ease > 1 else asked
        draft = stand.draft(one, decaying=True, most=most)
        if draft is not None:
            answer = log_answer(loss, epsilon) if held_back else None
            width = width_left(stand.log_estimate + 1, answer, _NOISE, asked)
            terms = draft.terms if draft.extent.size > _FEW else 0.0
            work = _LAYOUT + _NODE * draft.extent.size + _TERM * terms
            width = max(width, _ROUNDING * abs(stand.abscissa * epsilon))
            if math.isinf(terms):
                # of inner integrals that are too long nothing is known
                width = math.inf
            if held_back and answer is None:
                work *= _IN_VAIN
            return Offer(Promise(width, work), partial(_laid, loss, epsilon, demand, draft, None if one is demand else one))
    raise NotApplicableError(_TOO_LONG)


def _laid(loss: LogPhi, epsilon: float, demand: Demand, draft: contour.Draft, slowly: Demand | None) -> LocalProfile:
    """The contour, once more where the value is smaller than expected beside what a slowly falling transform leaves."""
    prepared = draft.laid()
    if prepared is not None and slowly is not None:
        wide = prepared.at(epsilon).amount.relative_width / demand.sufficient.rtol
        finer = replace(slowly, rtol=slowly.rtol / min(2 * wide, _LOST))
        again = draft.candidate.draft(finer, decaying=True) if wide > 1 else None
        prepared = (again and again.laid()) or prepared
    return _local(loss, prepared, epsilon)


def _local(loss: LogPhi, prepared: contour.Prepared | None, epsilon: float) -> LocalProfile:
    if prepared is None or prepared.contour.line.size < _LONG:
        return inverted(loss, METHOD, None if prepared is None else prepared.at)
    return inverted(loss, METHOD, SummedContour.of(prepared, epsilon).at)


# measured: operations to lay out a line, for each node, and for each term of the sums that K takes there
_LAYOUT, _NODE, _TERM = 1.5e6, 150.0, 1.3
# measured: rounding of the sum over the integrand, and of an exponent, both relative
_NOISE, _ROUNDING = 2e-12, 1e-15
# measured: what a line that may lose all digits must be quicker by than another route
_IN_VAIN = 8.0
# measured: on shorter lines the terms of K are few beside the layout
_FEW = 1 << 8
METHOD = Method("contour")
_REASON = "inversion on a vertical line: losses with a smooth part"
CONTOUR = Route(METHOD, prepare, _REASON, forecast=_forecast)
# measured: of what a smoothed line leaves narrower than that, a line without smoothing leaves more
LONGEST = Route(METHOD, prepare, _REASON, mostly=Promise(1e-2, 5e8))
