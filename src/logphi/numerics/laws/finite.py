"""Laws with finitely many atoms, and constant factors."""

from __future__ import annotations

import math
from dataclasses import dataclass

from logphi.arith.protocol import Arithmetic, Number
from logphi.numerics.law import Law


@dataclass(frozen=True)
class Finite(Law):
    """Mass p_j at log(p_j / q_j) over the common support: K(z) = log( sum of p_j^{1+z} q_j^{-z} )."""

    p: tuple[float, ...]
    q: tuple[float, ...]

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z)."""
        return arith.log_power_sum(self.p, self.q, z)

    @property
    def supremum(self) -> float:
        """The largest log-ratio."""
        return max(math.log(a) - math.log(b) for a, b in zip(self.p, self.q, strict=True)) + 1e-15 * self._log_size

    @property
    def _log_size(self) -> float:
        return max(abs(math.log(number)) for number in self.p + self.q)

    def reflected(self) -> Law:
        """The roles of p and q exchanged."""
        return Finite(self.q, self.p)


@dataclass(frozen=True)
class Thinned(Law):
    """A loss of zero that survives with probability 1 - failure: K(z) = log(1 - failure)."""

    failure: float

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z), a constant."""
        return arith.log1p(-arith.constant(self.failure)) + 0 * z

    @property
    def symmetric(self) -> bool:
        """K is constant."""
        return True

    @property
    def supremum(self) -> float:
        """Zero."""
        return 0.0
