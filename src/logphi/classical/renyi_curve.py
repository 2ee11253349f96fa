"""Upper bounds of the Renyi divergences of a release, by order: what a Renyi accountant composes.

notation: z = order - 1; K(z) = z D_{1+z}(P||Q) = log of the integral of p^{1+z} q^{-z}, also for -1 < z < 0, and for z < -1,
where it is -(1 + z) D_{-z}(Q||P). A bound of a divergence is a bound of K from above outside [-1, 0] and from below within.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from logphi.arrays import Array
from logphi.engine.log_probability import ends_of, masses
from logphi.laws.log_phi import LogPhi
from logphi.pairs.pair import UnsupportedError

# derived: twice the relative rounding of a product and a sum of doubles
_ROUNDING = 8e-16


class RenyiCurve(ABC):
    """Bounds of K for the finite losses, and the probability of an infinite loss.

    With w = P(L = inf), v = Q(L = -inf), P' and Q' the laws without these outcomes,

        H_{e^eps}(P||Q) = w + (1 - w) H_{e^{eps'}}(P'||Q'),     eps' = eps + log(1 - v) - log(1 - w),

    and the curve is that of (P', Q').
    """

    @property
    @abstractmethod
    def reach(self) -> tuple[float, float]:
        """The open interval of z in which bounds are known."""

    @property
    def orders(self) -> Array | None:
        """The values of z at which bounds are known, if they are finitely many; otherwise None."""
        return None

    @property
    def proved(self) -> bool:
        """Whether the bounds are proved; those from samples of a function are estimates."""
        return True

    @property
    def infinite_mass(self) -> tuple[float, float]:
        """P(L = inf), as an interval."""
        return (0.0, 0.0)

    @property
    def shift(self) -> tuple[float, float]:
        """The difference eps' - eps, as an interval."""
        return (0.0, 0.0)

    @abstractmethod
    def limit(self, z: Array) -> Array:
        """Bounds of K: upper ones outside [-1, 0], lower ones within; infinite where nothing is known."""


@dataclass(frozen=True)
class LossCurve(RenyiCurve):
    """The divergences of one direction of a pair, from the log-phi of its loss; proved bounds at every order."""

    law: LogPhi

    def __post_init__(self) -> None:
        if self.law.empty:
            raise UnsupportedError(
                "every outcome reveals everything: delta is 1 at every epsilon, and every divergence is infinite"
            )

    @property
    def reach(self) -> tuple[float, float]:
        """The strip of K."""
        return self.law.strip

    @property
    def proved(self) -> bool:
        """True unless the errors of the transform are estimates."""
        return not self.law.traits.estimated

    @cached_property
    def _masses(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Logarithms of P(L < inf) and Q(L > -inf), as intervals."""
        finite, reverse = (ends_of(one) for one in self.law.support.masses)
        return finite, reverse

    @property
    def infinite_mass(self) -> tuple[float, float]:
        """1 - e^{K(0)}."""
        return masses(self.law)[0]

    @property
    def shift(self) -> tuple[float, float]:
        """K(-1) - K(0)."""
        (a, b), (c, d) = self._masses
        error = _ROUNDING * (abs(a) + abs(c))
        return (c - b - error, d - a + error)

    def limit(self, z: Array) -> Array:
        """K(z) - (1 + z) K(0) + z K(-1), rounded outward."""
        found = self._limit(z)
        if z.size > 1 and not np.isfinite(found).all():
            # one quadrature for points far apart may need too fine a grid; one for each half has a coarser grid
            half = z.size // 2
            return np.concatenate([self.limit(z[:half]), self.limit(z[half:])])
        return found

    def _limit(self, z: Array) -> Array:
        values = self.law.log_transform(z)
        outside = (z > 0) | (z < -1)
        (a, b), (c, d) = self._masses
        mass = -(1 + z) * (a + b) / 2 + z * (c + d) / 2
        radius = values.radius + np.abs(1 + z) * (b - a) / 2 + np.abs(z) * (d - c) / 2
        mid = np.where(np.isfinite(values.mid.real), values.mid.real, np.inf)
        known = np.isfinite(mid) & np.isfinite(radius)
        mid, radius = np.where(known, mid + mass, 0.0), np.where(known, radius, 0.0)
        error = radius + _ROUNDING * (np.abs(mid) + 2 * np.abs(mass)) + 1e-300
        # K of P' and Q' is never positive within [-1, 0] and never negative outside, as divergences are never negative
        found = np.where(outside, np.maximum(mid + error, 0.0), np.minimum(mid - error, 0.0))
        return np.where(known, found, np.where(outside, np.inf, -np.inf))


def representable(z: Array) -> Array:
    """The numbers z, changed by at most half an ulp so that the order 1 + z is a double too."""
    return np.where(z > -0.5, (1 + z) - 1, z)
