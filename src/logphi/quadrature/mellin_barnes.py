"""Moments of a mixture of likelihood ratios, E[(A + B e^L)^w], from the transform of L alone, on a whole line at once.

notation: M(s) = E[e^{sL}; L > -inf] under Q, w = a + 1 + it, b = A + B e^L with A + B = 1. Mellin and Barnes write

    E[b^w; L > -inf] = sum over j < c of binom(w, j) A^{w-j} B^j M(j) + sum over k < a + 1 - c of binom(w, k) A^k B^{w-k} M(w - k)
                       + (1/2 pi i) integral over Re s = c of F(s) ds,
    F(s) = Gamma(-s) Gamma(s - w) / Gamma(-w) A^{w-s} B^s M(s),      c none of 0, 1, 2, ... and of a + 1, a, a - 1, ...

Small losses make the first sum, large ones the second. The integral is E[phi(L)], phi(x) what both power series leave of b^w.
Every error of the trapezoidal rule with the step h is bounded:

* aliasing: by Poisson summation it is the sum of e^{-cX} E[phi(L + X)] over X = 2 pi l / h, l not 0. With J and K the last j
  and k, phi is to the left at most the next term of the first series, binom(w, J + 1) (B e^x)^{J+1} times the largest
  (A + v)^{a-J}, 0 <= v <= B e^x, and all terms of the second, and to the right the same with both exchanged.
* truncation: |Gamma(x + iy)| falls with |y|, by e^{-arctan(y / max(x, 1))} for each unit at least, and for x > 0 it is at most
  (2 pi)^{1/2} |x + iy|^{x - 1/2} e^{-pi |y| / 2 + 1/(6 |x + iy|)} by Stirling's series; |M(s)| falls as its envelope says.
* rounding: every factor has a relative error, which the sum of the sizes of all terms makes absolute.

What comes out is E[b^w] - 1, in which the terms j = 0, 1 are put together without loss: for a small B it is of the size B^2.

The file is longer than others because the sum and the bounds of its errors share all their factors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.lib.stride_tricks import as_strided
from scipy.special import gammaln, gammasgn, loggamma

from logphi.arith.floats import ELEMENTARY, FLOATS, ULP, Discs
from logphi.arrays import Array, Complex
from logphi.quadrature.log_gamma import log_gamma, reciprocal_gamma
from logphi.quadrature.values import Line, Values

# chosen: how small aliasing and truncation are to be, as a logarithm
_TARGET, _ENOUGH = -41.0, -39.0
# derived: so far beyond the top of the line the gamma factors have fallen below that
_BEYOND = 15.0
# chosen: how much further the envelope of the base is to fall
_SPARE = 12.0
# measured: with more residues the sum takes too long
_MOST_RESIDUES = 400
# chosen: entries of one block of the kernel, and of all blocks
_BLOCK, _MOST = 1 << 18, 1 << 26
# derived: sums of so large terms stay within the range of doubles
_IN_RANGE = 300.0
# measured: nodes of a rough value
_ROUGH_STEP, _ROUGH_NODES, _ROUGH_DIGITS = 0.22, 40, 9.0
# chosen: how far left of zero the integral may lie, and the least distance of two poles between which it may
_DEEPEST, _NARROWEST = 12, 0.4
# chosen: the r that compete where (u + v)^p is at most (1 - r)^{1-p} u^p + r^{1-p} v^p
_SHARES = np.array([0.5, 0.2, 0.05, 1e-2, 1e-3, 1e-4, 1e-6])
_ROOM = 1 + 1e-9
_LOG_ROOT = 0.5 * math.log(2 * math.pi)


class Base(Protocol):
    """What is asked of a law: K(z) = log M(z + 1)."""

    @property
    def strip(self) -> tuple[float, float]:
        """Where K is finite."""

    def log_transform(self, z: Array, count: int = 1) -> Values:
        """K at some points."""

    def on_line(self, line: Line, count: int = 1) -> Values:
        """K on a line."""

    def approximate(self, c: Array, count: int = 1) -> Array:
        """K at real points, roughly."""

    def log_envelope(self, abscissa: float, heights: Array, end: float = np.inf) -> Array:
        """How K falls along a line."""

    def log_masses(self) -> tuple[Values, Values] | None:
        """K(0) and K(-1)."""


@dataclass(frozen=True)
class Moments:
    """E[b^w] - 1 at some points, in units of e^scale, and two absolute errors in that unit; infinite where unknown."""

    excess: Complex
    scale: float
    rounding: Array
    inner: Array

    @staticmethod
    def unknown(shape: tuple[int, ...]) -> Moments:
        """Where nothing is known."""
        return Moments(np.zeros(shape, complex), 0.0, *np.full((2, *shape), np.inf))

    @property
    def worst(self) -> float:
        """The largest error."""
        return float((self.rounding + self.inner).max())


@dataclass(frozen=True)
class Mixing:
    """A base law and the rate B at which its likelihood ratio is mixed with one, within ``rate_error`` of the true rate."""

    base: Base
    rate: float
    rate_error: float

    def at(self, abscissa: float, heights: Array, count: int = 1, step: float | None = None) -> Moments:
        """At z = w - 1 = a + it for ascending t >= 0, the multiples of ``step`` if that is given."""
        found = Moments.unknown(heights.shape)
        for c in self._lines(abscissa, float(heights[-1])):
            found = Integral(self, abscissa, c, count).at(heights, step)
            if math.isfinite(found.worst):
                break
        return found

    def approximate(self, a: Array) -> Array:
        """Log E[b^{a+1}] at real points, to some digits where it is not far from zero or large."""
        first = np.clip(np.ceil(a + 1), 1.0, _MOST_RESIDUES)
        found = np.empty(a.shape)
        for one in np.unique(first):
            chosen = first == one
            found[chosen] = self._roughly(a[chosen], int(one))
        return found

    def _roughly(self, a: Array, last: int) -> Array:
        """With the terms up to j = J, at points a + 1 <= J."""
        log_a, log_b = math.log1p(-self.rate), math.log(self.rate)
        w, c = a + 1, last + 0.5
        y = _ROUGH_STEP * np.arange(_ROUGH_NODES)
        known = self.base.on_line(Line(c - 1, _ROUGH_STEP, _ROUGH_NODES)).mid
        j = np.arange(2, last + 1)
        moments = self.base.approximate(j - 1.0)
        if not (np.isfinite(known[0]) and np.isfinite(moments).all()):
            return np.full(a.shape, np.inf)
        w = np.asarray(w)
        weights = loggamma(-c - 1j * y) + (c + 1j * y) * (log_b - log_a) + np.where(np.isfinite(known), known, -1e3)
        logs = weights + loggamma(c - w[:, None] + 1j * y)
        factor = w * log_a - gammaln(-w)
        terms = gammaln(w[:, None] + 1) - gammaln(w[:, None] - j + 1) - gammaln(j + 1)
        terms = terms + (w[:, None] - j) * log_a + j * log_b + moments
        sign = gammasgn(w[:, None] + 1) * gammasgn(w[:, None] - j + 1)
        largest = logs.real.max(axis=1) + factor
        top = np.maximum(np.maximum(largest, terms.max(axis=1, initial=0.0)), 0.0)
        top = np.where(top > _IN_RANGE, top, 0.0)
        with np.errstate(all="ignore"):  # what is not finite is left to the largest losses below
            values = np.exp(logs + (factor - top)[:, None])
            integral = _ROUGH_STEP / math.pi * gammasgn(-w) * (values.sum(axis=1) - values[:, 0] / 2).real
            # at whole numbers the integral has no part
            integral = np.where(np.isfinite(factor), integral, 0.0)
            total = (sign * np.exp(terms - top[:, None])).sum(axis=1) + integral
            start, _ = Integral(self, 0.0, c, 1).constant(np.asarray(a, complex), 1.0)
            total = total + start.real * np.exp(-top)
            found = np.where(top > 0, top + np.log(total + np.exp(-top)), np.log1p(total))
        far = np.maximum(self.base.approximate(a) + w * log_b, 0.0)
        lost = largest - _ROUGH_DIGITS > np.where(np.isfinite(found), found, -np.inf)
        return np.where(np.isnan(found) | (lost & (far > 0)), far, found)

    def _lines(self, a: float, top: float) -> list[float]:
        """Abscissas of the integral, the one with the smallest terms first."""
        power, size = a + 1, math.hypot(a + 1, top) + 1
        log_ratio = math.log(self.rate / (1 - self.rate))
        low, high = self.base.strip
        poles = np.arange(0.0, max(math.ceil(power), 0) + 4)
        if power > _MOST_RESIDUES:
            return []
        others = power - np.arange(math.ceil(max(power, 0.0)) + _DEEPEST)
        gaps = np.unique(np.concatenate([poles, others]))
        middles = np.round((gaps[1:] + gaps[:-1]) / 2 * 1024) / 1024
        kept = (np.diff(gaps) >= _NARROWEST) & (low + 1 < middles) & (np.ceil(middles) < high + 1)
        kept &= power - middles < (_MOST_RESIDUES if top == 0 or _exact(a) else 0)
        at = middles[kept]
        if not at.size:
            return []
        rise = math.log(size)
        sizes = gammaln(-at) + self.base.approximate(at - 1) + at * (log_ratio + rise)
        # the terms of both series, of which that without a loss is one
        j = np.arange(max(math.ceil(float(at[-1])), 1))
        first = j * (rise + log_ratio) - gammaln(j + 1) + self.base.approximate(j - 1.0)
        first = np.maximum.accumulate(np.append(-np.inf, np.where(j > 1, first, -np.inf)))
        k = np.arange(max(math.ceil(power - float(at[0])), 0))
        second = k * rise - gammaln(k + 1) + (power - k) * log_ratio + self.base.approximate(a - k)
        if top > 0:
            second = second + [float(self.base.log_envelope(a - one, np.array([top]))[0]) for one in k.tolist()]
        second = np.maximum.accumulate(np.append(-np.inf, second))
        sizes = np.maximum(sizes, first[np.clip(np.ceil(at), 0, None).astype(int)])
        sizes = np.maximum(sizes, second[np.clip(np.ceil(power - at), 0, None).astype(int)])
        sizes = np.where(at < 1, np.maximum(sizes, 0.0), sizes)
        order = np.argsort(np.where(np.isfinite(sizes), sizes, np.inf), kind="stable")
        return [float(at[i]) for i in order if math.isfinite(sizes[i])][:2]


@dataclass(frozen=True, eq=False)
class Integral:
    """The sum of the terms j < c and the integral over Re s = c, for w on the line Re w = a + 1 < c."""

    mixing: Mixing
    a: float
    c: float
    count: int

    @property
    def last(self) -> int:
        """J."""
        return max(math.floor(self.c), -1)

    @cached_property
    def large(self) -> Array:
        """The k of the terms of large losses, from zero to K."""
        return np.arange(max(math.ceil(self.power - self.c), 0))

    @property
    def power(self) -> float:
        """Re w."""
        return self.a + 1

    @cached_property
    def logs(self) -> tuple[float, float]:
        """Log A and log B."""
        return math.log1p(-self.mixing.rate), math.log(self.mixing.rate)

    @cached_property
    def masses(self) -> tuple[float, float, float, float]:
        """M(0) and M(1), and their errors."""
        known = self.mixing.base.log_masses()
        if known is None:
            return 1.0, 1.0, 0.0, 0.0
        one, zero = (math.exp(min(float(x.mid[0]), 0.0)) for x in known)
        error, other = (float(x.radius[0]) + 2 * ULP for x in known)
        return zero, one, other, error

    @cached_property
    def moments(self) -> tuple[Array, Array]:
        """Log M(j) for j = 0 .. J + 1, and bounds of its error."""
        zero, one, zero_error, one_error = self.masses
        later = self.mixing.base.log_transform(np.arange(2.0, max(self.last + 1, 2) + 1) - 1)
        mid = np.concatenate([[_log(zero), _log(one)], later.mid.real])
        return mid, np.concatenate([[zero_error, one_error], later.radius])

    def at(self, heights: Array, step: float | None) -> Moments:
        """The sum at z = a + it."""
        top = float(heights[-1])
        h = self._step(step, _TARGET)
        # what multiplies the smallness of the step grows with the height
        lost = float(self._aliased(np.array([self.power + 1j * top]), h)[0])
        if _ENOUGH < lost < -8 * _TARGET:
            h = self._step(step, 2 * _TARGET - lost)
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
        log_a, log_b = self.logs
        # 1 / Gamma(-w), and the powers of A and e^{-pi t / 2}
        factor, phase, slip = reciprocal_gamma(-w)
        factor = factor + w * log_a - np.pi / 2 * heights
        slip = slip + 4 * ULP * (1 + size * abs(log_a))
        weights = self._weights(values, h, below, above)
        series = [self._residues(z), self._large(z, heights, step)]
        kernel = self._kernel(heights, step, h, below, above)
        top_term = float(factor.real.max()) + weights.top + kernel.top + math.log(h * (below + above + 1))
        top_term = max(top_term, *(one.top for one in series))
        if not math.isfinite(top_term) and top_term != -math.inf:
            return Moments.unknown(heights.shape)
        scale = top_term if top_term > _IN_RANGE else 0.0
        sums, sizes, rounded, inner = kernel.times(weights)
        with np.errstate(under="ignore"):  # terms below the range of doubles are nothing beside one
            unit = np.exp(factor + (weights.top + kernel.top + math.log(h / (2 * math.pi)) - scale))
            magnitude = np.abs(unit)
            integral = sums * unit * phase
            rounding = magnitude * _ROOM * (rounded + sizes * (slip + kernel.error + ULP * (below + above + 16)) * _ROOM)
            rounding = rounding + magnitude * sizes * ELEMENTARY * (1 + abs(weights.top) + abs(kernel.top) + abs(scale))
            inside = magnitude * inner * _ROOM
            lost = np.exp(np.minimum(self._aliased(w, h) - scale, 600.0))
            lost = lost + np.exp(np.minimum(factor.real + self._rest(h, below, above, full, top) - scale, 600.0))
            least = math.exp(-scale)
            excess, own = self.constant(z, least)
            excess = excess + integral
            for one in series:
                part, wrong, within = one.at(scale)
                excess, own, inside = excess + part, own + wrong, inside + within
            own = own + 8 * ULP * (np.abs(excess) + np.abs(integral))
        rounding = rounding + own + self._by_rate(w, scale)
        known = np.isfinite(excess) & np.isfinite(rounding) & np.isfinite(lost)
        if not known.all():
            return Moments.unknown(heights.shape)
        return Moments(excess, scale, rounding, inside + lost * _ROOM)

    def _step(self, step: float | None, target: float) -> float:
        """As wide as aliasing allows; with a line, its step times a power of two."""
        next_left, next_right = self.power - self.large.size, self.power - self.large.size + 1
        left = min(self.last + 1 - self.c, next_right - self.c if self.large.size else math.inf)
        right = min(self.c - self.last if self.last >= 0 else math.inf, self.c - max(next_left, self.c - 0.5))
        widest = 2 * math.pi * min(left, right) / -target
        return widest if step is None else step * 2.0 ** math.floor(math.log2(widest / step))

    def _nodes(self, h: float, top: float) -> tuple[int, int, int] | None:
        """How many nodes below and above the real axis are summed, and after how many of them the gamma factors fall."""
        after = _BEYOND + 2 * max(self.c - self.power, 0.0) + 2 * max(-self.c, 0.0)
        reach = top + after
        heights = np.geomspace(0.25, max(reach, 1.0), 64)
        envelope = self.mixing.base.log_envelope(self.c - 1, heights)
        # it makes up for the powers of the height in 1 / Gamma(-w)
        enough = envelope <= _TARGET - _SPARE - (max(self.power, 0.0) + max(-self.c, 0.0) + 1) * math.log(2 + top)
        if enough.any():
            reach = min(reach, float(heights[np.argmax(enough)]))
        if reach / h > _MOST:
            return None
        return math.ceil(min(reach, after) / h), math.ceil(reach / h), math.ceil((top + after) / h)

    def _weights(self, values: Values, h: float, below: int, above: int) -> _Weights:
        """Gamma(-s) e^{pi y / 2} (B / A)^s M(s) at the nodes, from the lowest to the highest."""
        order = np.abs(np.arange(-below, above + 1))
        y = h * np.arange(-below, above + 1)
        mid = np.where(y < 0, values.mid[order].conj(), values.mid[order])
        gamma, error = log_gamma(-self.c - 1j * y)
        log_a, log_b = self.logs
        turned = (self.c + 1j * y) * (log_b - log_a)
        error = error + ELEMENTARY * (1 + np.abs(turned) + np.abs(mid)) + values.rounding[order]
        logs = gamma + np.pi / 2 * y + turned + mid
        top = float(logs.real.max())
        with np.errstate(under="ignore"):  # far below the largest
            terms = np.exp(logs - top)
        size = np.abs(terms)
        return _Weights(terms, top, size * np.expm1(np.minimum(error, 600.0)), size * np.expm1(values.inner[order]) * 2)

    def _kernel(self, heights: Array, step: float | None, h: float, below: int, above: int) -> _Kernel:
        """Gamma(s - w) e^{-pi (y - t) / 2}, a row for each w: on equal steps a function of the difference."""
        gap = self.c - self.power
        count = below + above + 1
        if step is not None:
            unit = min(step, h)
            by_row, by_node = round(step / unit), round(h / unit)
            rows = heights.size
            length = (rows - 1) * by_row + (count - 1) * by_node + 1
            if length < rows * count:
                u = unit * np.arange(-below * by_node - (rows - 1) * by_row, above * by_node + 1)
                logs, error = log_gamma(gap + 1j * u)
                logs = logs - np.pi / 2 * u
                top = float(logs.real.max())
                with np.errstate(under="ignore"):  # far below the largest
                    flat = np.exp(logs - top)
                first = (rows - 1) * by_row
                table = as_strided(
                    flat[first:], (rows, count), (-by_row * flat.itemsize, by_node * flat.itemsize), writeable=False
                )
                return _Kernel(
                    table,
                    top,
                    float(error.max()) + ELEMENTARY * (1 + abs(top)) + _moved(heights[-1], abs(gap) + abs(self.power)),
                )
        u = h * np.arange(-below, above + 1) - heights[:, None]
        logs, error = log_gamma(gap + 1j * u)
        logs = logs - np.pi / 2 * u
        top = float(logs.real.max())
        with np.errstate(under="ignore"):  # far below the largest
            table = np.exp(logs - top)
        return _Kernel(
            table, top, float(error.max()) + ELEMENTARY * (1 + abs(top)) + _moved(heights[-1], abs(gap) + abs(self.power))
        )

    def constant(self, z: Complex, least: float) -> tuple[Complex, Array]:
        """The terms that M(0) and M(1) enter, less one, and their error; ``least`` is the unit."""
        rate, (zero, one, zero_error, one_error) = self.mixing.rate, self.masses
        log_a, _ = self.logs
        size = np.abs(z) + 2
        if self.last < 1:
            # the mass without a loss keeps its power of A in any case
            kept = 1.0 if self.last == 0 else 1 - zero
            power = kept * np.exp((z + 1) * log_a)
            error = np.abs(power) * (4 * ULP * size + zero_error) + (0.0 if self.last == 0 else zero_error)
            return (power - 1) * least, (error + 4 * ULP) * least
        gap = FLOATS.log1p_gap(Discs.exact(np.array(-rate)))
        exponent = -(Discs.exact(z) * gap) - FLOATS.log1p_gap(Discs.exact(z) * Discs.exact(rate))
        start = _expm1(exponent.mid)
        error = np.abs(start + 1) * np.expm1(np.minimum(exponent.rad, 600.0)) + ELEMENTARY * 4 * np.abs(start)
        missing = (z + 1) * (rate * (1 - one)) * np.exp(z * log_a)
        error = error + np.abs(missing) * (4 * ULP * size + one_error) + size * rate * one_error * np.exp(self.a * log_a)
        return (start - missing) * least, error * _ROOM * least

    def _residues(self, z: Complex) -> _Terms:
        """The terms from j = 2 to J."""
        log_a, log_b = self.logs
        mid, radius = self.moments
        j = np.arange(2, self.last + 1)
        binomial, slip = _binomials(z + 1, self.last)
        w = (z + 1)[:, None]
        logs = binomial[:, 2:] + (w - j) * log_a + j * log_b + mid[j]
        sizes = np.abs(w) + np.abs(j * log_b) + np.abs(mid[j]) + 8 * j
        return _Terms(logs, slip[:, 2:] + radius[j] + 8 * ULP * (1 + sizes), np.zeros(logs.shape))

    def _large(self, z: Complex, heights: Array, step: float | None) -> _Terms:
        """The terms from k = 0 to K, where M is needed on the line and to its left."""
        log_a, log_b = self.logs
        k = self.large
        base, shape = self.mixing.base, (z.size, k.size)
        mid, rounding, inner = np.zeros(shape, complex), np.zeros(shape), np.zeros(shape)
        for one in k.tolist():
            if step is None:
                values = base.log_transform(self.a - one + 1j * heights, self.count)  # type: ignore[arg-type]
            else:
                values = base.on_line(Line(self.a - one, step, heights.size), self.count)
            mid[:, one], rounding[:, one], inner[:, one] = values.mid, values.rounding, values.inner
        if k.size and not _exact(self.a):
            # of real points alone: |M'(s)| is at most M(s + 1) + M(s - 1)
            beside = np.logaddexp(self._moments_at(self.a - k + 1), self._moments_at(self.a - k - 1)) - mid.real[:1]
            rounding = rounding + ULP * (1 + abs(self.a) + k) * np.exp(np.minimum(beside + rounding[:1] + inner[:1], 600.0))
        binomial, slip = _binomials(z + 1, int(k.size) - 1)
        w = (z + 1)[:, None]
        logs = binomial[:, : k.size] + k * log_a + (w - k) * log_b + mid
        sizes = (np.abs(w) + k) * abs(log_b) + np.abs(k * log_a) + np.abs(mid) + 8 * (k + 1)
        return _Terms(logs, slip[:, : k.size] + rounding + 8 * ULP * (1 + sizes), inner)

    def _aliased(self, w: Complex, h: float) -> Array:
        """The logarithm of the error of the step."""
        log_a, log_b = self.logs
        mid, radius = self.moments
        terms, p = mid + radius, self.power
        many = int(self.large.size)
        binomial = _binomials(w, max(self.last + 1, many))[0].real
        # right: the terms of the first series, and what the second leaves
        j = np.arange(self.last + 1)
        logs = [
            binomial[:, : self.last + 1]
            + (p - j) * log_a
            + j * log_b
            + terms[: self.last + 1]
            - _log_expm1(2 * math.pi * (self.c - j) / h)
        ]
        height, distance = self._right(p - many, many == 0)
        logs.append(binomial[:, [many]] + many * log_a + height - _log_expm1(np.array(2 * math.pi * distance / h)))
        # left: what the first series leaves, and the terms of the second
        after = self.last + 1
        left = binomial[:, [after]] + self._left(after) - _log_expm1(np.array(2 * math.pi * (after - self.c) / h))
        logs.append(left)
        if many:
            k = self.large
            moments = self._moments_at(self.a - k)
            logs.append(
                binomial[:, :many] + k * log_a + (p - k) * log_b + moments - _log_expm1(2 * math.pi * (p - k - self.c) / h)
            )
        return np.asarray(np.logaddexp.reduce(np.concatenate(logs, axis=1), axis=1) + 1e-9)

    def _moments_at(self, points: Array) -> Array:
        """Upper bounds of log M(z + 1) at real z."""
        values = self.mixing.base.log_transform(points)
        found = values.mid.real + values.radius
        return np.asarray(np.where(np.isnan(found), np.inf, found) + 1e-9)

    def _left(self, after: int) -> float:
        """A bound of the mean of (B e^L)^j (A + v)^{p-j}, 0 <= v <= B e^L, as a logarithm."""
        log_a, log_b = self.logs
        mid, radius = self.moments
        beyond = self.power - after
        first = after * log_b + float(mid[after] + radius[after]) + beyond * log_a
        if beyond <= 0:
            return first
        second = self.power * log_b + float(self._moments_at(np.array([self.a]))[0])
        return float(np.logaddexp(first, second)) + max(beyond - 1, 0.0) * math.log(2.0)

    def _right(self, e: float, alone: bool) -> tuple[float, float]:
        """A bound of the mean of (v + B e^L)^e, 0 <= v <= A, far to the right, as a logarithm, and what it leaves of c.

        ``alone``: v is A itself.
        """
        log_a, log_b = self.logs
        if e >= 0:
            return self._log_power(e), self.c - e
        if alone and self.c > 0:
            return e * log_a, self.c
        # b is at least A^{1-r} (B e^x)^r for 0 <= r <= 1
        own = max(e, self.c - 0.5) if alone else e
        return (e - own) * log_a + own * log_b + float(self._moments_at(np.array([own - 1]))[0]), self.c - own

    def _log_power(self, p: float) -> float:
        """A bound of the logarithm of E[b^p]."""
        log_a, log_b = self.logs
        if p < 0:
            return p * log_a
        large = p * log_b + float(self._moments_at(np.array([p - 1]))[0])
        if p <= 1:
            return float(np.logaddexp(p * log_a, large))
        # by convexity
        small = p * log_a - (p - 1) * np.log1p(-_SHARES)
        return float(np.logaddexp(small, large - (p - 1) * np.log(_SHARES)).min()) + 1e-9

    def _rest(self, h: float, below: int, above: int, full: int, top: float) -> float:
        """The logarithm of what lies beyond the first and the last node, without 1 / Gamma(-w) and its powers."""
        log_a, log_b = self.logs
        at = self.mixing.base.log_transform(np.array([self.c - 1]))
        height = float((at.mid.real + at.radius)[0]) + self.c * (log_b - log_a) + math.log(h / (2 * math.pi))
        fall = self.mixing.base.log_envelope(self.c - 1, h * np.array([below, above], dtype=float))
        gap = self.c - self.power
        end, lowest = h * full, h * below
        # below, both factors fall
        rates = math.atan(lowest / max(-self.c, 1.0)) + math.atan(lowest / max(gap, 1.0))
        rest = [
            height + float(fall[0]) + _log_gamma_bound(-self.c, lowest) - math.pi * lowest
            + max(_log_gamma_bound(gap, lowest), _log_gamma_bound(gap, lowest + top)) - _log_expm1_of(h * rates)
        ]  # fmt: skip
        # above the whole line too
        rates = math.atan(end / max(-self.c, 1.0)) + math.atan((end - top) / max(gap, 1.0))
        beyond = _log_gamma_bound(-self.c, end) + _log_gamma_bound(gap, end - top) - math.pi * (end - top)
        rest.append(height + float(fall[1]) + beyond - _log_expm1_of(h * rates))
        if above < full:
            one = max(_log_gamma_bound(-self.c, h * above), _log_gamma_bound(-self.c, end))
            other = max(_log_gamma_bound(gap, 0.0), _log_gamma_bound(gap, max(top, end)))
            rest.append(height + float(fall[1]) + one + other + math.log(full - above))
        return float(np.logaddexp.reduce(rest)) + 1e-9

    def _by_rate(self, w: Complex, scale: float) -> Array:
        """What the error of the rate adds.

        The derivative is w E[b^{w-1} (e^L - 1)] = w E[(b^{w-1} - 1)(e^L - 1)] - w (1 - M(1)), and |b^{w-1} - 1| is at most
        |w - 1| B |e^L - 1| max(1, b^{a-1}). It also is at most |w| E[b^{a+1}] (1/A + 1/B).
        """
        rate, error = self.mixing.rate, self.mixing.rate_error
        if not error:
            return np.zeros(w.shape)
        log_a, log_b = self.logs
        size = np.abs(w)
        _, one, _, one_error = self.masses
        x = self.power - 2
        second = math.exp(min(float(self._moments_at(np.array([1.0]))[0]), 600.0)) - 2 * (one - one_error) + 1
        square = _log(second + 1e-9)
        if x <= 0:
            square += x * log_a
        else:
            both = float(np.logaddexp.reduce(self._moments_at(np.array([x - 1, x + 1])))) + x * log_b
            turns = max(x - 1, 0.0)
            square = float(np.logaddexp(square + np.log1p((1 - _SHARES) ** -turns), both - turns * np.log(_SHARES)).min())
        near = rate * size * np.abs(w - 1) * math.exp(min(square - scale, 600.0))
        near = near + size * (1 - one + one_error) * math.exp(self.a * log_a - scale)
        far = size * math.exp(min(self._log_power(self.power) - scale, 600.0)) * (1 / rate + 1 / (1 - rate))
        return np.asarray(error * np.minimum(near if math.isfinite(square) else np.inf, far) * _ROOM)


@dataclass(frozen=True)
class _Terms:
    """The logarithms of terms, a row for each point, with two errors of each."""

    logs: Complex
    rounding: Array
    inner: Array

    @property
    def top(self) -> float:
        """The logarithm of the largest."""
        return float(self.logs.real.max(initial=-math.inf))

    def at(self, scale: float) -> tuple[Complex, Array, Array]:
        """The sums in units of e^scale, with two absolute errors."""
        terms = np.exp(self.logs - scale)
        sizes = np.abs(terms)
        rounding = (sizes * np.expm1(np.minimum(self.rounding, 600.0))).sum(axis=1)
        inner = (sizes * np.expm1(np.minimum(self.inner, 600.0)) * np.exp(np.minimum(self.rounding, 600.0))).sum(axis=1)
        rounding = rounding + 2 * ULP * (self.logs.shape[1] + 4) * sizes.sum(axis=1)
        return terms.sum(axis=1), rounding * _ROOM, inner * _ROOM


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
        """The sums over the nodes, those of the sizes, and those of both errors of the weights."""
        rows, count = self.table.shape
        columns = np.stack([np.abs(weights.terms), weights.rounding, weights.inner], axis=1)
        sums, sizes = np.empty(rows, complex), np.empty((rows, 3))
        many = max(_BLOCK // count, 1)
        for start in range(0, rows, many):
            block = np.ascontiguousarray(self.table[start : start + many])
            sums[start : start + many] = block @ weights.terms
            sizes[start : start + many] = np.abs(block) @ columns
        return sums, sizes[:, 0], sizes[:, 1], sizes[:, 2]


def _binomials(w: Complex, last: int) -> tuple[Complex, Array]:
    """The logarithms of binom(w, j) for j = 0 .. last, a row for each w, and bounds of their errors.

    A factor within rounding of zero is taken for its error.
    """
    j = np.arange(max(last, 0))
    factors = w[:, None] - j
    slips = 2 * ULP * (1 + np.abs(w)[:, None] + j)
    factors = np.where(np.abs(factors) < slips, slips, factors)
    nothing = np.zeros((w.size, 1))
    logs = np.concatenate([nothing, np.log(factors / (j + 1)).cumsum(axis=1)], axis=1)
    slip = np.concatenate([nothing, (slips / np.abs(factors)).cumsum(axis=1) * 2], axis=1)
    return logs, slip


def _exact(a: float) -> bool:
    """Whether a - k is exact for all k that matter."""
    return all(math.fsum([a, -k, -(a - k)]) == 0.0 for k in range(1, int(abs(a)) + 4))


def _moved(top: float, gap: float) -> float:
    """What the rounding of the heights of nodes and rows adds to log Gamma(s - w): an ulp of them times |log z|."""
    size = float(top) + abs(gap) + 20
    return 4 * ULP * size * (2 + math.log(size))


def _log_gamma_bound(x: float, y: float) -> float:
    """The logarithm of a bound of |Gamma(x + iy)| e^{pi y / 2}, for x no pole."""
    steps = max(math.ceil(-x), 0)
    at, size = x + steps, 0.0
    if steps:
        size = sum(math.log(max(math.hypot(x + k, y), 1e-300)) for k in range(steps))
    whole = math.hypot(at, y)
    return (at - 0.5) * math.log(whole) + _LOG_ROOT + 1 / (6 * whole) - size


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf


def _log_expm1(x: Array) -> Array:
    """log(e^x - 1)."""
    return np.asarray(x + np.log(-np.expm1(-x)))


def _log_expm1_of(x: float) -> float:
    return x + math.log(-math.expm1(-x))


def _expm1(x: Complex) -> Complex:
    """e^x - 1, accurate relative to itself."""
    size, angle = np.exp(x.real), x.imag
    return np.asarray(np.expm1(x.real) - 2 * size * np.sin(angle / 2) ** 2 + 1j * (size * np.sin(angle)))
