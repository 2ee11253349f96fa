"""Log-ratios of mixtures of shifted normal densities, as functions of a standard normal variable.

notation: w(x) = sum of p_i e^{c_i x - c_i^2/2}, l = log w, X standard normal, so that E[w - 1] = 0; C = max c_i, and
s_i = p_i e^{c_i x - c_i^2/2} / w the shares. l is convex, with slopes sum s_i c_i between 0 and C. At x + i b/C, 0 < b < pi,
the terms of w are turned by angles theta_i = b c_i/C between 0 and b; turned back by b/2 they have real parts of at least
cos(b/2) times their size, so that cos(b/2) w <= |w(x + i b/C)| <= w, and 0 <= arg w(x + i b/C) <= b.

Array axes, in order: mixture, abscissa or height, node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY

Array = NDArray[np.float64]

# below this exponent an exponential does not overflow
_LARGE = 600.0
# measured: arrays of this many numbers stay in the cache and drown the cost of a call
_CHUNK = 1 << 18
# sums over more terms than this are taken in parts
_PART = 64


def product(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """``left @ right`` whose summands pass through few additions each: within parts, then part by part."""
    size = left.shape[-1]
    total: NDArray[Any] = left[..., :_PART] @ right[..., :_PART, :]
    for start in range(_PART, size, _PART):
        part = slice(start, start + _PART)
        total += left[..., part] @ right[..., part, :]
    return total


def roundings(size: int) -> int:
    """Through how many additions a summand of :func:`product` passes at most; pairwise sums need fewer."""
    return min(size, _PART + -(-size // _PART))


@dataclass(frozen=True)
class Mixtures:
    """Shifts, rates and repetitions of some mixtures w = 1 - q + q e^{m x - m^2/2}, one entry each."""

    shift: Array
    rate: Array
    count: Array

    # by how many ulps the parts of a logarithm may exceed those of its arguments
    size = 0.0

    @property
    def floor(self) -> Array:
        """-log of the infimum of w, a column."""
        return -np.log1p(-self.rate)[:, None]

    def chunks(self, size: int, limit: int = _CHUNK) -> Iterator[Mixtures]:
        """Mixtures of like shift together, so many that arrays with ``size`` numbers each stay below the limit."""
        order = np.argsort(self.shift)
        many = max(1, limit // max(size, 1))
        for start in range(0, order.size, many):
            part = order[start : start + many]
            yield Mixtures(self.shift[part], self.rate[part], self.count[part])

    def log_at(self, x: Array | float) -> Array:
        """L at a number, or at an array whose first axis is that of the mixtures: to a few ulps of its largest part."""
        shape = (-1, *(1,) * (max(np.ndim(x), 2) - 1))
        m, q = self.shift.reshape(shape), self.rate.reshape(shape)
        result: Array = np.logaddexp(np.log1p(-q), np.log(q) + m * x - m * m / 2)
        return result

    def slope_at(self, x: Array | float) -> Array:
        """L' at a number or at a column of them."""
        m, q = self.shift[:, None], self.rate[:, None]
        result: Array = m * np.exp(np.minimum(np.log(q) + m * x - m * m / 2 - self.log_at(x), 0.0))
        return result

    def on(self, x: Array) -> Array:
        """L at the nodes x, relatively accurate where it is small."""
        m, q = self.shift[:, None], self.rate[:, None]
        y = m * x - m * m / 2
        growth = np.expm1(np.minimum(y, _LARGE))
        loss: Array = np.where(y < _LARGE, np.log1p(q * growth), np.log(q) + y)
        return loss

    def moved(self, x: Array, loss: Array, turn: float = 0.0) -> Array:
        """The relative error of w at the nodes, turned or not, in units of ``ELEMENTARY`` and beside that of l itself."""
        m, q = self.shift[:, None], self.rate[:, None]
        growth = q * np.expm1(np.minimum(m * x - m * m / 2, _LARGE))
        result: Array = (np.abs(growth) + (growth + q) * (np.abs(m * x) + m * m + turn)) * np.exp(-loss)
        return result

    def bend(self, x: Array, loss: Array) -> tuple[Array, Array]:
        """L' / C and l'' / C^2 at the nodes, to some digits."""
        share = self._share(x, loss)
        return share, share * (1 - share)

    def rotated(self, x: Array, loss: Array, b: Array) -> tuple[Array, Array]:
        """Arg w(x + ib/C) and log |w(x + ib/C)| - l(x), for some b of each mixture at the nodes."""
        share = self._share(x, loss)[:, None, :]
        sine = np.sin(b / 2)[:, :, None]
        turn: Array = np.arctan2(share * np.sin(b)[:, :, None], 1 - 2 * share * sine * sine)
        return turn, 0.5 * np.log1p(-4 * share * (1 - share) * sine * sine)

    def lean(self, x: float, b: Array) -> Array:
        """A bound of arg w(x' + i b'/C) / b' for all x' <= x and b' <= b, at most one; b below pi/2, for each mixture.

        The imaginary part of w is at most b' w'/C, the real part at least p_0 + (w - p_0) cos b; their quotient grows with x.
        """
        m, q = self.shift, self.rate
        odds = q * np.exp(m * x - m * m / 2)
        least: Array = np.minimum(odds / (1 - q + odds * np.cos(b)), 1.0)
        return least

    def _share(self, x: Array, loss: Array) -> Array:
        m, q = self.shift[:, None], self.rate[:, None]
        share: Array = np.exp(np.minimum(np.log(q) + (m * x - m * m / 2) - loss, 0.0))
        return share


@dataclass(frozen=True)
class Blend(Mixtures):
    """One mixture of many shifts: ``shift`` is the largest, ``rate`` the weight of all that are positive, ``rest`` p_0.

    ``shifts`` are positive and distinct, ``weights`` and ``log_weights`` theirs (a weight may be below every double), each
    with a relative error of at most ``blur``, as p_0 has with ``rest_blur``. The exact weights sum to one.
    """

    shifts: Array
    weights: Array
    log_weights: Array
    blur: Array
    log_rest: float
    rest_blur: float

    def repeated(self, count: int) -> Blend:
        """The same, to be repeated."""
        return replace(self, count=np.array([float(count)]))

    @property
    def size(self) -> float:  # type: ignore[override]
        """The largest logarithm of a weight."""
        return float(np.abs(self.log_weights).max())

    @property
    def floor(self) -> Array:
        """-log p_0, infinite where every shift is positive."""
        return np.array([[-self.log_rest]])

    def chunks(self, size: int, limit: int = _CHUNK) -> Iterator[Mixtures]:
        """Itself."""
        yield self

    def log_at(self, x: Array | float) -> Array:
        """As of many mixtures."""
        place = np.asarray(x, dtype=float)
        exponent = self._exponents(place if place.ndim else place.reshape(1, 1))
        peak = np.maximum(exponent.max(axis=-1), self.log_rest)
        total = np.exp(exponent - peak[..., None]).sum(axis=-1) + np.exp(self.log_rest - peak)
        result: Array = peak + np.log(total)
        return result

    def slope_at(self, x: Array | float) -> Array:
        """As of many mixtures."""
        place = np.asarray(x, dtype=float)
        place = place if place.ndim else place.reshape(1, 1)
        share = np.exp(np.minimum(self._exponents(place) - self.log_at(place)[..., None], 0.0))
        result: Array = np.minimum(share @ self.shifts, self.shift[0]) * (1 + 1e-9)
        return result

    def on(self, x: Array) -> Array:
        """As of many mixtures: from w - 1 unless w is small, then from the logarithms of its terms."""

        def part(x: Array) -> Array:
            y, exponent = self._powers(x), self._exponents(x)
            plain = self._plain(y)
            gain = np.where(plain, self.weights * np.expm1(np.where(plain, y, 0.0)), np.exp(np.minimum(exponent, _LARGE)))
            growth = product(gain, np.ones((self.shifts.size, 1)))[:, 0]
            near = self._near(growth, exponent)
            return np.where(near, np.log1p(np.where(near, growth, 0.0)), self.log_at(x))

        return self._by_parts(part, x)

    def moved(self, x: Array, loss: Array, turn: float = 0.0) -> Array:
        """As of many mixtures, with the errors of the weights and of their sum."""

        def part(x: Array, loss: Array) -> Array:
            y, exponent = self._powers(x), self._exponents(x)
            share = np.exp(np.minimum(exponent - loss[:, None], 0.0))
            plain, level = self._plain(y), loss[:, None]
            # the terms that were added up: of w - 1, or of w; next to log 1/2 either
            gain = self.weights * np.abs(np.expm1(np.where(plain, y, 0.0))) * np.exp(-np.maximum(level, -1.0))
            gain = np.where(plain, gain, share)
            added = np.where(level > -0.69, gain, np.where(level < -0.7, share, np.maximum(gain, share)))
            logs = np.where(plain & (level > -0.69), 0.0, np.abs(self.log_weights) + np.abs(exponent))
            unit = 1 + roundings(self.shifts.size) / 8 + self.blur / ELEMENTARY
            angle = turn * self.shifts / self.shift[0]
            steep = np.abs(self.shifts * x[:, None]) + self.shifts * self.shifts + angle * (unit + np.abs(self.log_weights))
            total = (added * unit + share * (steep + logs)).sum(axis=1) * 1.01
            if np.isfinite(self.log_rest):
                rest = np.exp(np.minimum(self.log_rest - loss, 0.0)) * (2 + abs(self.log_rest) + self.rest_blur / ELEMENTARY)
                total += np.where(loss < -0.69, rest, 0.0)
            # what underflows is far below every rounding
            wrong: Array = total + 1e-200
            return wrong

        return self._by_parts(part, x, loss[0])

    def bend(self, x: Array, loss: Array) -> tuple[Array, Array]:
        """As of many mixtures."""
        ratio = self.shifts / self.shift[0]

        def part(x: Array, loss: Array) -> Array:
            share = self._shares(x, loss)
            mean = share @ ratio
            return np.stack([mean, np.maximum(share @ (ratio * ratio) - mean * mean, 0.0)])

        mean, variance = self._by_parts(part, x, loss[0])[0]
        return mean[None], variance[None]

    def rotated(self, x: Array, loss: Array, b: Array) -> tuple[Array, Array]:
        """As of many mixtures; the logarithm errs by some ulps of the mean square of the angles."""
        angle = b.T * (self.shifts / self.shift[0])

        def part(x: Array, loss: Array) -> Array:
            share = self._shares(x, loss)
            sine, back = product(share, np.sin(angle).T), product(share, 2 * np.sin(angle / 2).T ** 2)
            less = back * (back - 2) + sine * sine
            return np.stack([np.arctan2(sine, 1 - back).T, 0.5 * np.log1p(np.minimum(less, 0.0)).T])

        turn, size = self._by_parts(part, x, loss[0])[0]
        return turn[None], size[None]

    def lean(self, x: float, b: Array) -> Array:
        """As of many mixtures."""
        cosine = np.cos(b)
        rest = float(np.exp(self.log_rest - self.log_at(x)[0, 0]))
        least: Array = np.minimum(self.slope_at(x)[0] / self.shift / (rest + cosine * (1 - rest)), 1.0)
        return least

    def _powers(self, x: Array) -> Array:
        return self.shifts * x[..., None] - self.shifts * self.shifts / 2

    def _exponents(self, x: Array) -> Array:
        return self.log_weights + self._powers(x)

    def _shares(self, x: Array, loss: Array) -> Array:
        return np.exp(np.minimum(self._exponents(x) - loss[:, None], 0.0))

    def _plain(self, y: Array) -> NDArray[np.bool_]:
        """Where p_i (e^y - 1) is formed as it stands."""
        return (y < _LARGE) & (self.weights > 1e-290)

    @staticmethod
    def _near(growth: Array, exponent: Array) -> NDArray[np.bool_]:
        near: NDArray[np.bool_] = (growth > -0.5) & (exponent.max(axis=-1) < _LARGE)
        return near

    def _by_parts(self, function: Callable[..., Array], *arguments: Array) -> Array:
        """``function`` of the nodes, along the last axis, a few at a time; with the axis of the mixture."""
        size = arguments[0].size
        few = max(1, 4 * _CHUNK // self.shifts.size)
        found = [function(*(one[first : first + few] for one in arguments)) for first in range(0, size, few)]
        return np.concatenate(found, axis=-1)[None]
