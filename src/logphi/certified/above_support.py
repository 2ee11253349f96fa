"""The excess above the support of the loss, which is zero."""

from __future__ import annotations

import math
from typing import Any

from flint import arb

from logphi.certified.laws.registry import terms_of
from logphi.certified.route import Demand, Excess, NotThisRouteError
from logphi.laws.log_phi import LogPhi


def prepare(loss: LogPhi, epsilon: Any, demand: Demand) -> Excess:
    """A route for a loss whose upper end, bounded in doubles, is at most epsilon.

    Raises
    ------
    NotCertifiedError
        If the upper end exceeds epsilon or is unknown.
    """
    omitted = any(law.omitted for law, _ in terms_of(loss))
    if omitted or not (math.isfinite(loss.support.upper) and epsilon >= arb(loss.support.upper)):
        raise NotThisRouteError("the loss is not known to stay below this epsilon")
    top = arb(loss.support.upper)
    # nothing is said of epsilons below it
    return lambda at: arb(0) if at >= top else arb(0.5, 0.5)
