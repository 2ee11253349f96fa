"""Inversion of the loss without rare large ones, whose share has a closed form: sampled normal pairs at small rates."""

from __future__ import annotations

from logphi.engine import clipping
from logphi.engine.method import Method, Retry
from logphi.engine.routes.route import Local, NotApplicableError, Route, inverted
from logphi.inversion import contour
from logphi.inversion.demand import Demand
from logphi.laws.log_phi import LogPhi


def prepare(loss: LogPhi, epsilon: float, demand: Demand) -> Local:
    """On a line for the small losses."""
    prepared = clipping.prepare(loss, epsilon, demand)
    if prepared is None:
        raise NotApplicableError(
            "method 'clipped' needs epsilon > 0 and a few kinds of Poisson-sampled Gaussians, "
            "of which a contour of reasonable length serves the small losses; leave method out"
        )
    return clipped(loss, prepared)


def _after_all(loss: LogPhi, epsilon: float, demand: Demand) -> Local:
    """Where a plain contour stands well, but large losses are most of its rounding errors."""
    small = not clipping.large_of(loss)
    if small or not clipping.decides(loss, epsilon, contour.saddle_of_excess(loss, epsilon, demand.hint).abscissa):
        raise NotApplicableError("no large losses are in the way of a plain contour")
    return prepare(loss, epsilon, demand)


def clipped(loss: LogPhi, prepared: clipping.Prepared) -> Local:
    """The profile from a clipped contour."""
    return inverted(loss, _METHOD, prepared.at)


_METHOD = Method("clipped", Retry.IF_WIDE)
CLIPPED = Route(_METHOD, prepare, "inversion without rare large losses, whose share has a closed form: small sampling rates")
CLIPPED_AFTER_ALL = Route(_METHOD, _after_all, CLIPPED.reason, once=True)
