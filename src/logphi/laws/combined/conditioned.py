"""A law conditioned on a finite loss: both measures become probabilities."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.protocol import Arithmetic, Number
from logphi.arrays import Array
from logphi.laws.growth import Growth, OneSided
from logphi.laws.support import Support
from logphi.laws.traits import Traits
from logphi.laws.transform import LossTransform
from logphi.quadrature.approximation import Approximation
from logphi.quadrature.values import Values


@dataclass(frozen=True)
class Conditioned(LossTransform):
    """K(z) - (1 + z) K(0) + z K(-1): the law of log(p/q) for the laws of P and Q given that the loss is finite."""

    law: LossTransform

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """The formula of the law, shifted."""
        whole = self.law.formula
        return whole(arith, z) - (1 + z) * whole(arith, 0 * z) + z * whole(arith, 0 * z - 1)

    @property
    def strip(self) -> tuple[float, float]:
        """The strip of the law."""
        return self.law.strip

    @property
    def traits(self) -> Traits:
        """The traits of the law."""
        return self.law.traits

    @property
    def support(self) -> Support:
        """The support of the law, shifted by K(-1) - K(0) like every loss."""
        own, (down, up) = self.law.support, self._shift
        return Support(own.lower + down, own.upper + up, own.error + 2 * (up - down), own.atomless)

    @property
    def growth(self) -> Growth:
        """From the support if that has an end; otherwise only where K is infinite."""
        support, own = self.support, self.law.growth
        return Growth(_unbounded(support.upper, own.right), _unbounded(-support.lower, own.left))

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """The values, with the errors of the masses included."""
        z = np.asarray(z)
        found = self.law.log_transform(z, count)
        at_zero, at_minus_one = self.law.support.masses
        linear = -(1 + z) * at_zero.mid[0].real + z * at_minus_one.mid[0].real
        error = np.abs(1 + z) * at_zero.radius[0] + np.abs(z) * at_minus_one.radius[0]
        rounding = 2.0**-50 * (np.abs(1 + z) * np.abs(at_zero.mid[0]) + np.abs(z) * np.abs(at_minus_one.mid[0]))
        known = np.isfinite(found.mid)
        mid = np.where(known, np.where(known, found.mid, 0.0) + linear, np.inf)
        return Values(mid, found.rounding + error + rounding + 2.0**-51 * np.where(known, np.abs(mid), 0.0), found.inner)

    @property
    def approximate(self) -> Approximation:
        """K by ``log_transform``; on a line, the summands of the law."""
        return replace(super().approximate, terms_on_line=self.law.approximate.terms_on_line)

    def log_envelope(self, abscissa: float, heights: Array, end: float = np.inf) -> Array:
        """The envelope of the law."""
        return self.law.log_envelope(abscissa, heights, end)

    @cached_property
    def _shift(self) -> tuple[float, float]:
        """An enclosure of K(-1) - K(0), by which the losses are shifted."""
        at_zero, at_minus_one = self.law.support.masses
        middle = float((at_minus_one.mid - at_zero.mid).real[0])
        room = float((at_minus_one.radius + at_zero.radius)[0]) + 2.0**-50 * (abs(middle) + 1e-300)
        return middle - room, middle + room


def _unbounded(supremum: float, own: OneSided) -> OneSided:
    return OneSided.bounded(supremum) if math.isfinite(supremum) else replace(own, most=math.inf, offset=0.0)
