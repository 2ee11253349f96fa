"""Estimates in doubles of the transform of a log-ratio of normal mixtures: they choose lines, and no proof rests on them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arrays import Array
from logphi.certified.route import NotCertifiedError

# measured: nodes per unit, and their smallest number; derived: their largest number, a hundred megabytes, and how far from the
# outermost centres the density exceeds e^-50 times its mode
_PER_UNIT, _NODES, _MOST, _BEYOND = 6, 161, 1 << 15, 10.0
# the lines that are compared, as shares of the widest; derived: above the largest b, e^{b^2/2} exceeds every gain
_SHARES, _HIGHEST = 0.8 * 2.0 ** (-np.arange(60) / 2), 40.0


@dataclass(frozen=True)
class MixtureInDoubles:
    """A mixture by its shifts and the logarithms of its weights."""

    shifts: tuple[float, ...]
    log_weights: tuple[float, ...]

    def log(self, x: NDArray[Any]) -> NDArray[Any]:
        """Its logarithm, without overflow."""
        c, log_p = np.array(self.shifts), np.array(self.log_weights)
        exponents = log_p - c * c / 2 + c * x[..., None]
        top = exponents.real.max(axis=-1)
        return np.asarray(top + np.log(np.exp(exponents - top[..., None]).sum(axis=-1)))


@dataclass(frozen=True)
class RatioInDoubles:
    """The log-ratio of two mixtures, the second at -x."""

    up: MixtureInDoubles
    down: MixtureInDoubles

    @property
    def largest(self) -> float:
        """The largest shift."""
        return max(*self.up.shifts, *self.down.shifts)

    @lru_cache(maxsize=64)  # noqa: B019 (equal ratios share it, and it is small)
    def log_size(self, c: float) -> float:
        """About log M(c)."""
        x, plain = self._tilted(c)
        peak = float(plain.max())
        return peak + math.log(float(np.exp(plain - peak).sum()) * (x[1] - x[0]) / math.sqrt(2 * math.pi))

    @lru_cache(maxsize=64)  # noqa: B019 (as above)
    def falling(self, c: float) -> Callable[[float], tuple[float, float]]:
        """A function of the height: b of about the best line x + ib, and the logarithm of the bound there over M(c)."""
        x, plain = self._tilted(c)
        weights = np.exp(plain - plain.max())
        total = float(weights.sum())
        b = np.minimum(math.pi / 2 / self.largest, _HIGHEST) * _SHARES
        place = x + 1j * b[:, None]
        u, v = self.up.log(place), self.down.log(-place)
        sizes = (1 + c) * u.real - c * v.real - x * x / 2 - plain + b[:, None] ** 2 / 2
        turns = u.imag - v.imag

        def best(height: float) -> tuple[float, float]:
            exponents = sizes - height * turns
            top = exponents.max(axis=1)
            with np.errstate(under="ignore"):  # terms below every double do not matter to an estimate
                change = (np.expm1(exponents) * weights).sum(axis=1) / total
                left = (np.exp(exponents - top[:, None]) * weights).sum(axis=1) / total
            # a small fall is computed as a difference, a large one as a product
            falls = np.where(change > -0.5, np.log1p(np.maximum(change, -0.5)), top + np.log(left))
            least = int(np.argmin(falls))
            return float(b[least]), float(falls[least])

        return best

    def _tilted(self, c: float) -> tuple[Array, Array]:
        """Nodes, and the logarithm of the integrand there."""
        far = (1 + c) * max(self.up.shifts) + _BEYOND
        near = -c * max(self.down.shifts) - _BEYOND
        size = max(_NODES, int(_PER_UNIT * (far - near)))
        if size > _MOST:
            raise NotCertifiedError("this epsilon is next to the largest loss, where no line of nodes resolves it")
        x = np.linspace(near, far, size)
        return x, ((1 + c) * self.up.log(x) - c * self.down.log(-x)).real - x * x / 2
