"""E[S^n e^{-uS}] for the mean S of lognormal variables, at the nodes u = e^{v - i alpha} of a ray, with bounds of its errors.

phi_j(u) = E[Y^j e^{-uY}]/j! is a trapezoidal sum over the normal variable x, moved to x + i eta. On the lines x + i (eta +- d)
the modulus of the integrand is e^{(eta +- d)^2/2} times that of E[Y^j e^{-cY}], c = |u| cos(m (eta +- d) - alpha) >= kappa |u|:
the sum errs by no more than a share e^{(eta +- d)^2/2} / (e^{2 pi d/h} - 1), both added, of phi_j(kappa |u|). As |phi_j(u)| <=
phi_j(Re u), the power of the series errs by no more than t times that share of G(kappa |u|), and an integral over v by as much
of kappa^{-rho} Gamma(rho) E S^a.

The integrand of phi_j(c) is log-concave in x, with second derivative -1 at most, and at its mode x*, where jm - x* = c m Y, at
least -1 - m (jm - x*) from there to the left: what lies more than r beyond the mode is less than erfc(r/sqrt 2) (1 + m (jm -
x*))^{1/2} of the whole.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from logphi.arith.floats import LOG_ROOT_TWO_PI, ULP, complex_log1p
from logphi.arrays import Array
from logphi.quadrature.sums.series_power import power_coefficient

Numbers = NDArray[Any]

# chosen: the logarithm of the target error of proved values
_TARGET = -42.0
# chosen: the logarithm of the target error of approximate values
_APPROXIMATE_TARGET = -16.0
# chosen: the distances d that are tried, relative to the largest possible
_DISTANCES = np.linspace(0.05, 1.0, 20)
# measured: the largest distance d for real u
_FARTHEST = 3.0
# measured: the largest distance d for other u, where eta is about d and costs e^{eta^2/2} of rounding
_FARTHEST_TURNED = 1.3
# measured: the least angles between uY and the imaginary axis that are tried
_ROOMS = np.linspace(0.3, 1.5, 13)
# chosen: the number of terms that are added one by one; the sums of such chunks are then added
_CHUNK = 8
# measured: nodes u within a factor of e^4 share their nodes x
_LENGTH = 4.0
# measured: the largest number of elements of a matrix in memory
_BLOCK = 200_000
# derived: a phi_0 with a relative error above a hundredth is replaced by a bound
_UNCERTAIN = 0.01


@dataclass(frozen=True)
class Table:
    """E[S^n e^{-uS}] as e^{log_size} times values, with their radii and an error of ``share`` times its value at kappa |u|."""

    log_u: Array
    log_size: Array
    values: Numbers
    radius: Array
    share: float
    kappa: float


@dataclass(frozen=True)
class _Lines:
    """The choice of lines for the sum over x.

    ``room`` is the least angle between uY and the imaginary axis, ``distance`` is d, and ``height`` is eta; x covers all points
    within ``half_width`` of a mode.
    """

    room: float
    distance: float
    height: float
    step: float
    half_width: float


def laplace_table(shift: float, count: int, n: int, turn: float, power: float, step: float, first: int, last: int) -> Table:
    """The table at v = step k, k from ``first`` to ``last``, for integrals with weights e^{rho v}, rho up to ``power``.

    The angle is alpha = pi/2 - turn.
    """
    m, t, alpha = shift, count, math.pi / 2 - turn
    lines = _lines(m, t, alpha, power, _TARGET)
    d, e, h = lines.distance, lines.height, lines.step
    v = np.asarray(step * np.arange(first, last + 1))
    kappa = min(math.sin(lines.room), math.cos(alpha)) * (1 - 1e-12)
    lowest = _mode(m, 0.0, math.exp(min(float(v[-1]), 600.0) - math.log(t)))
    share = 1.01 * sum(math.exp((e + side * d) ** 2 / 2) for side in (1, -1)) / math.expm1(2 * math.pi * d / h)
    share += 2.02 * math.exp(e * e / 2) * math.erfc(lines.half_width / math.sqrt(2)) * math.sqrt(1 + m * (n * m - lowest))
    # the error counts three times, as phi_0, one half at least, may be one minus a sum, and once for each of t factors
    share = math.expm1(3.03 * t * share)
    rows = max(1, min(int(_LENGTH / step), _BLOCK * math.ceil(m) // 400))
    parts = [_block(one, m, t, n, alpha, lines, kappa) for one in np.split(v, range(rows, v.size, rows))]
    phi, phi_error, small, small_error = (np.concatenate(one) for one in zip(*parts, strict=True))
    log_size, values, radius = _powered(phi, phi_error, small, small_error, t, n)
    return Table(np.asarray(v), log_size, values, radius, share, kappa)


def approximate_table(shift: float, count: int, n: int, step: float, first: int, last: int) -> tuple[Array, Array]:
    """Points v and log E[S^n e^{-uS}] at u = e^v, to some digits and without bounds."""
    lines = _lines(shift, count, 0.0, 1.0, _APPROXIMATE_TARGET)
    v = np.asarray(step * np.arange(first, last + 1))
    rows = max(1, int(_LENGTH / step))
    parts = [_approximate_block(one, shift, count, n, lines) for one in np.split(v, range(rows, v.size, rows))]
    phi = np.maximum(np.concatenate(parts), 1e-300)
    coefficient, _ = power_coefficient(phi / phi[:, :1], None, count, n)
    with np.errstate(divide="ignore"):  # minus infinity stands for zero
        return v, np.asarray(count * np.log(phi[:, 0]) + np.log(coefficient) + float(gammaln(n + 1)))


def _lines(m: float, t: int, alpha: float, power: float, log_target: float) -> _Lines:
    """The lines of the largest step that is small enough."""
    room = (_ROOMS if alpha == 0 else np.minimum(_ROOMS, math.pi / 2 - alpha))[:, None]
    far = math.pi / 2 - room
    distance = _DISTANCES * np.minimum(far / m, _FARTHEST if alpha == 0 else _FARTHEST_TURNED)
    height = np.maximum(0.0, alpha + m * distance - far) / m
    blown = power * np.maximum(0.0, np.log(math.cos(alpha) / np.sin(room)))
    aim = blown - log_target + math.log(2 * t) + np.zeros(distance.shape)
    steps = 2 * np.pi * distance / ((height + distance) ** 2 / 2 + aim)
    row, column = np.unravel_index(int(np.argmax(steps)), steps.shape)
    # derived: erfc(r / sqrt 2) is below e^{-r^2/2}; the 6 allows for the factor beside it
    half_width = math.sqrt(2 * float(aim[row, column]) + float(height[row, column]) ** 2 + 6)
    # the step has few bits, so that the nodes are exact
    width = math.ldexp(math.floor(math.ldexp(float(steps[row, column]), 14)), -14)
    return _Lines(float(room[row, 0]), float(distance[row, column]), float(height[row, column]), width, half_width)


def _mode(m: float, mean: float, c: float) -> float:
    """The mode of e^{-x^2/2 + x mean - cY}, rounded down to a half."""
    log_c = math.log(c * m) - m * m / 2 if c > 0 else -math.inf
    low = min(mean, 0.0)
    while mean > low and math.log(mean - low) < log_c + m * low:
        low -= 1.0
    if low == mean:
        low -= 1.0
        while math.log(mean - low) < log_c + m * low:
            low -= 1.0
    high = mean
    while high - low > 0.5:
        middle = (low + high) / 2
        low, high = (low, middle) if middle >= mean or math.log(mean - middle) < log_c + m * middle else (middle, high)
    return low


def _nodes(v: Array, m: float, t: int, n: int, h: float, kappa: float, half_width: float) -> Array:
    """Nodes x for all nodes v and all j: they cover all modes, and that of the normal density."""
    # derived: a mode moves down as v grows; values at larger v underflow
    first, last = (math.exp(min(max(float(end), -600.0), 600.0)) / t for end in (v[0], v[-1]))
    low = min(0.0, _mode(m, 0.0, last))
    high = max(0.0, _mode(m, n * m, kappa * first) + 0.5)
    return np.asarray(h * np.arange(math.floor((low - half_width) / h), math.ceil((high + half_width) / h) + 1))


def _approximate_block(v: Array, m: float, t: int, n: int, lines: _Lines) -> Array:
    h, half_width = lines.step, lines.half_width
    x = _nodes(v, m, t, n, h, 1.0, half_width)
    j = np.arange(n + 1.0)[:, None]
    exponent = (
        -((x - j * m) ** 2) / 2 + m * m * j * (j - 1) / 2 - gammaln(j + 1) - j * math.log(t) + math.log(h) - LOG_ROOT_TWO_PI
    )
    kernel = np.exp(-np.exp(v)[:, None] * (np.exp(m * x - m * m / 2) / t))
    return np.asarray(kernel @ np.exp(exponent).T)


def _block(
    v: Array, m: float, t: int, n: int, alpha: float, lines: _Lines, kappa: float
) -> tuple[Numbers, Array, Numbers, Array]:
    """Phi_j / t^j at some nodes, j up to n, and 1 - phi_0, with their errors."""
    e = lines.height
    x = _nodes(v, m, t, n, lines.step, kappa, lines.half_width)
    j = np.arange(n + 1.0)[:, None]
    log_j, log_t = gammaln(j + 1), math.log(t)
    exponent = (
        -((x - j * m) ** 2) / 2 + (m * m * j * (j - 1) + e * e) / 2 - log_j - j * log_t + math.log(lines.step) - LOG_ROOT_TWO_PI
    )
    sizes = np.exp(exponent)
    # derived: roundings of the exponent's parts and of their sum, and of the elementary functions
    parts = (x - j * m) ** 2 + m * m * j * (j + 1) + e * e + log_j + j * log_t
    unit = ULP * (12 + 4 * parts + j * m * np.abs(x - j * m))
    y = np.exp(m * x - m * m / 2) / t
    y_error = ULP * (8 + 1.5 * (m * np.abs(x) + m * m / 2))
    size = np.minimum(np.exp(v)[:, None] * y, 1e300)
    weights: Numbers = sizes
    if alpha == 0:
        fall = -size
        complement: Numbers = -np.expm1(fall)
        kernel: Numbers = np.exp(fall)
        decay = kernel
    else:
        unit = unit + ULP * 1.5 * e * (j * m + np.abs(x - j * m) + np.abs(x))
        weights = sizes * np.exp(1j * (e * (j * m - x)))
        psi = m * e - alpha
        real, half = size * math.cos(psi), size * (math.sin(psi) / 2)
        decay = np.exp(-real)
        s = np.sin(half)
        rotated = 2 * decay * s
        kernel, complement = np.empty(size.shape, complex), np.empty(size.shape, complex)
        complement.imag = rotated * np.cos(half)
        rotated *= s
        # 1 - e^{-z}, without cancellation
        complement.real = rotated - np.expm1(-real)
        kernel.real, kernel.imag = decay - rotated, -complement.imag
    noise = decay * (size * (y_error + 6 * ULP))
    sums = sum_error(x.size)
    phi, phi_error = chunked_product(kernel, weights), decay @ (sizes * (unit + sums)).T + noise @ sizes.T
    # the added term exceeds the effect of underflow
    phi_error += 1e-300 * sizes.sum(axis=1)
    small = chunked_product(complement, weights[:1])[:, 0]
    small_error = np.minimum(2.0, size) @ (sizes[0] * (unit[0] + sums)) + noise @ sizes[0]
    return phi, phi_error, small, small_error


def _powered(
    phi: Numbers, phi_error: Array, small: Numbers, small_error: Array, t: int, n: int
) -> tuple[Array, Numbers, Array]:
    """The coefficient of the power: logarithms of sizes, and values and radii in units of them."""
    log_n = float(gammaln(n + 1))
    # if phi_0 is near one, its logarithm comes from its distance to one
    near = np.abs(small) < 0.5
    phi0 = np.where(near, 1 - small, phi[:, 0])
    error0 = np.where(near, small_error, phi_error[:, 0])
    unresolved = ~(error0 < _UNCERTAIN * np.abs(phi0))
    phi0, error0 = np.where(unresolved, 1.0, phi0), np.where(unresolved, 0.0, error0)
    log_phi0 = np.where(near, complex_log1p(-np.where(near, small, 0)), np.log(phi0))
    relative = 1.01 * error0 / np.abs(phi0)
    ratios = np.where(unresolved[:, None], 0.0, phi / phi0[:, None])
    ratio_error = 1.02 * (phi_error / np.abs(phi0)[:, None] + np.abs(ratios) * (relative[:, None] + 8 * ULP))
    coefficient, error = power_coefficient(ratios, ratio_error, t, n)
    exponent = t * log_phi0
    log_size, values = exponent.real + log_n, coefficient
    if np.iscomplexobj(phi):
        values = coefficient * np.exp(1j * exponent.imag)
    wrong = 1.01 * t * (relative + 4 * ULP * np.abs(log_phi0)) + 4 * ULP * (np.abs(exponent) + log_n + 2)
    # an error of half a unit or more makes the value unknown
    blown = np.where(wrong < 0.5, np.expm1(np.minimum(wrong, 0.5)), np.inf)
    radius = error * (1 + np.minimum(blown, 1.0)) + np.abs(coefficient) * blown
    unresolved |= ~np.isfinite(radius) | ~np.isfinite(np.abs(values))
    if unresolved.any():
        # the coefficient is at most that of the power of the series of bounds
        most = np.abs(phi[unresolved]) + phi_error[unresolved]
        scale = np.maximum(most[:, :1], 1e-300)
        bound, more = power_coefficient(most / scale, np.zeros(most.shape), t, n)
        log_size[unresolved], values[unresolved] = t * np.log(scale[:, 0]) + log_n, 0
        radius[unresolved] = (bound + more) * (1 + 1e-9) * math.exp(1e-12 * (1 + log_n))
    return log_size, values, radius


def chunked_product(one: Numbers, other: Numbers) -> Numbers:
    """The product of two matrices in short sums, which have fewer roundings."""
    total = one[:, :_CHUNK] @ other[:, :_CHUNK].T
    for first in range(_CHUNK, one.shape[1], _CHUNK):
        total += one[:, first : first + _CHUNK] @ other[:, first : first + _CHUNK].T
    return total


def sum_error(size: int) -> float:
    """The relative error of a sum of ``size`` complex products by chunks: of one chunk, and of the sum of all chunks."""
    return ULP * (6 + _CHUNK + size / _CHUNK / 2)
