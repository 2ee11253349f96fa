"""The Gaussian mechanism."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar

from logphi.algebra.release import Primitive
from logphi.arith.protocol import Ratio
from logphi.inputs import check
from logphi.inputs.arguments import ADD_REMOVE, Real, Relation, default, frozen
from logphi.pairs.extremes import noisy
from logphi.pairs.normal import NormalShift
from logphi.pairs.pair import Pair
from logphi.text.written import Written, meant

# chosen: roots are rounded up to a fraction with this denominator
_UNIT = 10**20


@frozen
class Gaussian(Primitive):
    """Adds N(0, sigma^2) to every coordinate of a query of bounded L2 sensitivity.

    Pair: N(s/sigma, 1) against N(0, 1). log-phi: K(z) = z (z + 1) (s/sigma)^2 / 2, entire and symmetric.
    Profile of one release: Phi(m/2 - eps/m) - e^eps Phi(-m/2 - eps/m) with m = s/sigma.

    Parameters
    ----------
    sigma
        Standard deviation of the noise, in the units of the query; at 0, without noise, everything leaks.
    sensitivity
        L2 sensitivity of the query; at 0 nothing leaks.
    adjacency
        The relation under which the sensitivity is stated.

    Raises
    ------
    ValueError, TypeError
        If a parameter is negative or not a finite number.

    References
    ----------
    Balle & Wang 2018, Theorem 8 (profile); [AFA] Table 2 (characteristic function).

    Examples
    --------
    >>> round(Gaussian(sigma=1).delta(0.5).value, 9)
    0.238421708
    """

    sigma: Real
    sensitivity: Real = default(1.0)
    adjacency: Relation = ADD_REMOVE
    _grows: ClassVar = ("sensitivity",)
    _one_formula: ClassVar = True
    _hints: ClassVar = {
        "epsilon": "lp.calibrate(lp.Gaussian, epsilon=, delta=) to find the noise",
        "scale": "sigma=, the standard deviation",
    }

    def __post_init__(self) -> None:
        sigma, sensitivity = check.nonnegative("sigma", self.sigma), check.nonnegative("sensitivity", self.sensitivity)
        self._settle(sigma=sigma, sensitivity=sensitivity)
        if not self._extreme:
            check.moderate("sensitivity / sigma", sensitivity / sigma)

    @property
    def _extreme(self) -> Pair | None:
        """The pair without noise, or of a query with sensitivity zero."""
        return noisy(self.sensitivity, self.sigma)

    def _share(self, size: int) -> Gaussian:
        """The query with one of ``size`` parts of the noise, whose variances add: sqrt(size) times the sensitivity."""
        below = math.isqrt(size * _UNIT**2)
        root = Fraction(below if below**2 == size * _UNIT**2 else below + 1, _UNIT)
        return Gaussian(self.sigma, Written(meant(self.sensitivity) * root), self.adjacency)

    def pair(self) -> Pair:
        """N(s/sigma, 1) against N(0, 1)."""
        return self._extreme or NormalShift(Ratio(self.sensitivity, self.sigma))
