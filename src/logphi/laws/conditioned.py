"""A law without its infinite part: both measures as probabilities."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.protocol import Arithmetic, Number
from logphi.laws.growth import UNKNOWN, Growth
from logphi.laws.transform import LossTransform
from logphi.quadrature.values import CERTAIN, Values


@dataclass(frozen=True)
class Conditioned(LossTransform):
    """K(z) - (1 + z) K(0) + z K(-1): the law of log(p/q) for the laws of P and Q given that the loss is finite."""

    law: LossTransform

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """In terms of that of the law."""
        whole = self.law.formula
        return whole(arith, z) - (1 + z) * whole(arith, 0 * z) + z * whole(arith, 0 * z - 1)

    @property
    def symmetric(self) -> bool:
        """As the law."""
        return self.law.symmetric

    @property
    def strip(self) -> tuple[float, float]:
        """As of the law."""
        return self.law.strip

    @property
    def divergence_strip(self) -> tuple[float, float]:
        """As of the law."""
        return self.law.divergence_strip

    @property
    def estimated(self) -> bool:
        """As of the law."""
        return self.law.estimated

    @property
    def supremum(self) -> float:
        """The top, moved as every loss."""
        return self.law.supremum + self._moved[1]

    @property
    def infimum(self) -> float:
        """The bottom, moved as every loss."""
        return self.law.infimum + self._moved[0]

    @property
    def growth(self) -> Growth:
        """That of a law with an upper end; of any other only that it has none."""
        top = self.supremum
        return Growth.bounded(top) if math.isfinite(top) else replace(UNKNOWN, least=self.law.growth.least)

    @property
    def reversed_growth(self) -> Growth:
        """The same of the reflected law."""
        bottom = self.infimum
        return Growth.bounded(-bottom) if math.isfinite(bottom) else replace(UNKNOWN, least=self.law.reversed_growth.least)

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """The values, and what the masses may be wrong by."""
        z = np.asarray(z)
        found = self.law.log_transform(z, count)
        at_zero, at_minus_one = self._masses
        linear = -(1 + z) * at_zero.mid[0].real + z * at_minus_one.mid[0].real
        wrong = np.abs(1 + z) * at_zero.radius[0] + np.abs(z) * at_minus_one.radius[0]
        rounding = 2.0**-50 * (np.abs(1 + z) * np.abs(at_zero.mid[0]) + np.abs(z) * np.abs(at_minus_one.mid[0]))
        known = np.isfinite(found.mid)
        mid = np.where(known, np.where(known, found.mid, 0.0) + linear, np.inf)
        return Values(mid, found.rounding + wrong + rounding + 2.0**-51 * np.where(known, np.abs(mid), 0.0), found.inner)

    def log_envelope(self, abscissa: float, heights: NDArray[np.float64], end: float = np.inf) -> NDArray[np.float64]:
        """As of the law."""
        return self.law.log_envelope(abscissa, heights, end)

    @cached_property
    def _masses(self) -> tuple[Values, Values]:
        return self.law.log_masses() or (CERTAIN, CERTAIN)

    @cached_property
    def _moved(self) -> tuple[float, float]:
        """By how much every loss is moved: K(-1) - K(0), between two numbers."""
        at_zero, at_minus_one = self._masses
        middle = float((at_minus_one.mid - at_zero.mid).real[0])
        room = float((at_minus_one.radius + at_zero.radius)[0]) + 2.0**-50 * (abs(middle) + 1e-300)
        return middle - room, middle + room
