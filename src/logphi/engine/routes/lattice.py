"""Inversion over one period: losses on a lattice."""

from __future__ import annotations

import math

from logphi.engine.method import Method
from logphi.engine.routes.route import Local, NotApplicableError, Route, inverted
from logphi.inversion import contour
from logphi.inversion.demand import Demand
from logphi.inversion.lattice import periodic
from logphi.laws.log_phi import LogPhi


def prepare(loss: LogPhi, epsilon: float, demand: Demand) -> Local:
    """On a line of one period."""
    if loss.lattice is None or math.isinf(loss.lattice.span):
        raise NotApplicableError("method 'lattice' needs a loss on a lattice, which this one is not; leave method out")
    prepared = contour.prepare(loss, epsilon, demand, periodic)
    return inverted(loss, _METHOD, None if prepared is None else prepared.at)


_METHOD = Method("lattice")
LATTICE = Route(_METHOD, prepare, "inversion over one period: losses on a lattice")
