"""The third absolute moment of a law about a point, by a contour with a cubic payoff.

notation: mu a law with transform M = e^K. For an abscissa c > p inside the strip

    (1/2 pi i) * integral over Re z = c of  6 e^{K(z) - zx} / (z - p)^4 dz  =  E[(X - x)^3 e^{p (X - x)}; X > x],

p = 0 or -1. The factor falls so fast that laws without any smooth part are served too. The integral of |X - x|^3 above x is
that of mu with p = 0, and below x e^x times that of the reflected law at -x with p = -1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from logphi.arrays import Array
from logphi.inversion.lines.half_line import Step, spread
from logphi.inversion.lines.line_sum import plan
from logphi.inversion.lines.saddle import Interval, saddle
from logphi.laws.transform import LossTransform

# measured: this tolerance for each part gives an error of some 1e-5, and a thousand nodes where only the factor decays
_RTOL = 1e-3
# measured: if K is known only at abscissas below this share of the best, a line takes seconds and gives no bound
_FAINT = 0.1
# derived: the smallest and the largest distance from the pole whose fourth power, and shares of it, are doubles
_NEAREST, _FARTHEST = 1e-70, 1e70


@dataclass(frozen=True)
class Cube(Step):
    """6 / (z - p)^4: the payoff (X - anchor)^3 e^{p (X - anchor)} above the anchor."""

    def __call__(self, z: NDArray[np.complex128]) -> tuple[NDArray[np.complex128], Array]:
        """The factor."""
        step, error = super().__call__(z)
        factor = 6 * step**4
        return factor, 30 * error * np.abs(step) ** 3

    def log_real(self, c: Array) -> Array:
        """The logarithm of 6 / (c - p)^4."""
        return math.log(6) + 4 * super().log_real(c)

    def log_size(self, heights: Array, abscissa: float) -> Array:
        """The logarithm of 6 / |z - p|^4."""
        return math.log(6) + 4 * super().log_size(heights, abscissa)

    def log_rest(self, height: float, abscissa: float) -> float:
        """The integral of 6 / t^4, as |z - p| exceeds t."""
        return math.log(2) - 3 * math.log(height) + 1e-14

    def log_chernoff(self, u: Array) -> Array:
        """The logarithm of the largest t^3 e^{(p - u) t}."""
        ahead = np.where(u > self.pole, u - self.pole, 1.0)
        return np.where(u > self.pole, 3 * (math.log(3) - 1 - np.log(ahead)) + 1e-14, np.inf)

    def position_error(self, z: NDArray[np.complex128], factor: NDArray[np.complex128], share: float) -> float:
        """Zero: the factor is integrable."""
        return 0.0


def third_moment(law: LossTransform, x: float) -> float:
    """A proved upper bound of the integral of |X - x|^3, most often sharp to 1e-5; infinite if none is found.

    The mass need not be one. No bound is found if the strip ends at 0, if the fourth power of the scale of X is no double, or
    if the scale is so small that K is unknown at its inverse.

    Examples
    --------
    >>> from logphi.arith.protocol import Plain
    >>> from logphi.laws.normal.normal import Normal
    >>> round(third_moment(Normal(Plain(1.0)), 0.5), 3), round(math.sqrt(8 / math.pi), 3)
    (1.596, 1.596)
    """
    sides = (law, x, 0.0), (law.reflected(), -x, -1.0)
    above, below = (_log_above(*side) for side in sides)
    # x is known to half an ulp, as in the exponent of the contour
    log_moment = np.logaddexp(above, below + x + 1e-15 * abs(x))
    return math.exp(min(log_moment, 700.0)) * (1 + 1e-12) if math.isfinite(log_moment) else math.inf


def _log_above(law: LossTransform, x: float, pole: float) -> float:
    """Logarithm of an upper bound of the integral of (X - x)^3 e^{p (X - x)} above x."""
    kernel = Cube(x, pole)
    found = saddle(law, kernel, Interval(pole, math.inf))
    if not (math.isfinite(found.value) and _NEAREST < found.abscissa - pole < _FARTHEST):
        return math.inf
    if (found.abscissa - pole) * spread(law) < _FAINT and not np.isfinite(
        law.approximate(np.array([1.5 * found.abscissa]))
    ).all():
        return math.inf
    contour = plan(law, found.abscissa, kernel, _RTOL)
    return math.inf if contour is None else contour.integral(x, kernel).log_ends[1]
