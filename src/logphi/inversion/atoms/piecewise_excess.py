"""The excess of atoms at many thresholds: between neighbouring atoms it is linear in e^x.

notation: atoms b_1 < ... < b_N with masses w_k, T_j = sum over k >= j of w_k e^{b_j - b_k}. With b_j the first atom above t,

    D(t) = D(b_j) + (1 - e^{t - b_j}) T_j,       D(b_{j-1}) = D(b_j) + (1 - e^{b_{j-1} - b_j}) T_j,

where no term is negative. Masses are computed from tilted weights, in units of the middle: on either side of it they must be
in the range of doubles.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arrays import Array

# derived: sums of exponentials of up to this, times those over one interval, do not overflow
FARTHEST = 600.0
# chosen: the length of an interval
_INTERVAL = 60.0


@dataclass(frozen=True, eq=False)
class PiecewiseExcess:
    """D(b_j) and T_j at each atom, over a common unit, with a bound of their relative error."""

    location: Array
    excess: Array
    above: Array
    relative_error: float

    @staticmethod
    def of(location: Array, weight: Array, tilt: float, middle: float) -> PiecewiseExcess:
        """The excess from weights of the law tilted by e^{cx}, in units of e^{-c middle}."""
        exponent = -tilt * (location - middle)
        mass = weight * np.exp(exponent)
        above = np.empty_like(mass)
        # intervals over which e^{-x} does not overflow, from the top downward
        carried, end = 0.0, location.size
        while end:
            top = float(location[end - 1])
            start = int(np.searchsorted(location, top - _INTERVAL))
            part = slice(start, end)
            fall = np.exp(top - location[part])
            # fall is e^{top - b}: sums of w e^{top - b}, divided by it at each atom
            above[part] = (np.cumsum((mass[part] * fall)[::-1])[::-1] + carried) / fall
            if start:
                carried = float(above[start]) * float(np.exp(location[start - 1] - location[start]))
            end = start
        steps = -np.expm1(location[:-1] - location[1:]) * above[1:]
        excess = np.append(np.cumsum(steps[::-1])[::-1], 0.0)
        size = float(np.abs(exponent).max()) + 2 * _INTERVAL
        return PiecewiseExcess(location, excess, above, ULP * (2 * location.size + size) + 8 * ELEMENTARY)

    def at(self, thresholds: Array) -> Array:
        """D at thresholds."""
        first = np.searchsorted(self.location, thresholds, side="right")
        held = np.minimum(first, self.location.size - 1)
        step = -np.expm1(np.minimum(thresholds - self.location[held], 0.0))
        return np.where(first < self.location.size, self.excess[held] + step * self.above[held], 0.0)
