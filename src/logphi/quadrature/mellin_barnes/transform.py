"""Moments E[(A + B e^L)^w] of a mixture of likelihood ratios on a vertical line, from the transform of L alone.

notation: M(s) = E[e^{sL}; L > -inf] under Q, w = a + 1 + it, b = A + B e^L with A + B = 1. Mellin and Barnes write

    E[b^w; L > -inf] = sum over j < c of binom(w, j) A^{w-j} B^j M(j)
                       + sum over k < a + 1 - c of binom(w, k) A^k B^{w-k} M(w - k)
                       + (1/2 pi i) integral over Re s = c of F(s) ds,
    F(s) = Gamma(-s) Gamma(s - w) / Gamma(-w) A^{w-s} B^s M(s),      c none of 0, 1, 2, ... and of a + 1, a, a - 1, ...

Small losses contribute to the first sum, large ones to the second. The integral is E[phi(L)], phi(x) the difference of b^w and
the terms of both power series.
Every error of the trapezoidal rule with the step h is bounded:

* aliasing: by Poisson summation it is the sum of e^{-cX} E[phi(L + X)] over X = 2 pi l / h, l not 0. With J and K the last j
  and k, phi is to the left at most the next term of the first series, binom(w, J + 1) (B e^x)^{J+1} times the largest
  (A + v)^{a-J}, 0 <= v <= B e^x, and all terms of the second, and to the right the same with both exchanged.
* truncation: |Gamma(x + iy)| falls with |y|, by e^{-arctan(y / max(x, 1))} for each unit at least, and for x > 0 it is at most
  (2 pi)^{1/2} |x + iy|^{x - 1/2} e^{-pi |y| / 2 + 1/(6 |x + iy|)} by Stirling's series; |M(s)| falls as its envelope says.
* rounding: every factor has a relative error, which the sum of the sizes of all terms makes absolute.

The result is E[b^w] - 1, in which the terms j = 0, 1 are combined without cancellation: for a small B it is of the size B^2.

The file is longer than others because the sum and its error bounds share all factors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import as_strided
from scipy.special import gammaln

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arrays import Array, Complex
from logphi.quadrature.log_gamma import log_gamma, reciprocal_gamma
from logphi.quadrature.mellin_barnes.approximation import approximate
from logphi.quadrature.mellin_barnes.lines import ROOM, MixedRatio, exp, expm1
from logphi.quadrature.mellin_barnes.series import Series, exact_steps
from logphi.quadrature.values import Line, Values, exact_step

# chosen: the logarithm of the target for aliasing and truncation
_TARGET = -41.0
# chosen: the logarithm of an aliasing error that is not reduced further
_ENOUGH = -39.0
# derived: at this distance above the largest height the gamma factors are below the target
_ABOVE = 15.0
# chosen: the further decay that is asked of the base's envelope
_SPARE = 12.0
# measured: more residues take too long
_MOST_RESIDUES = 400
# derived: above it doubles resolve the distances of all poles, rounded to 1024ths, with digits to spare
_LEAST_POWER = -(2.0**40)
# chosen: the number of entries of one block of the kernel
_BLOCK = 1 << 18
# chosen: the largest number of entries of all blocks
_MOST = 1 << 24
# derived: sums of terms up to this size are doubles
_IN_RANGE = 300.0
# chosen: minus the smallest abscissa of the integral
_DEEPEST = 12
# chosen: the smallest distance of two poles between which the integral may pass
_NARROWEST = 0.4


@dataclass(frozen=True)
class Moments:
    """E[b^w] - 1 at some points, in units of e^scale, with two absolute errors in that unit; infinite if unknown."""

    excess: Complex
    scale: float
    rounding: Array
    inner: Array

    @staticmethod
    def unknown(shape: tuple[int, ...]) -> Moments:
        """Unknown values."""
        return Moments(np.zeros(shape, complex), 0.0, *np.full((2, *shape), np.inf))

    @property
    def worst(self) -> float:
        """The largest error."""
        return float((self.rounding + self.inner).max())


@dataclass(frozen=True)
class MixedMoments(MixedRatio):
    """The moments of the mixture of one and a likelihood ratio."""

    def at(self, abscissa: float, heights: Array, count: int = 1, step: float | None = None) -> Moments:
        """The moments at z = w - 1 = a + it for ascending t >= 0, the multiples of ``step`` if that is given."""
        found = Moments.unknown(heights.shape)
        # a step of few bits has exact multiples
        step = step if step is None or exact_step(step) == step else None
        for c in self._lines(abscissa, float(heights[-1])):
            found = Integral(self, abscissa, c, count).at(heights, step)
            if math.isfinite(found.worst):
                break
        return found

    def approximate(self, a: Array) -> Array:
        """The logarithm log E[b^{a+1}] at real points, to some digits unless it is near zero or large."""
        return approximate(self, a)

    def _lines(self, a: float, top: float) -> list[float]:
        """Abscissas of the integral, the one with the smallest terms first."""
        power, size = a + 1, math.hypot(a + 1, top) + 1
        if not _LEAST_POWER < power <= _MOST_RESIDUES:
            return []
        log_ratio = math.log(self.rate / (1 - self.rate))
        low, high = self.base.strip
        poles = np.arange(0.0, max(math.ceil(power), 0) + 4)
        others = power - np.arange(math.ceil(max(power, 0.0)) + _DEEPEST)
        gaps = np.unique(np.concatenate([poles, others]))
        middles = np.round((gaps[1:] + gaps[:-1]) / 2 * 1024) / 1024
        kept = (np.diff(gaps) >= _NARROWEST) & (low + 1 < middles) & (np.ceil(middles) < high + 1)
        # on the real axis the effect of the rounding of a - k is bounded
        kept &= np.ceil(power - middles) <= (_MOST_RESIDUES if top == 0 else 1 + exact_steps(a, len(others)))
        at = middles[kept]
        if not at.size:
            return []
        rise = math.log(size)
        sizes = gammaln(-at) + self.base.approximate(at - 1) + at * (log_ratio + rise)
        # the terms of both series, without those for j < 2, which sum to about one
        j = np.arange(max(math.ceil(float(at[-1])), 1))
        first = j * (rise + log_ratio) - gammaln(j + 1) + self.base.approximate(j - 1.0)
        first = np.maximum.accumulate(np.append(-np.inf, np.where(j > 1, first, -np.inf)))
        k = np.arange(max(math.ceil(power - float(at[0])), 0))
        known = self.base.approximate(a - k) if k.size else np.zeros(0)
        second = k * rise - gammaln(k + 1) + (power - k) * log_ratio + known
        if top > 0:
            second = second + [float(self.base.log_envelope(a - one, np.array([top]))[0]) for one in k.tolist()]
        second = np.maximum.accumulate(np.append(-np.inf, second))
        sizes = np.maximum(sizes, first[np.clip(np.ceil(at), 0, None).astype(int)])
        sizes = np.maximum(sizes, second[np.clip(np.ceil(power - at), 0, None).astype(int)])
        sizes = np.where(at < 1, np.maximum(sizes, 0.0), sizes)
        order = np.argsort(np.where(np.isfinite(sizes), sizes, np.inf), kind="stable")
        return [float(at[i]) for i in order if math.isfinite(sizes[i])][:2]


class Integral(Series):
    """The sum of the terms of both series and the integral over Re s = c."""

    def at(self, heights: Array, step: float | None) -> Moments:
        """The sum at z = a + it."""
        top = float(heights[-1])
        h = self._step(step, _TARGET)
        # the factor of the aliasing error grows with the height
        log_aliasing = float(self.aliased(np.array([self.power + 1j * top]), h)[0])
        if _ENOUGH < log_aliasing < -8 * _TARGET:
            h = self._step(step, 2 * _TARGET - log_aliasing)
        nodes = self._nodes(h, top)
        if nodes is None or (nodes[0] + nodes[1] + 1) * heights.size > _MOST:
            return Moments.unknown(heights.shape)
        below, above, full = nodes
        line = Line(self.c - 1, h, max(below, above) + 1)
        values = self.mixing.base.on_line(line, self.count)
        if not (np.isfinite(values.mid).all() and np.isfinite(values.radius).all()):
            return Moments.unknown(heights.shape)
        z = np.asarray(self.a + 1j * heights)
        w = z + 1
        size = np.hypot(self.power, heights)
        log_a, _ = self.logs
        # 1 / Gamma(-w), and the powers of A and e^{-pi t / 2}
        factor, phase, gamma_error = reciprocal_gamma(-w)
        factor = factor + w * log_a - np.pi / 2 * heights
        gamma_error = gamma_error + 4 * ULP * (1 + size * abs(log_a))
        weights = self._weights(values, h, below, above)
        series = [self.residues(z), self.large_losses(z, heights, step)]
        kernel = self._kernel(heights, step, h, below, above)
        top_term = float(factor.real.max()) + weights.top + kernel.top + math.log(h * (below + above + 1))
        top_term = max(top_term, *(one.top for one in series))
        if not math.isfinite(top_term) and top_term != -math.inf:
            return Moments.unknown(heights.shape)
        scale = top_term if top_term > _IN_RANGE else 0.0
        sums, sizes, rounded, inner = kernel.times(weights)
        # terms that underflow are negligible relative to one, and values that are not finite are unknown
        with np.errstate(under="ignore", over="ignore", invalid="ignore"):
            unit = np.exp(factor + (weights.top + kernel.top + math.log(h / (2 * math.pi)) - scale))
            magnitude = np.abs(unit)
            integral = sums * unit * phase
            units = ELEMENTARY * (1 + abs(weights.top) + abs(kernel.top) + abs(scale))
            grown = expm1(np.log1p(gamma_error) + kernel.error + units + ULP * (below + above + 16))
            rounding = magnitude * ROOM * (rounded * (1 + grown) + sizes * grown)
            inside = magnitude * ROOM * inner * (1 + grown)
            outside = exp(self.aliased(w, h) - scale)
            outside = outside + exp(factor.real + self.truncated(h, below, above, full, top) - scale)
            excess, own = self.constant(z, math.exp(-scale))
            excess = excess + integral
            for terms in series:
                part, wrong, within = terms.at(scale)
                excess, own, inside = excess + part, own + wrong, inside + within
            own = own + 8 * ULP * (np.abs(excess) + np.abs(integral))
            rounding = rounding + own + self.by_rate(w, scale)
        known = np.isfinite(excess) & np.isfinite(rounding) & np.isfinite(outside)
        if not known.all():
            return Moments.unknown(heights.shape)
        return Moments(excess, scale, rounding, inside + outside * ROOM)

    def _step(self, step: float | None, target: float) -> float:
        """The widest step that aliasing allows; on a line, its step times a power of two."""
        next_left, next_right = self.power - self.large.size, self.power - self.large.size + 1
        left = min(self.last + 1 - self.c, next_right - self.c if self.large.size else math.inf)
        right = min(self.c - self.last if self.last >= 0 else math.inf, self.c - max(next_left, self.c - 0.5))
        widest = 2 * math.pi * min(left, right) / -target
        return exact_step(widest) if step is None else step * 2.0 ** math.floor(math.log2(widest / step))

    def _nodes(self, h: float, top: float) -> tuple[int, int, int] | None:
        """The numbers of nodes below and above the real axis, and the number after which the gamma factors fall."""
        after = _ABOVE + 2 * max(self.c - self.power, 0.0) + 2 * max(-self.c, 0.0)
        upper = top + after
        heights = np.geomspace(0.25, max(upper, 1.0), 64)
        envelope = self.mixing.base.log_envelope(self.c - 1, heights)
        # a margin for the powers of the height in 1 / Gamma(-w)
        enough = envelope <= _TARGET - _SPARE - (max(self.power, 0.0) + max(-self.c, 0.0) + 1) * math.log(2 + top)
        if enough.any():
            upper = min(upper, float(heights[np.argmax(enough)]))
        if upper / h > _MOST:
            return None
        return math.ceil(min(upper, after) / h), math.ceil(upper / h), math.ceil((top + after) / h)

    def _weights(self, values: Values, h: float, below: int, above: int) -> _Weights:
        """Gamma(-s) e^{pi y / 2} (B / A)^s M(s) at the nodes, from the lowest to the highest."""
        order = np.abs(np.arange(-below, above + 1))
        y = h * np.arange(-below, above + 1)
        mid = np.where(y < 0, values.mid[order].conj(), values.mid[order])
        gamma, error = log_gamma(-self.c - 1j * y)
        log_a, log_b = self.logs
        power = (self.c + 1j * y) * (log_b - log_a)
        error = error + ELEMENTARY * (1 + np.abs(power) + np.abs(mid)) + values.rounding[order]
        logs = gamma + np.pi / 2 * y + power + mid
        top = float(logs.real.max())
        with np.errstate(under="ignore"):  # terms far below the largest
            terms = np.exp(logs - top)
        size = np.abs(terms)
        return _Weights(terms, top, size * expm1(error), size * expm1(values.inner[order]) * exp(error))

    def _kernel(self, heights: Array, step: float | None, h: float, below: int, above: int) -> _Kernel:
        """Gamma(s - w) e^{-pi (y - t) / 2}, one row for each w; on equal steps it depends on the difference only."""
        gap, rows, count = self.c - self.power, heights.size, below + above + 1
        unit = min(step or h, h)
        by_row, by_node = round((step or 0.0) / unit), round(h / unit)
        first = (rows - 1) * by_row
        shared = step is not None and first + (count - 1) * by_node + 1 < rows * count
        if shared:
            u = unit * np.arange(-below * by_node - first, above * by_node + 1)
        else:
            u = h * np.arange(-below, above + 1) - heights[:, None]
        logs, error = log_gamma(gap + 1j * u)
        logs = logs - np.pi / 2 * u
        top = float(logs.real.max())
        with np.errstate(under="ignore"):  # terms far below the largest
            table = np.exp(logs - top)
        if shared:
            strides = -by_row * table.itemsize, by_node * table.itemsize
            table = as_strided(table[first:], (rows, count), strides, writeable=False)
        wrong = float(error.max()) + ELEMENTARY * (1 + abs(top)) + _rounded(heights[-1], abs(gap) + abs(self.power))
        return _Kernel(table, top, wrong)


@dataclass(frozen=True)
class _Weights:
    """Factors of the nodes in units of e^top, with two absolute errors."""

    terms: Complex
    top: float
    rounding: Array
    inner: Array


@dataclass(frozen=True)
class _Kernel:
    """Factors of rows and nodes in units of e^top, with a relative error."""

    table: Complex
    top: float
    error: float

    def times(self, weights: _Weights) -> tuple[Complex, Array, Array, Array]:
        """The sums over the nodes, of the absolute terms, and of both errors of the weights."""
        rows, count = self.table.shape
        columns = np.stack([np.abs(weights.terms), weights.rounding, weights.inner], axis=1)
        sums, sizes = np.empty(rows, complex), np.empty((rows, 3))
        many = max(_BLOCK // count, 1)
        for start in range(0, rows, many):
            block = np.ascontiguousarray(self.table[start : start + many])
            sums[start : start + many] = block @ weights.terms
            sizes[start : start + many] = np.abs(block) @ columns
        return sums, sizes[:, 0], sizes[:, 1], sizes[:, 2]


def _rounded(top: float, gap: float) -> float:
    """The effect of the rounding of heights on log Gamma(s - w): an ulp of them times |log z|."""
    size = float(top) + abs(gap) + 20
    return 4 * ULP * size * (2 + math.log(size))
