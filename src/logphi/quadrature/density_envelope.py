"""A bound of a characteristic function from the total variation of its density, on which other envelopes rest.

An envelope at the height t bounds |M(c + is)| / M(c) for all s >= t.
"""

from __future__ import annotations

import numpy as np

from logphi.arrays import Array

# derived: the factor of (t/B)^2 in the bound near zero, see log_density_envelope
_QUADRATIC = 0.16
# derived: the t/B from which on B/t is the smaller bound
_CROSSING = 5.0**0.5


def log_density_envelope(variation: float | Array, heights: Array, weight: float | Array = 1.0) -> Array:
    """Bound of the logarithm of sup over s >= t of |chi(s)|, for a density of total variation B and weight w.

    Integration by parts gives |chi(t)| <= B/t for the density. Below that range, let D be the difference of two
    independent copies, so that |chi(t)|^2 = E cos(tD). From 1 - cos 2x <= 4 (1 - cos x),

        1 - |chi(t)|^2 >= (1 - |chi(2t)|^2) / 4,

    hence 1 - |chi(t)|^2 >= (t/s)^2 (1 - B^2/s^2) for the s = 2^m t in [5^(1/2)/2 B, 5^(1/2) B]. Over that
    octave the factor (1 - B^2/s^2)/s^2 is smallest at both ends, where it is 0.16/B^2. Therefore

        |chi(t)|^2 <= 1 - 0.16 (t/B)^2   for t <= 5^(1/2) B,     |chi(t)| <= B/t   beyond.

    The two agree at 5^(1/2) B and both decrease. Nothing is assumed of the rest of the measure, 1 - w.
    """
    ratio = heights / variation * (1 - 1e-12)
    square = _QUADRATIC * np.minimum(ratio, _CROSSING) ** 2
    gap = np.where(ratio <= _CROSSING, square / (1 + np.sqrt(1 - square)), 1 - 1 / np.maximum(ratio, _CROSSING))
    left = (1 - weight) + weight / np.maximum(ratio, _CROSSING)
    # near one the logarithm is taken of the complement; the factors exceed the effect of rounding
    return np.where(weight * gap < 0.5, np.log1p(-np.minimum(weight * gap, 0.5)), np.log(np.minimum(left * (1 + 1e-12), 1.0)))
