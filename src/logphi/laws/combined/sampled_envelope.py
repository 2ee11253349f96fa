"""The decay of the transform of a sampled law along a line, if its base has a normal component.

notation: b = A + B e^L, w = a + 1 + it, F(t) = |E[b^w]|; f the density of L under Q, M its transform, m^2 the variance of the
normal part of L, so that |M(s + iy)| <= M(s) e^{-m^2 y^2 / 2}.

* High up the line: b^w = (1/w) (1 + (A/B) e^{-x}) d(b^w)/dx, so that J integrations by parts give E[b^w] = w^{-J} times the
  integral of g b^w, where g has the transform of a sum over j <= J of a_j(s) (A/B)^j M(s - j), with the bound
  |a_j(s)| <= binom(J, j) (|s| + J)^J. By the inequality of Cauchy and Schwarz and Parseval's formula, for any kappa > 0 and
  N(s)^2 the integral of |g^(s + iy)|^2 / 2 pi,

      (integral of |g| e^{sx})^2 <= pi / (4 kappa) (N(s + kappa)^2 + N(s - kappa)^2),

  and b^{a+1} is at most (1 - r)^{-a} A^{a+1} + r^{-a} (B e^x)^{a+1} for 0 < r < 1 by convexity, for 0 <= a + 1 < 1 the same
  without factors, and for a + 1 < 0 the first term.
* Between: values of K bound it on blocks (:mod:`logphi.laws.block_envelope`).
* Near the axis: G = 1 - (F/F(0))^2 has G(2t) <= 4 G(t), as 1 - cos(2x) <= 4 (1 - cos x).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import gammaln

from logphi.arith.floats import FLOATS, LOG_ROOT_TWO_PI
from logphi.arrays import Array
from logphi.laws.block_envelope import log_block_from
from logphi.laws.combined.parameters import normal_shift
from logphi.laws.transform import LossTransform
from logphi.quadrature.mellin_barnes.transform import MixedMoments

# chosen: the number of integrations by parts
_ORDERS = np.arange(1, 13)
# measured: the first height of the blocks, in units of one over the law's deviation
_START = 0.3
# measured: the size of a block in the same units
_BLOCK = 0.2
# measured: the depth at which the blocks end
_DEPTH = -1.5
# chosen: the largest number of blocks
_MOST_BLOCKS = 600
# chosen: how often heights are halved towards the axis
_HALVINGS = 40
# chosen: the values of r that are tried
_SHARES = np.array([0.5, 0.2, 0.05, 1e-2, 1e-3, 1e-4])
# chosen: the number of cached abscissas
_REMEMBERED = 64


@dataclass(frozen=True)
class Table:
    """Heights from zero on, bounds of log F(t) - log F(0) from each height on, and the bound for large heights."""

    heights: Array
    bounds: Array
    far: Array

    def at(self, heights: Array) -> Array:
        """The bound from each height on."""
        index = np.searchsorted(self.heights, heights, side="right") - 1
        return np.minimum(np.minimum(self.bounds[index], _far_at(self.far, heights)), 0.0)


@dataclass(frozen=True)
class Envelope:
    """The bounds of the decay of one law."""

    base: LossTransform
    mixing: MixedMoments

    def at(self, abscissa: float, heights: Array) -> Array:
        """The envelope; zero if none is known."""
        table = _table_of(self, abscissa)
        return np.zeros_like(heights) if table is None else table.at(heights)

    def is_known(self, a: float) -> bool:
        """Whether a line has bounds, without their computation."""
        return self._frame(a) is not None

    def table(self, a: float) -> Table | None:
        """The bounds on one line; None without a normal component, or if too little is known."""
        frame = self._frame(a)
        if frame is None:
            return None
        height, far, spread, edges = frame
        centres, radii = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2 * (1 + 1e-12)
        sizes = np.concatenate([self._log_sizes(a, part) for part in _octaves(centres)]) - height
        blocks = log_block_from(sizes, math.sqrt(2) * spread * (1 + 1e-9), radii)
        blocks = np.minimum(blocks, _far_at(far, edges[:-1]))
        # towards the axis
        lowest = edges[:-1] < 2 * edges[0]
        gaps = -np.expm1(2 * blocks[lowest]) * (1 - 1e-9)
        halvings = np.arange(_HALVINGS, 0, -1)[:, None]
        inner = (0.5 * np.log1p(-gaps / 4.0**halvings)).ravel()
        lowest_heights = (edges[:-1][lowest] / 2.0**halvings).ravel()
        heights = np.concatenate([[0.0], lowest_heights, edges])
        bounds = np.concatenate([[0.0], inner, blocks, [float(_far_at(far, edges[-1:])[0])]])
        order = np.argsort(heights, kind="stable")
        return Table(heights[order], np.maximum.accumulate(bounds[order][::-1])[::-1], far)

    def _frame(self, a: float) -> tuple[float, Array, float, Array] | None:
        """The logarithm of F at the axis, the bounds far up, the deviation, and the edges of the blocks."""
        m = normal_part(self.base)
        if m == 0:
            return None
        near = self.mixing.at(a, np.zeros(1))
        size = float(near.rounding[0] + near.inner[0])
        height = _log_one_plus(near.scale, float(near.excess[0].real) - size)
        far = self._far(a, m) - height if math.isfinite(height) else np.full(_ORDERS.shape, np.inf)
        spread = self._deviation(a)
        if not (np.isfinite(far).any() and 0 < spread < math.inf):
            return None
        edges = _edges(_START / spread, float(np.exp(((far - _DEPTH) / _ORDERS).min())), spread)
        return None if edges is None else (height, far, spread, edges)

    def _log_sizes(self, a: float, heights: Array) -> Array:
        """Upper bounds of log F."""
        found = self.mixing.at(a, heights)
        with np.errstate(divide="ignore"):  # the relative error of zero
            size = np.abs(found.excess + math.exp(-found.scale)) + found.rounding + found.inner
            return np.asarray(np.log(size) + found.scale + 1e-14 * (1 + abs(found.scale)))

    def _deviation(self, a: float) -> float:
        """A bound of the standard deviation of the law tilted by e^{ax}, from K at three points."""
        near = self.mixing.approximate(a + 1e-3 * np.array([-1.0, 0.0, 1.0]))
        curvature = float(near[0] + near[2] - 2 * near[1]) * 1e6
        if not 0 < curvature < math.inf:
            return math.inf
        d = min(0.3 / math.sqrt(curvature), 0.5)
        logs = []
        for abscissa, side in ((a - d, 1), (a, -1), (a + d, 1)):
            one = self.mixing.at(abscissa, np.zeros(1))
            size = float(one.rounding[0] + one.inner[0])
            logs.append(_log_one_plus(one.scale, float(one.excess[0].real) + side * size) if math.isfinite(size) else math.nan)
        low, middle, high = logs
        if not all(map(math.isfinite, logs)):
            return math.inf
        centre = (high - low) / 2
        square = (math.expm1(high - middle - centre) + math.expm1(low - middle + centre)) * (1 + 1e-9) / d**2
        return math.sqrt(max(square + 1e-15 * (abs(middle) + 1) / d**2, 0.0))

    def _far(self, a: float, m: float) -> Array:
        """The logarithm log C_J, where F(t) <= C_J |t|^{-J}."""
        log_a, log_b = math.log1p(-self.mixing.rate), math.log(self.mixing.rate)
        if float(self.mixing.base.support.masses[1].mid[0]) < 0:
            # a law with an atom does not decay
            return np.full(_ORDERS.shape, np.inf)
        p, kappa = a + 1, 1 / m
        small = p * log_a + self._log_total(0.0, kappa, m, log_a - log_b)
        if p < 0:
            return small
        large = p * log_b + self._log_total(p, kappa, m, log_a - log_b)
        if p < 1:
            return np.asarray(np.logaddexp(small, large) + 1e-9)
        shares = _SHARES[:, None]
        return np.asarray(
            np.logaddexp(small - (p - 1) * np.log1p(-shares), large - (p - 1) * np.log(shares)).min(axis=0) + 1e-9
        )

    def _log_total(self, s: float, kappa: float, m: float, log_ratio: float) -> Array:
        """The logarithm of a bound of the integral of |g| e^{sx} for each order."""
        sides = [2 * self._log_norm(s + side * kappa, m, log_ratio) for side in (-1, 1)]
        return np.asarray(0.5 * (np.logaddexp(*sides) + math.log(math.pi / (4 * kappa))) + 1e-9)

    def _log_norm(self, s: float, m: float, log_ratio: float) -> Array:
        """The logarithm of a bound of N(s) for each order."""
        points = s - np.arange(_ORDERS[-1] + 1)
        values = self.base.log_transform(points - 1)
        moments = values.mid.real + values.radius
        moments = np.where(np.isnan(moments), np.inf, moments)
        found = []
        for order in _ORDERS.tolist():
            j = np.arange(order + 1)
            binomial = gammaln(order + 1) - gammaln(j + 1) - gammaln(order - j + 1)
            sizes = np.full(order + 1, abs(s) + order)
            squares = np.logaddexp(
                2 * order * np.log(sizes) + 0.5 * math.log(math.pi) - math.log(m),
                gammaln(order + 0.5) - (2 * order + 1) * math.log(m),
            )
            squares = squares + (2 * order - 1) * math.log(2.0)
            found.append(np.logaddexp.reduce(binomial + j * log_ratio + moments[: order + 1] + squares / 2))
        return np.array(found) - LOG_ROOT_TWO_PI + 1e-9


@lru_cache(maxsize=_REMEMBERED)
def _table_of(envelope: Envelope, abscissa: float) -> Table | None:
    return envelope.table(abscissa)


def normal_part(base: LossTransform) -> float:
    """The largest deviation of a normal component of a sum, rounded down."""
    if base.traits.estimated:
        return _apparent_part(base)
    terms: Iterable[tuple[LossTransform, int]] = getattr(base, "terms", ((base, 1),))
    total = 0.0
    for law, count in terms:
        shift = normal_shift(law)
        if shift is not None:
            disc = shift.under(FLOATS)
            total += count * max(float(disc.mid - disc.rad), 0.0) ** 2
    return math.sqrt(total) * (1 - 1e-12)


def _apparent_part(base: LossTransform) -> float:
    """An estimate of the normal part, from the envelope of a law whose values are themselves estimates."""
    heights = np.geomspace(1e-3, 1e3, 200)
    falls = base.log_envelope(-0.5, heights)
    seen = (falls < -1) & (falls > -30)
    return math.sqrt(float((-2 * falls[seen] / heights[seen] ** 2).min(initial=math.inf))) * 0.99 if seen.any() else 0.0


def _far_at(far: Array, heights: Array) -> Array:
    with np.errstate(divide="ignore"):  # nothing is known at zero
        return np.asarray((far - _ORDERS * np.log(heights[:, None])).min(axis=1))


def _edges(start: float, last: float, spread: float) -> Array | None:
    """Edges of blocks between two heights: short blocks where F is near F(0); None if there would be too many."""
    edges = [start]
    while edges[-1] < max(last, 2 * start):
        scaled = edges[-1] * spread
        edges.append(edges[-1] + _BLOCK * min(scaled * scaled, 2.0) / spread)
        if len(edges) > _MOST_BLOCKS:
            return None
    return np.array(edges)


def _octaves(heights: Array) -> list[Array]:
    """Ascending heights, split into parts whose ends differ by at most a factor of two."""
    octave = np.floor(np.log2(heights / heights[0]))
    return np.split(heights, np.flatnonzero(np.diff(octave)) + 1)


def _log_one_plus(scale: float, excess: float) -> float:
    """log(1 + excess e^scale)."""
    inside = math.exp(-scale) + excess
    return (math.log1p(excess) if not scale else scale + math.log(inside)) if inside > 0 else -math.inf
