"""A family of mechanisms, of which an adversary picks one at each step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TypeAlias

from logphi.algebra.release import Mechanism
from logphi.arrays import Array
from logphi.convex.symmetric_pair import SMALL

# distinct mechanisms with the families that they stand for, and their counts
CountedReleases: TypeAlias = "Sequence[tuple[Mechanism, Family | None, int]]"


class Family(ABC):
    """A family of mechanisms that one release stands for; each step of a composition may be another member."""

    # whether the profile of one step is exactly that of the hull
    attained = True

    @abstractmethod
    def alone(self, count: int, rtol: float | None = None) -> Mechanism | None:
        """A release with the profile of ``count`` steps, if possible as narrow as ``rtol`` asks; None if it is not known."""

    @abstractmethod
    def above(self, count: int) -> Mechanism:
        """A mechanism that dominates ``count`` steps, whichever members are picked."""

    @abstractmethod
    def below(self, count: int, skew: float = 0.5) -> Mechanism:
        """A mechanism that the best picks of ``count`` steps dominate."""

    @property
    def skewless(self) -> bool:
        """Whether ``below`` is the same at every skew."""
        return True

    def finite(self, count: int, *, above: bool, small: float = SMALL) -> Mechanism | None:
        """One more mechanism like those of ``above`` or ``below``: slower, but perhaps sharper near the largest loss."""
        return None

    @abstractmethod
    def fixed(self, count: int, skew: float = 0.5) -> Mechanism:
        """``count`` steps of one member: symmetric at a ``skew`` of 1/2; nearer to 1, negative losses are rarer and larger."""

    @abstractmethod
    def size(self) -> float:
        """A weight: in a composition, the family with the largest weight times count is picked adaptively for the lower end."""

    @abstractmethod
    def divergence(self, order: float) -> tuple[float, float] | None:
        """Bounds of the largest Renyi divergence of one step in any direction; None where only the hull bounds it."""

    @abstractmethod
    def moments_above(self, z: Array) -> Array | None:
        """Upper bounds of K(z) = z D_{1+z} of one step at all z > 0; None where only the hull bounds it."""

    @abstractmethod
    def rho(self) -> float:
        """An upper bound of the divergence divided by its order, for all orders above 1."""

    def line(self) -> tuple[float, float]:
        """(xi, rho) such that the divergence is at most xi + rho a at every order a above 1."""
        return 0.0, self.rho()

    def merged(self, terms: CountedReleases) -> tuple[Mechanism, Family] | None:
        """One release that stands for terms of this kind, this one among them, and its family; None where they do not merge."""
        return None

    def nearly(self) -> tuple[Mechanism, Mechanism] | None:
        """One more pair that dominates each step, if one is known, in two parts: a mechanism, and what else may be revealed.

        A sample of the step is dominated by a sample of the first part, together with the second part, not sampled.
        """
        return None

    def joint_bounds(self, terms: CountedReleases) -> list[Mechanism]:
        """Other mechanisms that dominate a whole composition."""
        return []
