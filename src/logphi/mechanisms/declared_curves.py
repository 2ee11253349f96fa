"""Declared bounds of Renyi divergences: K(z) = z D_{1+z}(P||Q) for z > 0, in both directions of a pair.

Curves add under composition (Mironov 2017, Proposition 1).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from logphi.algebra.release import Mechanism, compose
from logphi.arith.floats import ULP
from logphi.arrays import Array


class Curve(ABC):
    """Upper bounds of K."""

    @abstractmethod
    def bound(self, z: Array) -> Array:
        """An upper bound of K at each z > 0, rounded up; infinite where nothing is declared."""

    @property
    @abstractmethod
    def listed(self) -> tuple[float, ...]:
        """The declared z, if they are a list; empty if K is known at all z."""

    @property
    @abstractmethod
    def mean(self) -> float:
        """A bound of D_1, the mean of the loss."""

    @property
    @abstractmethod
    def rho(self) -> float:
        """An upper bound of D_a / a for all a > 1."""

    @property
    @abstractmethod
    def line(self) -> tuple[float, float]:
        """Some xi and rho such that D_a is at most xi + rho a for all a > 1."""

    @property
    @abstractmethod
    def gaussian(self) -> float:
        """A rho for which rho a is nowhere above the bound of D_a: that of a Gaussian mechanism in the family."""

    @property
    def members(self) -> tuple[tuple[Mechanism, int], ...]:
        """Releases that keep the bounds together with a Gaussian mechanism of that rho, with their counts."""
        return ()

    @property
    def nearly(self) -> tuple[Mechanism, Mechanism] | None:
        """What dominates all that is meant here, in two parts: see :meth:`logphi.algebra.family.Family.nearly`."""
        return None


@dataclass(frozen=True)
class Summed(Curve):
    """The curve of a composition."""

    terms: tuple[tuple[Curve, int], ...]

    def bound(self, z: Array) -> Array:
        """The sum of the bounds."""
        with np.errstate(over="ignore"):  # infinity is a bound too
            return rounded_up(np.sum([count * curve.bound(z) for curve, count in self.terms], axis=0), len(self.terms))

    @property
    def listed(self) -> tuple[float, ...]:
        """The listed z of all terms."""
        return tuple(sorted({z for curve, _ in self.terms for z in curve.listed}))

    @property
    def mean(self) -> float:
        """The sum of the means."""
        return self._sum([count * curve.mean for curve, count in self.terms])

    @property
    def rho(self) -> float:
        """The sum of the rho."""
        return self._sum([count * curve.rho for curve, count in self.terms])

    @property
    def line(self) -> tuple[float, float]:
        """The sum of the lines."""
        xi, rho = (self._sum([count * curve.line[k] for curve, count in self.terms]) for k in (0, 1))
        return xi, rho

    @property
    def gaussian(self) -> float:
        """The sum, rounded down."""
        return math.fsum(count * curve.gaussian for curve, count in self.terms) * (1 - 4 * ULP)

    @property
    def members(self) -> tuple[tuple[Mechanism, int], ...]:
        """The members of all terms."""
        return tuple((one, own * count) for curve, count in self.terms for one, own in curve.members)

    @property
    def nearly(self) -> tuple[Mechanism, Mechanism] | None:
        """The parts of all terms, if each has them."""
        parts = [(curve.nearly, count) for curve, count in self.terms]
        if any(found is None for found, _ in parts):
            return None
        usual, rest = (compose(count * found[k] for found, count in parts if found) for k in (0, 1))
        return usual, rest

    def _sum(self, parts: Sequence[float]) -> float:
        return parts[0] if len(parts) == 1 and self.terms[0][1] == 1 else math.fsum(parts) * (1 + 4 * ULP)


def rounded_up(values: Array, parts: int) -> Array:
    """Values of sums of this many parts, rounded up."""
    return values * (1 + (4 + parts) * ULP)
