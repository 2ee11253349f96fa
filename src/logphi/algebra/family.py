"""A family of mechanisms, of which an adversary picks one after the other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from logphi.algebra.release import Mechanism


class Family(ABC):
    """A family of mechanisms that one release stands for; in a composition each step may be another member."""

    # whether the profile of the hull is that of one step
    attained = True

    @abstractmethod
    def alone(self, count: int, rtol: float | None = None) -> Mechanism | None:
        """A release with the profile of ``count`` steps, between bounds as narrow as ``rtol`` asks where possible; or None."""

    @abstractmethod
    def above(self, count: int) -> Mechanism:
        """A pair that dominates ``count`` steps, whichever members are picked."""

    @abstractmethod
    def below(self, count: int, lean: float = 0.5) -> Mechanism:
        """A pair that the best picks of ``count`` steps dominate at every threshold."""

    @abstractmethod
    def fixed(self, count: int, lean: float = 0.5) -> Mechanism:
        """``count`` steps of one member: balanced at ``lean`` 1/2, nearer to 1 with rarer and larger negative losses."""

    @abstractmethod
    def size(self) -> float:
        """A weight: the family with the largest weight times count in a composition gets the sharper lower end."""

    @abstractmethod
    def divergence(self, order: float) -> tuple[float, float] | None:
        """Bounds of the largest Renyi divergence of one step in any direction; None where only the hull bounds it."""

    @abstractmethod
    def rho(self) -> float:
        """An upper bound of that divergence over its order, for all orders above 1."""

    def line(self) -> tuple[float, float]:
        """Xi and rho such that the divergence is at most xi + rho a at every order a above 1."""
        return 0.0, self.rho()

    def gathered(self, terms: Sequence[tuple[Family, int]]) -> Mechanism | None:
        """One release that stands for all members of this kind in a composition; None where each is counted by itself."""
        return None

    def nearly(self) -> tuple[Mechanism, Mechanism] | None:
        """One more pair that dominates each step, if one is known, in two parts: a mechanism, and what else may be revealed.

        A sample of the step is dominated by a sample of the first part, together with the second part, not sampled.
        """
        return None

    def together(self, terms: Terms) -> Mechanism | None:
        """Another pair that dominates a whole composition, if one is known."""
        return None


# distinct mechanisms with the families that they stand for, and their counts
Terms = Sequence[tuple[Mechanism, Family | None, int]]
