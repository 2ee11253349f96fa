"""Mechanisms known by bounds of their Renyi divergences in both directions."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from operator import itemgetter

from logphi.checker.laws.law import Law


@dataclass(frozen=True)
class Declared(Law):
    """K(z) bounds z times the divergence of direction 1 + z.

    It is the least z (xi + rho (1 + z)) of ``lines`` (rho, xi); or, where there are points (z, K), the chords from (0, 0) on.
    """

    lines: tuple[tuple[Fraction, Fraction], ...] = ()
    points: tuple[tuple[Fraction, Fraction], ...] = ()
    symmetric = True
    declared = True

    def bound(self, z: Fraction) -> Fraction | None:
        """K(z), or None where no divergence is declared."""
        if not self.points:
            return z * min(xi + rho * (1 + z) for rho, xi in self.lines)
        place = bisect_left(self.points, z, key=itemgetter(0))
        if place == len(self.points):
            return None
        (a, low), (b, high) = self.points[place - 1] if place else (Fraction(0), Fraction(0)), self.points[place]
        return low + (high - low) * (z - a) / (b - a)
