"""Where a transform is small on a stretch of a line: bounds on whole blocks of heights, from few points.

notation: X the law of which M(c + it)/M(c) is the characteristic function chi, X' another of it. With G = 1 - |chi|^2,

    G(t) = E[1 - cos(t (X - X'))],      |G(s) - G(t)| <= |s - t| E|X - X'| <= |s - t| (b - a)/2,

a and b the ends of the support: what E|X - X'| is at most, for half of the mass at either end. So one value of M bounds it on a
block. Of many different atoms, which return to their beginnings at different heights, the product is small nearly everywhere,
although no decreasing bound says so.
"""

from __future__ import annotations

import numpy as np

from logphi.arrays import Array
from logphi.laws.transform import LossTransform

# measured: blocks at first, into how many those are split where the transform may be large, and nodes in the smallest
_BLOCKS, _PARTS, _SMALLEST = 64, 8, 16
# derived: far above what rounding does to a quotient that is not near one
_ROOM = 1e-9


def log_block(law: LossTransform, reach: float | Array, abscissa: float, centres: Array, radius: float) -> Array:
    """A proved upper bound of Re K(c + is) - K(c) over |s - t| <= r, for each centre t; ``reach`` is (b - a)/2."""
    values = law.log_transform(abscissa + 1j * np.append(0.0, centres))
    mid, wrong = values.mid.real, values.radius
    with np.errstate(invalid="ignore"):  # where nothing is known: no bound below
        log_ratio = (mid + wrong)[..., 1:] - (mid - wrong)[..., :1]
    log_ratio = np.where(np.isfinite(log_ratio), log_ratio, 0.0)
    gap = -np.expm1(2 * np.minimum(log_ratio, 0.0)) * (1 - _ROOM) - radius * (1 + _ROOM) * reach
    bound: Array = 0.5 * np.log1p(-np.maximum(gap, 0.0))
    return bound


def quiet_from(law: LossTransform, abscissa: float, step: float, size: int, log_floor: float) -> int:
    """A node from which on |M| is below a multiple of M(c) at all nodes of a line; its size where none is found."""
    radius = step * size / (2 * _BLOCKS)
    centres = np.asarray(radius * (2.0 * np.arange(_BLOCKS) + 1), dtype=np.float64)
    while True:
        centres = centres[~(law.log_block(abscissa, centres, radius * (1 + _ROOM)) <= log_floor)]
        if not centres.size:
            return 0
        first = min(int((centres[-1] + radius) * (1 + _ROOM) / step) + 1, size)
        if radius <= _SMALLEST * step or first <= _SMALLEST * _BLOCKS:
            return first
        radius /= _PARTS
        centres = (centres[:, None] + radius * (2.0 * np.arange(_PARTS) + 1 - _PARTS)).ravel()
