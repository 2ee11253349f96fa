"""Inversion with a smoothed threshold and a bound of the smoothing error, for any loss away from its atoms."""

from __future__ import annotations

import math
from dataclasses import replace

from logphi.engine.log_probability import masses
from logphi.engine.method import Method
from logphi.engine.routes.route import LocalProfile, Request, Route, inverted
from logphi.grid.node_sums import values_on
from logphi.inversion.demand import Demand, Promise
from logphi.inversion.lines import contour
from logphi.inversion.smoothing import smoothed

# measured: about the coarsest tolerance that a line meets, and nearly the quickest
_COARSE = 0.03
# derived: the logarithm of a number below the smallest double
_LEAST = -745.0
# derived: the logarithm of a relative width far above every demand
_FAR = 300.0


def prepare(request: Request) -> LocalProfile:
    """The profile from one line for the smoothed payoff and for the bound of its error."""
    loss, epsilon, demand = request.loss, request.epsilon, _of_the_integral(request)
    if demand.hint is None and demand.least > _LEAST and demand.rtol < _COARSE:
        # if the other order has a far larger answer, as usual, a short line shows it
        coarse = smoothed.prepare(loss, epsilon, replace(demand, rtol=_COARSE), values_on)
        local = inverted(loss, _METHOD, None if coarse is None else coarse.at)
        if local(epsilon).upper < demand.least:
            return local
    prepared = smoothed.prepare(loss, epsilon, replace(demand, rtol=min(demand.rtol, _COARSE)), values_on)
    return inverted(loss, _METHOD, None if prepared is None else prepared.at)


def _of_the_integral(request: Request) -> Demand:
    """The demand on the integral alone, which need not be sharp where it is a small part of the profile."""
    loss, epsilon, demand = request.loss, request.epsilon, request.demand
    (infinite, _), (_, reverse_log_mass) = masses(loss)
    reflected = epsilon < 0
    floor = -math.expm1(min(epsilon + reverse_log_mass, 0.0)) if reflected else infinite
    if not floor > 0:
        return demand
    own, own_x = (loss.reflected(), -epsilon) if reflected else (loss, epsilon)
    log_part = contour.ceiling(own, own_x).at(own_x) + min(epsilon, 0.0)
    return replace(demand, rtol=demand.rtol * math.exp(min(max(math.log(floor) - log_part, 0.0), _FAR)))


_METHOD = Method("smoothed", "inversion with a smoothed threshold: any loss away from its atoms")
# measured: about the width if no atom is near the threshold, and the work
SMOOTHED = Route(_METHOD, prepare, mostly=Promise(1e-6, 3e8))
