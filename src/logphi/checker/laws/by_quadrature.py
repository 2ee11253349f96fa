"""Laws whose M(c + it) is an integral, computed as a sum over points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flint import acb

from logphi.checker.arithmetic.balls import rough, within
from logphi.checker.arithmetic.exponential_sums import exponential_sums
from logphi.checker.laws.law import Law

# weights, losses, and a bound of the error of every sum over them
Points = tuple[list[Any], list[Any], Any]


class ByQuadrature(Law):
    """A law whose M(c + it) is an integral, computed as a sum over points, with one error bound for a whole line."""

    def points(self, c: Any, time: Any) -> Points:
        """The points for |t| <= time; the larger the time, the more points."""
        raise NotImplementedError

    def fall(self, c: Any) -> tuple[Any, Any]:
        """Numbers a and b with |M(c + it)| <= a + b/|t|."""
        raise NotImplementedError

    def on_line(self, c: Any, step: Any, nodes: int) -> list[Any]:
        """The sums, each with the error of the quadrature; the first one is real, as M(c) is."""
        weights, losses, error = self.points(c, abs(step) * (nodes - 1))
        room = within(error)
        first, *others = exponential_sums(weights, losses, step, nodes)
        return [acb(first.real + room), *(value + acb(room, room) for value in others)]

    def ceiling_above(self, c: Any, lifts: list[float], bits: int) -> Callable[[Any], Any]:
        """The smaller of M(c) and a + b/T."""
        size, (a, b) = self.moment(c).abs_upper(), self.fall(c)
        return lambda time: min(size, (a + b / time).abs_upper(), key=rough)
