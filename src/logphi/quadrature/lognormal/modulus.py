"""Upper bounds of |phi(w)|, phi(w) = E e^{-wY} for a lognormal Y, continued to the left half-plane.

notation: Y = e^{mx - m^2/2}, x standard normal with density n. phi is an integral of n e^{-wY} over a path of x: along the line
x - i theta/m up to the real part x1; from there along a ray, on which x1 + (p - i) z/m - i theta/m, z from 0 to z1; and from
its end parallel to the real axis to infinity. With alpha = theta + z the modulus of e^{-wY} is e^{c |Y|}, c = Re(-w e^{-i
alpha}), which must be negative on the last part.

For w = -rho + i eta, c is rho cos(alpha) - eta sin(alpha): the integral of the moduli falls as eta grows, and its logarithm is
convex in rho, so that its maximum over an interval of rho is at an end. Each bound here is one of an integral of moduli:

- on the line, e^{cY} is at most its chord in each cell if it is convex, and where c < 0 no more than h^2/8 times the most
  negative second derivative above it; the normal masses and means of the cells are known;
- on the ray and beyond, sums over cells of the largest value in each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import log_ndtr, ndtr

from logphi.arith.floats import LOG_ROOT_TWO_PI
from logphi.arrays import Array

# chosen: the slope p of the ray to the vertical. Any p in (0, 1) has the modulus fall from a saddle at x1 > 1/m on
SLOPE = 0.5
# derived: the normal mass so far out is below 1e-25
FAR = 10.5
# measured: the width of a cell of the line in x; narrower ones hardly improve the bounds
_WIDTH = 0.14
# measured: the width of a cell of the line in m x; narrower ones hardly improve the bounds
_TURN = 0.25
# measured: the number of cells of a ray; more of them hardly improve the bounds
_CELLS = 32
# measured: the number of cells beyond a ray; more of them hardly improve the bounds
_LEVEL_CELLS = 16
# measured: the length of these cells together, after which a bound of the rest is as good
_LEVEL_LENGTH = 10.0
# chosen: how much smaller the curvature of an exponent at its mode may be than that of the normal density
_FLATTEST = 0.9
# derived: larger exponents overflow
LARGEST = 700.0
# derived: far more than the rounding of a sum of positive terms
_ROUNDED = 1e-9


@dataclass(frozen=True)
class Box:
    """Points w = -rho + i eta with rho between two ends, and eta at least ``height``; arrays of boxes."""

    low: Array
    high: Array
    height: Array

    @property
    def size(self) -> Array:
        """The largest modulus at the least height."""
        return np.hypot(self.high, self.height)

    def exponent(self, alpha: Array) -> Array:
        """The largest Re(-w e^{-i alpha}) for angles from 0 to pi, along the second axis."""
        cosine = np.cos(alpha)
        return np.maximum(self.low[:, None] * cosine, self.high[:, None] * cosine) - self.height[:, None] * np.sin(alpha)


@dataclass(frozen=True)
class RayBound:
    """Logarithms of bounds of the integral of |n e^{-wY}| over cells of a ray and over the path beyond; the ends z of cells."""

    ends: Array
    cells: Array
    beyond: Array

    @property
    def total(self) -> Array:
        """The logarithm of the bound for all of it."""
        return np.asarray(np.logaddexp(np.logaddexp.reduce(self.cells, axis=1), self.beyond))


@dataclass(frozen=True)
class Modulus:
    """Bounds for Y of shift m."""

    shift: float

    @cached_property
    def _grid(self) -> tuple[Array, Array, Array, Array]:
        """Ends of cells, Y there, and weights of the values at left and right ends in the integral of a function's chords."""
        m = self.shift
        step = min(_WIDTH, _TURN / m)
        x = np.arange(math.floor(-FAR / step), math.ceil((max(m, 1 / m) + 2 * FAR) / step) + 1) * step
        low, high = x[:-1], x[1:]
        mass = np.where(low > 0, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low))
        density = np.exp(-x * x / 2 - LOG_ROOT_TWO_PI)
        right = np.clip((density[:-1] - density[1:] - low * mass) / (high - low), 0.0, mass)
        return np.asarray(x), np.asarray(np.exp(m * x - m * m / 2)), np.asarray(mass - right), np.asarray(right)

    def start(self, c: Array) -> Array:
        """Where rays start: about the larger root of c m Y = x, a saddle of cY - x^2/2, where the modulus is least on the line.

        There is none for large c; then where cY is 1/m^2. Any point will do for the bounds.
        """
        m, log_c = self.shift, np.log(np.maximum(c, 1e-290))
        log_top = m * m / 2 - 1 - 2 * math.log(m)
        level = log_c + math.log(m) - m * m / 2
        x = np.maximum(-level / m, 1 / m) + 2 / m + 1
        for _ in range(5):
            x = np.maximum((np.log(x) - level) / m, 1 / m)
            x = np.maximum(x - (m * x + level - np.log(x)) / np.maximum(m - 1 / x, 0.01 * m), 1 / m)
        found = np.where(log_c < log_top, x, 1 / m - (log_c - log_top) / m)
        found = np.where(c > 0, found, max(m, 0.0) + FAR + 1)
        edges = self._grid[0]
        # on an end of a cell, where there are cells
        snapped = edges[np.clip(np.rint((found - edges[0]) / (edges[1] - edges[0])).astype(int), 1, edges.size - 1)]
        return np.asarray(np.where(found < edges[-1], snapped, found))

    def range_of_line(self, c: Array, x1: Array) -> tuple[Array, Array]:
        """Ends between which n (e^{cY} - 1) is not negligible: around its modes, and no farther than x1."""
        m = self.shift
        log_c = np.log(np.abs(c) + 1e-300) + math.log(m) - m * m / 2
        mode = np.zeros_like(c)
        for _ in range(8):
            mode = np.minimum(np.exp(np.minimum(m * mode + log_c, 50.0)), 1 / m)
        # above the mode cY - x^2/2 falls more slowly than a parabola
        high = np.where(c > 0, np.maximum(mode, m) + FAR / np.sqrt(1 - np.minimum(m * mode, _FLATTEST)), m + FAR)
        # for c < 0 the mode is where -x is e^{log_c + mx}, and so above this
        low = np.where(c < 0, -np.maximum(log_c, 0.0) / m - 1, 0.0)
        for _ in range(3):
            low = np.where(c < 0, np.minimum((np.log(np.maximum(-low, 1.0)) - log_c) / m, 0.0), 0.0)
        return np.minimum(low, m) - FAR, np.minimum(high, x1)

    def omitted(self, c: Array, size: Array, x1: Array, low: Array, high: Array, theta: Array) -> Array:
        """A bound of the integral of |n (e^{-wY} - 1)| over the line below ``low``, and from ``high`` to x1.

        c = Re(-w e^{-i theta}) and |w| at most. Below, |e^v - 1| <= |v| e^{max(0, Re v)}. Above, the derivative of cY - x^2/2
        is convex, so that its largest value is at an end.
        """
        m, turned = self.shift, (theta / self.shift) ** 2 / 2
        y0, y, y1 = (np.exp(np.minimum(m * x - m * m / 2, LARGEST)) for x in (low, high, x1))
        up = np.maximum(c, 0.0)
        left = unclipped_exp(turned + np.log(size + 1e-300) + up * y0 + log_ndtr(low - m))
        slope = np.maximum(0.0, np.maximum(up * m * y - high, up * m * y1 - x1))
        rise = up * y - high * high / 2 + slope * (x1 - high)
        length = np.maximum(x1 - high, 1e-300)
        right = unclipped_exp(turned + rise + np.log(length)) + unclipped_exp(turned + log_ndtr(-high))
        return np.asarray((left + np.where(high < x1, right, 0.0)) * (1 + _ROUNDED))

    def line(self, c: Array, x1: Array) -> Array:
        """An upper bound of the integral of n e^{cY} over (-inf, x1], less one; x1 as from :meth:`start`.

        Infinite where e^{cY} overflows.
        """
        x, y, left, right = self._grid
        step = float(x[1] - x[0])
        _, high = self.range_of_line(c, x1)
        last = np.clip(np.ceil((high - x[0]) / step - 1e-6).astype(int), 1, x.size - 1)
        high = np.where(last == x.size - 1, np.minimum(x1, x[-1]), x[last])
        used = int(last.max())
        inside = np.arange(used) < last[:, None]
        value = np.expm1(np.minimum(c[:, None] * y[: used + 1], LARGEST))
        sums = value[:, :-1] * left[:used] + value[:, 1:] * right[:used]
        # the most negative second derivative of e^{cY}, where c < 0
        bent = np.minimum(c, 0.0)[:, None]
        sums -= (left + right)[:used] * bent * y[1 : used + 1] * np.exp(bent * y[:used]) * ((self.shift * step) ** 2 / 8)
        total = np.where(inside, sums, 0.0).sum(axis=1)
        total += _ROUNDED * np.abs(total) + self.omitted(c, np.abs(c), x1, np.full_like(c, x[0]), high, np.zeros_like(c))
        total -= np.where(high < x1, 0.0, ndtr(-x1)) * (1 - _ROUNDED)
        return np.where(c * y[last] < LARGEST, total, np.inf)

    def ray(self, box: Box, theta: Array, x1: Array, z1: Array, tilt: Array | float = 0.0) -> RayBound:
        """Bounds along the ray and beyond; with a tilt, the normal density is that at an imaginary part larger by tilt/m.

        A cell's largest e^{pz} c exceeds those at its ends by no more than its width squared over 8 times a second derivative.
        """
        m, p = self.shift, SLOPE
        z = z1[:, None] * (np.arange(_CELLS + 1) / _CELLS)
        x = x1[:, None] + p * z / m
        wide = (z1 / _CELLS)[:, None]
        c = box.exponent(theta[:, None] + z)
        growth = np.exp(p * z)
        high = np.maximum(growth[:, :-1] * c[:, :-1], growth[:, 1:] * c[:, 1:])
        high += wide**2 / 8 * (1 + p * p) * growth[:, 1:] * box.size[:, None]
        y1 = np.exp(np.minimum(m * x1 - m * m / 2, LARGEST))[:, None]
        lift = (theta + tilt)[:, None] + z
        cells = y1 * high - _least_square(x) / 2 + lift[:, 1:] ** 2 / (2 * m * m) + np.log(wide * (math.hypot(p, 1) / m))
        level = x[:, -1:] + np.arange(_LEVEL_CELLS + 1) * (_LEVEL_LENGTH / _LEVEL_CELLS)
        end = c[:, -1:]
        y = np.exp(np.minimum(m * level - m * m / 2, LARGEST))
        beyond = np.logaddexp.reduce(end * y[:, :-1] - _least_square(level) / 2, axis=1) + math.log(
            _LEVEL_LENGTH / _LEVEL_CELLS
        )
        beyond = np.logaddexp(beyond - LOG_ROOT_TWO_PI, end[:, 0] * y[:, -1] + log_ndtr(-level[:, -1]))
        beyond = np.where(end[:, 0] <= 0, beyond + lift[:, -1] ** 2 / (2 * m * m), np.inf)
        return RayBound(z, cells - LOG_ROOT_TWO_PI + _ROUNDED, beyond + _ROUNDED)

    def log(self, rho: Array, height: Array, theta: Array, x1: Array, z1: Array) -> Array:
        """The logarithm of a bound of |phi(-rho + i eta)| for all eta at least ``height``."""
        c = rho * np.cos(theta) - height * np.sin(theta)
        line = self.line(c, x1)
        ray = unclipped_exp(self.ray(Box(rho, rho, height), theta, x1, z1).total)
        with np.errstate(over="ignore", invalid="ignore"):  # infinite where the line is, or where the angle is large
            turned = np.expm1((theta / self.shift) ** 2 / 2)
            found = np.log1p(line + turned * (1 + line) + ray) + 1e-15
        return np.where(np.isfinite(line), found, np.inf)


def unclipped_exp(exponent: Array) -> Array:
    """e^x for a bound, infinite where it overflows: a clipped exponent would make the bound too small."""
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(exponent))


def _least_square(x: Array) -> Array:
    """The least x^2 in each cell between consecutive ends."""
    nearest = np.maximum(np.maximum(x[:, :-1], -x[:, 1:]), 0.0)
    return np.asarray(nearest * nearest)


@lru_cache(maxsize=16)
def modulus(shift: float) -> Modulus:
    """The bounds for a shift."""
    return Modulus(shift)
