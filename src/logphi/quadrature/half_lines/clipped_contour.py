"""The transform of a clipped sampled normal pair high up a vertical line, by a contour above the real axis.

notation: w(x) = 1 - q + q e^{m x - m^2/2}, l = log w, X the end, phi the normal density, p = c + 1 >= 0, 0 <= t <= top. On the
real axis the phase of

    M(c + it) = integral over x <= X of  phi w^p e^{itl} dx

turns as often as t l does. The integrand is analytic where 0 <= m Im x < pi, and there 0 <= arg w <= m Im x, so that
|e^{itl}| <= 1: the path may rise to x + i eta, x <= X, and come down at X, where the integrand does not oscillate. On it

    M(c + it) - M(c) = sum of phi w^p ((e^{itl} - 1 - itl) + itl)

over Gauss-Legendre panels. On the Bernstein ellipse with parameter rho around a panel of half-length r the path stays within
r (rho + 1/rho)/2 of its middle along the panel and r (rho - 1/rho)/2 across it. If |e^{itl}| <= e^g, |l| <= L, |phi| <= F and
|w| <= W there, |e^{itl} - 1| <= e^g min(2, t L), and a rule of n nodes is wrong by at most

    (64/15) r F W^p e^g min(2, top L) rho^{-2n} / (1 - rho^{-2})

(Trefethen, *Approximation Theory and Approximation Practice*, Theorem 19.3). W is w at the largest real part, |w - 1| at most
u = q (e^Y + 1) there, and L <= 2u where u <= 1/2; else |w| >= (1 - q) sin(m Im x) in the second quadrant bounds L. g is zero
above the real axis; below it, where u <= 1/2, |arg w| <= 2u; at the end, where the first panel on the way down reaches below
the axis by d, |arg w| <= m d w'/w at most, w'/w <= 1 being the share of the second part of w, if m d is at most a right angle.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from logphi.arith.floats import ELEMENTARY, LOG_ROOT_TWO_PI, ULP, complex_log1p
from logphi.arith.summation import roundings
from logphi.arrays import Array, Complex
from logphi.quadrature.curves.panels import gauss
from logphi.quadrature.mixtures.inner_integral import Nodes, Rounding
from logphi.quadrature.sums.second_order_sums import along_line
from logphi.quadrature.values import Line, Values, log_of_deviation

# chosen: the number of nodes of a panel: with rho = 3 the error falls to 3^-48, or 1e-23
_ORDER = 24
# chosen: the parameter rho of the ellipses on the horizontal line
_RHO = 3.0
# chosen: the parameter rho of the ellipses on the segment at the end
_RHO_DOWN = 4.0
# chosen: the largest height of the line, in x
_HEIGHT = 1.5
# chosen: the largest height of the line, in m x, with which the ellipses stay below 2.7 / m
_TURN = 1.3
# derived: the normal mass below it is less than 1e-23
_LOWEST = -10.0
# chosen: the height of the first panel on the segment at the end, relative to the height over which e^{itl} decays
_FIRST = 8.0
# measured: with more panels the contour is no faster than the real axis
_MOST = 400
# chosen: parts of an ellipse that are bounded separately
_PARTS = np.linspace(-1.0, 1.0, 17)
# measured: the largest number of halvings of a panel
_HALVINGS = 16
# measured: the logarithm of the relative error of all sums
_LOG_GOAL = math.log(1e-18)
# derived: e^700 is a double
_LARGEST = 700.0


LogSize = Callable[[Array, Array], Array]


@dataclass(frozen=True)
class _Panels:
    """Ends of panels along the path, with the logarithm of a bound of the error of their sums."""

    low: Array
    high: Array
    log_wrong: float

    @staticmethod
    def of(low: Array, high: Array, log_size: LogSize, rho: float, goal: float) -> _Panels | None:
        """Panels, halved until the error of each sum is below a goal; negligible ones are dropped. None if too many.

        ``log_size`` bounds (2 pi)^(1/2) times the integrand on the ellipses of panels.
        """
        rule = math.log(32 / 15) - 2 * _ORDER * math.log(rho) - math.log1p(-(rho**-2.0))
        for _ in range(_HALVINGS):
            whole = log_size(low, high) + np.log(high - low) - LOG_ROOT_TWO_PI
            kept, long = whole > goal, whole + rule > goal
            if not long.any():
                wrong = np.where(kept, whole + rule, whole)
                return _Panels(low[kept], high[kept], float(np.logaddexp.reduce(wrong, initial=-np.inf)))
            if low.size > _MOST:
                break
            middle = (low[long] + high[long]) / 2
            low, high = np.concatenate([low[~long], low[long], middle]), np.concatenate([high[~long], middle, high[long]])
        return None


@dataclass(frozen=True)
class ClippedContour:
    """The path for the shift m and the rate q, known to relative errors, and the end X."""

    shift: float
    rate: float
    shift_error: float
    rate_error: float
    end: float

    @property
    def height(self) -> float:
        """The imaginary part eta."""
        return min(_TURN / self.shift, _HEIGHT)

    def on_line(self, line: Line, axis: Nodes, count: int) -> Values | None:
        """K on a line, given the values on the real axis at its abscissa, accurate for ``count`` repetitions.

        None if there would be too many nodes.
        """
        power, top = line.abscissa + 1, line.step * line.size
        log_mass = float(axis.log_mass[0, 0])
        goal = log_mass + _LOG_GOAL - math.log(count)
        level, down = self._level(power, top, goal), self._down(power, top, goal)
        if level is None or down is None:
            return None
        x, log_weight, _ = gauss(level.low, level.high, _ORDER)
        y, log_weight_down, _ = gauss(down.low, down.high, _ORDER)
        node_x = np.append(x, np.full(y.size, self.end))
        rise = np.append(np.full(x.size, self.height), y)
        direction = np.append(np.ones(x.size), np.full(y.size, -1j))
        less_one, w_error = self._less_one(node_x, rise)
        loss = np.asarray(complex_log1p(less_one))
        log_density = np.append(log_weight, log_weight_down) - (node_x * node_x - rise * rise) / 2 - LOG_ROOT_TWO_PI
        weight = direction * np.exp(log_density + power * loss - 1j * rise * node_x - log_mass)
        size, far = np.abs(weight), np.abs(loss)
        loss_error = ELEMENTARY * far + 1.01 * w_error / np.abs(1 + less_one)
        # derived: a term errs by three elementary functions, a dozen doublings and the rounding of its exponent
        unit = ULP * (36 + 1.5 * node_x * node_x + 2 * rise * np.abs(node_x) + 4 * power * far + 1.5 * roundings(node_x.size))
        unit += power * loss_error + ULP * abs(log_mass)
        on_axis = np.asarray(axis.rounding.of_size(np.array([abs(line.abscissa)])))
        noise = Rounding.above_axis(size[None], far[None], unit[None], loss_error[None], on_axis)
        heights = line.heights
        slope = (weight * loss).sum()
        slope_error = float((size * (far * unit + loss_error)).sum())
        deviation = along_line(line)(heights, loss[None, :], weight[None, :])[0] + 1j * heights * slope
        cut = self._below(power, top) - log_mass
        wrong = np.logaddexp(level.log_wrong, down.log_wrong) - log_mass
        inner = float(axis.inner[0, 0]) + math.exp(min(float(np.logaddexp(cut, wrong)), _LARGEST))
        # the weights contain w^p, so that only the phase adds to their errors
        rounding = noise.at(1j * heights)[0] + heights * slope_error
        return Values(*log_of_deviation(np.array([log_mass]), deviation, rounding, np.array([inner])))

    def _less_one(self, x: Array, y: Array) -> tuple[Complex, Array]:
        """W - 1 at x + iy, and its error: by roundings of its parts, and of the parameters."""
        m, q = self.shift, self.rate
        exponent, turn = m * x - m * m / 2, m * y
        growth, real = q * np.exp(exponent), q * np.expm1(exponent)
        half = np.sin(turn / 2)
        found = real - 2 * growth * half * half + 1j * growth * np.sin(turn)
        parts = np.abs(real) + 3 * growth * np.sin(np.minimum(turn, math.pi / 2))
        error = growth * (2 * ULP + self.shift_error) * (np.abs(m * x) + m * m + turn)
        return found, error + (self.rate_error + ELEMENTARY) * parts

    def _log_size(self, x: Array, power: float, top: float) -> Array:
        """Log W^p + log min(2, top L) at real parts; it grows."""
        m, q = self.shift, self.rate
        exponent = m * x - m * m / 2
        log_w = np.logaddexp(math.log1p(-q), math.log(q) + exponent)
        u = q * (np.exp(np.minimum(exponent, _LARGEST)) + 1)
        # derived: sin(2.7) > 0.42, and the argument is below 2.7
        steep = np.maximum(log_w, -math.log((1 - q) * 0.42)) + 2.7
        size = np.where(u <= 0.5, 2 * u, steep)
        return np.asarray(power * log_w + np.log(np.minimum(2.0, top * size)))

    def _log_largest(self, middle: Array, radius: Array, highest: Array, power: float, top: float) -> Array:
        """The logarithm of (2 pi)^(1/2) F W^p min(2, top L), within ``radius`` of the middle and up to a height, by parts."""
        x = middle[:, None] + radius[:, None] * _PARTS
        left, right = x[:, :-1], x[:, 1:]
        nearest = np.where(left * right > 0, np.minimum(np.abs(left), np.abs(right)), 0.0)
        sizes = self._log_size(right, power, top) - nearest * nearest / 2
        return np.asarray(sizes.max(axis=1) + highest * highest / 2)

    def _level(self, power: float, top: float, goal: float) -> _Panels | None:
        """Panels of the horizontal line, which are long where w hardly changes."""
        m, q, eta = self.shift, self.rate, self.height
        wide, radius = (_RHO - 1 / _RHO) / 2, (_RHO + 1 / _RHO) / 2
        short, long = 0.98 * eta / wide, _HEIGHT / wide
        # on long panels up to ``begin``, and on their ellipses, top u <= 1 and u <= 1/2
        calm = (math.log(min(1 / (1 + top), 0.5)) - math.log(2 * q)) / m + m / 2 - (1 + radius) * long
        calm = min(calm, self.end) if 2 * q * (1 + top) <= 1 and 4 * q <= 1 and m * (eta + _HEIGHT) <= 2.7 else _LOWEST
        first = np.arange(_LOWEST, calm, 2 * long) if calm > _LOWEST else np.zeros(0)
        begin = float(min(first[-1] + 2 * long, self.end)) if first.size else _LOWEST
        count = math.ceil(max(self.end - begin, 0.0) / (2 * short))
        if count > _MOST:
            return None
        edges = np.append(first, np.linspace(begin, self.end, count + 1))

        def log_size(low: Array, high: Array) -> Array:
            r = (high - low) / 2
            # below the real axis, where w hardly changes
            growth = np.where(r * wide > eta, 2.0, 0.0)
            return self._log_largest((high + low) / 2, r * radius, eta + r * wide, power, top) + growth

        return _Panels.of(edges[:-1], edges[1:], log_size, _RHO, goal)

    def _down(self, power: float, top: float, goal: float) -> _Panels | None:
        """Panels of the segment at the end, which are shorter towards the real axis."""
        m, q, eta = self.shift, self.rate, self.height
        growth = q * math.exp(min(m * self.end - m * m / 2, _LARGEST))
        lowest = min(_FIRST / (top * m * growth / (1 - q + growth)), eta)
        count = math.ceil(math.log2(eta / lowest))
        if count > _MOST:
            return None
        edges = np.append(0.0, np.geomspace(lowest, eta, count + 1)) if count else np.array([0.0, eta])

        def log_size(low: Array, high: Array) -> Array:
            r, middle = (high - low) / 2, (high + low) / 2
            along, across = r * (_RHO_DOWN + 1 / _RHO_DOWN) / 2, r * (_RHO_DOWN - 1 / _RHO_DOWN) / 2
            # the depth of the first ellipse below the axis, and the largest growth of |e^{itl}| there
            below = np.maximum(along - middle, 0.0)
            right = m * (self.end + across) - m * m / 2
            shares = np.minimum(q * np.exp(np.minimum(right, _LARGEST)) / (1 - q), 1.0)
            grown = np.where(m * below < 1.5, top * m * below * shares / np.maximum(np.cos(m * below), 1e-9), np.inf)
            # derived: no argument reaches 2.7
            assert m * float((middle + along).max()) < 2.7
            ends = np.full(middle.shape, self.end)
            return self._log_largest(ends, across, middle + along, power, top) + grown

        return _Panels.of(edges[:-1], edges[1:], log_size, _RHO_DOWN, goal)

    def _below(self, power: float, top: float) -> float:
        """The logarithm of a bound of the integral below the lowest node."""
        size = self._log_size(np.array([_LOWEST]), power, top)
        tail = -(_LOWEST**2) / 2 - math.log(-_LOWEST) - LOG_ROOT_TWO_PI
        return float(tail + self.height**2 / 2 + size[0])
