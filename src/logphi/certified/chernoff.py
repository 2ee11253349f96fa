"""Chernoff's bound of D, which suffices for an order of the pair that cannot attain the maximum.

D(x) = E[(1 - e^{x - L})_+; L < inf] is at most kappa(c) M(c) e^{-cx}, kappa(c) = c^c / (1 + c)^{1 + c}, for every c > 0 in
the strip.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from flint import arb

from logphi.certified.laws.registry import terms_of
from logphi.certified.route import Demand, Excess, NotThisRouteError
from logphi.inversion.lines.kernels import log_kappa
from logphi.laws.log_phi import LogPhi

# chosen: the smallest one that suffices is taken, as a transform takes longer at a large abscissa
_ABSCISSAS = tuple(2.0**k for k in range(-4, 17))
# derived: more than the error of the logarithm of the bound in doubles
_ROOM = 1.0


def prepare(loss: LogPhi, epsilon: Any, demand: Demand) -> Excess:
    """A Chernoff bound below the level, near an epsilon.

    Raises
    ------
    NotThisRouteError
        If no such bound is below the level, or the level is not positive.
    NotCertifiedError
        If a law is not known in balls.
    """
    if not demand.level > 0:
        raise NotThisRouteError("Chernoff's bound settles only an order that cannot attain the maximum")
    inside = np.array([c for c in _ABSCISSAS if c < 0.9 * loss.strip[1]])
    with np.errstate(all="ignore"):  # K may overflow at a large abscissa; its infinite bound is then not used
        logs = loss.approximate(inside) + log_kappa(inside) - inside * float(epsilon.mid())
    enough = np.flatnonzero(logs < math.log(max(float(demand.level.lower()), 1e-300)) - _ROOM)
    if not enough.size:
        raise NotThisRouteError("Chernoff's bound does not settle this order")
    terms = terms_of(loss)
    if any(law.omitted for law, _ in terms):
        raise NotThisRouteError("Chernoff's bound does not hold for mass that is left out of the transform")
    c = arb(float(inside[enough[0]]))
    constant = (c * c.log() - (1 + c) * (1 + c).log()).exp()
    for law, count in terms:
        constant *= law.transform().at(c) ** count
    return lambda at: arb(0).union(constant * (-c * at).exp())
