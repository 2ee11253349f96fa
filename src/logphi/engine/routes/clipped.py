"""Inversion without rare large losses, whose contribution has a closed form: sampled normal pairs at small rates."""

from __future__ import annotations

import math

from logphi.engine.cancellation import log_answer, needs_long_line, width_left
from logphi.engine.large_losses import clipping, large_guesses
from logphi.engine.method import Method
from logphi.engine.routes.route import LocalProfile, NotApplicableError, Offer, Request, Route, inverted
from logphi.inversion.demand import Demand, Promise
from logphi.inversion.lines import contour
from logphi.laws.log_phi import LogPhi

_NO_LINE = (
    "method 'clipped' needs epsilon >= 0 and a few kinds of Poisson-sampled Gaussians, "
    "whose small losses a contour of reasonable length can integrate; leave method out"
)
# measured: operations to lay out a line
_LAYOUT = 1e7
# measured: operations to lay out split lines
_SPLIT = 6e7
# measured: operations for each node and each law
_NODE = 350.0
# measured: operations for a term of the inner sums of split lines
_TERM = 1.0
# measured: the shift from which on the loss without the record is nearly an atom, so that plain contours are slow
_LITTLE_NOISE = 4.0
# measured: the mean number of samples from which on bent contours are slow at zero
_SAMPLES = 1.0
# measured: the mean number of samples from which on plain contours are quick
_MANY_SAMPLES = 10.0
# measured: the rounding of the sum, relative to the integrand
_NOISE = 1e-11
# chosen: how much lower, as a logarithm, lines for a better guess of the answer must lie
_LOWER = 2.0


def prepare(request: Request) -> LocalProfile:
    """The profile from a line for the small losses."""
    loss, epsilon, demand = request.loss, request.epsilon, request.demand
    answer = log_answer(loss, epsilon)
    return _laid(loss, clipping.Draft.of(loss, epsilon, demand, answer), demand, answer)


def _forecast(request: Request) -> Offer:
    """The offer, if large losses obstruct a plain contour; digits are lost where the integrand is far above the answer."""
    loss, epsilon, demand = request.loss, request.epsilon, request.demand
    large = large_guesses.large_of(loss)
    samples = sum(count * law.constants[1] for law, count in large)
    nearly_atom = bool(large) and max(law.constants[0] for law, _ in large) >= _LITTLE_NOISE
    if not (large and epsilon >= 0) or (epsilon == 0 and not (nearly_atom and samples >= _SAMPLES)):
        raise NotApplicableError("no loss at this epsilon can be clipped")
    if not ((nearly_atom or needs_long_line(loss)) and samples < _MANY_SAMPLES) and not large_guesses.decides(
        loss, epsilon, contour.saddle_of_excess(loss, epsilon, demand.hint).abscissa
    ):
        raise NotApplicableError("no loss is so large that a plain contour would not do")
    answer = log_answer(loss, epsilon)
    draft = clipping.Draft.of(loss, epsilon, demand, answer)
    if draft is None:
        raise NotApplicableError("the small losses would need too long a contour")
    width = max(width_left(draft.log_height, answer, _NOISE, demand) if draft.lines else demand.rtol, draft.rtol)
    if answer is not None and draft.log_loose > answer + math.log(demand.rtol):
        width += math.exp(min(draft.log_loose - answer, 0.0))
    work = (_SPLIT if draft.split else _LAYOUT) + _NODE * len(large) * draft.nodes + _TERM * draft.terms
    if not math.isfinite(work):
        raise NotApplicableError("the inner integrals of the large losses are too long")
    return Offer(Promise(width, work), lambda: _laid(loss, draft, demand, answer))


def _laid(loss: LogPhi, draft: clipping.Draft | None, demand: Demand, answer: float | None) -> LocalProfile:
    prepared = None if draft is None else draft.laid()
    if draft is None or prepared is None:
        raise NotApplicableError(_NO_LINE)
    amount = prepared.at(draft.x).amount
    if amount.relative_width > demand.sufficient.rtol and math.isfinite(log_upper := amount.log_ends[1]):
        # a single line is the same for every answer; split ones may be lower, or have tolerances relative to a smaller answer
        again = clipping.Draft.in_parts(loss, draft.x, demand, log_upper)
        lower = again is not None and (
            again.log_height < draft.log_height - _LOWER or (draft.split and answer is not None and log_upper < answer - _LOWER)
        )
        prepared = (again.laid() if again is not None and lower else None) or prepared
    return inverted(loss, _METHOD, prepared.at)


_METHOD = Method("clipped", "inversion without rare large losses, whose share has a closed form: small sampling rates")
CLIPPED = Route(_METHOD, prepare, forecast=_forecast)
