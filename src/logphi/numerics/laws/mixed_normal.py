"""The laws of logarithms of mixtures of two shifted normal densities, many at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import FLOATS
from logphi.arith.protocol import Arithmetic, Number, Parameter
from logphi.numerics.inner import Mixtures, at_heights, log_masses, on_axis, on_line, sketch
from logphi.numerics.law import Law, Line, Values
from logphi.numerics.laws.normal import Normal
from logphi.numerics.tails import log_layered_envelope, log_smooth_envelope


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

    @cached_property
    def constants(self) -> tuple[float, float]:
        """The shift and the rate as doubles."""
        return float(self.shift.under(FLOATS).mid), float(self.rate.under(FLOATS).mid)

    @property
    def infimum(self) -> float:
        """log(1 - q), lowered by what half an ulp of q may do."""
        q = self.constants[1]
        return float(np.log1p(-q)) * (1 + 1e-15) - 2.0**-52 * q / (1 - q)

    @property
    def slack(self) -> float:
        """What half an ulp of q may do, twice."""
        q = self.constants[1]
        return 2.0**-50 * q / (1 - q) + 4e-15 * abs(self.infimum)

    @property
    def unmixed(self) -> tuple[Law, Parameter]:
        """The normal law of the shift, and the rate."""
        return Normal(self.shift), self.rate

    @staticmethod
    def together(terms: Sequence[tuple[Law, int]]) -> Law:
        """One law for all."""
        return MixedNormals(tuple((law, count) for law, count in terms if isinstance(law, MixedNormal)))

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K at any points."""
        return MixedNormals(((self, 1),), count).log_transform(z)


@dataclass(frozen=True)
class MixedNormals(Law):
    """The sum of counted :class:`MixedNormal` laws, computed on common grids.

    ``repeats`` is how often the sum itself will be repeated: the inner integral is made that much more accurate.
    """

    terms: tuple[tuple[MixedNormal, int], ...]
    repeats: int = 1

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z)."""
        return sum((count * law.formula(arith, z) for law, count in self.terms), 0 * z)

    @cached_property
    def mixtures(self) -> Mixtures:
        """The parameters as arrays."""
        constants = np.array([law.constants for law, _ in self.terms])
        counts = np.array([float(count * self.repeats) for _, count in self.terms])
        return Mixtures(constants[:, 0], constants[:, 1], counts)

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K at any points, one grid per abscissa."""
        z = np.asarray(z)
        if not np.iscomplexobj(z):
            values = on_axis(self.mixtures, z.ravel())
            parts = np.stack([values.mid, values.rounding, values.inner])
        else:
            parts = np.full((3, z.size), np.inf, dtype=complex)
            abscissas, place = np.unique(z.real.ravel(), return_inverse=True)
            for i, abscissa in enumerate(abscissas):
                here = place.ravel() == i
                values = at_heights(self.mixtures, float(abscissa), z.imag.ravel()[here])
                parts[:, here] = np.stack([values.mid, values.rounding, values.inner])
        mid, rounding, inner = parts.reshape((3, *z.shape))
        return Values(mid / self.repeats, rounding.real / self.repeats, inner.real / self.repeats)

    def sketch(self, c: NDArray[np.float64], count: int = 1) -> NDArray[np.float64]:
        """K at real points, from a coarse grid."""
        return sketch(self.mixtures, c) / self.repeats

    def on_line(self, line: Line, count: int = 1) -> Values:
        """K on a vertical line, as matrix products."""
        return on_line(self.mixtures, line)

    def log_envelope(self, abscissa: float, heights: NDArray[np.float64], end: float = np.inf) -> NDArray[np.float64]:
        """From blocks below the tilted densities of the log-ratios, and from their total variation."""
        total = np.zeros_like(heights)
        for part in self.mixtures.chunks(4 * _LEVELS.size * heights.size):
            shape = _shape(part, abscissa)
            blocks = log_layered_envelope(shape.widths, shape.masses, heights)
            total += part.count @ np.minimum(blocks, log_smooth_envelope(shape.variation[:, None], heights))
        return total


# measured: levels, relative to the largest value, at which the density is cut into blocks
_LEVELS = np.concatenate([np.geomspace(1e-6, 0.3, 18), np.linspace(0.38, 0.96, 8)])


@dataclass(frozen=True)
class Shape:
    """What is known of tilted densities: total variation from above, and uniform blocks below them."""

    variation: NDArray[np.float64]
    widths: NDArray[np.float64]
    masses: NDArray[np.float64]


def _shape(mixtures: Mixtures, abscissa: float) -> Shape:
    """Bounds from a grid over the range of the maxima and some tails.

    In the standard normal variable x the density of the log-ratio is G = w^{c+2} phi(x) e^{-y} / (m q M(c)),
    y = m x - m^2/2. The derivative of log G is (c+2) m s - x - m with the logistic curve s = q e^y / w, convex in x below
    s = 1/2 and concave above: at most one local maximum on either side, and a single one when (c+2) m^2 <= 4.
    """
    m, q = mixtures.shift[:, None], mixtures.rate[:, None]
    widest = float(mixtures.shift.max())
    ends = sorted((-widest, widest * (abscissa + 1)))
    low, high = min(ends[0], 0.0) - 5, max(ends[1], 0.0) + 5
    x, gap = np.linspace(low, high, int(np.clip(8 * (high - low), 64, 4096)), retstep=True)
    least, most = log_masses(mixtures, abscissa)
    if gap > 0.25 or not np.isfinite(most).all():
        nothing = np.zeros((m.size, 1))
        return Shape(np.full(m.size, 1e300), nothing, nothing)
    y = m * x - m * m / 2
    log_w = np.where(y < 600, np.log1p(q * np.expm1(np.minimum(y, 600))), np.log(q) + y)
    # log G is this less K(c)
    log_g = (abscissa + 2) * log_w - x * x / 2 - y - np.log(m * np.sqrt(2 * np.pi) * q)

    # a local maximum lies within one gap of a node of its own side, and log G falls from it with curvature at most this
    curvature = 1 + np.maximum(0.0, -(abscissa + 2)) * m[:, 0] ** 2 / 4
    rise = curvature * float(gap) ** 2 / 2 + 1e-6
    low_side = np.log(q) + y - log_w < np.log(0.5)
    sides = [np.where(side, log_g, -np.inf) for side in (low_side, ~low_side)]
    tops = np.stack([side.max(axis=1) for side in sides])
    single = (abscissa + 2) * m[:, 0] ** 2 <= 4
    log_variation = np.where(single, tops.max(axis=0), np.logaddexp(*tops)) + rise + np.log(2) - least

    # a run of nodes above a level is an interval above it, but for what the curvature between nodes can take
    bend = np.maximum(0.0, (abscissa + 2) * m * m / 4 - 1) * float(gap) ** 2 / 8
    level = tops.max(axis=0)[:, None] + np.log(_LEVELS)
    heights = np.diff(np.exp(level - bend - most[:, None]), axis=1, prepend=0.0)
    nodes = np.stack([side.argmax(axis=1) for side in sides])
    peak, other = (np.take_along_axis(nodes, side[None, :], axis=0)[0] for side in (tops.argmax(axis=0), tops.argmin(axis=0)))
    above = log_g[:, None, :] >= level[:, :, None]
    first, last = _run(above, peak)
    first_other, last_other = _run(above, other)
    apart = (first_other > last) | (last_other < first)
    widths = np.concatenate([_span(log_w, first, last), np.where(apart, _span(log_w, first_other, last_other), 0.0)], axis=1)
    masses = np.concatenate([heights, heights], axis=1) * widths
    return Shape(np.exp(np.minimum(log_variation, 600.0)), widths * (1 - 1e-9), masses * (1 - 1e-9))


def _run(above: NDArray[np.bool_], node: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First and last node of the run of True around a node; the node itself where it is not True."""
    index = np.arange(above.shape[2])
    centre = node[:, None, None]
    first = np.where(~above & (index <= centre), index, -1).max(axis=2) + 1
    last = np.where(~above & (index >= centre), index, index.size).min(axis=2) - 1
    empty = first > last
    return np.where(empty, node[:, None], first), np.where(empty, node[:, None], last)


def _span(log_w: NDArray[np.float64], first: NDArray[np.intp], last: NDArray[np.intp]) -> NDArray[np.float64]:
    return np.take_along_axis(log_w, last, axis=1) - np.take_along_axis(log_w, first, axis=1)
