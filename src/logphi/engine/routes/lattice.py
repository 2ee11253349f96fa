"""Inversion over one period, for losses on a lattice."""

from __future__ import annotations

import math

from logphi.engine.method import Method
from logphi.engine.routes.route import LocalProfile, NotApplicableError, Request, Route, inverted
from logphi.inversion.lines import contour
from logphi.inversion.lines.lattice import PeriodicExcess, reserve_at


def prepare(request: Request) -> LocalProfile:
    """The profile from a line of one period."""
    loss, epsilon = request.loss, request.epsilon
    lattice = loss.support.lattice
    if lattice is None or math.isinf(lattice.span):
        raise NotApplicableError("method 'lattice' needs a loss on a lattice, which this one is not; leave method out")
    if reserve_at(lattice, epsilon) > 1:
        raise NotApplicableError("method 'lattice' needs losses that are known to within one nat; leave method out")
    # the lattice of the loss is used, as the reflected law may not find its own: that depends on the order of the atoms
    reflected = lattice.reflected()
    prepared = contour.prepare(
        loss, epsilon, request.demand, lambda law, x: PeriodicExcess.at(lattice if law == loss else reflected, x)
    )
    return inverted(loss, _METHOD, None if prepared is None else prepared.at)


_METHOD = Method("lattice", "inversion over one period: losses on a lattice", sharp=True)
LATTICE = Route(_METHOD, prepare)
