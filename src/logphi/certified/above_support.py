"""The excess above the support of the loss, which is zero."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from flint import arb

from logphi.certified.laws.registry import terms_of
from logphi.certified.route import Demand, NotThisRouteError, Route
from logphi.laws.log_phi import LogPhi


@dataclass(frozen=True, eq=False)
class AboveSupport:
    """A loss that is at most ``supremum``, an exact ball."""

    supremum: Any

    def excess(self, epsilon: Any) -> Any:
        """Zero above the support, unknown below."""
        return arb(0) if epsilon >= self.supremum else arb(0.5, 0.5)


def prepare(loss: LogPhi, epsilon: Any, demand: Demand) -> Route:
    """A route for a loss whose upper end, bounded in doubles, is at most epsilon.

    Raises
    ------
    NotCertifiedError
        If the upper end exceeds epsilon or is unknown.
    """
    omitted = any(law.omitted for law, _ in terms_of(loss))
    if omitted or not (math.isfinite(loss.support.upper) and epsilon >= arb(loss.support.upper)):
        raise NotThisRouteError("the loss is not known to stay below this epsilon")
    return AboveSupport(arb(loss.support.upper))
