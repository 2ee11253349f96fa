"""A sum of losses of sampled normal pairs, none, one or several of which are large: three parts of its law.

notation: the normal variable X of law k, counted n_k times, is marked as large with the probability Phi((X - b_k) / tau_k), by
a coin of its own. J_k is the transform of law k where it is marked, C_k where it is not, R that of all other losses. The sum
has the transform R prod (C_k + J_k)^{n_k}, a polynomial in the J_k, whose terms of degree zero are R prod C_k^{n_k}; those of
degree one, and of degree two and more, with r_k = J_k / C_k,

    one = R prod C_k^{n_k} s,                  s = sum of n_k r_k,
    several = R prod C_k^{n_k} (e^S - 1 - s),  S = sum of n_k log(1 + r_k),

are transforms of positive measures as well. No digits are lost where J is far smaller than C. All coefficients are positive:
on a line both are at most what they are for bounds of |C_k| and |J_k|, and an error of at most d_k in r_k moves e^S - 1 - s by
at most sum of n_k d_k (e^T - 1), where T is S for |r_k| + d_k. A sharp cap instead of the coins would leave a kink, for which
lines are too short.
"""

from __future__ import annotations

import math
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
from logphi.laws.marked_normal import MarkedNormal, at_abscissa
from logphi.laws.mixed_normal import MixedNormal
from logphi.laws.transform import LossTransform
from logphi.quadrature.approximation import Approximation
from logphi.quadrature.second_order_sums import second_exp
from logphi.quadrature.values import Line, Values

# derived: e^600 and its inverse are doubles
_LARGEST = 600.0
# chosen: a larger error of a logarithm says no more than that a part is small
_LEAST_KNOWN = 2.0
# derived: far above the rounding of logarithms that are only compared with each other
_SLACK = 1e-8
# derived: below it the third power is negligible beside the square
_TINY = -23.0
# derived: the series of a logarithm reaches the last digit
_NEAR, _TERMS = 0.05, 13


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
        # s, S, and S - s without its leading digits
        first, share, second = (np.zeros(total.mid.shape, dtype=kind) for _ in range(3))
        wrong, most, rounding, of_second = (np.zeros(total.mid.shape) for _ in range(4))
        known = np.isfinite(total.mid)
        for (_, count), below, above in zip(self.none_large, lower, large, strict=True):
            good = np.isfinite(below.mid) & np.isfinite(above.mid) & (below.radius < 1) & (above.radius < _LEAST_KNOWN)
            own, other, lost = (np.where(good, one, 0.0) for one in (above.mid, below.mid, below.radius + above.radius))
            gap = np.where(good, own - other, 0.0)
            good &= gap.real < _LARGEST
            # nearer to zero doubles have fewer digits
            tiny = gap.real < -_LARGEST
            ratio = np.exp(np.where(tiny, -_LARGEST, np.where(good, gap, 0.0)))
            lost = lost + 2 * ULP * (np.abs(own) + np.abs(other)) + ELEMENTARY
            # of a large error, or of a tiny ratio, only the size remains
            resolved = (lost < 1) & ~tiny
            error = np.abs(ratio) * np.where(resolved, np.expm1(lost), np.exp(lost))
            ratio = np.where(resolved, ratio, 0.0)
            log, rest = _log1p_and_rest(ratio)
            first, share, second = first + count * ratio, share + count * log, second + count * rest
            wrong += count * error
            most += count * np.log1p(np.abs(ratio) + error)
            rounding += count * ELEMENTARY * np.abs(log)
            # beside the series, a difference
            own_rounding = 4 * np.abs(rest) + np.where(np.abs(ratio) < _NEAR, 0.0, np.abs(log) + np.abs(ratio))
            of_second += count * ELEMENTARY * own_rounding
            known &= good
            total = total + below.times(count)
        known &= np.isfinite(total.mid)
        if self.several:
            known &= most < _LARGEST
            share, most = np.where(known, share, 0.0), np.where(known, most, 0.0)
            main = second_exp(share)
            sums = main + second
            error = (wrong + 2 * rounding) * np.expm1(most) + rounding**2 + of_second + 4 * ELEMENTARY * np.abs(main)
        else:
            # rounding of the sum is less than what the errors of its terms allow for
            sums, error = first, wrong * (1 + len(large))
        found = Values.logarithm(np.where(known, sums, 1.0), np.where(known, error, 0.0), 0.0)
        total = total + found
        parts = (np.where(known, part, np.inf) for part in (total.mid, total.rounding, total.inner))
        return Values(*parts)

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
            below = lower.approximate(c)
            none = none + count * below
            with np.errstate(invalid="ignore"):  # out of reach
                ratios.append(large.approximate(c) - below)
        return none, none + self._log_one(ratios), none + self._log_several(ratios)

    def _log_one(self, log_ratios: list[Array]) -> Array:
        """The logarithm of s from those of real ratios."""
        return log_sum(np.stack([ratio + math.log(n) for (_, n), ratio in zip(self.laws, log_ratios, strict=True)]), axis=0)

    def _log_several(self, log_ratios: list[Array]) -> Array:
        """That of e^S - 1 - s; infinite out of reach."""
        counts = np.array([[float(count)] for _, count in self.laws])
        log_ratio = np.stack(log_ratios)
        peak = log_ratio.max(axis=0)
        inside = np.isfinite(peak) & (peak < _LARGEST)
        shares = np.exp(np.where(inside, log_ratio - np.where(inside, peak, 0.0), 0.0))
        # in units of the largest ratio, where all that follows the square is negligible
        square = ((counts * shares).sum(axis=0) ** 2 - (counts * shares**2).sum(axis=0)) / 2
        tiny = inside & (peak + np.log(counts.sum()) < _TINY)
        log, rest = _log1p_and_rest(np.exp(np.where(inside & ~tiny, log_ratio, 0.0)))
        total = np.where(tiny, 0.0, (counts * log).sum(axis=0))
        inside &= total < _LARGEST
        value = np.where(tiny, square, second_exp(np.where(inside, total, 0.0)) + (counts * rest).sum(axis=0))
        inside &= value > 0
        return np.where(inside, np.log(np.where(inside, value, 1.0)) + np.where(tiny, 2 * peak, 0.0), np.inf)

    def log_bound(self, c: float) -> tuple[float, float]:
        """An upper bound of K at a real point, however small the transform is, and the size of what was added up for it.

        e^S - 1 - s is at most e^s s^2 / 2.
        """
        at = np.array([c])
        total = self.others.log_transform(at)
        bound, size, logs = float((total.mid + total.radius)[0]), float(np.abs(total.mid)[0]), []
        for (lower, count), large in zip(self.none_large, self._large, strict=True):
            (own, own_error), (other, other_error) = at_abscissa(lower, c, count), at_abscissa(large, c)
            error = own_error + other_error
            if not math.isfinite(own + other + error):
                return math.inf, math.inf
            logs.append(math.log(count) + other - own + error)
            bound += count * (own + error)
            size += count * abs(own) + abs(own) + abs(other)
        log_share = float(np.logaddexp.reduce(logs)) + 4 * ULP * (1 + len(logs))
        share = math.exp(min(log_share, _LARGEST))
        if log_share > _LARGEST or not math.isfinite(log_share + bound):
            return math.inf, math.inf
        bound += 2 * log_share - math.log(2) + share if self.several else log_share
        return bound, size + 2 * abs(log_share) + share

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


def _log1p_and_rest(ratio: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """log(1 + r), and log(1 + r) - r with all digits."""
    log = complex_log1p(ratio)
    small = np.where(np.abs(ratio) < _NEAR, ratio, 0.0)
    series = np.zeros_like(small)
    for power in range(_TERMS, 1, -1):
        series = small * (series + (-1.0) ** (power + 1) / power)
    return log, np.where(np.abs(ratio) < _NEAR, small * series, log - ratio)
