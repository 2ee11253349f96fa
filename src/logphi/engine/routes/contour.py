"""Inversion on a vertical line, for losses with a smooth part."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np

from logphi.engine.cancellation import log_answer, needs_long_line, width_left
from logphi.engine.large_losses import large_guesses
from logphi.engine.method import Method
from logphi.engine.routes.route import LocalProfile, NotApplicableError, Offer, Request, Route, inverted
from logphi.inversion.demand import Demand, Promise
from logphi.inversion.lines import contour
from logphi.inversion.lines.contour import Part
from logphi.inversion.lines.line_sum import MAX_NODES
from logphi.inversion.lines.threshold_sum import LONG_LINE, SummedContour

# measured: a transform that never falls below this share of M(c) needs the longest lines even for a coarse answer
_DECAYED = 1e-2
# measured: a line of this size takes milliseconds
_SHORT = 1 << 12
# measured: a line of this size takes about fifty milliseconds
_QUICK = 1 << 14
# measured: above this size, a line with a smoothed threshold is quicker
_LONGER = 1 << 15
# measured: the largest loss of digits, as a factor, above which other routes are quicker
_MOST_LOST = 1e6
# measured: the truncation error is a thousandth of the tolerance; with this factor, a tenth
_SLOWLY = 100.0
# measured: the number of operations to lay out a line
_LAYOUT = 1.5e6
# measured: the number of operations for each node
_NODE = 150.0
# measured: the number of operations for each term of the sums for K
_TERM = 1.3
# measured: the rounding of the sum, relative to the integrand
_NOISE = 2e-12
# measured: the rounding of an exponent
_ROUNDING = 1e-15
# measured: how many times quicker than another route a line must be if it may lose all digits
_IN_VAIN = 8.0
# measured: the size up to which the layout takes longer than the terms of K
_FEW = 1 << 8
# chosen: a height above which no envelope falls further
_FAR = np.array([1e100])
_TOO_LONG = "the transform does not decay far enough for a contour of reasonable length"


def prepare(request: Request) -> LocalProfile:
    """The profile from the longest line that is allowed."""
    return _local(request, contour.prepare(request.loss, request.epsilon, request.demand))


def _forecast(request: Request) -> Offer:
    """The offer of a line with a negligible tail; it loses digits if rare large losses keep the saddle small."""
    loss, epsilon, demand = request.loss, request.epsilon, request.demand
    # the truncation error of the longest line is about the limit of |M|/M(c) far up the line over its number of nodes
    low, high = loss.strip
    atoms = -math.inf if loss.support.atomless else float(loss.log_envelope(0.0 if low < 0 < high else -0.5, _FAR)[0])
    if atoms > math.log(min(demand.rtol * MAX_NODES, _DECAYED)):
        raise NotApplicableError(_TOO_LONG)
    saddle = contour.saddle_of_excess(loss, epsilon, demand.hint)
    chosen = contour.smallest_functional(loss, epsilon, demand.hint, excess=saddle)
    if chosen is None:
        raise NotApplicableError("the transform is not known at any abscissa")
    held_back = chosen.part is Part.EXCESS and (needs_long_line(loss) or large_guesses.decides(loss, epsilon, saddle.abscissa))
    # a line on which M falls slowly is long, and its truncation error need not be far below the tolerance
    lines = [
        (demand, 1.0, _SHORT),
        (demand, _SLOWLY, MAX_NODES if demand.enough <= demand.rtol else _QUICK),
        (demand.sufficient, _SLOWLY, _LONGER),
    ]
    for asked, ease, most in lines:
        one = replace(asked, rtol=ease * asked.rtol) if ease > 1 else asked
        draft = chosen.draft(one, decaying=True, most=most)
        if draft is not None:
            answer = log_answer(loss, epsilon) if held_back else None
            width = width_left(chosen.log_estimate + 1, answer, _NOISE, asked)
            terms = draft.terms if draft.extent.size > _FEW else 0.0
            work = _LAYOUT + _NODE * draft.extent.size + _TERM * terms
            width = max(width, _ROUNDING * abs(chosen.abscissa * epsilon))
            if math.isinf(terms):
                # inner integrals with too many nodes have unknown values
                width = math.inf
            if held_back and answer is None:
                work *= _IN_VAIN
            return Offer(Promise(width, work), partial(_laid, request, draft, None if one is demand else one))
    raise NotApplicableError(_TOO_LONG)


def _laid(request: Request, draft: contour.Draft, slowly: Demand | None) -> LocalProfile:
    """The profile from a contour, laid again if the value is smaller than expected and a slow decay leaves it too wide."""
    prepared = draft.laid()
    if prepared is not None and slowly is not None:
        wide = prepared.at(request.epsilon).amount.relative_width / request.demand.sufficient.rtol
        finer = replace(slowly, rtol=slowly.rtol / min(2 * wide, _MOST_LOST))
        again = draft.candidate.draft(finer, decaying=True) if wide > 1 else None
        prepared = (again and again.laid()) or prepared
    return _local(request, prepared)


def _local(request: Request, prepared: contour.Prepared | None) -> LocalProfile:
    if prepared is None or prepared.contour.line.size < LONG_LINE:
        return inverted(request.loss, METHOD, None if prepared is None else prepared.at)
    return inverted(request.loss, METHOD, SummedContour.of(prepared, request.epsilon).at)


METHOD = Method("contour", "inversion on a vertical line: losses with a smooth part")
CONTOUR = Route(METHOD, prepare, forecast=_forecast, slow=True)
# measured: the accuracy and cost of the longest line; a smoothed line that is narrower is better
LONGEST = Route(METHOD, prepare, mostly=Promise(1e-2, 5e8))
