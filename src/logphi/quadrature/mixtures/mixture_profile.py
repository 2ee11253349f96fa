"""The excess of a mixture of normal laws, from the root of log-ratio = threshold.

notation as in :mod:`logphi.quadrature.mixtures.log_ratio`; a = e^x, t* the root of l(t) = x, and Phi, phi the normal mass and
density, R = (1 - Phi)/phi Mills' ratio. The excess is sum p_i Phi(c_i - t*) - a Phi(-t*), the reversed one is a Phi(t*) - sum
p_i Phi(t* - c_i); they are convex in a, with slopes -Phi(-t*) and Phi(t*). At any t, with a = w(t), each is a sum of positive
terms,

    p_i phi(t - c_i) [R(t - c_i) - R(t)]      and      p_i phi(t - c_i) [R(-t) - R(c_i - t)],

which keep their digits however small they are. So t need not be the root: a point to the left or right of it bounds the
answer on one side, and the slope bounds it on the other.
"""

from __future__ import annotations

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arith.scaled import Scaled
from logphi.arrays import Array
from logphi.quadrature.mixtures.many_components import ManyComponents

# derived: one over the normal density at zero
_ROOT_TWO_PI = float(np.sqrt(2 * np.pi))


def excess(mixture: ManyComponents, x: float) -> Scaled:
    """E_Q[(w - e^x)_+]."""
    low, high = mixture.bracket(x)
    if high == np.inf:
        # l(t) is below C t for t > 0, so that the root is beyond x/C, and the excess below Phi(C - x/C)
        c = float(mixture.shift[0])
        least = max(x / c - c, 0.0)
        return Scaled(-(min(least, 1e150) ** 2) / 2 * (1 - 1e-9), 0.5, rounding=0.5)
    if low == -np.inf:
        # nearly all of w is above the threshold: E[(a - w)_+] is at most a - p_0, and a Phi(t*)
        log_room = min(x + float(log_ndtr(high)), 0.0) if high > -np.inf else -np.inf
        least = -np.expm1(min(mixture.log_rest - x - mixture.rest_error - ULP * (abs(x) + 2 * abs(mixture.log_rest)), 0.0))
        room = min(float(np.exp(log_room)), float(np.exp(min(x, 0.0)) * least)) * (1 + 1e-9)
        value = -float(np.expm1(x))
        return Scaled(0.0, value + room / 2, rounding=room / 2 + ELEMENTARY * (abs(value) + abs(x) * float(np.exp(x))))
    scale, value, error = _sum(mixture, *(_left_of_zero if low <= 0 else _right_of_zero)(mixture, low))
    return _corrected(scale, value, error, x + float(log_ndtr(-low)), _loss_error(mixture, low, x))


def reversed_excess(mixture: ManyComponents, x: float) -> Scaled | None:
    """E_Q[(e^x - w)_+]; None if the root is out of range."""
    _, high = mixture.bracket(x)
    if high == np.inf:
        return None
    if high == -np.inf:
        return Scaled(0.0, 0.0)
    scale, value, error = _sum(mixture, *(_reversed_left_of_zero if high <= 0 else _reversed_right_of_zero)(mixture, high))
    loss_error = _loss_error(mixture, high, x)
    return _corrected(scale, value, error, x + loss_error + float(log_ndtr(high)), loss_error)


def _corrected(scale: float, value: float, error: float, log_slope: float, loss_error: float) -> Scaled:
    """A convex function at an argument smaller by up to the relative loss_error, from its value and slope."""
    less = float(np.exp(min(log_slope - scale, 700.0))) * loss_error * (1 + 1e-9)
    return Scaled(scale, max(value - less / 2, 0.0), rounding=error + less / 2)


def _loss_error(mixture: ManyComponents, t: float, x: float) -> float:
    """A bound of |l(t) - x|, including the errors of the parameters."""
    value, wrong = mixture.value_and_error(t)
    return float(np.expm1(abs(value - x) + wrong + ULP * abs(x)))


def _mills(u: Array | float) -> Array:
    """R(u), u >= 0."""
    return np.asarray(np.sqrt(np.pi / 2) * erfcx(np.asarray(u) / np.sqrt(2)))


# Each of these returns, for each term, the logarithm of the factor of its weight, the error, the bracket and its error.


def _right_of_zero(mixture: ManyComponents, t: float) -> tuple[Array, Array, Array, Array]:
    """Phi(c - t) - e^{ct - c^2/2} Phi(-t), t > 0."""
    c, mill = mixture.shifts, float(_mills(t))
    away = t - c
    ahead = np.maximum(away, 0.0)
    near = np.exp(-(np.minimum(away, 0.0) ** 2) / 2) / _ROOT_TWO_PI
    first = np.where(away > 0, _mills(ahead) / _ROOT_TWO_PI, ndtr(-np.minimum(away, 0.0)))
    second = near * mill
    # the derivative in c is phi(t - c) (1 - (t - c) R(t)) for the whole
    wrong = ELEMENTARY * (first + second * (1 + np.minimum(away, 0.0) ** 2)) + 4 * ULP * c * near * (1 + np.abs(away) * mill)
    return -ahead * ahead / 2, 2 * ULP * ahead * ahead, first - second, wrong


def _left_of_zero(mixture: ManyComponents, t: float) -> tuple[Array, Array, Array, Array]:
    """Phi(c - t) - e^{ct - c^2/2} Phi(-t), t <= 0: the factor 1 - e^{ct - c^2/2}, and the share that is left of it."""
    c = mixture.shifts
    y = c * t - c * c / 2
    near = np.exp(-((t - c) ** 2) / 2) / _ROOT_TWO_PI
    first, second = _mills(-t) * near, _mills(c - t) * near
    wrong = ELEMENTARY * (-np.expm1(y) + (first + second) * (1 + (t - c) ** 2)) + 4 * ULP * np.exp(y) * (c * abs(t) + c * c + c)
    return np.zeros_like(c), np.zeros_like(c), -np.expm1(y) + (first - second), wrong


def _reversed_left_of_zero(mixture: ManyComponents, t: float) -> tuple[Array, Array, Array, Array]:
    """e^{ct - c^2/2} Phi(t) - Phi(t - c), t <= 0."""
    c = mixture.shifts
    away = c - t
    first, second = _mills(-t) / _ROOT_TWO_PI, _mills(away) / _ROOT_TWO_PI
    # the derivative in c is phi(t - c) (1 - (c - t) R(-t)) for the whole
    wrong = ELEMENTARY * (first + second) + 4 * ULP * c * (1 + away * first)
    return -away * away / 2, 2 * ULP * away * away, first - second, wrong


def _reversed_right_of_zero(mixture: ManyComponents, t: float) -> tuple[Array, Array, Array, Array]:
    """e^{ct - c^2/2} Phi(t) - Phi(t - c), t > 0, in units of e^{ct - c^2/2}."""
    c = mixture.shifts
    y = c * t - c * c / 2
    rising = y >= 0
    up = np.where(rising, y, 0.0)
    first = np.where(rising, -np.expm1(-up), 1.0) * ndtr(t)
    tails = np.exp(-up) * (ndtr(c - t) - ndtr(-t))
    # here c > 2 t
    behind = np.exp(-t * t / 2) / _ROOT_TWO_PI * _mills(np.where(rising, 0.0, c - t))
    second = np.where(rising, tails, -behind)
    size = np.where(rising, np.exp(-up) * (ndtr(c - t) + ndtr(-t)), behind * (1 + t * t))
    by_exponent = 4 * ULP * (c * t + c * c) * np.where(rising, np.exp(-up), 0.0)
    wrong = ELEMENTARY * (first + size * (1 + t * t)) + by_exponent + 4 * ULP * c * np.exp(-t * t / 2)
    return y, 4 * ULP * (c * t + c * c), first + second, wrong


def _sum(
    mixture: ManyComponents, log_factor: Array, log_error: Array, bracket: Array, wrong: Array
) -> tuple[float, float, float]:
    """The scale, the sum and its error."""
    exponent = mixture.log_weights + log_factor
    scale = float(exponent.max())
    factor = np.exp(exponent - scale)
    relative = (
        log_error + mixture.weight_error + ULP * (8 + np.abs(mixture.log_weights) + np.abs(exponent - scale) + bracket.size)
    )
    value = float((factor * bracket).sum())
    error = float((factor * (wrong + np.abs(bracket) * relative)).sum()) * 1.01
    return scale, max(value, 0.0), error + ULP * abs(scale) * value
