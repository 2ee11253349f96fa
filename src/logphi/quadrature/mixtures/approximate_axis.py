"""K of log-ratios at many real points, to some digits: one set of nodes serves all points up to a limit.

notation as in :mod:`logphi.quadrature.mixtures.log_ratio`: M(c) - 1 = E[w^a - 1 - a (w - 1)], a = c + 1. A tilt w^a moves the
normal variable by at most |a| C, so that nodes that go farther than that on both sides serve every a up to a limit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from logphi.arrays import Array
from logphi.quadrature.mixtures.log_ratio import LogRatio
from logphi.quadrature.mixtures.mixture_trapezoid import TINY, approximate

# measured: for larger tilts, in units of 1/C, nodes of their own are quicker
_FARTHEST = 22.0
# measured: for more mixtures, nodes of their own are quicker
_MOST = 64
# derived: farther than this many standard deviations from its centre, the tilted law has a share of e^-30
_DEVIATIONS = 8.0
# derived: exponentials of twice this exponent, and of a l at the farthest node, are doubles
_LARGE = 300.0
# measured: a step in x with which K errs in its sixth digit or later
_STEP = 0.6


@dataclass(frozen=True, eq=False)
class ApproximateAxis:
    """Nodes of E[w^a - 1 - a (w - 1)] for powers a within ``radius`` of ``middle``; other powers have nodes of their own."""

    mixtures: LogRatio
    middle: float
    radius: float
    loss: Array
    density: Array
    mean: Array

    @staticmethod
    def of(mixtures: LogRatio) -> ApproximateAxis:
        """Nodes for as many powers as share them at little cost; for no power, where there would be many mixtures or nodes.

        Tiny l have nodes of their own too: the differences here, of first order, would lose all digits.
        """
        shift, floor = mixtures.widest, float(mixtures.floor.max())
        if not (shift <= _FARTHEST and mixtures.shift.size <= _MOST and mixtures.least_loss > TINY):
            return ApproximateAxis(mixtures, 0.0, -1.0, *np.zeros((3, 1)))
        highest = _FARTHEST / shift
        lowest = -min(highest, _LARGE / floor)
        low = lowest * mixtures.steepest - _DEVIATIONS
        step = min(_STEP, 1 / shift)
        x = np.arange(low, _FARTHEST + _DEVIATIONS + step, step)
        loss, density = mixtures.value(x), np.exp(-x * x / 2) * (step / np.sqrt(2 * np.pi))
        mean = (np.expm1(loss) @ density)[:, None]
        return ApproximateAxis(mixtures, (lowest + highest) / 2, (highest - lowest) / 2, loss[:, None, :], density, mean)

    def at(self, c: Array) -> Array:
        """The sum of count times K at real points, without a bound of its error."""
        powers = c + 1
        if not np.abs(powers - self.middle).max() <= self.radius:
            return approximate(self.mixtures, c)
        excess = np.expm1(powers[:, None] * self.loss) @ self.density - powers * self.mean
        total: Array = self.mixtures.count @ np.log1p(excess)
        return total
