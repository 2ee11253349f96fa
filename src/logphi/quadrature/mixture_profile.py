"""The excess of one mixture of normal laws, from where its log-ratio meets the threshold.

notation as in :mod:`logphi.quadrature.log_ratio`; a = e^x, t* the root of l(t) = x, and Phi, phi the normal mass and density,
R = (1 - Phi)/phi Mills' ratio. The excess is sum p_i Phi(c_i - t*) - a Phi(-t*), the reversed one is
a Phi(t*) - sum p_i Phi(t* - c_i); they are convex in a, with slopes -Phi(-t*) and Phi(t*). At any t, with a = w(t), each is a
sum of positive terms,

    p_i phi(t - c_i) [R(t - c_i) - R(t)]      and      p_i phi(t - c_i) [R(-t) - R(c_i - t)],

whose digits hold however small they are. So t need not be the root: one on the left of it, or on the right, bounds the answer
on one side, and the slope does on the other.
"""

from __future__ import annotations

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arith.scaled import Scaled
from logphi.quadrature.log_ratio import Array, Blend

_ROOT_TWO_PI = float(np.sqrt(2 * np.pi))
# measured: Newton steps to the root, of which the last few only confirm it; any point gives a bound
_STEPS = 300
_PUSHES = 60
_LONGEST = 0.25
# beyond this no normal mass is told from zero even by the digits of its logarithm
_FARTHEST = 1e8


def excess(blend: Blend, x: float) -> Scaled:
    """E_Q[(w - e^x)_+]."""
    low, high = bracket(blend, x)
    if high == np.inf:
        # l(t) is below C t for t > 0, so that the root is beyond x/C, and the excess below Phi(C - x/C)
        c = float(blend.shift[0])
        beyond = max(x / c - c, 0.0)
        return Scaled(-(min(beyond, 1e150) ** 2) / 2 * (1 - 1e-9), 0.5, rounding=0.5)
    if low == -np.inf:
        # nearly all of w is above the threshold: E[(a - w)_+] is at most a - p_0, and a Phi(t*)
        log_room = min(x + float(log_ndtr(high)), 0.0) if high > -np.inf else -np.inf
        least = -np.expm1(min(blend.log_rest - x - blend.rest_blur - ULP * (abs(x) + 2 * abs(blend.log_rest)), 0.0))
        room = min(float(np.exp(log_room)), float(np.exp(min(x, 0.0)) * least)) * (1 + 1e-9)
        value = -float(np.expm1(x))
        return Scaled(0.0, value + room / 2, rounding=room / 2 + ELEMENTARY * (abs(value) + abs(x) * float(np.exp(x))))
    scale, value, error = _sum(blend, *(_left_of_zero if low <= 0 else _right_of_zero)(blend, low))
    return _moved(scale, value, error, x + float(log_ndtr(-low)), _gap(blend, low, x))


def reversed_excess(blend: Blend, x: float) -> Scaled | None:
    """E_Q[(e^x - w)_+]; None where the root is out of reach."""
    _, high = bracket(blend, x)
    if high == np.inf:
        return None
    if high == -np.inf:
        return Scaled(0.0, 0.0)
    scale, value, error = _sum(blend, *(_reversed_left_of_zero if high <= 0 else _reversed_right_of_zero)(blend, high))
    gap = _gap(blend, high, x)
    return _moved(scale, value, error, x + gap + float(log_ndtr(high)), gap)


def _moved(scale: float, value: float, error: float, log_slope: float, gap: float) -> Scaled:
    """A convex function where its argument is smaller by up to the gap, relatively."""
    less = float(np.exp(min(log_slope - scale, 700.0))) * gap * (1 + 1e-9)
    return Scaled(scale, max(value - less / 2, 0.0), rounding=error + less / 2)


def _gap(blend: Blend, t: float, x: float) -> float:
    """A bound of |l(t) - x|, with the errors of the parameters."""
    value, slip = _log_ratio(blend, t)
    return float(np.expm1(abs(value - x) + slip + ULP * abs(x)))


def _log_ratio(blend: Blend, t: float) -> tuple[float, float]:
    """l(t) and a bound of its error."""
    place = np.array([t])
    value = blend.on(place)
    return float(value[0, 0]), ELEMENTARY * float(abs(value[0, 0]) + blend.moved(place, value)[0, 0])


def bracket(blend: Blend, x: float) -> tuple[float, float]:
    """Two points near each other, on the left and on the right of the root for sure; infinite where there is none."""
    # the threshold is a decimal within half an ulp
    room = ULP * abs(x) + blend.rest_blur
    if np.isfinite(blend.log_rest) and x <= blend.log_rest - room - 4 * ULP * abs(blend.log_rest):
        return -np.inf, -np.inf
    # l is convex and above each of its terms: Newton's steps come from the right
    t = float(((x - blend.log_weights) / blend.shifts + blend.shifts / 2).min())
    for _ in range(_STEPS):
        value, slip = _log_ratio(blend, t)
        slope = float(blend.slope_at(t)[0, 0])
        step = (value - x) / slope if slope > 0 else 0.0
        if abs(value - x) <= 2 * (slip + ULP * abs(x)) or not abs(step) > 4 * ULP * abs(t) or t < -_FARTHEST:
            break
        t -= step
    return _pushed(blend, x, t, -1), _pushed(blend, x, t, 1)


def _pushed(blend: Blend, x: float, t: float, side: int) -> float:
    """A point on one side of the root for sure, near t; infinite where none was found."""
    step = 0.0
    for _ in range(_PUSHES):
        value, slip = _log_ratio(blend, t + side * step)
        need = side * (x - value) + slip + 2 * ULP * abs(x)
        if need <= 0:
            return t + side * step
        slope = max(float(blend.slope_at(t + side * step)[0, 0]), 1e-300)
        # where l is flat, it soon is steeper
        step = max(min(1.1 * (step + need / slope), step + _LONGEST / float(blend.shift[0])), 2.0 * step, 4 * ULP * abs(t))
        if not step < _FARTHEST:
            break
    return side * np.inf


def _mills(u: Array | float) -> Array:
    """R(u), u >= 0."""
    result: Array = np.sqrt(np.pi / 2) * erfcx(np.asarray(u) / np.sqrt(2))
    return result


# each of the following: logarithms of factors (but for the weights), the errors of these, brackets and their errors


def _right_of_zero(blend: Blend, t: float) -> tuple[Array, Array, Array, Array]:
    """Phi(c - t) - e^{ct - c^2/2} Phi(-t), t > 0."""
    c, mill = blend.shifts, float(_mills(t))
    away = t - c
    ahead = np.maximum(away, 0.0)
    near = np.exp(-(np.minimum(away, 0.0) ** 2) / 2) / _ROOT_TWO_PI
    first = np.where(away > 0, _mills(ahead) / _ROOT_TWO_PI, ndtr(-np.minimum(away, 0.0)))
    second = near * mill
    # the derivative in c is phi(t - c) (1 - (t - c) R(t)) for the whole
    wrong = ELEMENTARY * (first + second * (1 + np.minimum(away, 0.0) ** 2)) + 4 * ULP * c * near * (1 + np.abs(away) * mill)
    return -ahead * ahead / 2, 2 * ULP * ahead * ahead, first - second, wrong


def _left_of_zero(blend: Blend, t: float) -> tuple[Array, Array, Array, Array]:
    """The same for t <= 0: 1 - e^{ct - c^2/2} and what of it lies on the left."""
    c = blend.shifts
    y = c * t - c * c / 2
    near = np.exp(-((t - c) ** 2) / 2) / _ROOT_TWO_PI
    first, second = _mills(-t) * near, _mills(c - t) * near
    wrong = ELEMENTARY * (-np.expm1(y) + (first + second) * (1 + (t - c) ** 2)) + 4 * ULP * np.exp(y) * (c * abs(t) + c * c + c)
    return np.zeros_like(c), np.zeros_like(c), -np.expm1(y) + (first - second), wrong


def _reversed_left_of_zero(blend: Blend, t: float) -> tuple[Array, Array, Array, Array]:
    """e^{ct - c^2/2} Phi(t) - Phi(t - c), t <= 0."""
    c = blend.shifts
    away = c - t
    first, second = _mills(-t) / _ROOT_TWO_PI, _mills(away) / _ROOT_TWO_PI
    # the derivative in c is phi(t - c) (1 - (c - t) R(-t)) for the whole
    wrong = ELEMENTARY * (first + second) + 4 * ULP * c * (1 + away * first)
    return -away * away / 2, 2 * ULP * away * away, first - second, wrong


def _reversed_right_of_zero(blend: Blend, t: float) -> tuple[Array, Array, Array, Array]:
    """The same for t > 0, in units of e^{ct - c^2/2}."""
    c = blend.shifts
    y = c * t - c * c / 2
    rising = y >= 0
    up = np.where(rising, y, 0.0)
    first = np.where(rising, -np.expm1(-up), 1.0) * ndtr(t)
    tails = np.exp(-up) * (ndtr(c - t) - ndtr(-t))
    # here c > 2 t
    behind = np.exp(-t * t / 2) / _ROOT_TWO_PI * _mills(np.where(rising, 0.0, c - t))
    second = np.where(rising, tails, -behind)
    spread = np.where(rising, np.exp(-up) * (ndtr(c - t) + ndtr(-t)), behind * (1 + t * t))
    moved = 4 * ULP * (c * t + c * c) * np.where(rising, np.exp(-up), 0.0)
    wrong = ELEMENTARY * (first + spread * (1 + t * t)) + moved + 4 * ULP * c * np.exp(-t * t / 2)
    return y, 4 * ULP * (c * t + c * c), first + second, wrong


def _sum(blend: Blend, log_factor: Array, log_error: Array, bracket: Array, wrong: Array) -> tuple[float, float, float]:
    """Scale, sum and its error."""
    exponent = blend.log_weights + log_factor
    scale = float(exponent.max())
    factor = np.exp(exponent - scale)
    relative = log_error + blend.blur + ULP * (8 + np.abs(blend.log_weights) + np.abs(exponent - scale) + bracket.size)
    value = float((factor * bracket).sum())
    error = float((factor * (wrong + np.abs(bracket) * relative)).sum()) * 1.01
    return scale, max(value, 0.0), error + ULP * abs(scale) * value
