"""Inversion on a vertical line: losses with a smooth part."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from logphi.engine import clipping
from logphi.engine.method import Method, Retry
from logphi.engine.routes.clipped import clipped
from logphi.engine.routes.route import Local, NotApplicableError, Route, inverted
from logphi.inversion import contour, real_space
from logphi.inversion.demand import Demand
from logphi.inversion.line_sum import MAX_NODES
from logphi.laws.log_phi import LogPhi

# measured: a transform that never falls below this needs the longest lines even for a coarse answer
_DECAYED = 1e-2
# measured: a line of so many nodes takes a tenth of a second
_QUICK = 1 << 16
# a height beyond which no envelope falls any more
_FAR = np.array([1e100])
_TOO_LONG = "the transform does not decay far enough for a contour of reasonable length"


def prepare(loss: LogPhi, epsilon: float, demand: Demand) -> Local:
    """On a line as long as it may be."""
    return _local(loss, contour.prepare(loss, epsilon, demand))


def _where_it_decays(loss: LogPhi, epsilon: float, demand: Demand) -> Local:
    """On a line beyond which nothing is left; without rare large losses where these decide."""
    # the longest line gains no more than its number of nodes over what atoms do not lose by themselves, and is long
    atoms = float(loss.log_envelope(0.0, _FAR)[0]) if real_space.made_of_pieces(loss.terms) else -math.inf
    if atoms > math.log(min(demand.rtol * MAX_NODES, _DECAYED)):
        raise NotApplicableError(_TOO_LONG)
    saddle = contour.saddle_of_excess(loss, epsilon, demand.hint)
    if clipping.large_of(loss):
        demand = replace(demand, hint=saddle.abscissa)
        found = clipping.prepare_where_needed(loss, epsilon, demand)
        if found is not None:
            return clipped(loss, found)
    # where less suffices, a long line for more is not quick
    demands = [(demand, MAX_NODES)] if demand.enough <= demand.rtol else [(demand, _QUICK), (demand.sufficient, MAX_NODES)]
    for one, most in demands:
        prepared = contour.prepare(loss, epsilon, one, decaying=True, excess=saddle, most=most)
        if prepared is not None:
            return _local(loss, prepared)
    raise NotApplicableError(_TOO_LONG)


def _local(loss: LogPhi, prepared: contour.Prepared | None) -> Local:
    return inverted(loss, METHOD, None if prepared is None else prepared.at)


METHOD = Method("contour", Retry.IF_WIDE)
CONTOUR = Route(METHOD, prepare, "inversion on a vertical line: losses with a smooth part", fallback=True)
DECAYING_CONTOUR = Route(METHOD, _where_it_decays, CONTOUR.reason)
