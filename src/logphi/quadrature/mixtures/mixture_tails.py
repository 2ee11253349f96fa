"""The masses on both sides of a threshold, and the density there, of the log-ratio of a mixture of shifts.

notation as in :mod:`logphi.quadrature.mixtures.log_ratio`; l increases, so that {l > x} = {y > t*} with l(t*) = x. The density
of l at x under P is w(t*) phi(t*) / l'(t*) = e^{2x} phi(t*) / N(t*), N = w' = sum p_i c_i e^{c_i t - c_i^2/2}, which increases.
"""

from __future__ import annotations

import math

import numpy as np

from logphi.arith.floats import ELEMENTARY, LOG_ROOT_TWO_PI, ULP
from logphi.arith.scaled import Scaled
from logphi.arith.summation import log_sum
from logphi.normal.tails import ALONE, mixed_sides
from logphi.quadrature.mixtures.many_components import ManyComponents


def partial_masses(mixture: ManyComponents, x: float, *, tilted: bool) -> tuple[Scaled, Scaled] | None:
    """P(l > x) and P(l <= x); under Q if ``tilted``. None if the root is out of range."""
    low, high = mixture.bracket(x)
    if high == math.inf:
        return None
    if tilted:
        return mixed_sides(low, high, ALONE, ALONE, ALONE)
    centres, log_weights, error = mixture.shifts, mixture.log_weights, mixture.weight_error
    if math.isfinite(mixture.log_rest):
        centres, log_weights, error = (
            np.append(own, rest) for own, rest in ((centres, 0.0), (log_weights, mixture.log_rest), (error, mixture.rest_error))
        )
    return mixed_sides(low, high, centres, log_weights, error)


def density(mixture: ManyComponents, x: float) -> Scaled | None:
    """The density of l at x under P; None if the root is out of range."""
    low, high = mixture.bracket(x)
    if not (math.isfinite(low) and math.isfinite(high)):
        return None
    least, most = (0.0 if low < 0 < high else min(abs(low), abs(high))), max(abs(low), abs(high))
    slopes = []
    for end, sign in ((low, -1), (high, 1)):
        power = mixture.shifts * end
        exponent = mixture.log_weights + np.log(mixture.shifts) + power - mixture.shifts**2 / 2
        size = np.abs(mixture.log_weights) + np.abs(power) + mixture.shifts**2 + np.abs(np.log(mixture.shifts))
        unsure = ELEMENTARY * (2 + size) + 2 * mixture.weight_error + ULP * mixture.shifts.size
        slopes.append(float(log_sum(exponent + sign * unsure)))
    room = ELEMENTARY * (2 + abs(x) + most * most)
    return Scaled.between(
        2 * x - most * most / 2 - LOG_ROOT_TWO_PI - slopes[1] - room,
        2 * x - least * least / 2 - LOG_ROOT_TWO_PI - slopes[0] + room,
    )
