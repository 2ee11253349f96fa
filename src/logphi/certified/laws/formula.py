"""Transforms in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flint import acb, ctx

from logphi.arith.ball import Ball
from logphi.certified.reals import balls
from logphi.certified.transform import MOST_FORMULAS, Transform
from logphi.laws.transform import LossTransform


@dataclass(frozen=True, eq=False)
class Formula(Transform):
    """The transform by the law's formula; without a known decay."""

    law: LossTransform

    @property
    def most_nodes(self) -> int:
        """The limit for formulas."""
        return MOST_FORMULAS

    def on_line(self, c: Any, step: Any, size: int) -> list[Any]:
        """By the formula."""
        values = [self.value(acb(c, step * j)) for j in range(size)]
        return [acb(values[0].real), *values[1:]]

    def value(self, z: Any) -> Any:
        """M(z)."""
        return self.law.formula(balls(), Ball(z, ctx.prec)).value.exp()


class Falling(Formula):
    """A law whose |M(c + it)| decreases in t, by its formula.

    Of a normal shift it is M(c) e^{-m^2 t^2 / 2}. Of two normal laws of different widths, with y = 1 + z v, |M| is a constant
    times |y|^{-1/2} e^{d^2 Re(y + (1 - v)/y) / (2 v^2)} times a power whose modulus depends on c alone; Re y does too, Re(1/y)
    is Re y / |y|^2, and 1 - v > 0.
    """

    def ceiling(self, c: Any, height: Any, count: int, whole: Any) -> Any:
        """The modulus at that height."""
        return self.value(acb(c, height)).abs_upper()

    def fall(self, c: float, height: float) -> float:
        """By the formula."""
        return float((self.value(acb(c, height)).abs_upper() / self.value(acb(c)).abs_lower()).log().mid())
