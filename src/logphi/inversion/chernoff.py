"""Chernoff's bounds of tails: P(X > x) <= e^{K(c) - cx} for every c > 0, and P(X <= x) for every c < 0.

The best c is found from approximations of K. Any c gives a bound, for which K is computed with its errors near the best one.
"""

from __future__ import annotations

import math

import numpy as np

from logphi.arith.floats import ULP
from logphi.arrays import Array
from logphi.inversion.lines.half_line import Step
from logphi.inversion.lines.saddle import Interval, minimise, saddle
from logphi.laws.transform import LossTransform

# derived: more than the roundings of a bound, relative to the numbers that it is the sum or the quotient of
_ROUNDING = 8 * ULP
# chosen: abscissas that are tried for a bound that need not be sharp, as shares of the best
_SHARES = np.array([1.0, 0.99, 0.5])
# measured: the relative ranges around the best abscissa that are tried for a sharp end; it is accurate to 1e-7 after the last
_ROUNDS = (0.3, 0.05, 0.01)
# chosen: with this abscissa an end is close to that of the support, and K still has digits
_FARTHEST = 1e12


def log_moments(law: LossTransform, c: Array) -> Array:
    """Upper bounds of K at real points; infinite outside of the strip, and where K is unknown."""
    low, high = law.strip
    inside = (c > low) & (c < high)
    found = np.full(c.shape, np.inf)
    found[inside] = _inside(law, c[inside])
    return found


def _inside(law: LossTransform, c: Array) -> Array:
    values = law.log_transform(c)
    mid = values.mid.real
    known = np.isfinite(mid) & np.isfinite(values.radius)
    if not known.all() and c.size > 1:
        # points far apart need too fine a common quadrature: each half needs less
        return np.concatenate([_inside(law, half) for half in np.array_split(c, 2)])
    bound = mid + values.radius
    return np.where(known, bound + ULP * np.abs(bound), np.inf)


def log_tails(law: LossTransform, x: float) -> tuple[float, float]:
    """Upper bounds of log P(X > x) and log P(X <= x); infinite if unknown."""
    right = saddle(law, Step(x, 0.0), Interval(0.0, math.inf)).abscissa
    left = -1 - saddle(law.reflected(), Step(-x, -1.0), Interval(-1.0, math.inf)).abscissa
    # where 1 + z rounds to zero or below there is no bound
    tried = np.multiply.outer([max(right, 0.0), min(left, 0.0)], _SHARES)
    moments = log_moments(law, tried.ravel()).reshape(tried.shape)
    bounds = moments - tried * x + _ROUNDING * (np.abs(moments) + np.abs(tried * x))
    above, below = bounds.min(axis=1).tolist()
    return above, below


def tail_end(law: LossTransform, log_mass: float, sign: int) -> float:
    """About the smallest a with P(X >= a) <= e^log_mass, or with P(-X >= a) if ``sign`` is -1, rounded up.

    It is the least (K(c) - log_mass) / t over c = sign t; infinite if unknown.
    """
    low, high = law.strip
    reach = high if sign > 0 else -low

    def approximate(t: Array) -> Array:
        ends = np.full(t.shape, np.inf)
        inside = t < reach
        ends[inside] = (law.approximate(sign * t[inside]) - log_mass) / t[inside]
        return np.where(np.isnan(ends), np.inf, ends)

    best = minimise(approximate, Interval(0.0, _FARTHEST))
    if not math.isfinite(best.value):
        return math.inf
    at, least = best.abscissa, math.inf
    for share in _ROUNDS:
        t = at * (1 + share * np.linspace(-1, 1, 17))
        moments = log_moments(law, sign * t)
        ends = (moments - log_mass + _ROUNDING * (np.abs(moments) + abs(log_mass))) / t
        ends = ends + _ROUNDING * np.abs(ends)
        at, least = float(t[np.argmin(ends)]), min(least, float(ends.min()))
    return least
