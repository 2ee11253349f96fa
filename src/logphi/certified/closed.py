"""Laws whose K is in closed form, on a line: those that fall along it and those that do not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flint import acb, arb, ctx

from logphi.arith.ball import Ball
from logphi.certified.part import Part
from logphi.certified.reals import balls
from logphi.laws.transform import LossTransform
from logphi.laws.uniform import UniformWithAtoms


@dataclass(frozen=True, eq=False)
class Closed(Part):
    """A law whose K is in closed form; without more it is not known to fall."""

    law: LossTransform

    def on_line(self, c: Any, step: Any, size: int) -> list[Any]:
        """By the formula."""
        values = [self._value(acb(c, step * j)) for j in range(size)]
        return [acb(values[0].real), *values[1:]]

    def _value(self, z: Any) -> Any:
        return self.law.formula(balls(), Ball(z, ctx.prec)).value.exp()


class Falling(Closed):
    """A law whose |M(c + it)| falls with t, to judge by its formula.

    Of a normal shift it is M(c) e^{-m^2 t^2 / 2}. Of two normal laws of different widths, with y = 1 + z v, |M| is a constant
    times |y|^{-1/2} e^{d^2 Re(y + (1 - v)/y) / (2 v^2)} times a power whose modulus depends on c alone; Re y does too, Re(1/y)
    is Re y / |y|^2, and 1 - v > 0.
    """

    def ceiling(self, c: Any, height: Any, count: int, whole: Any) -> Any:
        """The modulus there."""
        return self._value(acb(c, height)).abs_upper()

    def fall(self, c: float, height: float) -> float:
        """By the formula."""
        return float((self._value(acb(c, height)).abs_upper() / self._value(acb(c)).abs_lower()).log().mid())


@dataclass(frozen=True, eq=False)
class Flat(Closed):
    """A law that is uniform on [-w, w] once tilted, with or without atoms at both ends.

    With u = z + 1/2, M is e^{-w/2} (cosh(u w) + sinh(u w)/(2 u)) with them, and sinh(u w) / (2 u sinh(w/2)) without;
    |sinh(u w)| and |cosh(u w)| are at most cosh((c + 1/2) w), and |2 u| at least 2 t.
    """

    width: Any

    def ceiling(self, c: Any, height: Any, count: int, whole: Any) -> Any:
        """What is left of M(c) when the flat part is divided by 2t."""
        most = ((c + arb(1) / 2) * self.width).cosh()
        flat = 1 / (2 * height)
        if isinstance(self.law, UniformWithAtoms):
            found = (-self.width / 2).exp() * most * (1 + flat)
        else:
            found = most * flat / (self.width / 2).sinh()
        return found.min(whole).upper()

    def fall(self, c: float, height: float) -> float:
        """By the ceiling."""
        whole = self.at(arb(c)).upper()
        return float((self.ceiling(arb(c), arb(height), 1, whole) / whole).log().mid())
