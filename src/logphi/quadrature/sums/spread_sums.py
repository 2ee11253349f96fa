"""Exponential sums over arbitrary points at equally spaced heights, by one Fourier transform.

notation: the sum over k of w_k e^{i t x_k}, w_k > 0, at t_j = j s; a circle of N cells of width g = 2 pi / (N s), u = x / g,
theta = t g, and B the central B-spline of order p (even), the p-fold convolution of the indicator of a cell.

* Each weight is spread over the p nodes around its location, as w B(n - u). By Poisson summation, with f = theta / 2 pi and
  sinc(f) = sin(pi f) / (pi f),

      sum over n of B(n - u) e^{i theta n} = sinc(f)^p sum over m of (f / (f + m))^p e^{i (theta + 2 pi m) u},

  since the sines of all terms agree up to their sign and p is even. The term m = 0 is the wanted one. For 0 <= f <= 1/4 the
  others add up to at most 2.1 (f / (1 - f))^p for p >= 8: with r = (1 - f)/(m - f) <= (3/4)/(m - 1/4), the terms m < 0 are
  that of m = -1 times r^p, those of m > 0 are smaller than their counterparts, and the sum of r^p over m > 1 is below 0.002.
* The B-splines come from Cox and de Boor's recursion, in positive terms only: each loses at most four ulps a step.
* Each output of a Fourier transform of length 2^L is a sum of the weights times L rotations in a row, wrong by at most
  7 u each (Higham 2002, *Accuracy and Stability of Numerical Algorithms*, Theorem 24.2): by 7 u L times the sum of the weights.
"""

from __future__ import annotations

import math

import numpy as np

from logphi.arith.floats import ULP
from logphi.arrays import Array, Complex

# measured: the order p with which spreading takes about as long as the transform
_ORDER = 12
# derived: the rounding of the rotations and additions of one level, with the split of a real transform
_LEVEL = 8 * ULP
# derived: four roundings for each step of the recursion, those of the quotient by sinc^p, and the sum of the weights of a node
_SPREAD = (6 * _ORDER + 24) * ULP
# measured: blocks of this size stay in the cache
_RUN = 1 << 12


def spread_sums(locations: Array, weights: Array, step: float, size: int, room: int = 4) -> tuple[Complex, Array]:
    """The sums at the heights j step, j < size, with bounds of their errors relative to the sum of the weights.

    The locations are taken as exact; the reduction to a cell moves each by at most two of its ulps. The circle has at least
    ``room`` nodes for each height: with 4 the error at the last heights is 4e-6, with 16 it is that of rounding.
    """
    nodes = 1 << max((room * size - 1).bit_length(), 5)
    cell = 2 * math.pi / (nodes * step)
    circle = np.zeros(nodes)
    runs = 0
    for first in range(0, locations.size, _RUN):
        u = locations[first : first + _RUN] / cell
        low = np.floor(u)
        spread = _splines(u - low) * weights[first : first + _RUN]
        where = (low.astype(np.int64) + np.arange(1 - _ORDER // 2, _ORDER // 2 + 1)[:, None]) & (nodes - 1)
        circle += np.bincount(where.ravel(), spread.ravel(), nodes)
        runs += 1
    f = np.arange(size) / nodes
    gain = np.sinc(f) ** -_ORDER
    error = 2.1 * (f / (1 - f)) ** _ORDER + (_LEVEL * math.log2(nodes) + _SPREAD + ULP * runs) * gain
    sums: Complex = np.fft.rfft(circle)[:size].conj() * gain
    return sums, error


def _splines(t: Array) -> Array:
    """The values of B at the p nodes around a location, t above the nearest node below, with a row for each node."""
    rows = np.zeros((_ORDER, t.size))
    rows[0] = 1.0
    for degree in range(1, _ORDER):
        above = np.zeros(t.size)
        for k in range(degree):
            part = rows[k] / degree
            rows[k] = above + (k + 1 - t) * part
            above = (t + degree - 1 - k) * part
        rows[degree] = above
    return rows
