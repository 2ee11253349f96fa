"""The law of a loss whose Renyi divergences are given at complex orders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from logphi.arith.floats import ULP
from logphi.arith.protocol import Arithmetic, Number
from logphi.arrays import Array, Complex
from logphi.laws.estimated import Estimated, slopes_apart
from logphi.laws.support import WHOLE_LINE, Support
from logphi.quadrature.approximation import Approximation

# chosen: the step of the differences that separate noise from slope
_STEP = 2.0**-30


@dataclass(frozen=True)
class Divergences(Estimated):
    """K(z) = z D_{1+z}, from a function of complex orders; all errors are estimates.

    ``orders`` are the ends of the real parts at which the function may be asked, ``arrays`` says whether it takes arrays. No
    loss is infinite under P, as divergences of orders above 1 are finite.
    """

    divergence: Callable[[Any], Any]
    orders: tuple[float, float]
    arrays: bool

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """None: the function is one of doubles."""
        raise NotImplementedError("divergences are known by a function of complex orders, which has no formula")

    @property
    def strip(self) -> tuple[float, float]:
        """The orders less one."""
        return (self.orders[0] - 1, self.orders[1] - 1)

    @cached_property
    def support(self) -> Support:
        """No infinite mass under P; the mass under Q follows from order 0, and counts as one if order 0 is unknown."""
        return super().support if self.orders[0] < 0 else WHOLE_LINE

    @property
    def samples(self) -> int:
        """Fewer if the function takes one order at a time: 25 standard deviations."""
        return 4000 if self.arrays else 500

    def estimate(self, z: Complex) -> Complex:
        """K alone."""
        return self._values(z)[0]

    @property
    def approximate(self) -> Approximation:
        """K at real points, without errors; infinite outside the strip."""
        return Approximation(self._on_axis)

    def _on_axis(self, c: Array) -> Array:
        low, high = self.strip
        inside = (c > low) & (c < high)
        found = np.full(c.shape, np.inf)
        with np.errstate(all="ignore"):  # what is not finite is not known
            found[inside] = self._values(c[inside].astype(complex))[0].real
        return np.where(np.isfinite(found), found, np.inf)

    def evaluated(self, z: Complex) -> tuple[Complex, Array]:
        """From the values, the errors that come with them, and second differences over a small step."""
        step = _STEP * (1 + np.abs(z))
        with np.errstate(all="ignore"):  # what is not finite is not known
            (left, _), (mid, wrong), (right, _) = (self._values(z + side * step) for side in (-1, 0, 1))
            noise = wrong + 4 * slopes_apart(left, mid, right) + 8 * ULP * (np.abs(mid) + 0.5)
        noise = np.where(z == 0, 0.0, noise)
        return mid, np.where(np.isfinite(noise), noise, np.inf)

    def _values(self, z: Complex) -> tuple[Complex, Array]:
        """K and the errors that come with its values."""
        if self.arrays:
            found, wrong = np.asarray(self.divergence(1 + z), complex), np.zeros(z.shape)
        else:
            answers = [self.divergence(complex(order)) for order in 1 + z]
            found = np.array([complex(one) for one in answers])
            wrong = np.array([float(getattr(one, "width", 0.0)) for one in answers])
        # order 1 is the mean, and K there is 0
        return np.where(z == 0, 0.0, z * found), np.abs(z) * wrong
