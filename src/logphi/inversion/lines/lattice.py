"""Laws on a lattice: the contour over one period, without truncation.

notation: X in a + D Z. Then e^{-za} M(z) has the period 2 pi i / D, the sum of payoffs is geometric, and with y the first
lattice point at or above the threshold x

    excess(x) = (1/2 pi i) * integral over one period of
                    e^{K(z) - z y} D [ 1/(1 - e^{-zD}) - e^{x-y}/(1 - e^{-(z+1)D}) ] dz,      Re z > 0,

which for -1 < Re z < 0 is minus the shortfall. The trapezoidal sum with N nodes has the same aliasing error as on the
whole line with step 2 pi / (N D), and no truncation error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arrays import Array
from logphi.inversion.lines.kernels import log_kappa
from logphi.laws.support import Lattice


@dataclass(frozen=True)
class PeriodicStep:
    """D / (1 - e^{-(z - p) D}), the geometric sum of e^{-(z - p) k D}: the payoff e^{p (X - anchor)} from the anchor on.

    The anchor is a lattice point; atoms are within ``location_error`` of lattice points.
    """

    anchor: float
    span: float
    location_error: float
    pole: float

    @property
    def poles(self) -> tuple[float, ...]:
        """The pole on the real axis."""
        return (self.pole,)

    @property
    def period(self) -> float:
        """2 pi over the span."""
        return 2 * np.pi / self.span

    @property
    def farthest(self) -> float:
        """The abscissa at which the neighbour of the anchor has a relative weight of e^-40."""
        return 40.0 / self.span

    def __call__(self, z: NDArray[np.complex128]) -> tuple[NDArray[np.complex128], Array]:
        """The factor and its absolute error."""
        factor = -self.span / _expm1((self.pole - z) * self.span)
        return factor, np.abs(factor) * ELEMENTARY * (4 + np.abs(z - self.pole) * self.span)

    def log_real(self, c: Array) -> Array:
        """An approximate logarithm of the factor's size on the real axis."""
        with np.errstate(over="ignore"):  # far to the left of the pole the factor vanishes
            fall = np.abs(np.expm1((self.pole - c) * self.span))
        size: Array = math.log(self.span) - np.log(np.clip(fall, 1e-300, 1e300))
        return size

    def log_size(self, heights: Array, abscissa: float) -> Array:
        """Logarithm of a bound of the factor up to half a period: the denominator grows with |t| there."""
        distance = abscissa - self.pole
        decay = np.exp(-abs(distance) * self.span)
        # with r <= 1 the size of e^{-zD} or of its inverse, |1 - e^{-zD}| is at least |1 - r e^{itD}|, over r on the left
        angle = np.minimum(heights * self.span, np.pi)
        gap = np.sqrt((1 - decay) ** 2 + 4 * decay * np.sin(angle / 2) ** 2)
        bound: Array = np.log(self.span / gap) + min(distance, 0.0) * self.span + 1e-12
        return bound

    def log_rest(self, height: float, abscissa: float) -> float:
        """Minus infinity: there is no tail after a whole period."""
        return -np.inf

    def log_chernoff(self, u: Array) -> Array:
        """The constant for a payoff of at most e^{u (X - y)}, on the right of the pole."""
        return np.zeros_like(u)

    def position_error(self, z: NDArray[np.complex128], factor: NDArray[np.complex128], share: float) -> float:
        """The effect of the errors of the atoms' locations, in units of M(c) e^{-c anchor}."""
        return (
            (self.location_error + 2 * ULP * abs(self.anchor)) * (1 + share * float((np.abs(factor) * np.abs(z)).sum())) * 1.01
        )


@dataclass(frozen=True)
class PeriodicExcess:
    """The kernel of a lattice law at the threshold x: the difference of two steps.

    It is anchored at the first lattice point at or above the threshold, up to rounding.
    """

    threshold: float
    anchor: float
    span: float
    location_error: float
    poles: tuple[float, ...] = (-1.0, 0.0)

    @staticmethod
    def at(lattice: Lattice, x: float) -> PeriodicExcess:
        """The kernel for a threshold."""
        # an atom that may be above the threshold, given its location error, must be included
        location_error, anchor = location_error_at(lattice, x), at_or_above(lattice, x - reserve_at(lattice, x))
        return PeriodicExcess(x, anchor, lattice.span, location_error)

    @property
    def _steps(self) -> tuple[PeriodicStep, PeriodicStep]:
        one, two = (PeriodicStep(self.anchor, self.span, self.location_error, pole) for pole in (0.0, -1.0))
        return one, two

    @property
    def _share(self) -> float:
        return float(np.exp(self.threshold - self.anchor))

    @property
    def period(self) -> float:
        """2 pi over the span."""
        return self._steps[0].period

    @property
    def farthest(self) -> float:
        """The farthest abscissa of a step."""
        return self._steps[0].farthest

    def __call__(self, z: NDArray[np.complex128]) -> tuple[NDArray[np.complex128], Array]:
        """The factor and its absolute error."""
        (first, wrong), (second, too) = (step(z) for step in self._steps)
        relative = ULP * (4 + abs(self.threshold) + abs(self.anchor))
        noise = wrong + self._share * too + relative * (np.abs(first) + self._share * np.abs(second))
        return first - self._share * second, noise

    def log_real(self, c: Array) -> Array:
        """An approximate logarithm of the factor's size on the real axis."""
        # the sizes of both parts are added: where they nearly cancel, the line should keep their rounding small
        first, second = (step.log_real(c) for step in self._steps)
        return np.asarray(np.logaddexp(first, second + self.threshold - self.anchor))

    def log_size(self, heights: Array, abscissa: float) -> Array:
        """The bound of the sum of both steps."""
        first, second = (step.log_size(heights, abscissa) for step in self._steps)
        return np.asarray(np.logaddexp(first, second + self.threshold - self.anchor)) + 1e-12

    def log_rest(self, height: float, abscissa: float) -> float:
        """Minus infinity: there is no tail after a whole period."""
        return -np.inf

    def log_chernoff(self, u: Array) -> Array:
        """The constant for the payoff (1 - e^{x-X})_+."""
        return log_kappa(u)

    def position_error(self, z: NDArray[np.complex128], factor: NDArray[np.complex128], share: float) -> float:
        """The effect of the errors of the atoms' locations, in units of M(c) e^{-c anchor}."""
        location_error = self.location_error + ULP * (abs(self.threshold) + 2 * abs(self.anchor))
        return location_error * (1 + share * float((np.abs(factor) * np.abs(z)).sum())) * 1.01


def location_error_at(lattice: Lattice, x: float) -> float:
    """A bound of the location errors of atoms near a threshold.

    A relative error s of a location changes the payoff (1 - e^{x-X})_+ by at most s (|x| + |X - x|) e^{x-X}.
    """
    neighbour = lattice.span if np.isfinite(lattice.span) else 0.0
    return lattice.location_error + 2 * lattice.scale_error * (2 * abs(x) + 2 * neighbour + 1)


def reserve_at(lattice: Lattice, x: float) -> float:
    """The distance from a threshold within which an atom may lie on either side of it."""
    return location_error_at(lattice, x) + 4 * ULP * (abs(x) + abs(lattice.offset))


def at_or_above(lattice: Lattice, x: float) -> float:
    """The first lattice point from x on, up to rounding."""
    return lattice.offset + lattice.span * float(np.ceil((x - lattice.offset) / lattice.span))


def _expm1(z: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """``e^z - 1``, with overflow kept finite: the factor is then zero to all digits."""
    result: NDArray[np.complex128] = np.expm1(np.minimum(z.real, 700.0) + 1j * z.imag)
    return result
