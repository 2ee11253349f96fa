"""A sum of losses of sampled normal pairs, at least one of which is large: the rare part of a clipped law, by itself.

notation: law k, counted n_k times, has the transform C_k where its normal variable is below an end, and J_k between that end
and a farther one; R is the transform of all other losses. The sum where no variable is beyond its farther end, and at least
one beyond its nearer end, has the transform

    R (prod (C_k + J_k)^{n_k} - prod C_k^{n_k}) = R prod C_k^{n_k} (e^S - 1),    S = sum of n_k log(1 + J_k / C_k),

a finite positive measure. No digits are lost where J is far smaller than C. With a_k and b_k bounds of |C_k| and |J_k| on a line,
|(C + J)^n - C^n| is at most (a + b)^n - a^n, as all coefficients of the polynomial are positive.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY, ULP, complex_log1p
from logphi.arith.protocol import Arithmetic, Number
from logphi.arith.summation import log_sum, roundings
from logphi.arrays import Array
from logphi.laws.clipped import ClippedNormal
from logphi.laws.log_phi import LogPhi
from logphi.laws.transform import LossTransform
from logphi.quadrature.curve import Curve
from logphi.quadrature.exponential_sums import turned_sums
from logphi.quadrature.gauss_legendre import Masses, nodes_of
from logphi.quadrature.inner_integral import by_abscissa
from logphi.quadrature.panels import log_errors, panels
from logphi.quadrature.values import Line, Values
from logphi.quadrature.variation_envelope import log_variation_envelope

# derived: e^600 and its square root's inverse are doubles
_LARGEST = 600.0
# derived: far above the rounding of logarithms that are only compared with each other
_SLACK = 1e-8
# chosen: the logarithm of J / C from which on J decides
_DECIDES = 3.0
# chosen: points of a coarse sum, which serves all powers
_COARSE = 193


@dataclass(frozen=True)
class BetweenEnds(LossTransform):
    """The part of a sampled normal law where its normal variable lies between two ends."""

    upper: ClippedNormal
    start: float

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """The logarithm of the difference of both clipped transforms."""
        upper, lower = (replace(self.upper, end=end).formula(arith, z) for end in (self.upper.end, self.start))
        return upper + arith.log(1 - arith.exp(lower - upper))

    @cached_property
    def curve(self) -> Curve:
        """The curve of the law, from the nearer end to the farther one."""
        return replace(self.upper.curve, start=self.start, omitted=(0.0, 0.0), omitted_error=0.0)

    def _nodes(self, powers: Array, top: float) -> tuple[Masses, Array] | None:
        """Nodes for powers and heights up to ``top``, and logarithms of the error of their sums for each power."""
        found = panels(self.curve, powers, top, near_one=False)
        if found is None:
            return None
        return nodes_of(self.curve, found.low, found.high), log_errors(self.curve, found, powers, top)[1]

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K at any points."""
        return by_abscissa(np.asarray(z), self._on_real, self._on_vertical)

    def _on_real(self, c: Array) -> Values:
        found = self._nodes(c + 1, 0.0)
        if found is None:
            return Values.unknown(c.size)
        each = [_sums(found[0], own, log_error, np.zeros(1), None) for own, log_error in zip(c, found[1], strict=True)]
        return Values(*(np.concatenate([getattr(one, name) for one in each]) for name in ("mid", "rounding", "inner")))

    def _on_vertical(self, c: float, heights: Array) -> Values:
        found = self._nodes(np.array([c + 1]), float(np.abs(heights).max()))
        return Values.unknown(heights.size) if found is None else _sums(found[0], c, float(found[1][0]), heights, None)

    def on_line(self, line: Line, count: int = 1) -> Values:
        """K on a vertical line, as a matrix product."""
        found = self._nodes(np.array([line.abscissa + 1]), line.step * line.size)
        if found is None:
            return Values.unknown(line.size)
        return _sums(found[0], line.abscissa, float(found[1][0]), line.heights, line)

    @cached_property
    def _coarse(self) -> tuple[Array, Array]:
        """Losses and logarithms of masses of the trapezoidal rule."""
        s, h = np.linspace(self.start, self.upper.end, _COARSE, retstep=True)
        log_mass = self.curve.log_density(s) + math.log(h)
        log_mass[[0, -1]] -= math.log(2)
        return self.curve.loss(s), log_mass

    def approximate(self, c: Array, count: int = 1) -> Array:
        """K at real points, to some digits."""
        loss, log_mass = self._coarse
        return np.asarray(log_sum(log_mass + (np.asarray(c)[..., None] + 1) * loss))

    def log_envelope(self, abscissa: float, heights: Array, end: float = np.inf) -> Array:
        """From the total variation of the tilted density."""
        return log_variation_envelope(self.curve, abscissa, heights)


def _sums(nodes: Masses, c: float, log_error: float, heights: Array, line: Line | None) -> Values:
    """K at c + it from nodes: positive terms, each relatively known."""
    log_terms = nodes.log_mass + (c + 1) * nodes.loss
    scale = float(log_terms.max())
    weight = np.exp(log_terms - scale)
    if line is None:
        sums = np.exp(1j * heights[:, None] * nodes.loss) @ weight
    else:
        sums = turned_sums(weight, nodes.loss, line)
    # the exponent is a product and a difference; the angle is turned twice
    size = abs(c + 1) + heights
    fixed = nodes.relative_error + 4 * ULP * (np.abs(nodes.log_mass) + abs(scale)) + 16 * ULP + 2 * ULP * roundings(weight.size)
    moved = nodes.loss_error + 8 * ULP * np.abs(nodes.loss)
    # both are small, where anything is known
    largest = float(fixed.max()) + float(size.max()) * float(moved.max())
    wrong = (float(weight @ fixed) + size * float(weight @ moved)) * math.exp(min(largest, _LARGEST))
    found = Values.logarithm(sums, wrong + math.exp(min(log_error - scale, _LARGEST)), scale)
    return found if largest < 1 else Values.unknown(heights.size)


@dataclass(frozen=True)
class SomeLarge(LossTransform):
    """The sum of independent losses where at least one is large; ``ends`` are the nearer ends of the clipped laws."""

    clipped: tuple[tuple[ClippedNormal, int], ...]
    ends: tuple[float, ...]
    others: LogPhi

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z)."""
        total, share = self.others.formula(arith, z), 0 * z
        for (lower, count), large in zip(self.none_large, self._large, strict=True):
            own = lower.formula(arith, z)
            total = total + count * own
            share = share + count * arith.log(1 + arith.exp(large.formula(arith, z) - own))
        return total + arith.log(arith.exp(share) - 1)

    @cached_property
    def none_large(self) -> tuple[tuple[ClippedNormal, int], ...]:
        """The laws below their nearer ends."""
        return tuple((replace(law, end=end), count) for (law, count), end in zip(self.clipped, self.ends, strict=True))

    @cached_property
    def _large(self) -> tuple[BetweenEnds, ...]:
        return tuple(BetweenEnds(law, end) for (law, _), end in zip(self.clipped, self.ends, strict=True))

    @property
    def strip(self) -> tuple[float, float]:
        """That of the other losses."""
        return self.others.strip

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K at any points."""
        z = np.asarray(z)
        return self._combined(
            self.others.log_transform(z),
            [law.log_transform(z, own) for law, own in self.none_large],
            [law.log_transform(z) for law in self._large],
        )

    def on_line(self, line: Line, count: int = 1) -> Values:
        """K on a vertical line."""
        return self._combined(
            self.others.on_line(line),
            [law.on_line(line, own) for law, own in self.none_large],
            [law.on_line(line) for law in self._large],
        )

    def _combined(self, total: Values, lower: list[Values], large: list[Values]) -> Values:
        """K from the transforms of the parts; unknown where 1 + J / C is, or where e^S is too large."""
        share, wrong = np.zeros(total.mid.shape, dtype=complex), np.zeros(total.mid.shape)
        known = np.isfinite(total.mid)
        for (_, count), below, above in zip(self.none_large, lower, large, strict=True):
            good = np.isfinite(below.mid) & np.isfinite(above.mid) & (below.radius + above.radius < 1)
            exponent = np.where(good, np.where(good, above.mid, 0.0) - np.where(good, below.mid, 0.0), 0.0)
            # nearer to zero doubles have fewer digits
            good &= np.abs(exponent.real) < _LARGEST
            ratio = np.exp(np.where(good, exponent, 0.0))
            lost = np.where(good, below.radius + above.radius, 0.0)
            lost = lost + 2 * ULP * (np.abs(np.where(good, above.mid, 0.0)) + np.abs(np.where(good, below.mid, 0.0))) + ELEMENTARY
            error = np.abs(ratio) * np.expm1(lost)
            room = np.abs(1 + ratio) - error
            good &= room > 0
            # the derivative of a logarithm, and its own rounding
            own = complex_log1p(np.where(good, ratio, 0.0))
            wrong += count * (error / np.where(good, room, 1.0) + (ELEMENTARY + 2 * ULP) * np.abs(own))
            share += count * own
            known &= good
            total = total + below.times(count)
        known &= np.isfinite(total.mid) & (share.real < _LARGEST) & (wrong < 1)
        share, wrong = np.where(known, share, 0.0), np.where(known, wrong, 0.0)
        risen = np.expm1(share)
        # the derivative of e^S - 1 is e^S
        error = np.exp(share.real) * np.expm1(wrong) + ELEMENTARY * (np.abs(risen) + np.abs(share))
        found = Values.logarithm(np.where(known, risen, 1.0), error, 0.0)
        total = total + found
        unknown = ~known
        mid, rounding = np.where(unknown, np.inf, total.mid), np.where(unknown, np.inf, total.rounding)
        return Values(mid, rounding, np.where(unknown, np.inf, total.inner))

    def approximate(self, c: Array, count: int = 1) -> Array:
        """K at real points, to some digits."""
        total, log_share = np.asarray(self.others.approximate(c)), np.full(np.shape(c), -np.inf)
        for (lower, own), large in zip(self.none_large, self._large, strict=True):
            below = lower.approximate(c)
            total = total + own * below
            # log(n log(1 + r)), where r may be beyond the range of doubles
            ratio = large.approximate(c) - below
            small = np.minimum(ratio, 0.0)
            log_log = np.where(ratio < -30, ratio, np.log(np.maximum(np.log1p(np.exp(small)), 1e-300)))
            log_log = np.where(ratio > 0, np.log(np.logaddexp(0.0, ratio)), log_log)
            log_share = np.logaddexp(log_share, math.log(own) + log_log)
        return np.asarray(total + _log_expm1(log_share))

    def log_envelope(self, abscissa: float, heights: Array, end: float = np.inf) -> Array:
        """From those of the parts."""
        c = np.array([abscissa])
        fall = self.others.log_envelope(abscissa, heights, end)
        at_zero, above = -np.inf, np.full(heights.shape, -np.inf)
        for (lower, count), large in zip(self.none_large, self._large, strict=True):
            below, own = lower.log_transform(c), large.log_transform(c)
            if not max(float(below.radius[0]), float(own.radius[0])) < _SLACK / 4:
                return np.zeros_like(heights)
            ratio = float(own.mid[0].real - below.mid[0].real)
            # where J decides, that C falls further is no gain, and would cost digits
            envelope = np.maximum(lower.log_envelope(abscissa, heights, end), min(ratio - _DECIDES, 0.0))
            of_large = large.log_envelope(abscissa, heights, end)
            fall = fall + count * envelope
            at_zero = float(np.logaddexp(at_zero, math.log(count) + _log_log1p(np.array([ratio]))[0]))
            above = np.logaddexp(above, math.log(count) + _log_log1p(ratio + of_large - envelope))
        size = float(_log_expm1(np.array([at_zero]))[0])
        if not math.isfinite(size) or not np.isfinite(above).all():
            return np.zeros_like(heights)
        # both ratios are known to within the slack, and a logarithm of e^S - 1 moves by that times at most 1 + S
        slack = 4 * _SLACK * (1 + math.exp(min(max(at_zero, float(above.max())), _LARGEST)))
        return np.minimum(fall + _log_expm1(above) - size + slack, 0.0)


def _log_log1p(log_ratio: Array) -> Array:
    """log(log(1 + e^r))."""
    small = np.exp(np.minimum(log_ratio, -30.0))
    return np.where(log_ratio < -30, log_ratio - small / 2, np.log(np.logaddexp(0.0, np.maximum(log_ratio, -30.0))))


def _log_expm1(log_share: Array) -> Array:
    """log(e^S - 1) of log S."""
    share = np.exp(np.minimum(log_share, 700.0))
    near = log_share + np.minimum(share, 1.0) / 2
    return np.where(log_share < -18, near, share + np.log(-np.expm1(-np.maximum(share, 1e-9))))
