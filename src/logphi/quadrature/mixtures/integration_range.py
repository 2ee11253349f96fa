"""The range of the nodes of an inner integral, and bounds of the parts of the sums outside of it.

notation as in :mod:`logphi.quadrature.mixtures.log_ratio`: x is the standard normal variable, l(x) = log w convex, with slopes
below C. A tilt w^a draws the law to where x = a l'(x): for small rates that is near 0, although far out, near x = a C, the
tilted density may rise once more, to e^{a^2 (C^2 - C^2/a)/2} p^a, p the weight of C.
"""

from __future__ import annotations

import math

import numpy as np

from logphi.arrays import Array
from logphi.quadrature.mixtures.inner_integral import near_one
from logphi.quadrature.mixtures.log_ratio import LARGE, LogRatio

# measured: the accuracy to which the centre of a tilted law is found
_CENTRE_ERROR = 1e-3
# measured: a shorter range saves time only if the centre of the tilted law is this many of its widths away from zero
_LONG = 3.0
# measured: the far ends of the chords of the loss that are tried, as multiples of the distance to the second maximum
_CHORDS = 2.0 ** np.arange(-10, 3)
# the powers of 1 and of w
_BOTH = np.array([0.0, 1.0])


def integration_range(mixtures: LogRatio, lowest: float, highest: float, log_small: float) -> tuple[float, float]:
    """An interval of x outside of which the sums of the tilted densities are at most about e^log_small of M(c).

    It serves all powers from ``lowest`` to ``highest``. It is an estimate; :func:`cut_off` bounds the omitted sums.
    """
    half_width = math.sqrt(-2 * log_small) + 2
    widest, top = mixtures.widest, max(highest, 1.0)
    # left of 0 the slope is largest at 0
    low = (lowest * mixtures.steepest if lowest < 0 else 0.0) - half_width
    farthest = top * widest + half_width
    if top * widest <= _LONG * half_width:
        return low, farthest
    centre = np.zeros((mixtures.shift.size, 1))
    for _ in range(40):
        before, centre = centre, top * mixtures.slope(centre)
        if np.abs(centre - before).max() < _CENTRE_ERROR:
            break
    for stretch in (1.0, 1.5, 2.5, 4.0, 8.0, 16.0):
        high = float(centre.max()) + stretch * half_width
        if high >= farthest:
            break
        if log_tail(high, 0.5, mixtures, np.array([top])).max() <= log_small:
            return low, high
    return low, farthest


def log_tail(end: float, step: float, mixtures: LogRatio, a: Array) -> Array:
    """The logarithm of a bound of the sum of step phi(x) w^a, a >= 0, over equally spaced x beyond the end; (mixture, power).

    The powers a are the same for all mixtures, or (mixture, power).

    Up to some farther point l lies below its chord, so that the terms fall geometrically; from there on it lies below a line
    of slope C, under which the sum is at most twice a normal integral. An end above a C needs no such point.
    """
    m, here = mixtures.shift[:, None], mixtures.value(end)
    first = np.log(step / np.sqrt(2 * np.pi)) - end * end / 2 + a * here
    alone = first - _log_expm1((end - a * m) * step)
    far = end + (np.maximum(a * m - end, 0.0) + 1)[:, :, None] * _CHORDS
    there = mixtures.value(far.reshape(m.size, -1)).reshape(far.shape)
    slope = (there - here[:, :, None]) / (far - end)
    power = a[..., None]
    near = first[:, :, None] - _log_expm1((end - power * slope) * step)
    shift = m[:, :, None]
    rise = power * (there - shift * far) + power * power * shift * shift / 2 + np.log(2 + step)
    bound: Array = np.minimum(alone, np.logaddexp(near, rise).min(axis=2))
    # the parts cancel: each has an error of a few ulps
    return bound + 1e-14 * (1 + end * end + a * np.abs(here) + a * a * m * m + a * mixtures.largest_log)


def cut_off(x: Array, mixtures: LogRatio, loss: Array, power: Array, log_density: Array, log_mass: Array) -> Array:
    """Bounds of the sums of w^a outside of the grid, and of 1 and a w if M(c) is near one, relative to M(c); (mixture, power).

    The powers are the same for all mixtures, or (mixture, power). The terms fall at least geometrically to
    the left, where log w has at most the slope at the end.
    """
    m = mixtures.shift[:, None]
    start, end = float(x[0]), float(x[-1])
    step = float(x[1]) - start
    both = _BOTH if power.ndim == 1 else np.full((*power.shape[:-1], 2), _BOTH)
    a = np.concatenate([power, both], axis=-1)
    falling, rising = np.minimum(a, 0.0), np.maximum(a, 0.0)
    # both ends together: (mixture, power, end)
    fall = np.concatenate([(falling * mixtures.slope(start) - start)[:, :, None], (end - rising * m)[:, :, None]], axis=2)
    outermost = slice(None, None, x.size - 1)
    bound = log_density[outermost] + a[..., None] * loss[:, None, outermost] - _log_expm1(fall * step)
    left, right = bound[:, :, 0], bound[:, :, 1]
    if float(rising.max()) * mixtures.widest > end:
        right = np.where(a > 0, log_tail(end, step, mixtures, rising), right)
    log_omitted = np.logaddexp(left, right)
    rest = np.logaddexp(log_omitted[:, -2:-1], log_omitted[:, -1:]) + np.log1p(np.abs(power))
    rest = np.where(near_one(log_mass), rest, -np.inf)
    return np.asarray(1.01 * np.exp(np.minimum(np.logaddexp(log_omitted[:, :-2], rest) - log_mass, LARGE)))


def _log_expm1(fall: Array) -> Array:
    """``log(e^x - 1)``; minus infinity where the terms do not fall, so that there is no bound."""
    return np.where(fall > 0, np.log(np.expm1(np.minimum(np.maximum(fall, 1e-300), LARGE))), -np.inf)
