"""How far the nodes of the inner integral must go, and what its sums lose beyond them.

notation as in :mod:`logphi.numerics.inner`: x is the standard normal variable, l(x) = log w convex with slope m s(x), s the
logistic share. A tilt w^a draws the law to where x = a m s(x): for small rates that is near 0, although far out, near
x = a m, the tilted density may rise once more, to e^{a^2 (m^2 - m^2/a)/2} q^a.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_LARGE = 600.0
# measured: ranges up to so many times the reach are not worth shortening
_LONG = 3.0
# measured: shares of the way to the far rise, and beyond it, at which a chord of the loss may end
_CHORDS = 2.0 ** np.arange(-10, 3)


def log_loss(x: Array | float, m: Array, q: Array) -> Array:
    """Log w at x, to a few ulps of its largest part."""
    result: Array = np.logaddexp(np.log1p(-q), np.log(q) + m * x - m * m / 2)
    return result


def ends(m: Array, q: Array, powers: Array, log_small: float) -> tuple[float, float]:
    """An interval of x outside of which sums of the tilted densities are about e^log_small of M(c) or less.

    ``m`` and ``q`` are columns; what is really lost is for :func:`cut_off` to say.
    """
    reach = float(np.sqrt(-2 * log_small)) + 2
    widest, top = float(m.max()), max(float(powers.max()), 1.0)
    # left of 0 the share is largest at 0
    share = q / (q + (1 - q) * np.exp(np.minimum(m * m / 2, _LARGE)))
    low = min(0.0, float(powers.min())) * float((m * share).max()) - reach
    farthest = top * widest + reach
    if top * widest <= _LONG * reach:
        return low, farthest
    centre = np.zeros_like(m)
    for _ in range(40):
        centre = top * m * np.exp(np.minimum(np.log(q) + m * centre - m * m / 2 - log_loss(centre, m, q), 0.0))
    for stretch in (1.0, 1.5, 2.5, 4.0, 8.0, 16.0):
        high = float(centre.max()) + stretch * reach
        if high >= farthest:
            break
        if log_beyond(high, 0.5, m, q, np.array([top])).max() <= log_small:
            return low, high
    return low, farthest


def log_beyond(end: float, step: float, m: Array, q: Array, a: Array) -> Array:
    """Logarithm of a bound of the sum of step phi(x) w^a, a >= 0, over equally spaced x beyond the end; (mixture, power).

    Up to a far point l lies below its chord, so that the terms fall geometrically; from there on it lies below the line
    of slope m, under which the sum is at most twice a normal integral. Where x > a m already, no far point is needed.
    """
    here = log_loss(end, m, q)
    first = np.log(step / np.sqrt(2 * np.pi)) - end * end / 2 + a * here
    alone = first - _log_expm1((end - a * m) * step)
    far = end + (np.maximum(a * m - end, 0.0) + 1)[:, :, None] * _CHORDS
    there = log_loss(far, m[:, :, None], q[:, :, None])
    slope = (there - here[:, :, None]) / (far - end)
    power = a[None, :, None]
    near = first[:, :, None] - _log_expm1((end - power * slope) * step)
    shift = m[:, :, None]
    rise = power * (there - shift * far) + power * power * shift * shift / 2 + np.log(2 + step)
    bound: Array = np.minimum(alone, np.logaddexp(near, rise).min(axis=2))
    # the parts cancel: each carries a few ulps of its size
    return bound + 1e-14 * (1 + end * end + a * np.abs(here) + a * a * m * m)


def cut_off(x: Array, m: Array, q: Array, loss: Array, power: Array, log_density: Array, log_mass: Array) -> Array:
    """What the sums of w^a, 1 and a w lose beyond both ends of the grid, relative to M(c); (mixture, power).

    The terms fall at least geometrically to the left, where log w has slope at most the logistic share of m.
    """
    step = float(x[1] - x[0])
    share = np.exp(np.minimum(m * x[0] - m * m / 2 + np.log(q) - loss[:, :1], 0.0))
    a = np.concatenate([power, [0.0, 1.0]])
    left = log_density[0] + a * loss[:, :1] - _log_expm1((np.minimum(a, 0.0) * m * share - x[0]) * step)
    right = log_density[-1] + a * loss[:, -1:] - _log_expm1((x[-1] - np.maximum(a, 0.0) * m) * step)
    if float(a.max()) * float(m.max()) > x[-1]:
        right = np.where(a > 0, log_beyond(float(x[-1]), step, m, q, np.maximum(a, 0.0)), right)
    log_lost = np.logaddexp(left, right)
    rest = np.logaddexp(log_lost[:, -2:-1], log_lost[:, -1:]) + np.log1p(np.abs(power))
    lost: Array = 1.01 * np.exp(np.minimum(np.logaddexp(log_lost[:, :-2], rest) - log_mass, _LARGE))
    return lost


def _log_expm1(fall: Array) -> Array:
    """``log(e^x - 1)``; minus infinity where the terms do not fall, so that nothing is known."""
    return np.where(fall > 0, np.log(np.expm1(np.clip(fall, 1e-300, _LARGE))), -np.inf)
