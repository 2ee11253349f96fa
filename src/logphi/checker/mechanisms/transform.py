"""A law whose M is a formula in z. That the formula is the M of some pair is assumed, and the verdict says so.

M is analytic on the real axis within its strip, and singular where the strip ends (Landau). So as far as the formula is
analytic on the real axis from 0 on, the strip reaches, and the formula is M. It is also M on a vertical line that starts
there, as far as it is analytic on this line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from flint import acb, arb

from logphi.checker.arithmetic.balls import between, precision, rough
from logphi.checker.arithmetic.work import STORED, Undecided, demand, spend
from logphi.checker.formulas.asymptotic import Asymptotic, AsymptoticArithmetic
from logphi.checker.formulas.formula import Complex, Formula, written
from logphi.checker.laws.law import Law
from logphi.checker.mechanisms.kind import Kind

# chosen: the strip is searched up to 2^FARTHEST, in steps of 2^SHORTEST or longer
FARTHEST, SHORTEST = 12, -16
# chosen: how often an interval between two nodes is halved
HALVINGS = 12


@dataclass(frozen=True)
class Transform(Law):
    """The law with M(z) as the formula says; reversed, with M(-1-z)."""

    formula: Formula
    is_reversed: bool = False

    def reversed(self) -> Transform:
        return Transform(self.formula, not self.is_reversed)

    def infinite(self) -> Any:
        return 1 - self.moment(arb(0))

    @cached_property
    def end(self) -> Fraction | float:
        """As far as the formula is analytic along the real axis."""
        place, step = 0.0, 1.0
        with precision(64):
            while place < 2.0**FARTHEST and step >= 2.0**SHORTEST:
                if self._value(acb(between(place, place + step)), analytic=True).is_finite():
                    place, step = place + step, 2 * step
                else:
                    step /= 2
        demand(place, "a transform is not analytic on the real axis")
        return place

    def on_line(self, c: Any, step: Any, nodes: int) -> list[Any]:
        """By the formula, which must be analytic between the nodes."""
        spend(STORED * nodes)
        for k in range(nodes - 1):
            self._analytic(c, k * step, (k + 1) * step, HALVINGS)
        return [self._value(acb(c, k * step), analytic=False) for k in range(nodes)]

    def ceiling_above(self, c: Any, lifts: list[float], bits: int) -> Callable[[Any], Any]:
        size = self.moment(c).abs_upper()

        def bound(time: Any) -> Any:
            sign = -1 if self.is_reversed else 1
            z = Asymptotic(time, acb(0, sign), Fraction(1)) + Asymptotic(time, acb(-1 - c if self.is_reversed else c))
            try:
                return min(size, self.formula.at(z, AsymptoticArithmetic(time)).largest(), key=rough)
            except Undecided:
                return size

        return bound

    def _value(self, z: Any, analytic: bool) -> Any:
        return self.formula.at(-1 - z if self.is_reversed else z, Complex(analytic))

    def _analytic(self, c: Any, low: Any, high: Any, halvings: int) -> None:
        """Raise an :class:`Undecided` if there may be a cut on the line between two heights."""
        if self._value(acb(c, between(low, high)), analytic=True).is_finite():
            return
        demand(halvings, "a transform has a cut, or a singularity, on a vertical line")
        middle = (low + high) / 2
        self._analytic(c, low, middle, halvings - 1)
        self._analytic(c, middle, high, halvings - 1)


def _law(*_: Any, transform: Formula) -> Law:
    return Transform(transform)


KINDS = {"FromLogPhi": Kind({"transform": written("z")}, _law)}
