"""The sum on a line for many thresholds: its summands are computed once, and each threshold changes their phases.

notation: f_j the summands at the threshold x_0, of z_j = c + i s j; at x they are f_j e^{-c (x - x_0)} e^{-i j s (x - x_0)}.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from logphi.arith.floats import ULP
from logphi.arith.scaled import Scaled
from logphi.arith.summation import product, roundings
from logphi.arrays import Array, Complex
from logphi.inversion.lines.contour import Inversion, Part, Prepared
from logphi.inversion.lines.kernels import Kernel, Smooth
from logphi.inversion.lines.line_sum import Contour

# measured: the size above which the summands of a line are computed once for all thresholds
LONG_LINE = 1 << 12
# derived: the rounding of two tabulated phases, of their products with a summand, and of a pairwise sum of rows
_PHASES = 64 * ULP


@dataclass(frozen=True, eq=False)
class Summands:
    """Summands of an integral along a line at one threshold, with their errors."""

    values: Complex
    rounding: Array
    inner: Array

    @staticmethod
    def of(contour: Contour, kernel: Kernel) -> Summands:
        """The summands of a kernel at its anchor."""
        return Summands(*contour.summands(kernel))

    def times(self, factor: Complex, error: float) -> Summands:
        """The summands times a further factor, known to within a relative error."""
        values, size = self.values * factor, np.abs(factor) * (1 + error)
        return Summands(values, self.rounding * size + error * np.abs(values), self.inner * size)


@dataclass(frozen=True, eq=False)
class ThresholdSum:
    """Summands in a row for each run of nodes; ``size`` is the sum of the moduli, ``moment`` that of moduli times heights.

    ``rounding`` and ``inner`` are the errors of all summands together. All are in units of e^{log_scale}.
    """

    contour: Contour
    anchor: float
    log_scale: float
    rows: Complex
    size: float
    moment: float
    rounding: float
    inner: float

    @staticmethod
    def of(contour: Contour, anchor: float, summands: Summands) -> ThresholdSum:
        """The sum of the summands of a threshold, the first of which counts half."""
        log_scale = contour.log_mass - contour.abscissa * anchor
        size, count = np.abs(summands.values), summands.values.size
        firsts, length = contour.line.runs
        rows = np.zeros((firsts.size, length), dtype=np.complex128)
        rows.ravel()[:count] = summands.values
        rows[0, 0] *= 0.5
        parts = (size, size * contour.line.heights, summands.rounding, summands.inner)
        return ThresholdSum(contour, anchor, log_scale, rows, *(float(part.sum()) * (1 + 1e-9) for part in parts))

    def at(self, x: float) -> Scaled:
        """The integral at a threshold."""
        contour, moved = self.contour, x - self.anchor
        share = contour.line.step / np.pi
        firsts, length = contour.line.runs
        turn = -1j * contour.line.step * moved
        sums = product(self.rows, np.exp(turn * np.arange(length))[:, None])[:, 0]
        value = share * float((sums * np.exp(turn * firsts)).sum().real)
        log_scale = contour.log_mass - contour.abscissa * x
        # the rounding of each angle, a height times a difference
        phase_error = _PHASES + 1.5 * ULP * roundings(length) + 4 * ULP * (abs(self.log_scale) + abs(contour.abscissa * x))
        noise = self.rounding + phase_error * self.size + 4 * ULP * self.moment * (abs(moved) + abs(x) * (moved != 0))
        return Scaled(
            log_scale,
            value,
            excess=contour.aliasing(x, log_scale),
            truncation=contour.truncation,
            inner=share * self.inner,
            rounding=share * noise,
        )


@dataclass(frozen=True, eq=False)
class SummedContour:
    """A contour whose summands are computed once, which on a long line takes longer than to change their phases."""

    part: Part
    sum: ThresholdSum

    @staticmethod
    def of(prepared: Prepared, x: float) -> SummedContour:
        """The sum on a contour with the kernel for any law, at a threshold."""
        own_x = -x if prepared.part is Part.REVERSED else x
        # left of the pole at zero the integral is minus the shortfall
        sign = np.asarray(-1.0 if prepared.part is Part.SHORTFALL else 1.0)
        summands = Summands.of(prepared.contour, Smooth(own_x)).times(sign, 0.0)
        return SummedContour(prepared.part, ThresholdSum.of(prepared.contour, own_x, summands))

    def at(self, x: float) -> Inversion:
        """The prepared functional at x."""
        reflected = self.part is Part.REVERSED
        amount = self.sum.at(-x).times_exp(x) if reflected else self.sum.at(x)
        return Inversion(self.part, amount, self.sum.contour.abscissa, self.sum.contour.line.size)
