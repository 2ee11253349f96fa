"""The Gaussian mechanism for a query of random sensitivity."""

from __future__ import annotations

import math
from typing import ClassVar

from logphi.algebra.release import Primitive
from logphi.arith.protocol import Ratio
from logphi.inputs import check
from logphi.inputs.arguments import ADD_REMOVE, Real, Reals, Relation, frozen
from logphi.laws.weights import Listed
from logphi.pairs.extremes import noisy
from logphi.pairs.finite import FinitePair
from logphi.pairs.normal_mixture import NormalMixture
from logphi.pairs.pair import Pair

# measured: sums over more components are slow
MOST_COMPONENTS = 1001


@frozen
class GaussianMixture(Primitive):
    """Adds N(0, sigma^2) to a query whose sensitivity is random: it is c_i with probability p_i.

    Pair: sum of p_i N(c_i, sigma^2) against N(0, sigma^2). log-phi: K(z) = log E[w^{z+1}], w = sum of
    p_i e^{c_i X/sigma - c_i^2/(2 sigma^2)} with X standard normal: an integral, finite on the whole plane.
    Profile of one release: sum of p_i Phi(c_i/sigma - x) - e^eps Phi(-x) with x the root of log w = eps.

    Parameters
    ----------
    sigma
        Standard deviation of the noise, in the units of the query. At 0, without noise, a record that changes the query is
        revealed.
    sensitivities
        The values of the sensitivity: up to 1001 numbers, not negative. Equal ones are merged. If all are 0 nothing leaks.
    probabilities
        Their probabilities, which sum to one; sensitivities of probability zero are left out.
    adjacency
        The relation under which the sensitivities are stated.

    Raises
    ------
    ValueError, TypeError
        If sigma is negative or not a finite number, or the lists differ in length or hold anything else.

    References
    ----------
    [PLD] section 3.3 (mixtures of Gaussians).

    Examples
    --------
    >>> round(GaussianMixture(sigma=1, sensitivities=[0, 1, 2], probabilities=[0.5, 0.3, 0.2]).delta(1).value, 9)
    0.099901911
    """

    sigma: Real
    sensitivities: Reals
    probabilities: Reals
    adjacency: Relation = ADD_REMOVE
    _one_formula: ClassVar = True
    _distributions: ClassVar = ("probabilities",)

    def __post_init__(self) -> None:
        sensitivities = check.nonnegatives("sensitivities", self.sensitivities)
        probabilities = check.probabilities("probabilities", self.probabilities, check.LEAST_SHARE)
        if len(sensitivities) != len(probabilities):
            raise ValueError(
                f"sensitivities and probabilities must have the same length, got {len(sensitivities)} and {len(probabilities)}"
                ": each probability belongs to the sensitivity at its place"
            )
        if len(sensitivities) > MOST_COMPONENTS:
            raise ValueError(f"sensitivities must be {MOST_COMPONENTS} at most, got {len(sensitivities)}: round near ones up")
        self._settle(sigma=check.nonnegative("sigma", self.sigma), sensitivities=sensitivities, probabilities=probabilities)
        for c, p in zip(sensitivities, probabilities, strict=True):
            if c > 0 and p > 0 and self.sigma:
                check.moderate("sensitivity / sigma", c / self.sigma)

    def pair(self) -> Pair:
        """The mixture of shifts against none."""
        if extreme := self._extreme:
            return extreme
        groups: dict[float, list[float]] = {}
        for c, p in sorted(zip(self.sensitivities, self.probabilities, strict=True)):
            if p > 0:
                groups.setdefault(c, []).append(p)
        shifts = tuple(Ratio(c, self.sigma) if c > 0 else None for c in groups)
        return NormalMixture.of(shifts, Listed(tuple(map(tuple, groups.values()))))

    @property
    def _extreme(self) -> Pair | None:
        """The pair without noise, which reveals a record that changes the query; or that of a query that never changes."""
        still, moving = (
            math.fsum(p for c, p in zip(self.sensitivities, self.probabilities, strict=True) if (c > 0) is moves)
            for moves in (False, True)
        )
        if still and moving:
            return None if self.sigma else FinitePair((moving, still), (0.0, 1.0), 2.0**-51)
        return noisy(moving, self.sigma)
