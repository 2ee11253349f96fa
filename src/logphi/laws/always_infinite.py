"""A loss that is always infinite."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.protocol import Arithmetic, Number
from logphi.laws.support import LogMasses, Pieces, Support
from logphi.laws.traits import CONSTANT
from logphi.laws.transform import LossTransform
from logphi.quadrature.values import Values


@dataclass(frozen=True)
class AlwaysInfinite(LossTransform):
    """The zero measure: no loss is finite, and K(z) = log 0 at every z."""

    traits = CONSTANT

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """The logarithm of zero."""
        return arith.log(0 * z)

    @property
    def support(self) -> Support:
        """The empty set, without atoms; neither measure has finite mass."""
        nothing = self.log_transform(np.zeros(1))
        return Support(np.inf, -np.inf, pieces=Pieces((), ()), masses=LogMasses(nothing, nothing))

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """Minus infinity, exactly."""
        known = np.zeros(np.shape(z))
        return Values(known - np.inf, known, known)


ALWAYS_INFINITE = AlwaysInfinite()
