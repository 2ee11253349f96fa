"""Inversion with a smoothed threshold, and a bound of what that adds: any loss away from its atoms."""

from __future__ import annotations

from logphi.engine.method import Method, Retry
from logphi.engine.routes.route import Local, Route, inverted
from logphi.inversion import rare, smoothed
from logphi.inversion.demand import Demand
from logphi.laws.log_phi import LogPhi


def prepare(loss: LogPhi, epsilon: float, demand: Demand) -> Local:
    """On one line for both the smoothed payoff and what it adds."""
    kept = rare.without_rare_atoms(loss, epsilon, demand.rtol)
    prepared = smoothed.prepare(kept.law, epsilon, demand)
    return inverted(loss, _METHOD, None if prepared is None else lambda x: kept.with_rest(prepared.at(x)))


_METHOD = Method("smoothed", Retry.IF_WIDE)
SMOOTHED = Route(_METHOD, prepare, "inversion with a smoothed threshold: any loss away from its atoms", fallback=True)
