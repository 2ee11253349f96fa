"""An estimate of how the transform of a log-ratio of normal mixtures of both signs falls, from integrals on shifted lines.

No bound rests on it, as there is none of its error. It goes on where the envelopes of this room stop: far below all rounding,
where a proof in balls needs a line.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from logphi.arrays import Array
from logphi.quadrature.mixtures.many_components import ManyComponents

# measured: the number of nodes per unit
_PER_UNIT = 6
# measured: the smallest number of nodes
_NODES = 161
# derived: more nodes take over a hundred megabytes
_MOST = 1 << 15
# derived: this far from the outermost centres the density is below e^-50 times its mode
_BEYOND = 10.0
# chosen: the lines that are compared, as shares of the widest
_SHARES = 0.8 * 2.0 ** (-np.arange(60) / 2)
# derived: above this b, e^{b^2/2} exceeds every gain
_HIGHEST = 40.0


@dataclass(frozen=True, eq=False)
class ShiftedLines:
    """The integrands on lines x + ib over that on the real axis: e^(size - height turn) by line and node, under ``weights``."""

    b: Array
    sizes: Array
    turns: Array
    weights: Array

    def best(self, height: float) -> tuple[float, float]:
        """The b of about the best line, and the logarithm of the bound there over M(c)."""
        exponents = self.sizes - height * self.turns
        top = exponents.max(axis=1)
        with np.errstate(under="ignore"):  # terms below every double do not matter to an estimate
            change = (np.expm1(exponents) * self.weights).sum(axis=1)
            left = (np.exp(exponents - top[:, None]) * self.weights).sum(axis=1)
        # a small fall is computed as a difference, a large one as a product
        falls = np.where(change > -0.5, np.log1p(np.maximum(change, -0.5)), top + np.log(left))
        least = int(np.argmin(falls))
        return float(self.b[least]), float(falls[least])


@dataclass(frozen=True, eq=False)
class OppositeMixtures:
    """The log-ratio of two mixtures of shifts that are not negative, the second at -x; None is N(0, 1) alone."""

    up: ManyComponents | None
    down: ManyComponents | None

    @property
    def largest(self) -> float:
        """The largest shift."""
        return max(one.widest for one in (self.up, self.down) if one is not None)

    def points(self, c: float) -> Array | None:
        """Points that cover nearly all of the law tilted by c; None if there are too many."""
        far = (1 + c) * (self.up.widest if self.up else 0.0) + _BEYOND
        near = -c * (self.down.widest if self.down else 0.0) - _BEYOND
        size = max(_NODES, int(_PER_UNIT * (far - near)))
        return np.linspace(near, far, size) if size <= _MOST else None


@lru_cache(maxsize=64)
def shifted_lines(ratio: OppositeMixtures, c: float) -> ShiftedLines | None:
    """The lines of a log-ratio under the tilt by c; None if they have too many points."""
    x = ratio.points(c)
    if x is None:
        return None
    b = np.minimum(math.pi / 2 / ratio.largest, _HIGHEST) * _SHARES
    (u, up_turns, up_sizes), (v, down_turns, down_sizes) = _continued(ratio.up, x, b), _continued(ratio.down, -x, b)
    exponent = (1 + c) * u - c * v - x * x / 2
    weights = np.exp(exponent - exponent.max())
    sizes = (1 + c) * up_sizes - c * down_sizes + b[:, None] ** 2 / 2
    return ShiftedLines(b, sizes, up_turns + down_turns, weights / weights.sum())


def _continued(mixture: ManyComponents | None, x: Array, b: Array) -> tuple[Array, Array, Array]:
    """The logarithm at x, and at x + ib, for each b, its imaginary part and the change of its real part."""
    if mixture is None:
        return np.zeros(x.shape), np.zeros((b.size, x.size)), np.zeros((b.size, x.size))
    value = mixture.value(x)
    turns, sizes = mixture.continued(x, value, b[None] * mixture.widest)
    return value[0], turns[0], sizes[0]
