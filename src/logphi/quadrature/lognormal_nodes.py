"""E[S^n e^{-uS}] for the mean S of lognormal variables, at the nodes u = e^{v - i alpha} of a ray, with bounds of its errors.

phi_j(u) = E[Y^j e^{-uY}]/j! is a trapezoidal sum over the normal variable x, moved to x + i eta. On the lines x + i (eta +- d) the
modulus of the integrand is e^{(eta +- d)^2/2} times that of E[Y^j e^{-cY}], c = |u| cos(m (eta +- d) - alpha) >= kappa |u|: the sum
errs by no more than a share e^{(eta +- d)^2/2} / (e^{2 pi d/h} - 1), both added, of phi_j(kappa |u|). As |phi_j(u)| <= phi_j(Re u),
the power of the series errs by no more than t times that share of G(kappa |u|), and an integral over v by as much of
kappa^{-rho} Gamma(rho) E S^a.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from logphi.arith.floats import ULP
from logphi.arrays import Array

_LOG_ROOT = 0.5 * math.log(2 * math.pi)
# chosen: the share that is aimed at, as a logarithm
_TARGET = -42.0
# derived: so many standard deviations from a mode leave less
_REACH = 9.6
# chosen: distances of the lines that compete, relative to the largest possible one, and how far they stay from the imaginary axis
_DISTANCES = np.linspace(0.05, 1.0, 20)
_FARTHEST = 3.0
_ROOMS = np.linspace(0.3, 1.5, 13)
# chosen: terms of a sum that are added one by one
_CHUNK = 12
# measured: elements of a matrix that is held at once
_BLOCK = 400_000


@dataclass(frozen=True)
class Table:
    """E[S^n e^{-uS}] = e^{log_size} values, each within its radius, but for a share of it at kappa |u|."""

    places: Array
    log_size: Array
    values: NDArray[np.complex128]
    radius: Array
    share: float
    kappa: float


def laplace_table(shift: float, count: int, n: int, turn: float, power: float, step: float, first: int, last: int) -> Table:
    """At v = step k for k from first to last, alpha = pi/2 - turn, for integrals with weights e^{rho v}, rho up to ``power``."""
    m, t, alpha = shift, count, math.pi / 2 - turn
    room, d, e, width = _lines(m, t, alpha, power)
    v = step * np.arange(first, last + 1)
    # where the mode of x -> e^{-x^2/2} Y^j e^{-kappa u Y} lies
    lowest = _lowest_mode(m, math.exp(min(float(v[-1]), 700.0) - math.log(t)))
    x = width * np.arange(math.floor((lowest - _REACH) / width), math.ceil((n * m + _REACH) / width) + 1)
    kappa = min(math.sin(room), math.cos(alpha)) * (1 - 1e-12)
    share = 1.01 * sum(math.exp((e + side * d) ** 2 / 2) for side in (1, -1)) / math.expm1(2 * math.pi * d / width)
    share += 1.01 * math.exp(e * e / 2) * math.erfc(_REACH / math.sqrt(2)) * math.sqrt(1 + m * (n * m - lowest))
    # twice where phi_0 is one minus a sum; n factors of a product at most are moved, t of them in all
    share = math.expm1(2.02 * t * share)

    j = np.arange(n + 1.0)[:, None]
    exponent = -((x - j * m) ** 2) / 2 + m * m * j * (j - 1) / 2 + e * e / 2 - gammaln(j + 1) - j * math.log(t)
    exponent += math.log(width) - _LOG_ROOT
    angle = e * (j * m - x)
    weights = np.exp(exponent + 1j * angle)
    # derived: roundings of the exponents, and of the elementary functions
    unit = ULP * (
        12 + 2 * (x - j * m) ** 2 + 3 * m * m * j * (j + 1) + 2 * e * e + gammaln(j + 1) * 4 + 2 * j * math.log(t) + 3 * e * (j * m + np.abs(x))
    )
    y = np.exp(m * x - m * m / 2) / t
    y_error = ULP * (8 + 2 * (m * np.abs(x) + m * m / 2))
    psi = m * e - alpha
    cosine, sine = math.cos(psi), math.sin(psi)
    parts = [
        _rows(np.exp(v[one]), x, y, y_error, weights, unit, cosine, sine, n, t)
        for one in np.array_split(np.arange(v.size), max(1, v.size * x.size // _BLOCK))
    ]
    log_size, values, radius = (np.concatenate(one) for one in zip(*parts, strict=True))
    return Table(v, log_size, values, radius, share, kappa)


def _lines(m: float, t: int, alpha: float, power: float) -> tuple[float, float, float, float]:
    """The distance of all lines from the imaginary axis; d, eta and the step h, which is the largest that is small enough."""
    turn = math.pi / 2 - alpha
    room = (_ROOMS if alpha == 0 else np.minimum(_ROOMS, turn))[:, None]
    far = math.pi / 2 - room
    distance = _DISTANCES * far / m
    distance = np.minimum(distance, _FARTHEST)
    eta = np.maximum(0.0, alpha + m * distance - far) / m
    blown = power * np.maximum(0.0, np.log(math.cos(alpha) / np.sin(room)))
    steps = 2 * np.pi * distance / ((eta + distance) ** 2 / 2 - _TARGET + math.log(2 * t) + blown)
    row, column = np.unravel_index(int(np.argmax(steps)), steps.shape)
    # few bits, so that the nodes are exact
    width = math.ldexp(math.floor(math.ldexp(float(steps[row, column]), 12)), -12)
    return float(room[row, 0]), float(distance[row, column]), float(eta[row, column]), width


def _rows(u: Array, x: Array, y: Array, y_error: Array, weights: NDArray[np.complex128], unit: Array, cosine: float, sine: float, n: int, t: int) -> tuple[Array, NDArray[np.complex128], Array]:
    """The values at some nodes."""
    with np.errstate(over="ignore", under="ignore"):
        size = np.minimum(u[:, None] * y, 1e300)
        real, half = size * cosine, size * (sine / 2)
    fall = np.expm1(-real)
    s, c = np.sin(half), np.cos(half)
    decay = np.exp(-real)
    kernel = decay * (1 - 2 * s * s) - 1j * (2 * decay * s * c)
    # 1 - e^{-z}, without cancellation
    gap = (2 * decay * s * s - fall) + 1j * (2 * decay * s * c)
    sizes = np.abs(weights)
    noise = decay * (size * (y_error + 6 * ULP))
    phi = _chunked(kernel, weights)
    # derived: a sum of chunks, and one in a chunk, of products
    sums = ULP * (4 + _CHUNK + x.size / _CHUNK)
    phi_error = decay @ (sizes * (unit + sums)).T + noise @ sizes.T
    gap_size = np.minimum(2.0, size)
    small = _chunked(gap, weights[:1])[:, 0]
    small_error = gap_size @ (sizes[0] * (unit[0] + sums)) + noise @ sizes[0]
    # where phi_0 is near one, by its distance from one
    near = np.abs(small) < 0.5
    phi0 = np.where(near, 1 - small, phi[:, 0])
    phi0_error = np.where(near, small_error + 2 * ULP, phi_error[:, 0])
    safe = np.maximum(np.abs(phi0), 1e-300)
    log_phi0 = np.where(near, np.log1p(-np.where(near, small, 0)), np.log(np.where(near, 1.0, np.where(phi0 == 0, 1e-300, phi0))))
    relative = np.where(near, small_error, phi_error[:, 0]) / safe
    lost = ~(relative < 0.01)
    relative = np.where(lost, 0.0, relative)
    log_error = 1.01 * relative + 4 * ULP * np.abs(log_phi0)
    ratios = phi / np.where(phi0 == 0, 1.0, phi0)[:, None]
    ratio_error = (phi_error / safe[:, None] + np.abs(ratios) * (relative[:, None] + 8 * ULP)) * 1.02
    ratios[:, 0], ratio_error[:, 0] = 1.0, 0.0
    power, power_error = _power(ratios, ratio_error, t, n)
    exponent = t * log_phi0
    log_size = exponent.real + float(gammaln(n + 1))
    values = power * np.exp(1j * exponent.imag)
    exponent_error = t * log_error * 1.01 + 4 * ULP * (np.abs(exponent) + float(gammaln(n + 1)) + 2)
    blown = np.where(exponent_error < 0.5, np.expm1(np.minimum(exponent_error, 0.5)), np.inf)
    radius = (power_error * (1 + np.minimum(blown, 1.0)) + np.abs(power) * blown)
    # where phi_0 is lost to rounding, it is known to be small: a bound of all
    bound = t * np.log(np.minimum(phi_error[:, 0] + np.abs(phi[:, 0]), 1.0)) + float(gammaln(n + 1))
    if lost.any() or not np.isfinite(radius).all():
        bad = lost | ~np.isfinite(radius) | ~np.isfinite(values)
        if n == 0:
            log_size, values, radius = np.where(bad, bound, log_size), np.where(bad, 0, values), np.where(bad, 1.0, radius)
        else:
            majorant, majorant_error = _power(
                (np.abs(phi[bad]) + phi_error[bad]).astype(complex), np.zeros((int(bad.sum()), n + 1)), t, n, monic=False
            )
            log_size, values, radius = log_size.copy(), values.copy(), radius.copy()
            log_size[bad], values[bad] = float(gammaln(n + 1)), 0
            radius[bad] = (np.abs(majorant) + majorant_error) * (1 + 1e-9)
    return log_size, values, radius


def _chunked(kernel: NDArray[np.complex128], weights: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """The matrix product, by short sums, whose roundings are fewer."""
    ends = range(_CHUNK, kernel.shape[1], _CHUNK)
    parts = zip(np.split(kernel, ends, axis=1), np.split(weights, ends, axis=1), strict=True)
    total = np.zeros((kernel.shape[0], weights.shape[0]), complex)
    for rows, own in parts:
        total += rows @ own.T
    return total


def _power(p: NDArray[np.complex128], error: Array, t: int, n: int, monic: bool = True) -> tuple[NDArray[np.complex128], Array]:
    """The n-th coefficient of the t-th power of a series, with its error; by Miller's recurrence where it has one sign."""
    rows = p.shape[0]
    if n == 0:
        return (np.ones(rows, complex), np.zeros(rows)) if monic else (p[:, 0] ** t, np.zeros(rows))
    if monic and t >= n:
        a, e = np.zeros((n + 1, rows), complex), np.zeros((n + 1, rows))
        a[0] = 1.0
        series, size = p.T.copy(), np.abs(p.T) * (1 + 4 * ULP)
        series_error = error.T + size * ULP * (8 + n)
        most = size + error.T
        for k in range(1, n + 1):
            i = np.arange(1, k + 1)
            factor = ((i * (t + 1.0) - k) / k)[:, None]
            back = a[k - 1 :: -1][:k]
            back_error = e[k - 1 :: -1][:k]
            a[k] = (factor * series[1 : k + 1] * back).sum(axis=0)
            e[k] = (factor * (most[1 : k + 1] * back_error + series_error[1 : k + 1] * np.abs(back))).sum(axis=0)
        return a[n], e[n] * (1 + 1e-9)
    total, total_error = None, None
    power, power_error, left = p.T.copy(), error.T.copy(), t
    while True:
        if left & 1:
            total, total_error = (power, power_error) if total is None else _product(total, total_error, power, power_error)
        left >>= 1
        if not left:
            return total[n], total_error[n]
        power, power_error = _product(power, power_error, power, power_error)


def _product(a, a_error, b, b_error):
    n = a.shape[0] - 1
    value, error = np.zeros_like(a), np.zeros_like(a_error)
    size_a, size_b = np.abs(a), np.abs(b)
    with np.errstate(over="ignore", invalid="ignore"):
        for k in range(n + 1):
            value[k] = (a[: k + 1] * b[k::-1]).sum(axis=0)
            error[k] = (
                size_a[: k + 1] * b_error[k::-1] + a_error[: k + 1] * (size_b[k::-1] + b_error[k::-1]) + size_a[: k + 1] * size_b[k::-1] * ULP * (8 + n)
            ).sum(axis=0)
    return value, error * (1 + 1e-12)


def _lowest_mode(m: float, c: float) -> float:
    """A lower bound of the mode of e^{-x^2/2 - cY}, where -x = c m Y."""
    low = 0.0
    while -low < c * m * math.exp(m * low - m * m / 2):
        low -= 1.0
    return low
