"""The log-ratio of one mixture of many shifted normal densities to the standard one.

notation as in :mod:`logphi.quadrature.mixtures.log_ratio`; v = w - p_0 is the part of w that varies. log v too is convex with
slopes of at most C, so that Newton's steps to its inverse come from the right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arith.summation import log_sum, product, roundings
from logphi.arrays import Array
from logphi.quadrature.mixtures.log_ratio import CHUNK, LARGE, LogRatio, turn_rate

# measured: the largest number of Newton steps from an interpolated start; rounding stops them earlier
_STEPS = 300
# measured: the points of a table from which Newton's steps start; it is used for more values than these
_STARTS = 8193
# measured: the largest number of steps from a root to a point next to it
_PUSHES = 60
# measured: the longest of these steps, in units of 1/C
_LONGEST = 0.25
# derived: normal masses outside of this range are negligible
_FARTHEST = 1e8


@dataclass(frozen=True)
class ManyComponents(LogRatio):
    """One mixture of many shifts: ``shift`` is the largest, ``rate`` the total weight of the positive ones.

    ``shifts`` are positive and distinct. ``weights`` and ``log_weights`` belong to them (a weight may underflow), each with a
    relative error of at most ``weight_error``; p_0 has one of at most ``rest_error``. The exact weights sum to one.
    """

    shift: Array
    rate: Array
    count: Array
    shifts: Array
    weights: Array
    log_weights: Array
    weight_error: Array
    log_rest: float
    rest_error: float

    @staticmethod
    def of(
        shifts: Array,
        weights: Array,
        log_weights: Array,
        log_rest: float,
        weight_error: Array | None = None,
        rest_error: float = 0.0,
    ) -> ManyComponents:
        """The mixture of the given parameters, which are exact unless errors are given."""
        total = min(float(weights.sum()), 1.0)
        wrong = np.zeros(shifts.size) if weight_error is None else weight_error
        largest, rate = np.array([shifts.max()]), np.array([total])
        return ManyComponents(largest, rate, np.ones(1), shifts, weights, log_weights, wrong, log_rest, rest_error)

    def repeated(self, count: int) -> ManyComponents:
        """The same mixture with another count."""
        return replace(self, count=np.array([float(count)]))

    @property
    def largest_log(self) -> float:
        """The largest logarithm of a weight."""
        return float(np.abs(self.log_weights).max())

    @property
    def floor(self) -> Array:
        """-log p_0, infinite if every shift is positive."""
        return np.array([[-self.log_rest]])

    def chunks(self, size: int) -> Iterator[ManyComponents]:
        """The mixture itself."""
        yield self

    def value(self, x: Array | float) -> Array:
        """From w - 1 unless w is small, then from the logarithms of its terms."""

        def part(x: Array) -> Array:
            y = self._powers(x)
            exponent, plain = self.log_weights + y, self._plain(y)
            gain = np.where(plain, self.weights * np.expm1(np.where(plain, y, 0.0)), np.exp(np.minimum(exponent, LARGE)))
            growth = product(gain, np.ones((self.shifts.size, 1)))[:, 0]
            near = (growth > -0.5) & (exponent.max(axis=-1) < LARGE)
            if near.all():
                return np.asarray(np.log1p(growth))
            return np.where(near, np.log1p(np.where(near, growth, 0.0)), np.logaddexp(log_sum(exponent), self.log_rest))

        return self._by_parts(part, np.ravel(x))

    def slope(self, x: Array | float) -> Array:
        """The mean of the shifts, rounded up."""
        nodes = np.ravel(x)
        share = self._shares(nodes, self.value(nodes)[0])
        return np.asarray(np.minimum(share @ self.shifts, self.shift[0]) * (1 + 1e-9))[None]

    def relative_error(self, x: Array, value: Array, angle: float = 0.0) -> Array:
        """From the errors of the terms, of the weights and of their sum."""

        def part(x: Array, value: Array) -> Array:
            y = self._powers(x)
            exponent, plain, level = self.log_weights + y, self._plain(y), value[:, None]
            share = np.exp(np.minimum(exponent - level, 0.0))
            # the terms that were summed: of w - 1 or of w, near w = 1/2 either
            gain = self.weights * np.abs(np.expm1(np.where(plain, y, 0.0))) * np.exp(-np.maximum(level, -1.0))
            gain = np.where(plain, gain, share)
            added = np.where(level > -0.69, gain, np.where(level < -0.7, share, np.maximum(gain, share)))
            logs = np.where(plain & (level > -0.69), 0.0, np.abs(self.log_weights) + np.abs(exponent))
            unit = 1 + roundings(self.shifts.size) / 8 + self.weight_error / ELEMENTARY
            own_angle = angle * self.shifts / self.shift[0]
            steep = np.abs(self.shifts * x[:, None]) + self.shifts * self.shifts
            steep += own_angle * (unit + np.abs(self.log_weights))
            total = (added * unit + share * (steep + logs)).sum(axis=1) * 1.01
            if np.isfinite(self.log_rest):
                rest = np.exp(np.minimum(self.log_rest - value, 0.0)) * (2 + abs(self.log_rest) + self.rest_error / ELEMENTARY)
                total += np.where(value < -0.69, rest, 0.0)
            # terms that underflow are far below every rounding
            return np.asarray(total + 1e-200)

        return self._by_parts(part, x, value[0])

    def curvature(self, x: Array, value: Array) -> tuple[Array, Array]:
        """Mean and variance of the shifts."""
        ratio = self.shifts / self.shift[0]

        def part(x: Array, value: Array) -> Array:
            share = self._shares(x, value)
            mean = share @ ratio
            return np.stack([mean, np.maximum(share @ (ratio * ratio) - mean * mean, 0.0)])

        mean, variance = self._by_parts(part, x, value[0])[0]
        return mean[None], variance[None]

    def continued(self, x: Array, value: Array, b: Array) -> tuple[Array, Array]:
        """From the sums of the rotated shares; the logarithm errs by some ulps of the mean square of the angles."""
        angle = b.T * (self.shifts / self.shift[0])

        def part(x: Array, value: Array) -> Array:
            share = self._shares(x, value)
            sine, back = product(share, np.sin(angle).T), product(share, 2 * np.sin(angle / 2).T ** 2)
            less = back * (back - 2) + sine * sine
            return np.stack([np.arctan2(sine, 1 - back).T, 0.5 * np.log1p(np.minimum(less, 0.0)).T])

        turn, size = self._by_parts(part, x, value[0])[0]
        return turn[None], size[None]

    def turn_rate(self, x: float, b: Array) -> Array:
        """From the slope and the share of p_0."""
        rest = np.exp(self.log_rest - self.value(x)[0])
        return turn_rate(self.slope(x)[0] / self.shift, rest, b)

    def log_v(self, x: Array) -> Array:
        """Log v at nodes, to a few ulps of its largest part."""
        return np.asarray(self._by_parts(lambda x: log_sum(self.log_weights + self._powers(x)), x)[0])

    def inverse_of_log_v(self, log_v: Array) -> tuple[Array, float]:
        """The x at which log v has a given value, with a bound of the error of log v apart from the rounding of its terms."""
        # v is above each of its terms
        bounds = np.full(log_v.shape, np.inf)
        for shift, log_weight in zip(self.shifts, self.log_weights, strict=True):
            bounds = np.minimum(bounds, (log_v - log_weight) / shift + shift / 2)
        if self.shifts.size == 1:
            return bounds, 0.0
        finite = np.isfinite(bounds)
        wanted, most = log_v[finite], bounds[finite]
        x = most
        if wanted.size > _STARTS:
            # v is at most the number of its terms times the largest
            lowest = float(most.min()) - float(np.log(self.shifts.size)) / float(self.shifts.min())
            grid = np.linspace(max(lowest, -1e6), float(most.max()), _STARTS)
            x = np.minimum(np.interp(wanted, self.log_v(grid), grid), most)
        before = missed = np.inf
        for _ in range(_STEPS):
            value = self.log_v(x)
            before, missed = missed, float(np.abs(value - wanted).max(initial=0.0))
            if missed >= before:
                break
            bounds[finite] = x
            slope = self._by_parts(lambda x, value: self._shares(x, value) @ self.shifts, x, value)[0]
            x = np.minimum(x - (value - wanted) / np.maximum(slope, 1e-300), most)
        return bounds, min(before, missed)

    def bracket(self, value: float) -> tuple[float, float]:
        """Two neighbouring points, proved to lie left and right of the root of l = value; infinite if there is none.

        The value itself is known to half an ulp.
        """
        room = ULP * abs(value) + self.rest_error
        log_v = value
        if np.isfinite(self.log_rest):
            if value <= self.log_rest - room - 4 * ULP * abs(self.log_rest):
                return -np.inf, -np.inf
            log_v += float(np.log(max(-np.expm1(self.log_rest - value), ULP * abs(value), 1e-300)))
        root = float(self.inverse_of_log_v(np.array([log_v]))[0][0])
        return self._beside(value, root, -1), self._beside(value, root, 1)

    def value_and_error(self, x: float) -> tuple[float, float]:
        """The log-ratio at a point, and a bound of its error."""
        nodes = np.array([x])
        value = self.value(nodes)
        return float(value[0, 0]), float(self.error(nodes, value)[0, 0])

    def _beside(self, wanted: float, x: float, side: int) -> float:
        """A point proved to lie on one side of the root, near x; infinite if none was found."""
        step = 0.0
        for _ in range(_PUSHES):
            value, wrong = self.value_and_error(x + side * step)
            need = side * (wanted - value) + wrong + 2 * ULP * abs(wanted)
            if need <= 0:
                return x + side * step
            slope = max(float(self.slope(x + side * step)[0, 0]), 1e-300)
            # where l is flat, it is steeper farther from the root
            step = max(min(1.1 * (step + need / slope), step + _LONGEST / float(self.shift[0])), 2.0 * step, 4 * ULP * abs(x))
            if not step < _FARTHEST:
                break
        return side * np.inf

    def _powers(self, x: Array) -> Array:
        return self.shifts * x[:, None] - self.shifts * self.shifts / 2

    def _shares(self, x: Array, value: Array) -> Array:
        return np.exp(np.minimum(self.log_weights + self._powers(x) - value[:, None], 0.0))

    def _plain(self, y: Array) -> NDArray[np.bool_]:
        """Which terms p_i (e^y - 1) are computed directly."""
        return (y < LARGE) & (self.weights > 1e-290)

    def _by_parts(self, function: Callable[..., Array], *arguments: Array) -> Array:
        """``function`` of the nodes, along the last axis, in blocks; with the axis of the mixture."""
        size = arguments[0].size
        few = max(1, 4 * CHUNK // self.shifts.size)
        found = [function(*(one[first : first + few] for one in arguments)) for first in range(0, max(size, 1), few)]
        return np.concatenate(found, axis=-1)[None]
