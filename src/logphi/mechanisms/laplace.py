"""The Laplace mechanism."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from logphi.algebra.release import Primitive
from logphi.arith.protocol import Ratio
from logphi.inputs import check
from logphi.inputs.arguments import ADD_REMOVE, Real, Relation, default, frozen
from logphi.pairs.extremes import noisy
from logphi.pairs.flat import TiltedUniform
from logphi.pairs.pair import Pair
from logphi.text.written import exact


@frozen
class Laplace(Primitive):
    """Adds Laplace noise to a query of bounded L1 sensitivity.

    Pair: Lap(w, 1) against Lap(0, 1) with w = s/scale. log-phi, with u = z + 1/2:
    M(z) = e^{-w/2} [cosh(u w) + sinh(u w) / (2u)], entire and symmetric; the loss has atoms at +-w.
    Profile of one release: (1 - e^{(eps - w)/2})_+ for eps >= 0.

    Parameters
    ----------
    scale
        Scale of the noise (its mean absolute value), in the units of the query; at 0, without noise, everything leaks.
    sensitivity
        L1 sensitivity of the query; at 0 nothing leaks.
    adjacency
        The relation under which the sensitivity is stated.

    Raises
    ------
    ValueError, TypeError
        If a parameter is negative or not a finite number.

    References
    ----------
    [AFA] Table 2 (characteristic function); Balle, Barthe & Gaboardi 2020, Theorem 3 (profile).

    Examples
    --------
    >>> print(Laplace(scale=2).delta(0.2).method)
    exact
    """

    scale: Real
    sensitivity: Real = default(1.0)
    adjacency: Relation = ADD_REMOVE
    _grows: ClassVar = ("sensitivity",)
    _one_formula: ClassVar = True
    _hints: ClassVar = {
        "epsilon": "scale=sensitivity/epsilon",
        "sigma": "scale=, the standard deviation over the square root of two",
        "noise_multiplier": "scale= (with sensitivity 1)",
    }

    def __post_init__(self) -> None:
        scale, sensitivity = check.nonnegative("scale", self.scale), check.nonnegative("sensitivity", self.sensitivity)
        self._settle(scale=scale, sensitivity=sensitivity)
        if not self._extreme:
            check.moderate("sensitivity / scale", sensitivity / scale)

    @property
    def _extreme(self) -> Pair | None:
        """The pair without noise, or of a query with sensitivity zero."""
        return noisy(self.sensitivity, self.scale)

    @property
    def _exact_largest_loss(self) -> Fraction:
        return exact(self.sensitivity) / exact(self.scale)

    def pair(self) -> Pair:
        """Lap(w, 1) against Lap(0, 1)."""
        return self._extreme or TiltedUniform(Ratio(self.sensitivity, self.scale), with_atoms=True)
