"""Sums of w^a - 1, or of w^a - 1 - a (w - 1), over the nodes of a shifted half-line, at many powers a, and their rounding.

notation as in :mod:`logphi.quadrature.half_lines.shifted_half_line`; l = log w, p = |phi| h the size of a weight, u what is
subtracted with the factor a: w - 1, or zero. Nodes run to the left, and |l| is small at the last ones. Where |a l| <= 1, the
sum is that of a power series,

    sum of e^{al} - 1 - a u  =  a sum of (l - u) + sum over k >= 2 of a^k / k! sum of l^k,

whose coefficients serve all a of similar size; elsewhere each term is an exponential.

Rounding. With g = |e^{al} - 1|, a term errs by some roundings of g + |a||u| and of al, and by at most |a| |dw/w| (g + r)
for an error dw of w, where r = |u| if w - 1 is subtracted, as w^a - w = (w^a - 1) - u, and r = 1 if nothing is; one in the
exponential by some roundings of 1 + g, too, next to which an e^{al} below 1e-19 is nothing. Each of these is a number times p
or g p, so that all bounds of a block are one matrix product. In the series g is at most (e - 1) |a l|; its k-th coefficient,
k >= 2, errs by at most 10 k roundings of half an ulp, which add up to less than 14 ulp of |a l|^2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arrays import Array, Complex

# derived: the largest |al| for which the series is used
_NEAR = 1.0
# derived: g / |al| is at most this there
_GROWTH = 1.72
# derived: (1 + g) (1 + |al|) is at most this there
_BOTH = 5.44
# derived: the first term of the series that is left out is below 1e-17 |al|
_ORDER = 18
# derived: the roundings of coefficients and of Horner's rule, over |al|^2
_SERIES = 14 * ULP
# derived: a complex exponential is a product of two elementary functions, which err by at most 4 ulp each, less one
_EXPONENTIAL = 12 * ULP
# derived: the exponential of this is a double
_LARGEST = 700.0
# derived: the exponential of this is far below an ulp of one
_VANISHED = -46.0
# derived: the number of terms of a block that fits the cache
_BLOCK = 1 << 17
# chosen: the largest ratio of two |a| in a block
_RATIO = 2.0


@dataclass(frozen=True)
class SumsAtPowers:
    """Sums of w^a - 1 - a u and of their derivatives in a at some powers, with bounds of their rounding."""

    value: Complex
    slope: Complex
    rounding: Array
    slope_error: Array


@dataclass(frozen=True, eq=False)
class HalfLineSums:
    """The nodes of a half-line from right to left: l, w - 1 and weights; with ``linear``, the w - 1 are subtracted.

    ``unit`` is the relative error of a weight with all roundings of the sum, ``of_w`` the error of w, ``size`` that of weights.
    """

    loss: Complex
    less_one: Complex
    weight: Complex
    size: Array
    unit: Array
    of_w: Array
    linear: bool = True

    def at(self, a: Complex) -> SumsAtPowers:
        """The sums at powers of any sizes, in blocks of similar ones."""
        length = np.abs(a)
        order = np.argsort(length, kind="stable")
        rows = max(_BLOCK // self.loss.size, 1)
        found = SumsAtPowers(np.empty_like(a), np.empty_like(a), np.empty(a.size), np.empty(a.size))
        start = 0
        while start < a.size:
            few = order[start : start + rows]
            few = few[: max(int(np.searchsorted(length[few], _RATIO * length[few[0]], side="right")), 1)]
            self._block(a[few], length[few], few, found)
            start += few.size
        return found

    def _block(self, a: Complex, length: Array, where: NDArray[np.intp], found: SumsAtPowers) -> None:
        first = int(np.searchsorted(-self._farthest, -_NEAR / max(float(length[-1]), 1e-300)))
        near, far = slice(first, None), slice(0, first)
        # the derivative of a term in w, at a w within its error
        moved = math.exp(min(float(length[-1] * (self.of_w * self._inverse).max(initial=0.0)), _LARGEST))
        value, slope, rounding, slope_error = self._series(a, length, near, moved)
        if first:
            loss, less_one, weight = self.loss[far], self._subtracted[far], self.weight[far]
            with np.errstate(over="ignore", invalid="ignore"):  # not finite: the value is unknown
                tilted = self._tilted(a[:, None] * loss)
                value = value + (weight * (tilted - a[:, None] * less_one)).sum(axis=1)
                slope = slope + (weight * (loss * tilted + (loss - less_one))).sum(axis=1)
                grown, alone, with_length = (np.abs(tilted) @ self._of_grown[far], *self._sums(far))
                # columns: unit, exponents, error of w; slope: unit, error of l, error of l times |al|
                rounding = rounding + grown[:, 0] + alone[0] + length * (with_length[0] + ELEMENTARY * grown[:, 1])
                rounding += length * moved * (grown[:, 2] + with_length[1])
                slope_error = (
                    slope_error + grown[:, 3] + grown[:, 4] + length * grown[:, 5] + alone[1] + length * with_length[2]
                )
        found.value[where], found.slope[where] = value, slope
        found.rounding[where], found.slope_error[where] = (
            np.where(one >= 0, one, np.inf) * (1 + 1e-9) for one in (rounding, slope_error)
        )

    @staticmethod
    def _tilted(exponent: Complex) -> Complex:
        """e^{al} - 1 at nodes from right to left; far to the right, where the argument of w is largest, it is mostly -1."""
        live = exponent.real.max(axis=0) > _VANISHED
        first = int(live.argmax()) if live.any() else live.size
        tilted = np.full(exponent.shape, -1.0 + 0j)
        tilted[:, first:] += np.exp(exponent[:, first:])
        return tilted

    @cached_property
    def _subtracted(self) -> Complex:
        """The part u of each node."""
        return self.less_one if self.linear else np.zeros_like(self.less_one)

    @cached_property
    def _beside(self) -> Array:
        """The part r of each node."""
        return np.abs(self.less_one) if self.linear else np.ones(self.less_one.size)

    @cached_property
    def _farthest(self) -> Array:
        """The largest |l| at a node and to its left, which does not rise."""
        return np.maximum.accumulate(np.abs(self.loss)[::-1])[::-1]

    @cached_property
    def _inverse(self) -> Array:
        return np.exp(-self.loss.real)

    @cached_property
    def _of_loss(self) -> Array:
        """The error of l, and of a factor l."""
        return self.of_w * self._inverse + 2 * ELEMENTARY * np.abs(self.loss)

    @cached_property
    def _of_grown(self) -> Array:
        """What g is multiplied with, by node."""
        p, size, unit = self.size, np.abs(self.loss), self.unit + _EXPONENTIAL
        columns = (unit, size, self.of_w * self._inverse, unit * size, self._of_loss, self._of_loss * size)
        return np.stack([p * one for one in columns], axis=1)

    def _sums(self, far: slice) -> tuple[tuple[float, float], tuple[float, float, float]]:
        """What is added for far nodes: for the value and the slope, and times the size of a (two parts for the value)."""
        p, size, u = self.size[far], np.abs(self.loss[far]), np.abs(self._subtracted[far])
        unit, of_loss = self.unit[far] + _EXPONENTIAL, self._of_loss[far]
        alone = float(p @ np.full(p.size, _EXPONENTIAL)), float(p @ (unit * size + of_loss + self.of_w[far]))
        moved = self.of_w[far] * self._inverse[far]
        with_length = (
            float(p @ (unit * u + ELEMENTARY * size)),
            float(p @ (moved * self._beside[far])),
            float(p @ (unit * size * u + of_loss * size)),
        )
        return alone, with_length

    def _series(self, a: Complex, length: Array, near: slice, moved: float) -> tuple[Complex, Complex, Array, Array]:
        """The sums over near nodes."""
        loss, less_one, weight, p = self.loss[near], self._subtracted[near], self.weight[near], self.size[near]
        if not loss.size:
            none = np.zeros(a.size)
            return np.zeros_like(a), np.zeros_like(a), none, none
        # in powers of l over its largest size, which neither overflow nor underflow together
        unit_of_l = max(float(self._farthest[near][0]), 1e-300)
        power, sums = loss / unit_of_l, []
        for _ in range(_ORDER + 1):
            sums.append((weight * power).sum())
            power = power * (loss / unit_of_l)
        scaled = a * unit_of_l
        value, slope = np.zeros_like(a), np.zeros_like(a)
        for k in range(_ORDER, 1, -1):
            value = (value + sums[k - 1]) * scaled / k
            slope = (slope + sums[k]) * scaled / k
        value, slope = value * scaled, (slope + sums[1]) * scaled * unit_of_l
        difference = (weight * (loss - less_one)).sum()
        size, u, unit = np.abs(loss), np.abs(less_one), self.unit[near]
        shifted = self.of_w[near] * self._inverse[near]
        # 1 + g is at most 1 + (e - 1) |al|
        linear = float(p @ (unit * (_GROWTH * size + u) + ELEMENTARY * size))
        linear += moved * float(p @ (shifted * self._beside[near]))
        square = _GROWTH * moved * float(p @ (shifted * size)) + (_SERIES + _GROWTH * ELEMENTARY) * float(p @ (size * size))
        rounding = length * (linear + length * square)
        alone = float(p @ (unit * size + _BOTH * self._of_loss[near] + self.of_w[near]))
        slope_error = alone + length * float(p @ (size * (unit * (_GROWTH * size + u) + _SERIES * size)))
        return value + a * difference, slope + difference, rounding, slope_error
