"""K of log-ratios at many real points to some digits: one set of nodes serves all that are not far out.

notation as in :mod:`logphi.quadrature.log_ratio`: M(c) - 1 = E[w^a - 1 - a (w - 1)], a = c + 1. A tilt w^a moves the normal
variable by at most |a| C, so that nodes which reach farther than that on both sides serve every a up to a limit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from logphi.arrays import Array
from logphi.quadrature.log_ratio import LogRatio
from logphi.quadrature.mixture_trapezoid import approximate

# measured: larger tilts, in units of 1/C, or more mixtures, are quicker with nodes of their own
_FARTHEST, _MOST = 22.0, 64
# derived: what lies beyond so many deviations of the tilted law is e^-30 of it
_BEYOND = 8.0
# derived: exponentials of twice this exponent, and of a l at the farthest node, are doubles
_LARGE = 300.0
# measured: steps in x, by which K errs in its sixth digit or later
_STEP = 0.6


@dataclass(frozen=True, eq=False)
class ApproximateAxis:
    """Nodes of E[w^a - 1 - a (w - 1)] for powers a within ``reach`` of ``middle``; other powers have nodes of their own."""

    mixtures: LogRatio
    middle: float
    reach: float
    loss: Array
    density: Array
    mean: Array

    @staticmethod
    def of(mixtures: LogRatio) -> ApproximateAxis:
        """For as many powers as share their nodes at little cost; for none, where these would be many."""
        shift, floor = mixtures.widest, float(mixtures.floor.max())
        if not (shift <= _FARTHEST and mixtures.shift.size <= _MOST):
            return ApproximateAxis(mixtures, 0.0, -1.0, *np.zeros((3, 1)))
        highest = _FARTHEST / shift
        lowest = -min(highest, _LARGE / floor)
        low = lowest * mixtures.steepest - _BEYOND
        step = min(_STEP, 1 / shift)
        x = np.arange(low, _FARTHEST + _BEYOND + step, step)
        loss, density = mixtures.value(x), np.exp(-x * x / 2) * (step / np.sqrt(2 * np.pi))
        mean = (np.expm1(loss) @ density)[:, None]
        return ApproximateAxis(mixtures, (lowest + highest) / 2, (highest - lowest) / 2, loss[:, None, :], density, mean)

    def at(self, c: Array) -> Array:
        """The sum of count times K at real points; no bound depends on it."""
        powers = c + 1
        if not np.abs(powers - self.middle).max() <= self.reach:
            return approximate(self.mixtures, c)
        excess = np.expm1(powers[:, None] * self.loss) @ self.density - powers * self.mean
        total: Array = self.mixtures.count @ np.log1p(excess)
        return total
