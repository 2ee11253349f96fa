"""A sum of losses of sampled normal pairs, none, one or several of which are large: three parts of its law.

notation: the normal variable X of law k, counted n_k times, is marked as large with the probability Phi((X - b_k) / tau_k), by
a coin of its own. J_k is the transform of law k where it is marked, C_k where it is not, R that of all other losses. The sum
has the transform R prod (C_k + J_k)^{n_k}, a polynomial in the J_k, whose terms of degree zero are R prod C_k^{n_k}; those of
degree one, and of degree two and more, with r_k = J_k / C_k,

    one = R prod C_k^{n_k} s,                  s = sum of n_k r_k,
    several = R prod C_k^{n_k} (e^S - 1 - s),  S = sum of n_k log(1 + r_k),

are transforms of positive measures as well. No digits are lost where J is far smaller than C, nor where the large losses of one
law are far rarer than those of another: with E = e^{S_k} - 1 of one law and F = e^{S_l} - 1 of the others, e^S - 1 - s is the
sum of both such terms and E F. All coefficients are positive: on a line both are at most what they are for bounds of |C_k| and
|J_k|, and an error of at most d in r_k moves E by at most n_k d e^T and E - n_k r_k by n_k d (e^T - 1), where e^T is the power
n_k - 1 of 1 + |r_k| + d. A sharp cap instead of the coins would leave a kink, for which lines are too short.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY, ULP, complex_log1p
from logphi.arith.protocol import Arithmetic, Number
from logphi.arith.summation import log_sum
from logphi.arrays import Array
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal.marked_normal import MarkedNormal, at_abscissa
from logphi.laws.normal.mixed_normal import MixedNormal
from logphi.laws.transform import LossTransform
from logphi.quadrature.approximation import Approximation
from logphi.quadrature.sums.second_order_sums import second_exp
from logphi.quadrature.values import Line, Values

# derived: e^600 and its inverse are doubles
_LARGEST = 600.0
# chosen: a larger error of a logarithm says no more than that a part is small
_LEAST_KNOWN = 2.0
# derived: far above the rounding of logarithms that are only compared with each other
_SLACK = 1e-8
# derived: below it the third power is negligible beside the square
_TINY = -23.0
# chosen: for a smaller |r|, log(1 + r) - r is a series
_NEAR = 0.05
# derived: with this many terms the series reaches the last digit
_TERMS = 13


@dataclass(frozen=True)
class SomeLarge(LossTransform):
    """The sum of independent losses of which exactly one is large, or ``several``, two at least, and none is huge.

    ``marks`` are the place b and the width tau of each law; ``others`` are losses of other kinds. ``ends`` are the places from
    which on losses of each law are huge, by the same coins; none are by default.
    """

    laws: tuple[tuple[MixedNormal, int], ...]
    marks: tuple[tuple[float, float], ...]
    others: LogPhi
    several: bool = False
    ends: tuple[float, ...] = ()

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z)."""
        total, first, share = self.others.formula(arith, z), 0 * z, 0 * z
        for (lower, count), large in zip(self.none_large, self._large, strict=True):
            own = lower.formula(arith, z)
            ratio = arith.exp(large.formula(arith, z) - own)
            total, first, share = total + count * own, first + count * ratio, share + count * arith.log(1 + ratio)
        return total + arith.log(arith.exp(share) - 1 - first if self.several else first)

    @cached_property
    def none_large(self) -> tuple[tuple[MarkedNormal, int], ...]:
        """The laws where they are not marked."""
        return tuple((MarkedNormal(law, *mark, -1), count) for (law, count), mark in zip(self.laws, self.marks, strict=True))

    @cached_property
    def _large(self) -> tuple[MarkedNormal, ...]:
        ends = self.ends or (math.inf,) * len(self.laws)
        return tuple(MarkedNormal(law, *mark, 1, end) for (law, _), mark, end in zip(self.laws, self.marks, ends, strict=True))

    @property
    def strip(self) -> tuple[float, float]:
        """The strip of the other losses."""
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
        large = [law.on_line(line) for law in self._large]
        if not all((one.radius < _LEAST_KNOWN).any() for one in large):
            # without these nothing is known
            return Values.unknown(line.size)
        return self._combined(self.others.on_line(line), [law.on_line(line, own) for law, own in self.none_large], large)

    def _terms_on_line(self, abscissa: float, top: float) -> float:
        parts = [*(law for law, _ in self.none_large), *self._large, self.others]
        return sum(part.approximate.terms_on_line(abscissa, top) for part in parts)

    def _combined(self, total: Values, lower: list[Values], large: list[Values]) -> Values:
        """K from the transforms of the parts; unknown where one of these is, or where e^S is too large."""
        kind = np.result_type(total.mid, *(one.mid for one in (*lower, *large)))
        first, wrong, known = np.zeros(total.mid.shape, dtype=kind), np.zeros(total.mid.shape), np.isfinite(total.mid)
        grown = _Grown.none(total.mid.shape, kind)
        unit = np.zeros(total.mid.shape) if self.several else _largest_ratio(lower, large)
        for (_, count), below, above in zip(self.none_large, lower, large, strict=True):
            good = np.isfinite(below.mid) & np.isfinite(above.mid) & (below.radius < 1) & (above.radius < _LEAST_KNOWN)
            own, other, lost = (np.where(good, one, 0.0) for one in (above.mid, below.mid, below.radius + above.radius))
            gap = np.where(good, own - other - unit, 0.0)
            good &= gap.real < _LARGEST
            # nearer to zero doubles have fewer digits
            tiny = gap.real < -_LARGEST
            ratio = np.exp(np.where(tiny, -_LARGEST, np.where(good, gap, 0.0)))
            lost = lost + 2 * ULP * (np.abs(own) + np.abs(other) + np.abs(unit)) + ELEMENTARY
            # of a large error, or of a tiny ratio, only the size remains
            resolved = (lost < 1) & ~tiny
            error = np.abs(ratio) * np.where(resolved, np.expm1(lost), np.exp(lost))
            ratio = np.where(resolved, ratio, 0.0)
            if self.several:
                good &= count * np.log1p(np.abs(ratio) + error) < _LARGEST
                grown = grown.with_law(np.where(good, ratio, 0.0), np.where(good, error, 0.0), count)
            first += count * ratio
            wrong += count * error
            known &= good
            total = total + below.times(count)
        # rounding of the sum is less than what the errors of its terms allow for
        sums, error = (grown.second, grown.of_second) if self.several else (first, wrong * (1 + len(large)))
        known &= np.isfinite(total.mid) & np.isfinite(sums) & np.isfinite(error)
        total = total + Values.logarithm(np.where(known, sums, 1.0), np.where(known, error, 0.0), unit)
        return Values(*(np.where(known, part, np.inf) for part in (total.mid, total.rounding, total.inner)))

    @property
    def approximate(self) -> Approximation:
        """From the approximations of the parts, and on a line the nodes of all of them."""
        return Approximation(self._combined_approximations, terms_on_line=self._terms_on_line)

    def _combined_approximations(self, c: Array) -> Array:
        return self.approximate_parts(c)[1 + self.several]

    def approximate_parts(self, c: Array) -> tuple[Array, Array, Array]:
        """About K of the sum with no large loss, with one and with several."""
        c = np.asarray(c)
        none, ratios = np.asarray(self.others.approximate(c)), []
        for (lower, count), large in zip(self.none_large, self._large, strict=True):
            below, above = lower.approximate(c), large.approximate(c)
            # all is unknown where one of them is out of reach
            known = np.isfinite(below) & (above < np.inf)
            below = np.where(known, below, np.inf)
            none = none + count * below
            ratios.append(np.where(known, above, np.inf) - np.where(known, below, 0.0))
        return none, none + self._log_one(ratios), none + self._log_several(ratios)

    def _log_one(self, log_ratios: list[Array]) -> Array:
        """The logarithm of s from those of real ratios."""
        return log_sum(np.stack([ratio + math.log(n) for (_, n), ratio in zip(self.laws, log_ratios, strict=True)]), axis=0)

    def _log_several(self, log_ratios: list[Array]) -> Array:
        """The logarithm of e^S - 1 - s; infinite out of reach."""
        peak = np.stack(log_ratios).max(axis=0)
        inside = np.isfinite(peak) & (peak < _LARGEST)
        # where all that follows the square is negligible
        tiny = inside & (peak + math.log(sum(count for _, count in self.laws)) < _TINY)
        grown = _Grown.none(peak.shape, np.dtype(float))
        for (_, count), log_ratio in zip(self.laws, log_ratios, strict=True):
            inside &= count * np.logaddexp(0.0, log_ratio) < _LARGEST
            grown = grown.with_law(np.exp(np.where(inside & ~tiny, log_ratio, -np.inf)), np.zeros(peak.shape), count)
        inside &= tiny | ((grown.second > 0) & np.isfinite(grown.second))
        with np.errstate(divide="ignore"):  # not taken
            pairs = self._log_pairs([np.where(tiny, log_ratio, 0.0) for log_ratio in log_ratios])
            log_second = np.where(tiny, pairs, np.log(grown.second))
        return np.where(inside, log_second, np.inf)

    def _log_pairs(self, log_ratios: Sequence[Array]) -> Array:
        """The logarithm of the part of e^S of degree two, a sum of positive terms."""
        first, second = (np.full(np.shape(log_ratios[0]), -np.inf) for _ in range(2))
        for (_, count), log_ratio in zip(self.laws, log_ratios, strict=True):
            own = log_ratio + math.log(count)
            second = np.logaddexp(second, first + own)
            if count > 1:
                second = np.logaddexp(second, 2 * log_ratio + math.log(count) + math.log(count - 1) - math.log(2))
            first = np.logaddexp(first, own)
        return second

    def log_bound(self, c: float) -> tuple[float, float]:
        """An upper bound of K at a real point, however small the transform is, and the size of what was added up for it.

        The part of e^S of degree d is at most that of degree two times that of degree d - 2.
        """
        at = np.array([c])
        total = self.others.log_transform(at)
        bound, size, log_ratios = float((total.mid + total.radius)[0]), float(np.abs(total.mid)[0]), list[Array]()
        for (lower, count), large in zip(self.none_large, self._large, strict=True):
            (own, own_error), (other, other_error) = at_abscissa(lower, c, count), at_abscissa(large, c)
            error = own_error + other_error
            if not math.isfinite(own + other + error):
                return math.inf, math.inf
            log_ratios.append(np.array([other - own + error]))
            bound += count * (own + error)
            size += count * abs(own) + abs(own) + abs(other)
        share = sum(count * float(np.logaddexp(0.0, one[0])) for (_, count), one in zip(self.laws, log_ratios, strict=True))
        log_part = float(self._log_pairs(log_ratios)[0]) + share if self.several else float(self._log_one(log_ratios)[0])
        if not math.isfinite(bound + log_part):
            return math.inf, math.inf
        return bound + log_part, size + abs(log_part) + 2 * share + sum(abs(float(one[0])) for one in log_ratios)

    def log_envelope(self, abscissa: float, heights: Array, end: float = np.inf) -> Array:
        """From those of the marked parts: the others hardly fall where these have fallen enough."""
        at_zero, above, most = [], [], 0.0
        for (lower, count), large in zip(self.none_large, self._large, strict=True):
            (below, below_error), (own, own_error) = at_abscissa(lower, abscissa), at_abscissa(large, abscissa)
            if not max(below_error, own_error) < _SLACK / 4:
                return np.zeros_like(heights)
            ratio = own - below
            at_zero.append(np.array([ratio]))
            above.append(ratio + large.log_envelope(abscissa, heights, end))
            most += count * float(np.logaddexp(0.0, ratio))
        log_factor = self._log_several if self.several else self._log_one
        size, factor = float(log_factor(at_zero)[0]), log_factor(above)
        if not (math.isfinite(size) and np.isfinite(factor).all()):
            return np.zeros_like(heights)
        # the ratios are known to within the slack, and a logarithm moves by that times the mean degree: at most 2 + S, as the
        # number of large losses has a logarithmically concave law
        fall = self.others.log_envelope(abscissa, heights, end)
        return np.minimum(fall + factor - size + 4 * _SLACK * (2 + most), 0.0)


def _largest_ratio(lower: list[Values], large: list[Values]) -> Array:
    """About the logarithm of the largest |J/C|, at each point: s is computed over it, as it may be below all doubles."""
    parts = [
        np.where(np.isfinite(above.mid) & np.isfinite(below.mid), above.mid.real, -np.inf)
        - np.where(np.isfinite(below.mid), below.mid.real, 0.0)
        for below, above in zip(lower, large, strict=True)
    ]
    peak = np.max(parts, axis=0)
    return np.where(np.isfinite(peak), peak, 0.0)


@dataclass(frozen=True)
class _Grown:
    """E = e^S - 1 and e^S - 1 - s of several laws, with bounds of their errors."""

    whole: NDArray[Any]
    second: NDArray[Any]
    of_whole: Array
    of_second: Array

    @staticmethod
    def none(shape: tuple[int, ...], kind: np.dtype[Any]) -> _Grown:
        """Both terms for no laws: zero."""
        return _Grown(np.zeros(shape, dtype=kind), np.zeros(shape, dtype=kind), np.zeros(shape), np.zeros(shape))

    def with_law(self, ratio: NDArray[Any], error: Array, count: int) -> _Grown:
        """Both terms with ``count`` more factors 1 + r, where r is known to within an error."""
        log, rest = _log1p_and_rest(ratio)
        share, others = count * log, (count - 1) * np.log1p(np.abs(ratio) + error)
        with np.errstate(over="ignore", invalid="ignore"):  # 1 + r may vanish; a product that overflows is unknown
            own = np.expm1(share)
            moved = ELEMENTARY * np.abs(share)
            of_own = count * error * np.exp(others) + 2 * moved * np.abs(1 + own) + 2 * ELEMENTARY * np.abs(own)
            square, of_square = np.zeros_like(own), np.zeros(others.shape)
            if count > 1:
                known = second_exp(share)
                square = known + count * rest
                # beside the series, differences
                lost = 4 * np.abs(known) + np.where(np.abs(share) < _NEAR, 0.0, np.abs(own) + np.abs(share))
                lost += count * (4 * np.abs(rest) + np.where(np.abs(ratio) < _NEAR, 0.0, np.abs(log) + np.abs(ratio)))
                of_square = count * error * np.expm1(others) + ELEMENTARY * lost
                of_square += 2 * moved * (np.abs(own) + moved * np.abs(1 + own))
            cross = self.whole * own
            of_cross = np.abs(self.whole) * of_own + self.of_whole * (np.abs(own) + of_own) + ELEMENTARY * np.abs(cross)
            whole, second = self.whole + own + cross, self.second + square + cross
            of_whole = self.of_whole + of_own + of_cross + ELEMENTARY * (np.abs(self.whole + own) + np.abs(whole))
            # the first number exceeds all that underflows
            of_second = 1e-300 + self.of_second + of_square + of_cross
            of_second += ELEMENTARY * (np.abs(self.second + square) + np.abs(second))
        return _Grown(whole, second, of_whole, of_second)


def _log1p_and_rest(ratio: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """log(1 + r), and log(1 + r) - r with all digits."""
    log = complex_log1p(ratio)
    small = np.where(np.abs(ratio) < _NEAR, ratio, 0.0)
    series = np.zeros_like(small)
    for power in range(_TERMS, 1, -1):
        series = small * (series + (-1.0) ** (power + 1) / power)
    return log, np.where(np.abs(ratio) < _NEAR, small * series, log - ratio)
