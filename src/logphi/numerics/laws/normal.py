"""The normal law that a shift of a normal density makes: mean v/2, variance v = shift^2."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import FLOATS
from logphi.arith.protocol import Arithmetic, Number, Parameter
from logphi.numerics.law import Law


@dataclass(frozen=True)
class Normal(Law):
    """N(m^2/2, m^2), m the shift in standard deviations: K(z) = z (z + 1) m^2 / 2."""

    shift: Parameter

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z)."""
        m = self.shift.under(arith)
        return z * (z + 1) * (m * m) / 2

    @property
    def symmetric(self) -> bool:
        """K is even in z + 1/2."""
        return True

    def log_envelope(self, abscissa: float, heights: NDArray[np.float64], end: float = np.inf) -> NDArray[np.float64]:
        """Exactly -m^2 t^2 / 2."""
        m = self.shift.under(FLOATS)
        least = float(m.mid - m.rad)
        return -0.5 * (least * heights) ** 2 * (1 - 1e-14)
