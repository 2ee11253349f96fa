"""Laws on a lattice: the contour over one period, without truncation.

notation: X in a + D Z. Then e^{-za} M(z) has the period 2 pi i / D, the payoff sums geometrically, and with y the first
lattice point at or above the threshold x

    excess(x) = (1/2 pi i) * integral over one period of
                    e^{K(z) - z y} D [ 1/(1 - e^{-zD}) - e^{x-y}/(1 - e^{-(z+1)D}) ] dz,      Re z > 0,

which for -1 < Re z < 0 is minus the shortfall. The trapezoidal sum with N nodes has the same aliasing as on the
whole line with step 2 pi / (N D), and N nodes are all there are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.numerics.law import Lattice


@dataclass(frozen=True)
class Periodic:
    """The kernel of a lattice law at the threshold x, anchored at the first lattice point at or above it, or hardly below."""

    threshold: float
    anchor: float
    span: float
    slip: float

    @staticmethod
    def at(lattice: Lattice, x: float) -> Periodic:
        """The kernel for a threshold."""
        # stretched places move the payoff (1 - e^{x-X})_+ by at most the stretch times (|x| + |X - x|) e^{x-X}
        slip = lattice.slip + 2 * lattice.stretch * (2 * abs(x) + 2 * lattice.span + 1)
        # an atom that may be above the threshold, given the slip, must not be left out
        reserve = slip + 4 * ULP * (abs(x) + abs(lattice.offset))
        anchor = lattice.offset + lattice.span * float(np.ceil((x - reserve - lattice.offset) / lattice.span))
        return Periodic(x, anchor, lattice.span, slip)

    @property
    def period(self) -> float:
        """2 pi over the span."""
        return 2 * np.pi / self.span

    @property
    def farthest(self) -> float:
        """Beyond this abscissa neighbours of the anchor weigh nothing."""
        return 40.0 / self.span

    def __call__(self, z: NDArray[np.complex128]) -> tuple[NDArray[np.complex128], NDArray[np.float64]]:
        """The factor and its absolute error."""
        first = -self.span / _expm1(-z * self.span)
        second = self.span * np.exp(self.threshold - self.anchor) / _expm1(-(z + 1) * self.span)
        sizes = np.abs(first) + np.abs(second)
        relative = ELEMENTARY * (4 + np.abs(z + 1) * self.span) + ULP * (abs(self.threshold) + abs(self.anchor))
        return first + second, sizes * relative

    def log_real(self, c: NDArray[np.float64]) -> NDArray[np.float64]:
        """Logarithm of the factor's size on the real axis, roughly."""
        with np.errstate(over="ignore"):  # far to the left of the poles the factor vanishes
            first = 1 / np.expm1(-c * self.span)
            second = np.exp(self.threshold - self.anchor) / np.expm1(-(c + 1) * self.span)
        # both parts count: where they nearly cancel, it is their rounding that the line should keep small
        size: NDArray[np.float64] = np.log(self.span * np.maximum(np.abs(first) + np.abs(second), 1e-300))
        return size

    def log_size(self, heights: NDArray[np.float64], abscissa: float) -> NDArray[np.float64]:
        """Logarithm of a bound of the factor up to half a period: each denominator grows with |t| there."""
        bound = np.zeros_like(heights)
        for c, share in ((abscissa, 1.0), (abscissa + 1, float(np.exp(self.threshold - self.anchor)))):
            decay = np.exp(-abs(c) * self.span)
            # |1 - e^{-zD}| at both signs of c is at least (1 - r) at t = 0 and |1 - r e^{itD}| beyond, over r <= 1 if c < 0
            angle = np.minimum(heights * self.span, np.pi)
            gap = np.sqrt((1 - decay) ** 2 + 4 * decay * np.sin(angle / 2) ** 2)
            bound += share * self.span / gap * (decay if c < 0 else 1.0)
        return np.log(bound) + 1e-12

    def log_rest(self, height: float, abscissa: float) -> float:
        """None beyond the period."""
        return -np.inf

    def log_gain(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """None."""
        return np.zeros_like(u)

    def position_error(self, z: NDArray[np.complex128], factor: NDArray[np.complex128], share: float) -> float:
        """What atoms off their places by ``slip`` may change, in units of M(c) e^{-c anchor}."""
        slip = self.slip + ULP * (abs(self.threshold) + 2 * abs(self.anchor))
        return slip * (1 + share * float((np.abs(factor) * np.abs(z)).sum())) * 1.01


def _expm1(z: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """``e^z - 1``, with overflow kept finite: the factor is then zero to all digits."""
    result: NDArray[np.complex128] = np.expm1(np.minimum(z.real, 700.0) + 1j * z.imag)
    return result
