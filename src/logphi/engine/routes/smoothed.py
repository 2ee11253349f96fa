"""Inversion with a smoothed threshold, and a bound of what that adds: any loss away from its atoms."""

from __future__ import annotations

from logphi.engine.method import Method, Retry
from logphi.engine.routes.route import Local, Route, inverted
from logphi.grid.node_sums import values_on
from logphi.inversion import smoothed
from logphi.inversion.demand import Demand
from logphi.laws.log_phi import LogPhi


def prepare(loss: LogPhi, epsilon: float, demand: Demand) -> Local:
    """On one line for both the smoothed payoff and what it adds."""
    prepared = smoothed.prepare(loss, epsilon, demand, values_on)
    return inverted(loss, _METHOD, None if prepared is None else prepared.at)


_METHOD = Method("smoothed", Retry.IF_WIDE)
SMOOTHED = Route(_METHOD, prepare, "inversion with a smoothed threshold: any loss away from its atoms", fallback=True)
