"""Atoms under a tilt e^{cx}: their sums, which are M on a vertical line, with errors."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arrays import Array, Complex
from logphi.laws.block_envelope import log_block_of_sizes
from logphi.quadrature.sums.exponential_sums import exponential_sums
from logphi.quadrature.sums.spread_sums import spread_sums
from logphi.quadrature.values import Line, Values

# chosen: entries of the intermediate arrays
_BLOCK = 1 << 18
# derived: a distance, in steps, that does not affect a bound on a block
_EQUAL = 1e-10
# derived: the relative rounding of a height
_ROUNDED = 4 * ULP
# measured: for fewer heights a matrix product is not faster
_FEW = 16
# measured: for more products than this, a Fourier transform is quicker
_PRODUCTS = 1 << 20
# measured: for fewer atoms than this, products are quicker
_MANY = 1000
# derived: with this many nodes for each height, its error is that of rounding
_ROOM = 16
# derived: larger angles lose digits when they are reduced to the circle
_LARGEST_ANGLE = 1e9
# derived: terms below this share of the largest are dropped from a sum, and bounded
_LIGHT = 1e-25


@dataclass(frozen=True)
class TiltedAtoms:
    """The terms of M(c) over e^top and their losses; the smallest terms are left out, and their sum is at most ``omitted``.

    ``weight_error`` is the relative error of each term, ``loss_error`` the absolute error of each loss.
    """

    terms: Array
    loss: Array
    top: float
    weight_error: Array
    loss_error: Array
    omitted: float

    @staticmethod
    def of(log_p: Array, loss: Array, errors: tuple[Array, Array], abscissa: float) -> TiltedAtoms:
        """The terms from logarithms of P-masses and losses, the relative errors of the masses and the errors of the losses."""
        weight = log_p + abscissa * loss
        top = float(weight.max())
        terms = np.exp(weight - top)
        kept = terms > _LIGHT
        weight_error, loss_error = (part[kept] for part in errors)
        size = 1 + np.abs(log_p[kept]) + np.abs(weight[kept]) + abs(top)
        return TiltedAtoms(
            terms[kept],
            loss[kept],
            top,
            weight_error + ELEMENTARY * size + 2 * (int(kept.sum()) + 8) * ULP,
            loss_error + ELEMENTARY * np.abs(loss[kept]),
            float(terms[~kept].sum()),
        )

    def sums(self, heights: Array) -> Complex:
        """The sums at zero and at other heights, as a matrix product if these are equally spaced."""
        first, others = self.terms.sum(), heights[1:]
        step = float(others[-1] - others[0]) / max(others.size - 1, 1)
        equal = max(_EQUAL * step, _ROUNDED * float(others.max(initial=0.0)))
        if others.size > _FEW and np.abs(others[0] + step * np.arange(others.size) - others).max() <= equal:
            line = Line(0.0, step, others.size)
            return np.append(first, exponential_sums(self.terms * np.exp(1j * others[0] * self.loss), self.loss, line))
        rows = max(_BLOCK // self.loss.size, 1)
        parts = np.split(others, range(rows, others.size, rows))
        # a product with a vector would be spread over all threads, which takes longer on a busy machine
        sums = [(np.exp(1j * part[:, None] * self.loss) * self.terms).sum(axis=1) for part in parts]
        return np.concatenate([[first], *sums])

    def on_line(self, line: Line) -> Values:
        """K on the vertical line of the tilt, by the quicker sum; errors at a few sizes of z, with which they grow."""
        level = np.ceil(4 * np.log2(np.abs(line.points) + 1)).astype(int)
        lowest = level.min()
        wrong = self.error(2.0 ** (np.arange(lowest, level.max() + 1) / 4))[level - lowest]
        top = line.step * line.size * float(np.abs(self.loss).max(initial=0.0))
        if self.terms.size < _MANY or line.size * self.terms.size < _PRODUCTS or top > _LARGEST_ANGLE:
            return Values.logarithm(exponential_sums(self.terms, self.loss, line), wrong, self.top)
        sums, error = spread_sums(self.loss, self.terms, line.step, line.size, _ROOM)
        return Values.logarithm(sums, wrong + error * float(self.terms.sum()) * (1 + 1e-9), self.top)

    def error(self, sizes: Array) -> Array:
        """Bounds of the errors of the sums at points z of these sizes."""
        largest = float(self.weight_error.max(initial=0.0)) + sizes * float(self.loss_error.max(initial=0.0))
        if largest.max() <= 1:
            # e^x - 1 is at most x + x^2 there
            linear = float(self.terms @ self.weight_error) + sizes * float(self.terms @ self.loss_error)
            return np.asarray((linear * (1 + largest) + self.omitted) * (1 + 1e-9))
        exponent = self.weight_error + sizes[:, None] * self.loss_error
        wrong: Array = ((self.terms * np.expm1(np.minimum(exponent, 700.0))).sum(axis=1) + self.omitted) * (1 + 1e-9)
        return wrong

    def log_block(self, abscissa: float, heights: Array, radius: float, width: float) -> Array:
        """Upper bounds of log |M(c + it)| - log M(c) within a radius of each height; c is the abscissa of the tilt.

        ``width`` is that of the support, with which omitted mass counts.
        """
        size = abs(abscissa) + float(heights.max(initial=0.0)) + radius
        sums, wrong = self.sums(np.append(0.0, heights)), float(self.error(np.array([size]))[0])
        radius += 2 * _ROUNDED * size
        least = sums[0].real - wrong
        if not least > 0:
            return np.zeros(heights.shape)
        share = self.terms / sums[0].real
        away = np.abs(self.loss - share @ self.loss)
        # errors of the tilted masses change the mean and its distances by this share, and those of the losses by their size
        tilted = float((self.weight_error + abs(abscissa) * self.loss_error).max())
        moved = 1 + 3 * math.expm1(min(2 * tilted, 700.0)) + 1e-9
        unsure = 4 * float((self.loss_error + self.loss.size * ULP * np.abs(self.loss)).max())
        omitted, half_width = self.omitted / least, width / 2 * (1 + 1e-6)
        deviation = (float(share @ away) + 2 * omitted * width) * moved + unsure
        square = math.sqrt(float(share @ away**2) + omitted * width**2) * moved + unsure
        ratio = (np.abs(sums[1:]) + wrong) / least * (1 + 1e-14)
        return log_block_of_sizes(ratio, min(half_width, math.sqrt(2) * square), min(half_width, deviation), radius)
