"""Tilted uniform (flat) laws in balls: a density proportional to e^{x/2} on [-w, w], with atoms at both ends or without."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flint import arb

from logphi.certified.exponential_polynomials import ExponentialPolynomial, Flat, FlatWithEnds
from logphi.certified.laws.formula import Formula
from logphi.certified.laws.law import FiniteLossInBalls
from logphi.certified.locations import Exact, Location
from logphi.certified.reals import real
from logphi.certified.transform import Transform
from logphi.laws.uniform import Uniform, UniformWithAtoms


class FlatInBalls(FiniteLossInBalls):
    """The loss of the Laplace and of the exponential mechanism."""

    kinds = (Uniform, UniformWithAtoms)

    @property
    def _with_atoms(self) -> bool:
        return bool(self.law.support.pieces.locations)

    def transform(self) -> Transform:
        """By the formula."""
        return FlatTransform(self.law, real(self.law.width), self._with_atoms)

    def exponential_polynomial(self) -> ExponentialPolynomial:
        """One exponential for each end."""
        place, width = Location.of(self.law.width.under(Exact())), real(self.law.width)
        weight = (-width / 2).exp() / 2 if self._with_atoms else 1 / (2 * (width / 2).sinh())
        return (FlatWithEnds if self._with_atoms else Flat)((place, -place), (weight, weight), (width, -width))


@dataclass(frozen=True, eq=False)
class FlatTransform(Formula):
    """With u = z + 1/2, M is e^{-w/2} (cosh(u w) + sinh(u w)/(2 u)) with atoms, and sinh(u w) / (2 u sinh(w/2)) without.

    |sinh(u w)| and |cosh(u w)| are at most cosh((c + 1/2) w), and |2 u| at least 2 t.
    """

    width: Any
    with_atoms: bool

    def ceiling(self, c: Any, height: Any, count: int, whole: Any) -> Any:
        """The bound of the class, or M(c) where that is smaller."""
        most = ((c + arb(1) / 2) * self.width).cosh()
        flat = 1 / (2 * height)
        found = (-self.width / 2).exp() * most * (1 + flat) if self.with_atoms else most * flat / (self.width / 2).sinh()
        return found.min(whole).upper()

    def fall(self, c: float, height: float) -> float:
        """By the ceiling."""
        whole = self.at(arb(c)).upper()
        return float((self.ceiling(arb(c), arb(height), 1, whole) / whole).log().mid())
