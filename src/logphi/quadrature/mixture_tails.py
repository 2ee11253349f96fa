"""What lies on either side of a threshold, and the density there, of the log-ratio of a mixture of shifts: from its root.

notation as in :mod:`logphi.quadrature.log_ratio`; l increases, so that {l > x} = {y > t*} with l(t*) = x. The density of l at x
under P is w(t*) phi(t*) / l'(t*) = e^{2x} phi(t*) / N(t*), N = w' = sum p_i c_i e^{c_i t - c_i^2/2}, which increases.
"""

from __future__ import annotations

import math

import numpy as np

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arith.scaled import Scaled
from logphi.normal.errors import log_sum
from logphi.normal.tails import ALONE, mixed_sides
from logphi.quadrature.log_ratio import Blend
from logphi.quadrature.mixture_profile import bracket

_LOG_ROOT = 0.5 * math.log(2 * math.pi)


def partial_masses(blend: Blend, x: float, *, tilted: bool) -> tuple[Scaled, Scaled] | None:
    """P(l > x) and P(l <= x); under Q if ``tilted``. None where the root is out of reach."""
    low, high = bracket(blend, x)
    if high == math.inf:
        return None
    if tilted:
        return mixed_sides(low, high, ALONE, ALONE, ALONE)
    centres, log_weights, blur = blend.shifts, blend.log_weights, blend.blur
    if math.isfinite(blend.log_rest):
        centres, log_weights, blur = (
            np.append(own, rest) for own, rest in ((centres, 0.0), (log_weights, blend.log_rest), (blur, blend.rest_blur))
        )
    return mixed_sides(low, high, centres, log_weights, blur)


def density(blend: Blend, x: float) -> Scaled | None:
    """The density of l at x under P; None where the root is out of reach."""
    low, high = bracket(blend, x)
    if not (math.isfinite(low) and math.isfinite(high)):
        return None
    least, most = (0.0 if low < 0 < high else min(abs(low), abs(high))), max(abs(low), abs(high))
    slopes = []
    for place, sign in ((low, -1), (high, 1)):
        power = blend.shifts * place
        exponent = blend.log_weights + np.log(blend.shifts) + power - blend.shifts**2 / 2
        size = np.abs(blend.log_weights) + np.abs(power) + blend.shifts**2 + np.abs(np.log(blend.shifts))
        unsure = ELEMENTARY * (2 + size) + 2 * blend.blur + ULP * blend.shifts.size
        slopes.append(float(log_sum(exponent + sign * unsure)))
    room = ELEMENTARY * (2 + abs(x) + most * most)
    return Scaled.between(
        2 * x - most * most / 2 - _LOG_ROOT - slopes[1] - room, 2 * x - least * least / 2 - _LOG_ROOT - slopes[0] + room
    )
