"""Bounds of a transform on whole blocks of heights of a line, from one value in each.

notation: X the law of which M(c + it)/M(c) is the characteristic function chi, X' another of it. With G = 1 - |chi|^2,

    G(t) = E[1 - cos(t (X - X'))],      |G(s) - G(t)| <= |s - t| E|X - X'| <= |s - t| (b - a)/2,

a and b the ends of the support: E|X - X'| is largest with half of the mass at either end. So one value of M bounds it on a
block. The transform of many different atoms is small nearly everywhere, although no decreasing function bounds it.
"""

from __future__ import annotations

import numpy as np

from logphi.arrays import Array, Complex
from logphi.quadrature.values import Values

# derived: far above the rounding of a quotient that is not near one
MARGIN = 1e-9


def block_points(abscissa: float, centres: Array) -> Complex:
    """The abscissa itself, and the middle of each block."""
    return np.asarray(abscissa + 1j * np.append(0.0, centres), dtype=np.complex128)


def log_block(values: Values, half_width: float | Array, radius: float) -> Array:
    """A proved upper bound of Re K(c + is) - K(c) over |s - t| <= r, for each t, from K at the ``block_points``.

    ``half_width`` is (b - a)/2. For several laws at once, both have a row for each.
    """
    mid, error = values.mid.real, values.radius
    with np.errstate(invalid="ignore"):  # a value that is not known gives no bound below
        log_ratio = (mid + error)[..., 1:] - (mid - error)[..., :1]
    log_ratio = np.where(np.isfinite(log_ratio), log_ratio, 0.0)
    gap = -np.expm1(2 * np.minimum(log_ratio, 0.0)) * (1 - MARGIN) - radius * (1 + MARGIN) * half_width
    bound: Array = 0.5 * np.log1p(-np.maximum(gap, 0.0))
    return bound
