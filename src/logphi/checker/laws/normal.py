"""The pair of a shifted normal law."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from logphi.checker.arithmetic.balls import Real, exactly, normal_tail
from logphi.checker.arithmetic.work import Undecided
from logphi.checker.laws.law import ClosedForm, Law
from logphi.checker.needed import needed


@dataclass(frozen=True)
class Normal(ClosedForm):
    """N(m, 1) against N(0, 1): M(z) = e^{z (z+1) m^2 / 2}. ``shift`` is m, where it is known to be rational."""

    squared_shift: Real
    shift: Fraction | None = None
    symmetric = True

    def value(self, z: Any) -> Any:
        return (z * (z + 1) * self.squared_shift() / 2).exp()

    def ceiling(self, c: Any, t: Any) -> Any:
        """The real part of z (z+1) is c (c+1) - t^2."""
        return ((c * (c + 1) - t**2) * self.squared_shift() / 2).exp()

    def tails(self, epsilon: Any) -> tuple[Any, Any]:
        """The loss is N(m^2/2, m^2) under P and N(-m^2/2, m^2) under Q."""
        m = self.squared_shift().sqrt()
        return normal_tail(epsilon / m - m / 2), normal_tail(epsilon / m + m / 2)

    def sampled(self, rate: Fraction) -> Law:
        """(1-q) N(0, 1) + q N(m, 1) against N(0, 1)."""
        found: Law = needed("laws.normal_mixtures:mixture")({Fraction(0): 1 - rate, self._rational(): rate})
        return found

    def subset(self, rate: Fraction) -> Law:
        found: Law = needed("laws.subset_normal:SubsetNormal")(self._rational(), rate)
        return found

    def _rational(self) -> Fraction:
        if self.shift is None:
            raise Undecided("this checker does not know several normal releases on one sample")
        return self.shift


def shifted(shift: Fraction) -> Normal | None:
    """N(m, 1) against N(0, 1) for a rational m; None if m is zero."""
    return Normal(exactly(shift**2), abs(shift)) if shift else None
