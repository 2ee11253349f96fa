"""Tilted uniform (flat) laws in balls: a density proportional to e^{x/2} on [-w, w], with atoms at both ends or without."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from flint import arb

from logphi.certified.exponential_polynomials import ExponentialPolynomial, Flat, FlatWithEnds
from logphi.certified.laws.formula import Formula
from logphi.certified.laws.law import FiniteLossInBalls
from logphi.certified.locations import Exact, Location
from logphi.certified.reals import balls, real
from logphi.certified.transform import Transform
from logphi.laws.flat.uniform import Uniform, UniformWithAtoms


class FlatInBalls(FiniteLossInBalls):
    """The loss of the Laplace and of the exponential mechanism."""

    kinds = (Uniform, UniformWithAtoms)

    @property
    def _constants(self) -> tuple[Any, Any]:
        """C and A of :mod:`logphi.laws.flat_constants`; A is zero without atoms."""
        arith = balls()
        logs = self.law.constants(arith, self.law.width.under(arith))
        density, atom = (arb(0) if log == -math.inf else log.value.real.exp() for log in logs)
        return density, atom

    def transform(self) -> Transform:
        """By the formula."""
        return FlatTransform(self.law, real(self.law.width), *self._constants)

    def exponential_polynomial(self) -> ExponentialPolynomial:
        """One exponential for each end."""
        place, width = Location.of(self.law.width.under(Exact())), real(self.law.width)
        density, atom = self._constants
        return (FlatWithEnds if atom > 0 else Flat)((place, -place), (2 * density, 2 * density), (width, -width))


@dataclass(frozen=True, eq=False)
class FlatTransform(Formula):
    """With u = z + 1/2, M is 2 A cosh(u w) + 2 C sinh(u w)/u with the constants of :mod:`logphi.laws.flat_constants`.

    |sinh(u w)| and |cosh(u w)| are at most cosh((c + 1/2) w), and |2 u| at least 2 t.
    """

    width: Any
    density: Any
    atom: Any

    def ceiling(self, c: Any, height: Any, count: int, whole: Any) -> Any:
        """The bound of the class, or M(c) where that is smaller."""
        most = ((c + arb(1) / 2) * self.width).cosh()
        return (most * (2 * self.atom + 2 * self.density / height)).min(whole).upper()

    def fall(self, c: float, height: float) -> float:
        """By the ceiling."""
        whole = self.at(arb(c)).upper()
        return float((self.ceiling(arb(c), arb(height), 1, whole) / whole).log().mid())
