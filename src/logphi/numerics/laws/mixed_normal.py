"""The law of the logarithm of a mixture of two shifted normal densities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import FLOATS
from logphi.arith.protocol import Arithmetic, Number, Parameter
from logphi.numerics.inner import on_axis, sketch, tilted
from logphi.numerics.law import Law, Line, Values
from logphi.numerics.laws.normal import Normal
from logphi.numerics.tails import log_smooth_envelope


@dataclass(frozen=True)
class MixedNormal(Law):
    """The log-ratio of (1 - q) N(0, 1) + q N(m, 1) to N(0, 1), under the former: K(z) = log E[w^{z+1}].

    Here w = 1 - q + q e^{m X - m^2/2} with X standard normal; q < 1.
    """

    shift: Parameter
    rate: Parameter

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z)."""
        m, q = self.shift.under(arith), self.rate.under(arith)
        return arith.log_normal_mean(lambda x: (1 - q + q * arith.exp(m * x - m * m / 2)) ** (z + 1))

    @property
    def constants(self) -> tuple[float, float]:
        """The shift and the rate as doubles."""
        return float(self.shift.under(FLOATS).mid), float(self.rate.under(FLOATS).mid)

    @property
    def infimum(self) -> float:
        """log(1 - q)."""
        return float(np.log1p(-self.constants[1])) * (1 + 1e-15)

    @property
    def unmixed(self) -> tuple[Law, Parameter]:
        """The normal law of the shift, and the rate."""
        return Normal(self.shift), self.rate

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K at any points, one grid per abscissa."""
        z = np.asarray(z)
        if not np.iscomplexobj(z):
            values = on_axis(*self.constants, z.ravel(), count)
            return Values(values.mid.reshape(z.shape), values.rounding.reshape(z.shape), values.inner.reshape(z.shape))
        parts = np.full((3, z.size), np.inf, dtype=complex)
        abscissas, place = np.unique(z.real.ravel(), return_inverse=True)
        for i, abscissa in enumerate(abscissas):
            here = place.ravel() == i
            heights = z.imag.ravel()[here]
            grid = tilted(*self.constants, float(abscissa), float(np.abs(heights).max()), count)
            if grid is not None:
                values = grid.at(heights)
                parts[:, here] = np.stack([values.mid, values.rounding, values.inner])
        mid, rounding, inner = parts.reshape((3, *z.shape))
        return Values(mid, rounding.real, inner.real)

    def sketch(self, c: NDArray[np.float64], count: int = 1) -> NDArray[np.float64]:
        """K at real points, from a coarse grid."""
        return sketch(*self.constants, c, count)

    def on_line(self, line: Line, count: int = 1) -> Values:
        """K on a vertical line, as one matrix product."""
        grid = tilted(*self.constants, line.abscissa, line.step * line.size, count)
        if grid is None:
            unknown = np.full(line.size, np.inf)
            return Values(unknown.astype(complex), unknown, unknown)
        return grid.on(line)

    def log_envelope(self, abscissa: float, heights: NDArray[np.float64], end: float = np.inf) -> NDArray[np.float64]:
        """From the total variation of the tilted density of the log-ratio.

        In the standard normal variable x that density is G = w^{c+2} phi(x) e^{-y} / (m q M(c)), y = m x - m^2/2. The
        derivative of log G is (c+2) m s - x - m with the logistic curve s = q e^y / w, convex in x below s = 1/2 and
        concave above: at most one local maximum on either side, and a single one when (c+2) m^2 <= 4.
        """
        m, q = self.constants
        grid = tilted(m, q, abscissa, 1.0, 1)
        ends = sorted((-m, m * (abscissa + 1)))
        size = int(np.clip(16 * (ends[1] - ends[0]), 64, 4096))
        x, gap = np.linspace(ends[0] - 0.5, ends[1] + 0.5, size, retstep=True)
        if grid is None or gap > 0.25:
            return np.zeros_like(heights)
        y = m * x - m * m / 2
        log_w = np.logaddexp(np.log1p(-q), np.log(q) + y)
        log_g = (abscissa + 2) * log_w - x * x / 2 - y - np.log(m * np.sqrt(2 * np.pi) * q) - grid.log_mass
        # a local maximum lies within one gap of a node of its own side, and log G falls from it with curvature at most this
        curvature = 1 + max(0.0, -(abscissa + 2)) * m * m / 4
        rise = curvature * float(gap) ** 2 / 2 + 1e-6
        low_side = q * np.exp(y - log_w) < 0.5
        sides = [log_g] if (abscissa + 2) * m * m <= 4 else [log_g[low_side], log_g[~low_side]]
        variation = 2 * sum(float(np.exp(np.minimum(side.max() + rise, 600))) for side in sides if side.size)
        return log_smooth_envelope(variation, heights)
