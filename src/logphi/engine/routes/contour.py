"""Inversion on a vertical line: losses with a smooth part."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from logphi.engine import clipping
from logphi.engine.method import Method, Retry
from logphi.engine.routes.clipped import clipped
from logphi.engine.routes.route import Local, NotApplicableError, Route, inverted
from logphi.inversion import contour
from logphi.inversion.demand import Demand
from logphi.inversion.line_sum import MAX_NODES
from logphi.inversion.moving_sum import Moved
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


def prepare(loss: LogPhi, epsilon: float, demand: Demand) -> Local:
    """On a line as long as it may be."""
    return _local(loss, contour.prepare(loss, epsilon, demand), epsilon)


def _where_it_decays(loss: LogPhi, epsilon: float, demand: Demand) -> Local:
    """On a line beyond which nothing is left; without rare large losses where these decide."""
    # the longest line gains no more than its number of nodes over what atoms do not lose by themselves, and is long
    low, high = loss.strip
    atoms = -math.inf if loss.support.atomless else float(loss.log_envelope(0.0 if low < 0 < high else -0.5, _FAR)[0])
    if atoms > math.log(min(demand.rtol * MAX_NODES, _DECAYED)):
        raise NotApplicableError(_TOO_LONG)
    saddle = contour.saddle_of_excess(loss, epsilon, demand.hint)
    if clipping.large_of(loss):
        demand = replace(demand, hint=saddle.abscissa)
        found = clipping.prepare_where_needed(loss, epsilon, demand)
        if found is not None:
            return clipped(loss, found)
    # a line on which M falls slowly is long, and what it leaves need not be far below the tolerance
    loose, enough = (replace(one, rtol=_SLOWLY * one.rtol) for one in (demand, demand.sufficient))
    demands = [(demand, _SHORT), (loose, MAX_NODES if demand.enough <= demand.rtol else _QUICK), (enough, _LONGER)]
    for one, most in demands:
        prepared = contour.prepare(loss, epsilon, one, decaying=True, excess=saddle, most=most)
        if prepared is not None:
            wide = prepared.at(epsilon).amount.relative_width / demand.sufficient.rtol
            if one is not demand and wide > 1:
                # the value is smaller than expected beside what the line leaves
                finer = replace(one, rtol=one.rtol / min(2 * wide, _LOST))
                prepared = contour.prepare(loss, epsilon, finer, decaying=True, excess=saddle) or prepared
            return _local(loss, prepared, epsilon)
    raise NotApplicableError(_TOO_LONG)


def _local(loss: LogPhi, prepared: contour.Prepared | None, epsilon: float) -> Local:
    if prepared is None or prepared.contour.line.size < _LONG:
        return inverted(loss, METHOD, None if prepared is None else prepared.at)
    return inverted(loss, METHOD, Moved.of(prepared, epsilon).at)


METHOD = Method("contour", Retry.IF_WIDE)
# measured: of what a smoothed line leaves narrower than that, a line without smoothing leaves more
CONTOUR = Route(METHOD, prepare, "inversion on a vertical line: losses with a smooth part", fallback=True, reaches=1e-2)
DECAYING_CONTOUR = Route(METHOD, _where_it_decays, CONTOUR.reason)
