"""A law whose M is a formula in z. That it is the M of some pair is what the certificate says of it.

M has no singularity on the real axis within its strip, and one at the end of it (Landau). So where the formula is analytic
along the real axis from 0 on, it is M there; and so it is along a vertical line from there on which it is analytic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from flint import acb, arb

from logphi.checker.balls import between, precision, rough
from logphi.checker.far import Far, FarOut
from logphi.checker.formula import Complex, Formula
from logphi.checker.law import Law
from logphi.checker.work import STORED, Undecided, spend

# chosen: as logarithms to base two, of how far the real axis is looked at, and in steps of what length at least
FARTHEST, SHORTEST = 12, -16
# chosen: how often a step is halved
HALVINGS = 12


@dataclass(frozen=True)
class Transform(Law):
    """M(z), or M(-1-z) of the reverse."""

    formula: Formula
    is_reversed: bool = False

    def reversed(self) -> Transform:
        """Mirrored at -1/2."""
        return Transform(self.formula, not self.is_reversed)

    def infinite(self) -> Any:
        """What M(0) lacks of one."""
        return 1 - self.moment(arb(0))

    @cached_property
    def end(self) -> float:
        """As far as the formula is analytic along the real axis."""
        place, step = 0.0, 1.0
        with precision(64):
            while place < 2.0**FARTHEST and step >= 2.0**SHORTEST:
                if self._value(acb(between(place, place + step)), analytic=True).is_finite():
                    place, step = place + step, 2 * step
                else:
                    step /= 2
        if not place:
            raise Undecided("a transform is not analytic on the real axis")
        return place

    def on_line(self, c: Any, step: Any, nodes: int) -> list[Any]:
        """By the formula, which must be analytic between the nodes."""
        spend(STORED * nodes)
        for k in range(nodes - 1):
            self._analytic(c, k * step, (k + 1) * step, HALVINGS)
        return [self._value(acb(c, k * step), analytic=False) for k in range(nodes)]

    def ceiling_above(self, c: Any, lifts: list[float], bits: int) -> Callable[[Any], Any]:
        """By how the formula goes on, far up."""
        size = self.moment(c).abs_upper()

        def bound(time: Any) -> Any:
            sign = -1 if self.is_reversed else 1
            z = Far(time, acb(0, sign), Fraction(1)) + Far(time, acb(-1 - c if self.is_reversed else c))
            try:
                return min(size, self.formula.at(z, FarOut(time)).largest(), key=rough)
            except Undecided:
                return size

        return bound

    def _value(self, z: Any, analytic: bool) -> Any:
        return self.formula.at(-1 - z if self.is_reversed else z, Complex(analytic))

    def _analytic(self, c: Any, low: Any, high: Any, halvings: int) -> None:
        """Raise an :class:`Undecided` if there may be a cut on the line between two heights."""
        if self._value(acb(c, between(low, high)), analytic=True).is_finite():
            return
        if not halvings:
            raise Undecided("a transform has a cut, or a singularity, on a vertical line")
        middle = (low + high) / 2
        self._analytic(c, low, middle, halvings - 1)
        self._analytic(c, middle, high, halvings - 1)
