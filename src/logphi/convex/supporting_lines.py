"""Whether one convex, decreasing function lies below another, known from enclosures at finitely many places.

notation: f and g are convex and decreasing in a = e^x, known by bounds l, u at places a_0 < a_1 < ...; f is to lie below g.
On a cell f is nowhere above the chord of its upper bounds, and g is nowhere below three lines: the one through
(a_{i-1}, u), (a_i, l), continued to the right; the one through (a_{i+1}, l), (a_{i+2}, u), continued to the left; and the
constant l at a_{i+1}. The chord lies below the largest of the lines if it does so at both ends of the cell and where two of the
lines meet.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ULP
from logphi.arrays import Array

# derived: exponentials stay in the range of doubles
_LARGEST = 600.0


def below_on_cells(x: Array, f_upper: Array, g_lower: Array, g_upper: Array) -> NDArray[np.bool_]:
    """For each cell between neighbouring places, whether f <= g is proved on it.

    Parameters
    ----------
    x
        Rising places, on the scale of log a: at least four. The first and the last cell are not decided.
    f_upper, g_lower, g_upper
        Logarithms of bounds there.
    """
    before, left, right, after = x[:-3], x[1:-2], x[2:-1], x[3:]
    # values in units of f at the left end, lengths in units of a there
    unit = f_upper[1:-2]
    with np.errstate(all="ignore"):  # what is not finite proves nothing
        rounding = ULP * (64 + 8 * np.where(unit > -np.inf, np.abs(unit), 0.0) + 8 * (after - before))
        end, back, ahead = np.expm1(right - left), -np.expm1(before - left), np.exp(right - left) * np.expm1(after - right)
        last, g_before, g_left, g_right, g_after = (
            np.exp(np.minimum(logs - unit, _LARGEST))
            for logs in (f_upper[2:-1], g_upper[:-3], g_lower[1:-2], g_lower[2:-1], g_upper[3:])
        )
        # each line by its value at the left end of the cell and its slope
        slopes = np.array([(g_left - g_before) / back, (g_after - g_right) / ahead, np.zeros(end.shape)])
        heights = np.array([g_left, g_right - slopes[1] * end, g_right])
        sizes = np.array([g_left + g_before * end / back, g_right + g_right * end / ahead, g_right])
        wrong = rounding * (np.abs(heights) + sizes)
        shares = [np.zeros(end.shape), np.ones(end.shape)]
        for one, other in ((0, 1), (0, 2), (1, 2)):
            share = (heights[other] - heights[one]) / (slopes[one] - slopes[other]) / end
            shares.append(np.where((share > 0) & (share < 1), share, 0.0))
        proved = np.ones(end.shape, dtype=bool)
        for share in shares:
            lines = (heights + slopes * (share * end) - wrong).max(axis=0)
            chord = (1 - share) + last * share
            proved &= chord + rounding * (chord + (share < 1)) <= lines
    # a constant is enough where g at the right end is no less than f at the left one
    proved |= (f_upper[1:-2] == -np.inf) | (g_lower[2:-1] >= f_upper[1:-2])
    return np.concatenate([[False], proved, [False]])
