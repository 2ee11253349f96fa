"""Moments of a sampled normal density ratio on a half-line shifted into the complex plane, with their errors.

notation: w(x) = 1 - q + q e^{m x - m^2/2}, phi the normal density, eta > 0 with theta = m eta < pi, X the end, a = z + 1,
z = s + it with t >= 0, and

    N(z) = integral over x <= X of  phi(x + i eta) w(x + i eta)^a dx.

Sizes. |phi(x + i eta)| = e^{eta^2/2} phi(x). w is 1 - q and a number of argument theta, so that 0 <= arg w <= theta, arg w
grows with x, and |w|^2 is a convex parabola in e^{mx}: on a cell of x it is largest at an end. Hence with cells i of normal
mass p_i, and for k = 0, 1, ..

    integral of |phi| |log w|^k |w^a|  <=  e^{eta^2/2} sum of p_i max|log w|^k max|w|^{s+1} e^{-t min arg w},           (1)

the smaller |w| for s + 1 < 0. The right side is a sum of exponentials of linear forms (or of the larger of two), so its
logarithm is convex in (s, t): on a triangle it is largest at a vertex, and along a direction it grows at most at the
largest of the slopes.

Sum. N(z) - 1 is taken as the sum of h phi (w^a - 1 - a (w - 1)) over x_j = X - (j + 1/2) h, j >= 0. With g the integrand,
analytic in |Im x - eta| < eta, and 0 < v < eta, the kernel 1/(1 + e^{-+2 pi i (x - X)/h}) of these nodes shows

    |sum - integral|  <=  sum over both lines eta +- v of  integral |g| / (e^{2 pi v/h} - 1)                             (2)
                          + (h log 2 / 2 pi) * sum over both sides of  max |g(X + i(eta +- y))|, 0 <= y <= v,

the latter because the integral of 1/(1 + e^{2 pi y/h}) is h log(2)/(2 pi). There |g| <= |phi| (|w^a| + 1 + |a||w - 1|), and
|w - 1| <= q (e^{mx - m^2/2} + 1), whose normal mean is 2 q. The terms that are added and omitted,

    1 - integral of phi = integral of phi over x > X,     a * integral of phi (w - 1) = -a * that over x > X,              (3)

are at most e^{eta^2/2} (Phi(-X) + |a| q (Phi(m - X) + Phi(-X))). The terms below the lowest node are at most (1) and the
same with 1 and |a| q there.

For an X where Phi(m - X) is too large, a (w - 1) is not subtracted: the same bounds hold without |a|.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr

from logphi.arith.floats import ELEMENTARY, LOG_ROOT_TWO_PI, ULP, complex_log1p
from logphi.arith.summation import log_sum
from logphi.arrays import Array, Complex
from logphi.quadrature.half_lines.half_line_sums import HalfLineSums

# derived: the normal mass below it is less than 1e-23
_LOWEST = -10.0
# derived: ends of further cells down to underflow, as powers of w may grow to the left
_LEFT = np.arange(-38.0, _LOWEST)
# measured: the width of a cell in x, with which bounds are some percent too large
_CELL = 0.5
# measured: the width of a cell in m x, with which bounds are some percent too large
_TURN = 0.2
# measured: the logarithm of the relative error of N due to the inner sum
_LOG_TARGET = math.log(1e-17)
# measured: the half-width of the strip, relative to the height
STRIP = 0.35
# measured: the half-width of the strip around an unshifted line, in x and in m x
_LEVEL = 1.5, 1.2
# derived: the exponential of this is a double
_LARGEST = 700.0
# derived: exceeds the rounding of masses of cells and of logarithms near zero
_MARGIN = 1e-9


@dataclass(frozen=True)
class HalfLineMoments:
    """N - 1 and N' at some points, with bounds of their errors due to rounding and to the inner sum."""

    value: Complex
    slope: Complex
    rounding: Array
    inner: Array
    slope_error: Array


@dataclass(frozen=True)
class Within:
    """The vertices of triangles, (triangle, 3), and the number of the triangle that contains each point."""

    vertices: Complex
    containing: NDArray[np.intp]


@dataclass(frozen=True)
class ShiftedHalfLine:
    """The half-line x + i theta/m, x <= ``end``, for the shift m and the rate q, known to relative errors.

    ``linear`` says whether a (w - 1) is subtracted in sums.
    """

    shift: float
    rate: float
    shift_error: float
    rate_error: float
    end: float
    angle: float
    linear: bool = True

    @property
    def height(self) -> float:
        """The imaginary part eta."""
        return self.angle / self.shift

    @property
    def strip(self) -> float:
        """Half the width of the strip around the half-line on which the error bound of the sum relies."""
        return STRIP * self.height if self.angle > 0 else min(_LEVEL[0], _LEVEL[1] / self.shift)

    def at_angle(self, angle: float) -> ShiftedHalfLine:
        """The half-line at another height."""
        return replace(self, angle=angle)

    def log_w(self, x: Array) -> Complex:
        """Log w at x + i eta."""
        return np.asarray(complex_log1p(self._w_less_one(x)), dtype=np.complex128)

    def _w_less_one(self, x: Array) -> Complex:
        exponent = self.shift * x - self.shift * self.shift / 2
        growth = np.exp(exponent)
        half = math.sin(self.angle / 2)
        real = np.expm1(exponent) - 2 * growth * half * half
        return np.asarray(self.rate * (real + 1j * growth * math.sin(self.angle)))

    @cached_property
    def _cells(self) -> tuple[Array, Array, Array, Array, Array]:
        """Logarithms of masses, the largest and the smallest log |w|, the smallest argument, and the largest log|log w|."""
        m, q = self.shift, self.rate
        count = math.ceil((self.end - _LOWEST) / min(_CELL, _TURN / m))
        x = np.append(_LEFT, np.linspace(_LOWEST, self.end, count + 1))
        log_w = self.log_w(x)
        # far to the left w is 1 - q
        real = np.append(math.log1p(-q), log_w.real)
        argument = np.append(0.0, log_w.imag)
        largest = np.maximum(real[1:], real[:-1])
        smallest = np.minimum(real[1:], real[:-1])
        # where the parabola |w|^2 in e^{mx} is lowest, |w| = (1 - q) sin(theta)
        if math.cos(self.angle) < 0:
            lowest = (math.log((1 - q) / q * -math.cos(self.angle)) + m * m / 2) / m
            inside = np.searchsorted(x, lowest)
            if inside < x.size:
                smallest[inside] = math.log((1 - q) * math.sin(self.angle))
        # from the end of the cells where the masses are small
        edges = np.append(-np.inf, x)
        mass = np.where(edges[1:] > 0, ndtr(-edges[:-1]) - ndtr(-edges[1:]), ndtr(edges[1:]) - ndtr(edges[:-1]))
        log_mass = np.log(mass + 1e-300) + self.height**2 / 2 + _MARGIN
        size = np.hypot(np.maximum(np.abs(largest), np.abs(smallest)), argument[1:])
        return log_mass, largest, smallest, argument[:-1], np.log(size * (1 + _MARGIN))

    def log_bound(self, z: Complex) -> Array:
        """The logarithm of the right side of (1) for k = 0."""
        return np.asarray(self.log_bounds(z, (0,))[0])

    def log_bounds(self, z: Complex, orders: tuple[int, ...]) -> Array:
        """The logarithms of the right side of (1) for several k, which share their exponentials, along a first axis."""
        log_mass, largest, smallest, argument, log_size = self._cells
        power, t = (z.real + 1)[..., None], z.imag[..., None]
        exponent = log_mass + np.maximum(power * largest, power * smallest) - t * argument
        rounding = self._unit * (np.abs(power) * float(np.abs(largest).max()) + t * self.angle)[..., 0]
        peak = exponent.max(axis=-1)
        finite = np.where(np.isfinite(peak), peak, 0.0)
        growth = log_size * np.array(orders)[:, None]
        top = growth.max(axis=1)
        with np.errstate(over="ignore"):  # infinite if a term is
            sums = np.exp(exponent - finite[..., None]) @ np.exp(growth - top[:, None]).T
        # terms that underflow add up to less than this
        found = np.log(sums + 1e-300) + (finite + rounding)[..., None] + top
        return np.asarray(np.moveaxis(found, -1, 0) + _MARGIN)

    @property
    def _unit(self) -> float:
        """A bound of the relative error of log w."""
        return (8 * ULP + self.shift_error + self.rate_error) * (4 + self.shift * (self.shift + abs(self.end)))

    def log_bounds_at(self, vertices: Complex, orders: tuple[int, ...]) -> Array:
        """The logarithms of bounds of ``|N|`` for order 0, and of ``|N''|`` for order 2, on polygons, from their vertices.

        The smaller of (1) and of the bound for the unshifted half-line with the vertical segment at its end.
        """
        level = self.at_angle(0.0)
        largest = float(np.abs(level.log_w(np.array([self.end]))[0])) + abs(math.log1p(-self.rate)) + self.angle
        up = np.array(orders)[:, None, None] * math.log(largest) + self.log_vertical(vertices.real)
        beside = np.logaddexp(level.log_bounds(vertices, orders), up)
        return np.asarray(np.minimum(self.log_bounds(vertices, orders).max(axis=-1), beside.max(axis=-1)))

    def slope_along(self, direction: complex) -> float:
        """A bound of the derivative of :meth:`log_bound` along a direction with parts that are not negative."""
        _, largest, _, argument, _ = self._cells
        slope = direction.real * largest - direction.imag * argument
        return float(slope.max()) + self._unit * float(np.abs(largest).max() + self.angle)

    @property
    def log_end(self) -> float:
        """Log phi(X)."""
        return -self.end * self.end / 2 - LOG_ROOT_TWO_PI

    def log_vertical(self, z: Array) -> Array:
        """The logarithm of a bound of the integral of |phi w^a| from X to X + i eta at any z with these real parts."""
        # |w| falls as the angle grows
        largest, smallest = (float(self.at_angle(turn).log_w(np.array([self.end]))[0].real) for turn in (0.0, self.angle))
        power = z + 1
        size = np.maximum(power * largest, power * smallest)
        return np.asarray(self.log_end + self.height**2 / 2 + math.log(self.height) + size + 1e-12 * (1 + np.abs(size)))

    def log_tail(self, power: Array) -> Array:
        """The logarithm of a bound of (3) for sizes of a."""
        own, other = float(log_ndtr(-self.end)), float(log_ndtr(self.shift - self.end))
        shares = np.logaddexp(own, self._log_subtracted(power) + np.logaddexp(own, other))
        return np.asarray(shares + self.height**2 / 2 + 1e-9)

    def _log_subtracted(self, power: Array) -> Array:
        """log(|a| q) where a (w - 1) is subtracted."""
        return np.log(power * self.rate + 1e-300) if self.linear else np.full(np.shape(power), -np.inf)

    def step(self, count: float) -> float:
        """The step of the sum, accurate for ``count`` repetitions."""
        strip = self.strip
        growth = (self.height + strip) ** 2 / 2 + math.log(4.0)
        return 2 * math.pi * strip / (growth + math.log(max(count, 1.0)) - _LOG_TARGET)

    def size(self, count: float) -> float:
        """About the number of nodes of the sum."""
        return (self.end - _LOWEST) / self.step(count) + 1

    def moments(self, z: Complex, count: float, within: Within | None = None) -> HalfLineMoments:
        """N - 1 and N' at points with Im z >= 0 by the sum, accurate for ``count`` repetitions.

        The error of the inner sum is bounded at each point or, faster for many points, on triangles that contain them.
        """
        m, q, eta = self.shift, self.rate, self.height
        h = self.step(count)
        x = np.asarray(self.end - (np.arange(math.ceil((self.end - _LOWEST) / h)) + 0.5) * h, dtype=np.float64)
        less_one = self._w_less_one(x)
        loss = np.asarray(complex_log1p(less_one))
        density = np.exp(-x * x / 2 + (eta * eta / 2 + math.log(h) - LOG_ROOT_TWO_PI))
        weight = density * np.exp(-1j * eta * x)
        # w - 1 = q (expm1(Y) - 2 e^Y sin^2(theta/2) + i e^Y sin(theta)), Y = m x - m^2/2, errs by roundings of its parts, by
        # those of Y, and by the errors of m and q
        exponent = m * x - m * m / 2
        growth = q * np.exp(np.minimum(exponent, _LARGEST))
        parts = q * np.abs(np.expm1(np.minimum(exponent, _LARGEST))) + growth * 3 * math.sin(min(self.angle, math.pi / 2))
        of_w = growth * ((2 * ULP + self.shift_error) * (np.abs(m * x) + m * m + self.angle))
        of_w += (self.rate_error + ELEMENTARY) * parts
        # derived: the weight is two exponentials, and turns with eta x; NumPy's pairwise sums add few numbers one by one
        unit = ULP * (12 + x * x + eta * np.abs(x)) + ULP * (16 + math.log2(x.size))
        sums = HalfLineSums(loss, less_one, weight, density, unit, of_w, self.linear).at(z + 1)
        inner, inner_slope = self._inner_errors(z, h) if within is None else self._inner_errors_within(within, h)
        return HalfLineMoments(sums.value, sums.slope, sums.rounding, inner, sums.slope_error + inner_slope)

    def log_on_axis(self, s: Array, count: float) -> Array:
        """The logarithm of an upper bound of the integral over x <= X itself, at real z."""
        found = self.at_angle(0.0).moments(np.asarray(s, dtype=np.complex128), count)
        less_one = found.value.real + found.rounding + found.inner
        known = np.isfinite(less_one)
        return np.where(known, np.log1p(np.where(known, less_one, 0.0)) + 1e-15, np.inf)

    def _inner_errors_within(self, within: Within, h: float) -> tuple[Array, Array]:
        """Bounds of the inner errors on triangles: each part is largest at a vertex, and at most the sum over all three."""
        inner, slope = (
            one.reshape(within.vertices.shape).sum(axis=1) for one in self._inner_errors(within.vertices.ravel(), h)
        )
        return inner[within.containing], slope[within.containing]

    def _inner_errors(self, z: Complex, h: float) -> tuple[Array, Array]:
        """Bounds of (2), of (3) and of the terms below the lowest node, for N and for N'."""
        eta, strip = self.height, self.strip
        # |w| is the same on both sides of the real axis
        lines = [self.at_angle(abs(self.angle + side * self.shift * strip)) for side in (-1, 1)]
        length = np.maximum(np.abs(z + 1), 1.0)
        top = (eta + strip) ** 2 / 2
        subtracted = np.exp(self._log_subtracted(length))
        plain = np.log1p(2 * subtracted) + top
        turns = 2 * math.pi * strip / h
        over = -turns - math.log1p(-math.exp(-turns))
        on_lines = np.logaddexp(np.logaddexp(lines[0].log_bound(z), lines[1].log_bound(z)), plain + math.log(2.0)) + over
        at_end = np.array([line.log_w(np.array([self.end]))[0] for line in lines])
        least, power = float(at_end.imag.min()), z.real + 1
        at_ends = np.maximum(power * at_end.real.max(), power * at_end.real.min()) - z.imag * least
        end_growth = math.exp(min(self.shift * self.end - self.shift**2 / 2, _LARGEST))
        ends = self.log_end + top + math.log(h / 4) + np.logaddexp(at_ends, np.log1p(subtracted * (1 + end_growth)))
        # h phi at a node is at most the mass of the step to its right
        _, largest, smallest, argument, _ = (part[: _LEFT.size + 1] for part in self._cells)
        log_mass = log_ndtr(np.append(_LEFT, _LOWEST) + h) + eta * eta / 2
        sizes = np.maximum(power[..., None] * largest, power[..., None] * smallest) - z.imag[..., None] * argument
        rest = np.logaddexp(log_sum(log_mass + sizes), log_mass[-1] + np.log1p(2 * subtracted)) + _MARGIN
        total = np.logaddexp(np.logaddexp(on_lines, ends), np.logaddexp(rest, self.log_tail(length)))
        inner = np.exp(np.minimum(total + 1e-9, _LARGEST))
        # the integrand of N' is log w w^a - (w - 1)
        steepest = max(math.exp(float(line._cells[4].max())) for line in lines) + self.angle * (1 + STRIP)
        return inner, inner * (2 * steepest + 2)
