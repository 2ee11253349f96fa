"""A law with the mass that its transform omits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.protocol import Arithmetic, Number
from logphi.arith.summation import error_of_log
from logphi.laws.growth import Growth, OneSided
from logphi.laws.support import WHOLE_LINE, Omitted, Support
from logphi.laws.traits import Traits
from logphi.laws.transform import LossTransform
from logphi.quadrature.values import Values


@dataclass(frozen=True)
class WithOmittedMass(LossTransform):
    """A law with its omitted mass e included: the transform is that of the law, with the largest effect of e in its errors.

    It adds at most e on [-1, 0]. If K(z) <= z (z + 1) v / 2 for the whole, it adds at most e^{1/2} e^{c (2c + 1) v / 2} at
    c > 0, by Cauchy's inequality E[e^{cX}; A]^2 <= P(A) M(2c), and as much at -1 - c; else nothing is known outside [-1, 0].
    """

    law: LossTransform

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """The formula of the law."""
        return self.law.formula(arith, z)

    @property
    def strip(self) -> tuple[float, float]:
        """The strip of the law."""
        return self.law.strip

    @property
    def traits(self) -> Traits:
        """The traits of the law."""
        return self.law.traits

    @property
    def growth(self) -> Growth:
        """The growth with the omitted mass included."""
        return Growth.both(OneSided(0.0, self._omitted.growth, 0.0))

    def reflected(self) -> LossTransform:
        """The law reflected, with the same omitted mass."""
        return self if self.traits.symmetric else WithOmittedMass(self.law.reflected())

    @property
    def support(self) -> Support:
        """The whole line, as the omitted mass may be anywhere, with the masses of the law; one if no loss is infinite."""
        masses = self.law.support.masses
        whole = math.isfinite(self._omitted.growth) and all(one.mid[0] == 0 for one in masses)
        return WHOLE_LINE if whole else Support(masses=masses)

    @property
    def _omitted(self) -> Omitted:
        return self.law.support.omitted

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K of the law, with the largest effect of the omitted mass in its errors."""
        z = np.asarray(z)
        values, c = self.law.log_transform(z, count), z.real
        outside = np.maximum(np.maximum(c, -1 - c), 0.0)
        log_omitted = math.log(self._omitted.mass)
        with np.errstate(invalid="ignore", over="ignore"):  # zero times an infinite growth: not used; nothing is known far out
            grown = log_omitted / 2 + outside * (2 * outside + 1) * self._omitted.growth / 2
        log_added = np.where(outside > 0, grown, log_omitted) - values.mid.real + values.radius
        added = np.exp(np.minimum(np.where(np.isfinite(values.mid), log_added, np.inf), 0.0)) * (1 + 1e-9)
        return Values(values.mid, values.rounding, values.inner + error_of_log(added))
