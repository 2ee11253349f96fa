"""An estimate of how the transform of a log-ratio of normal mixtures falls: it chooses shifted lines, and no proof rests on it.

The envelopes of :mod:`logphi.quadrature` are proved, and stop where rounding does; certificates need lines far below that.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from logphi.arrays import Array
from logphi.certified.route import NotCertifiedError
from logphi.quadrature.many_components import ManyComponents

# measured: nodes per unit, and their smallest number; derived: their largest number, a hundred megabytes, and how far from the
# outermost centres the density exceeds e^-50 times its mode
_PER_UNIT, _NODES, _MOST, _BEYOND = 6, 161, 1 << 15, 10.0
# the lines that are compared, as shares of the widest; derived: above the largest b, e^{b^2/2} exceeds every gain
_SHARES, _HIGHEST = 0.8 * 2.0 ** (-np.arange(60) / 2), 40.0


@dataclass(frozen=True, eq=False)
class RatioInDoubles:
    """The log-ratio of two mixtures, the second at -x; None is N(0, 1) alone, whose logarithm is zero."""

    up: ManyComponents | None
    down: ManyComponents | None

    @property
    def largest(self) -> float:
        """The largest shift."""
        return max(one.widest for one in (self.up, self.down) if one is not None)

    def interval(self, c: float) -> tuple[float, float, int]:
        """The ends of an interval that holds nearly all of the law tilted by c, and a number of nodes.

        Raises
        ------
        NotCertifiedError
            If it is too long for any line of nodes.
        """
        far = (1 + c) * (self.up.widest if self.up else 0.0) + _BEYOND
        near = -c * (self.down.widest if self.down else 0.0) - _BEYOND
        size = max(_NODES, int(_PER_UNIT * (far - near)))
        if size > _MOST:
            raise NotCertifiedError("this epsilon is next to the largest loss, where no line of nodes resolves it")
        return near, far, size

    @lru_cache(maxsize=64)  # noqa: B019 (the lines of 64 ratios are kept)
    def falling(self, c: float) -> Callable[[float], tuple[float, float]]:
        """A function of the height: b of about the best line x + ib, and the logarithm of the bound there over M(c)."""
        x = np.linspace(*self.interval(c))
        b = np.minimum(math.pi / 2 / self.largest, _HIGHEST) * _SHARES
        (u, up_turns, up_sizes), (v, down_turns, down_sizes) = _continued(self.up, x, b), _continued(self.down, -x, b)
        exponent = (1 + c) * u - c * v - x * x / 2
        weights = np.exp(exponent - exponent.max())
        total = float(weights.sum())
        sizes, turns = (1 + c) * up_sizes - c * down_sizes + b[:, None] ** 2 / 2, up_turns + down_turns

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


def _continued(mixture: ManyComponents | None, x: Array, b: Array) -> tuple[Array, Array, Array]:
    """The logarithm at x, and at x + ib, for each b, its imaginary part and the change of its real part."""
    if mixture is None:
        return np.zeros(x.shape), np.zeros((b.size, x.size)), np.zeros((b.size, x.size))
    value = mixture.value(x)
    turns, sizes = mixture.continued(x, value, b[None] * mixture.widest)
    return value[0], turns[0], sizes[0]
