"""Bounds of a transform on whole blocks of heights of a line, from one value in each.

notation: X has the characteristic function chi(t) = M(c + it)/M(c), X' is an independent copy. With G = 1 - |chi|^2,

    G(t) = E[1 - cos(t (X - X'))],      |G(s) - G(t)| <= |s - t| E|X - X'|,      ||chi(s)| - |chi(t)|| <= |s - t| E|X - X'|,

as E|X - E[X]|, which suffices for the last one, is at most E|X - X'|. With a and b the ends of the support, E|X - X'| is at
most (b - a)/2, which half of the mass at each end attains, and at most 2^(1/2) standard deviations. So one value of M bounds
|M| on a block. The transform of many different atoms is small nearly everywhere, although no decreasing function bounds it
closely.
"""

from __future__ import annotations

import numpy as np

from logphi.arith.floats import ULP
from logphi.arrays import Array, Complex
from logphi.quadrature.values import Values

# derived: a relative margin far above the rounding of 1 - |chi|^2 where |chi| is not near one
MARGIN = 1e-9
# derived: M(c) has a positive lower bound if the error of log M(c) is below log 2, which is a little above this
KNOWN = 0.69


def block_points(abscissa: float, centres: Array) -> Complex:
    """The points of evaluation: the abscissa itself and the centre of each block."""
    return np.asarray(abscissa + 1j * np.append(0.0, centres), dtype=np.complex128)


def log_block(values: Values, spread: float | Array, radius: float) -> Array:
    """A proved upper bound of Re K(c + is) - K(c) over |s - t| <= r, for each t, from K at the ``block_points``.

    ``spread`` bounds E|X - X'|. For several laws at once, both have a row for each.
    """
    mid, error = values.mid.real, values.radius
    first = error[..., :1]
    # the relative error of M(c) is at most e^error - 1, which must be below one
    known = first < KNOWN
    least = np.where(known, mid[..., :1] + np.log1p(-np.expm1(np.where(known, first, 0.0))), -np.inf)
    with np.errstate(invalid="ignore"):  # an unknown value gives no lower bound
        log_ratio = (mid + error)[..., 1:] - least
    return log_block_from(np.where(np.isfinite(log_ratio), log_ratio, 0.0), spread, radius)


def log_block_from(log_ratio: Array, spread: float | Array, radius: float | Array) -> Array:
    """The bound from upper bounds of log |chi| at the centres of the blocks, one radius for all or one for each."""
    log_ratio = np.minimum(log_ratio, 0.0)
    moved = radius * (1 + MARGIN) * spread
    gap = -np.expm1(2 * log_ratio) * (1 - MARGIN) - moved
    near = 0.5 * np.log1p(-np.maximum(gap, 0.0))
    far = np.log(np.exp(log_ratio) + moved + np.finfo(float).tiny)
    bound: Array = np.minimum(near, far + MARGIN)
    return bound


def log_block_of_sizes(ratio: Array, spread: float, deviation: float, radius: float) -> Array:
    """The bound from upper bounds of |chi| itself; ``deviation`` bounds E|X - E[X]|."""
    ratio, reach = np.minimum(ratio, 1.0), radius * (1 + MARGIN)
    # the absolute error of 1 - |chi|^2 is a few ulps of one
    gap = (1 - ratio) * (1 + ratio) * (1 - MARGIN) - reach * spread - 8 * ULP
    bound: Array = (
        np.log(np.minimum(ratio + reach * deviation + np.finfo(float).tiny, np.sqrt(1 - np.maximum(gap, 0.0)))) + MARGIN
    )
    return np.minimum(bound, 0.0)
