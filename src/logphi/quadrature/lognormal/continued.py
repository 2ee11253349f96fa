"""E e^{-wY} for a lognormal Y, continued to the left half-plane up to its branch cut, with bounds of its errors.

notation as in :mod:`logphi.quadrature.lognormal.modulus`. The path from the right half-plane, where the expectation converges,
turns with w: phi(w) is an integral over a path that ends where Re(wY) is positive. The part along the line is nearly one,

    phi(w) - 1 = integral over the line of n (e^{-wY} - 1) + integral over the ray and beyond of n e^{-wY} - its normal mass,

which keeps the digits of a small difference; on the upper side of the cut, where w < 0 and theta = 0, the line contributes a
real number only, and the ray all of the imaginary part, however small.

Sums are Gauss-Legendre sums over pieces. On a disc of radius r around the middle c of a piece, the exponent f = -x^2/2 - wY has
|f(c + e) - f(c) - f'(c) e| <= (1 + m^2 |w Y(c)| e^{mr}) r^2/2. The disc contains the Bernstein ellipse with parameter rho,
r = (rho + 1/rho)/2 half-lengths; the rule with N nodes errs by at most (64/15) B rho^{-2N}/(1 - rho^{-2}) half-lengths where
the integrand is at most B (Trefethen, *Approximation Theory and Approximation Practice*, Theorem 19.3).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr

from logphi.arith.floats import LOG_ROOT_TWO_PI, ULP
from logphi.arith.summation import product, roundings
from logphi.arrays import Array
from logphi.quadrature.lognormal.modulus import LARGEST, SLOPE, Box, Modulus, unclipped_exp

Numbers = NDArray[Any]

# measured: the order of the rules on the line
_LINE_ORDER = 32
# measured: the order of the rules on other pieces
_ORDER = 20
# measured: the parameters rho of the ellipses that are tried
_RHO = (1.7, 2.2, 3.0, 4.0)
# measured: the length of a piece of the line
_LINE_PIECE = 3.6
# measured: the largest length of a piece of the line, relative to 1/m
_TURN_PIECE = 1.5
# measured: the length of a piece of the ray, relative to 1/m
_RAY_PIECE = 0.5
# measured: the length of a piece beyond the ray, relative to 1/m
_LEVEL_PIECE = 0.5
# measured: how many times more pieces there may be than at first
_FINER = 8
# derived: an error of the quadrature on the line that is below rounding, relative to the moduli of the terms
_SHARP_LINE = 1e-15
# derived: an error of the quadrature on other pieces that is below rounding, relative to the moduli of the terms
_SHARP = 1e-14
# derived: more than all that underflows
_UNDERFLOW = 1e-300
# chosen: the logarithm of the share of a path that is left out
_LEFT_OUT = -40.0
# chosen: minus the logarithm of e^{-wY} where it is negligible
_NEGLIGIBLE = 60.0
# derived: the relative error of Y at a node, in units of ULP
_OF_Y = 16.0
# derived: the relative error of e^v - 1, or of e^v, with its weight, in units of ULP
_OF_VALUE = 64.0


@dataclass(frozen=True)
class Continued:
    """phi - 1 at nodes w, with a bound of its error, and one of that of the imaginary part."""

    value: Numbers
    error: Array
    imaginary_error: Array


def continued(known: Modulus, w: Numbers, theta: Array, x1: Array, wrong: float) -> Continued:
    """The values of phi - 1 on the upper side of the cut, where w is real and negative, or above it; one path for each row.

    w has a relative error of at most ``wrong``.
    """
    m = known.shift
    real = np.isrealobj(w)
    turned = -w if real else -w * np.exp(-1j * theta)[:, None]
    c, size = turned.real.max(axis=1), np.abs(w).max(axis=1)
    low, high = known.range_of_line(c, x1)
    line, line_error = _line(m, w, turned, theta, low, high, wrong)
    ray, ray_error = _ray(known, w, theta, x1, wrong)
    mass = ndtr(-x1)
    value = line + ray - mass[:, None]
    error = line_error + (ULP * (8 + 2 * x1 * x1) * mass + known.omitted(c, size, x1, low, high, theta))[:, None]
    if real:
        value.imag = ray.imag
        return Continued(value, error + ray_error, ray_error)
    if theta.any():
        # the mass beyond x1 - i theta/m is that beyond x1, less that of the way down
        down, down_error = _pieces(m, np.zeros((x1.size, 1)), x1 + 0j, -1j * theta / m, _count(float(theta.max()), _RAY_PIECE))
        value, error = value + down, error + down_error
    return Continued(value, error + ray_error, error + ray_error)


def _line(m: float, w: Numbers, turned: Numbers, theta: Array, low: Array, high: Array, wrong: float) -> tuple[Numbers, Array]:
    """The integral of n (e^{-wY} - 1) over the line, by as many pieces as make it sharp."""
    count = _count(float((high - low).max()), min(_LINE_PIECE, _TURN_PIECE / m))
    most = _FINER * count
    while True:
        found, error, size = _on_line(m, w, turned, theta, low, high, wrong, count)
        quadrature = _quadrature_error(m, w, low - 1j * theta / m, (high - low) / count, count, _LINE_ORDER, less_one=True)
        if (quadrature <= _SHARP_LINE * size).all() or count >= most:
            return found, error + quadrature
        count *= 2


def _on_line(
    m: float, w: Numbers, turned: Numbers, theta: Array, low: Array, high: Array, wrong: float, count: int
) -> tuple[Numbers, Array, Array]:
    """The sum over the line, its rounding, and the sum of the moduli of its terms."""
    nodes, weights = _legendre(_LINE_ORDER)
    length = ((high - low) / count)[:, None]
    places = (np.arange(count)[:, None] + nodes).ravel()
    x, weight = low[:, None] + length * places, length * np.tile(weights, count)
    b = (theta / m)[:, None]
    density = weight * np.exp((b * b - x * x) / 2 - LOG_ROOT_TWO_PI)
    y = np.exp(m * x - m * m / 2)
    exponent = turned.real[:, :, None] * y[:, None, :]
    cut_off = exponent.max(axis=2) > LARGEST
    exponent = np.minimum(exponent, LARGEST)
    grown = np.expm1(exponent)
    larger = np.maximum(grown, 0.0)
    larger += 1
    if np.isrealobj(w):
        found: Numbers = product(grown, density[:, :, None])[:, :, 0].astype(complex)
        moved = np.abs(grown)
        length_of = exponent
    else:
        angle = turned.imag[:, :, None] * y[:, None, :]
        half = np.sin(angle / 2)
        # e^v - 1 without cancellation
        sine = (grown + 1) * half
        terms = np.empty(angle.shape, complex)
        terms.real, terms.imag = grown - 2 * sine * half, 2 * sine * np.cos(angle / 2)
        found = product(terms, (density * np.exp(1j * b * x))[:, :, None])[:, :, 0]
        moved = np.abs(terms)
        length_of = np.abs(exponent) + np.abs(angle)
    # a node is wrong by a few units in the last place of the ends
    moved_node = 4 * float(np.maximum(np.abs(low), np.abs(high)).max())
    of_density = density * (
        ULP * (_OF_VALUE + roundings(x.shape[1]) + 2 * x * x + b * b + 4 * np.abs(b * x) + moved_node * (np.abs(x) + b))
    )
    of_y = density * (wrong + ULP * (_OF_Y + 4 * m * np.abs(x) + 2 * m * m + moved_node * m))
    error = np.matmul(moved, of_density[:, :, None]) + np.matmul(np.abs(length_of) * larger, of_y[:, :, None])
    return found, np.where(cut_off, np.inf, error[:, :, 0]), np.matmul(moved, density[:, :, None])[:, :, 0]


def _ray(known: Modulus, w: Numbers, theta: Array, x1: Array, wrong: float) -> tuple[Numbers, Array]:
    """The integral of n e^{-wY} over the ray and beyond, as far as it is not negligible."""
    m = known.shift
    rho, eta = -w.real, w.imag
    box = Box(rho.min(axis=1), rho.max(axis=1), eta.min(axis=1))
    # to about where e^{-wY} falls fastest
    last = np.pi - np.arctan2(box.height, (box.low + box.high) / 2) - theta
    bound = known.ray(box, theta, x1, last)
    beyond = np.logaddexp.accumulate(np.column_stack([bound.beyond, bound.cells[:, ::-1]]), axis=1)[:, ::-1]
    negligible = beyond < beyond[:, :1] + _LEFT_OUT
    negligible[:, -1] = True
    stop, rows = negligible.argmax(axis=1), np.arange(x1.size)
    z1, left_out = bound.ends[rows, stop], beyond[rows, stop]
    count = _count(float(z1.max()), _RAY_PIECE)
    start, way = x1 - 1j * theta / m, z1 * ((SLOPE - 1j) / m)
    value, error = _pieces(m, w, start, way, count, wrong)
    level = np.flatnonzero(left_out > beyond[:, 0] + _LEFT_OUT)
    if level.size:
        begin = (start + way)[level]
        c = box.exponent((theta + z1)[:, None])[level, 0]
        y = np.exp(np.minimum(m * begin.real - m * m / 2, LARGEST))
        # n is negligible after FAR, and e^{-wY} where c Y is below minus sixty
        length = np.clip(np.log(np.maximum(_NEGLIGIBLE / np.maximum(-c * y, 1e-300), math.e)) / m, 0.0, 12.0)
        more, more_error = _pieces(m, w[level], begin, length + 0j, _count(float(length.max()) * m, _LEVEL_PIECE), wrong)
        value[level] += more
        error[level] += more_error
        end = begin.real + length
        rest = c * np.exp(np.minimum(m * end - m * m / 2, LARGEST)) + log_ndtr(-end) + begin.imag**2 / 2
        left_out[level] = np.where(c <= 0, rest, np.inf)
    return value, error + (unclipped_exp(left_out) * (1 + 1e-9) + _UNDERFLOW)[:, None]


def _pieces(m: float, w: Numbers, start: Numbers, way: Numbers, count: int, wrong: float = 0.0) -> tuple[Numbers, Array]:
    """The integral of n e^{-wY} over straight ways, each in ``count`` pieces or, if that is not sharp, in more."""
    most = _FINER * count
    while True:
        found, error, size = _on_pieces(m, w, start, way, count, wrong)
        quadrature = _quadrature_error(m, w, start, way / count, count, _ORDER)
        if (quadrature <= _SHARP * size).all() or count >= most:
            return found, error + quadrature
        count *= 2


def _on_pieces(m: float, w: Numbers, start: Numbers, way: Numbers, count: int, wrong: float) -> tuple[Numbers, Array, Array]:
    """The sum over straight ways, its rounding, and the sum of the moduli of its terms."""
    nodes, weights = _legendre(_ORDER)
    step = way / count
    x = start[:, None] + step[:, None] * (np.arange(count)[:, None] + nodes).ravel()
    weight = np.tile(weights, count)
    y = np.exp(m * x - m * m / 2)
    moved = w[:, :, None] * y[:, None, :]
    exponent = (-x * x / 2 - LOG_ROOT_TWO_PI)[:, None, :] - moved
    cut_off = exponent.real.max(axis=2) > LARGEST
    exponent.real = np.minimum(exponent.real, LARGEST)
    terms = np.exp(exponent)
    size, square = np.abs(terms), np.abs(x) ** 2
    # a node is wrong by a few units in the last place of the ends
    moved_node = 4 * (np.abs(start) + np.abs(way))[:, None]
    of_value = ULP * (_OF_VALUE + roundings(weight.size) + 3 * square + moved_node * np.abs(x))
    of_y = np.abs(y) * (wrong + ULP * (_OF_Y + 4 * m * np.abs(x) + 2 * m * m + moved_node * m))
    # two products with few additions each: of the terms with their weights, and with their errors
    error = np.matmul(size, (weight * of_value)[:, :, None]) + np.abs(w)[:, :, None] * np.matmul(
        size, (weight * of_y)[:, :, None]
    )
    length = np.abs(step)[:, None]
    error = np.where(cut_off, np.inf, error[:, :, 0] * length)
    return product(terms, weight[:, None])[:, :, 0] * step[:, None], error, np.matmul(size, weight) * length


def _quadrature_error(
    m: float, w: Numbers, start: Numbers, step: Numbers, count: int, order: int, *, less_one: bool = False
) -> Array:
    """A bound of the error of all sums; of n (e^{-wY} - 1) where ``less_one``, as |e^v - 1| <= |v| max(1, |e^v|)."""
    middle = start[:, None] + step[:, None] * (np.arange(count) + 0.5)
    half = np.abs(step) / 2
    own = -middle * middle / 2
    moved = w[:, :, None] * np.exp(m * middle - m * m / 2)[:, None, :]
    level, slope, size = own.real[:, None, :] - moved.real, np.abs(middle[:, None, :] + m * moved), np.abs(moved)
    best = np.full(w.shape, np.inf)
    for rho in _RHO:
        r = (half * ((rho + 1 / rho) / 2))[:, None, None]
        growth = np.exp(m * r)
        exponent = level + slope * r + (1 + m * m * size * growth) * (r * r / 2)
        if less_one:
            plain = own.real[:, None, :] + np.abs(middle)[:, None, :] * r + r * r / 2
            exponent = np.maximum(exponent, plain) + np.log(size * growth + 1e-300)
        rule = math.log(64 / 15) - 2 * order * math.log(rho) - math.log1p(-(rho**-2.0))
        best = np.minimum(best, np.logaddexp.reduce(exponent, axis=2) + rule)
    return unclipped_exp(best - LOG_ROOT_TWO_PI + 1e-6) * half[:, None]


def _count(length: float, piece: float) -> int:
    return max(2, math.ceil(length / piece))


@lru_cache(maxsize=8)
def _legendre(order: int) -> tuple[Array, Array]:
    """Nodes and weights on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    return (nodes + 1) / 2, weights / 2
