"""The log-ratio of t normal coordinates, a random one of them shifted, to t coordinates with none shifted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import FLOATS, ULP
from logphi.arith.protocol import Arithmetic, Number, Parameter
from logphi.arith.summation import error_of_log
from logphi.arrays import Array
from logphi.laws.growth import Growth, OneSided
from logphi.laws.normal.normal import largest_shift, shifted_growth
from logphi.laws.support import ATOMLESS, Support
from logphi.laws.traits import Traits
from logphi.laws.transform import LossTransform
from logphi.quadrature.approximation import Approximation
from logphi.quadrature.lognormal.mean import LognormalMean
from logphi.quadrature.mixtures.inner_integral import by_abscissa
from logphi.quadrature.values import Line, Values


@dataclass(frozen=True)
class AllocatedNormal(LossTransform):
    """The log-ratio of the mean of N(m e_i, I) over all t coordinates i to N(0, I), under the former.

    K(z) = log E S^{z+1}, S the mean of t independent e^{mX - m^2/2} with X standard normal; two coordinates at least.
    """

    shift: Parameter
    batches: int

    traits = Traits(lognormal=True)

    @cached_property
    def mean(self) -> LognormalMean:
        """The mean of lognormal variables, its shift rounded to a double."""
        m = self.shift.under(FLOATS)
        return LognormalMean(float(m.mid), self.batches, float(m.rad / m.mid))

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """Not known.

        Raises
        ------
        NotImplementedError
            Always: it is an integral over as many variables as there are batches.
        """
        raise NotImplementedError(
            "the log-phi of random allocation is an integral over one variable for each batch, which no expression stands for; "
            "delta, epsilon and other questions are answered with bounds"
        )

    @property
    def support(self) -> Support:
        """The whole line: the loss is a smooth function of normal variables."""
        return ATOMLESS

    @property
    def growth(self) -> Growth:
        """On the right, that of one shift; on the left, a t-th of it with an offset.

        S is at least 1/t of one variable, and E f(S) is at most E f of one variable for convex f. On the left, S is at least
        the geometric mean of the variables, of which e^{m times the mean of the X} is a factor. Drawing the coordinate at
        random never raises a profile.
        """
        right, t = shifted_growth(self.shift), self.batches
        left = OneSided(
            right.least / t * (1 - 4 * ULP), right.most / t * (1 + 4 * ULP), right.most / 2 * (1 - 1 / t) * (1 + 8 * ULP)
        )
        return Growth(right, left, largest_shift(self.shift))

    def log_envelope(self, abscissa: float, heights: Array, end: float = np.inf) -> Array:
        """-m^2 y^2 / (2t): S is e^{m times the mean of the X} times a factor that depends on their differences only."""
        m = self.shift.under(FLOATS)
        least = float(m.mid - m.rad)
        return -0.5 * (least * heights) ** 2 / self.batches * (1 - 1e-14)

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K at an array of points."""
        z = np.asarray(z)
        return by_abscissa(z, self._on_real, self._at_heights)

    def on_line(self, line: Line, count: int = 1) -> Values:
        """K on a vertical line."""
        return self._at_heights(line.abscissa, line.heights)

    @property
    def approximate(self) -> Approximation:
        """The approximate moments of the mean S."""
        return Approximation(self._of_mean)

    def _of_mean(self, c: Array) -> Array:
        return self.mean.approximate(1 + c)

    def _on_real(self, c: Array) -> Values:
        mid, radius = (np.array(part) for part in zip(*(self.mean.on_axis(float(one)) for one in 1 + c), strict=True))
        return self._moved(Values(mid, radius, np.zeros(c.size)), c)

    def _at_heights(self, abscissa: float, heights: Array) -> Values:
        values = self.mean.at_heights(1 + abscissa, np.abs(heights)).on_both_sides(heights)
        return self._moved(values, np.full(heights.shape, abscissa))

    def _moved(self, values: Values, c: Array) -> Values:
        """The values with the rounding of 1 + c in their errors: |dM/dw| <= E[|log S| S^a] <= 4 (M(a + 1/4) + M(a - 1/4))."""
        off = np.abs(((1 + c) - 1) - c)
        if not off.any():
            return values
        beside = sum(
            np.exp(np.array([self.mean.log_moment_bound(float(1 + one + side)) for one in c])) for side in (0.25, -0.25)
        )
        with np.errstate(over="ignore", invalid="ignore"):  # not finite: nothing is known
            share = 4.1 * off * beside * np.exp(values.radius - values.mid.real)
        return Values(values.mid, values.rounding + error_of_log(share), values.inner)
