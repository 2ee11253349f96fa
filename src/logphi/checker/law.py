"""What the checker asks of a law: the privacy loss of one release, P with the record against Q without it.

M(z) = E_P[e^{zL}; L finite] on the strip 0 <= Re z < ``end``. As P is positive, |M(c + it)| <= M(c).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import acb, arb

from logphi.checker.balls import ZERO, Real, rough, within
from logphi.checker.exponential_sums import exponential_sums
from logphi.checker.work import EXP, MOST_BITS, STORED, Undecided, spend


@dataclass(frozen=True)
class Spacing:
    """Losses base + unit * step, with rational steps; equal keys mean equal units."""

    key: Hashable
    unit: Real
    steps: tuple[Fraction, ...]
    base: Real = ZERO

    def span(self) -> Fraction:
        """The largest number of which all differences of steps are multiples, or zero if all steps are equal."""
        return common_span([step - self.steps[0] for step in self.steps])


def common_span(numbers: list[Fraction]) -> Fraction:
    """The greatest common divisor of rational numbers."""
    scale = 1
    for number in numbers:
        scale = math.lcm(scale, number.denominator)
        if scale.bit_length() > MOST_BITS:
            raise Undecided("the losses have no short common denominator")
    return Fraction(math.gcd(*(int(number * scale) for number in numbers)), scale)


class Law:
    """A law; its defaults are those of a finite loss of which nothing is known beside M."""

    # whether (P, Q) and (Q, P) have the same loss
    symmetric = False
    # whether the loss takes countably many values
    atomic = False
    # m^2, if the loss is that of N(m, 1) against N(0, 1)
    squared_shift: Real | None = None
    # P(L = inf)
    infinite: Real = staticmethod(ZERO)
    # a bound of the probability of outcomes that M leaves out
    omitted: Real = staticmethod(ZERO)

    def lattice(self) -> Spacing | None:
        """The lattice of the losses, if one is known."""
        return None

    @property
    def end(self) -> float:
        """The right end of the strip on which M is finite."""
        return math.inf

    def reversed(self) -> Law:
        """The law of (Q, P)."""
        if not self.symmetric:
            raise NotImplementedError
        return self

    def on_line(self, c: Any, step: Any, nodes: int) -> list[Any]:
        """M(c + i k step) for k = 0 .. nodes - 1."""
        raise NotImplementedError

    def moment(self, x: Any) -> Any:
        """M(x) for a real x >= 0."""
        return self.on_line(x, arb(0), 1)[0].real

    def ceiling(self, c: Any, t: Any) -> Any:
        """A bound of |M(c + is)| for all s >= t > 0, where there is a better one than M(c)."""
        return arb.pos_inf()

    def ceiling_above(self, c: Any, lifts: list[float], bits: int) -> Callable[[Any], Any]:
        """A function of T > 0: a bound of |M(c + it)| for all |t| >= T."""
        size = self.moment(c).abs_upper()
        return lambda time: min(size, self.ceiling(c, time).abs_upper(), key=rough)

    def single_excess(self, epsilon: Any) -> Any:
        """D(eps) of this release alone in closed form, or None."""
        return None

    def largest(self) -> Any:
        """The largest finite loss, or None if there is none or it is not known."""
        return None

    def as_finite(self) -> Any:
        """The :class:`Finite` law of the outcomes that the precision in force resolves; of an atomic law only."""
        raise NotImplementedError

    def sampled(self, rate: Fraction) -> Law:
        """The law of ((1-rate) Q + rate P, Q), for 0 < rate < 1."""
        raise Undecided("this sample is of a kind that this checker does not know")

    def subset(self, rate: Fraction) -> Law:
        """The law under replace of a release on a subset, for a rate 0 < g < 1 ([AFA] Proposition 30, Corollary 32).

        Positive losses are those of ((1-g) Q + g P, Q), negative ones those of (P, (1-g) P + g Q); the rest has none.
        """
        raise Undecided("this subset is of a kind that this checker does not know")


Terms = Sequence[tuple[Law, int]]


class Formula(Law):
    """A law whose M is a formula; ``cost`` is that of its value."""

    cost = 3 * EXP

    def value(self, z: Any) -> Any:
        """M(z)."""
        raise NotImplementedError

    def on_line(self, c: Any, step: Any, nodes: int) -> list[Any]:
        """By the formula."""
        spend((self.cost + STORED) * nodes)
        return [self.value(acb(c, k * step)) for k in range(nodes)]


# weights, losses, and a bound of the error of every sum over them
Points = tuple[list[Any], list[Any], Any]


class ByQuadrature(Law):
    """A law whose M(c + it) is an integral: a sum over points, with one bound of the error for a whole line."""

    def points(self, c: Any, time: Any) -> Points:
        """The points for |t| <= time; their number grows with the time."""
        raise NotImplementedError

    def fall(self, c: Any) -> tuple[Any, Any]:
        """Numbers a and b with |M(c + it)| <= a + b/|t|."""
        raise NotImplementedError

    def on_line(self, c: Any, step: Any, nodes: int) -> list[Any]:
        """The sums, each with the error of the quadrature."""
        weights, losses, error = self.points(c, step * (nodes - 1))
        room = within(error)
        sums = exponential_sums(weights, losses, step, nodes)
        return [value + (acb(room, room) if k else room) for k, value in enumerate(sums)]

    def ceiling_above(self, c: Any, lifts: list[float], bits: int) -> Callable[[Any], Any]:
        """The smaller of M(c) and a + b/T."""
        size, (a, b) = self.moment(c).abs_upper(), self.fall(c)
        return lambda time: min(size, (a + b / time).abs_upper(), key=rough)
