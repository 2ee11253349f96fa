"""The interface of a law in the checker: the law of the privacy loss of one release, P with the record, Q without it.

M(z) = E_P[e^{zL}; L finite] on the strip 0 <= Re z < ``end``. As P is positive, |M(c + it)| <= M(c).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from flint import acb, arb

from logphi.checker.arithmetic.balls import ZERO, Real, rough
from logphi.checker.arithmetic.work import EXP, MOST_BITS, STORED, Undecided, demand, spend


@dataclass(frozen=True)
class Spacing:
    """Losses base + unit * step, with rational steps; two of them with equal keys have the same unit."""

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
        demand(scale.bit_length() <= MOST_BITS, "the losses have no short common denominator")
    return Fraction(math.gcd(*(int(number * scale) for number in numbers)), scale)


@dataclass(frozen=True)
class Ends:
    """The smallest likelihood ratio p/q and the largest one, both finite and positive, with their masses under Q."""

    lowest: Any
    highest: Any
    mass_lowest: Any
    mass_highest: Any


@dataclass(frozen=True)
class Cells:
    """Masses of finite losses under P and Q between the points t_0, t_1, ..; those ``below`` t_0 and ``above`` the last one."""

    points: Sequence[Any]
    p: Sequence[Any]
    q: Sequence[Any]
    below: tuple[Any, Any]
    above: tuple[Any, Any]

    def reversed(self) -> Cells:
        """The cells of the reversed pair, between the points negated."""
        points = [-t for t in self.points[::-1]]
        return Cells(points, self.q[::-1], self.p[::-1], self.above[::-1], self.below[::-1])


class Law:
    """A law; the defaults are those of a finite loss of which only M is known."""

    # whether (P, Q) and (Q, P) have the same loss
    symmetric: bool = False
    # whether the loss is discrete
    atomic = False
    # whether it is known by bounds of its Renyi divergences only
    declared: bool = False
    # m^2, if the loss is that of N(m, 1) against N(0, 1)
    squared_shift: Real | None = None
    # P(L = inf)
    infinite: Real = staticmethod(ZERO)
    # a bound of the probability of outcomes that M omits
    omitted: Real = staticmethod(ZERO)

    def lattice(self) -> Spacing | None:
        """The lattice of the losses, if one is known."""
        return None

    @property
    def end(self) -> Fraction | float:
        """The right end of the strip on which M is finite."""
        return math.inf

    def reversed(self) -> Law:
        """The law of (Q, P)."""
        return self if self.symmetric else Reversed(self)

    def unreached(self) -> Any:
        """Q(L = -inf)."""
        return self.reversed().infinite()

    def on_line(self, c: Any, step: Any, nodes: int) -> list[Any]:
        """M(c + i k step) for k = 0 .. nodes - 1."""
        raise Undecided("the transform of a law of this composition is not known to this checker")

    def moment(self, x: Any) -> Any:
        """M(x) for a real x >= 0."""
        return self.on_line(x, arb(0), 1)[0].real

    def ceiling(self, c: Any, t: Any) -> Any:
        """A bound of |M(c + is)| for all s >= t > 0; infinite if none is known but M(c)."""
        return arb.pos_inf()

    def ceiling_above(self, c: Any, lifts: list[float], bits: int) -> Callable[[Any], Any]:
        """A function of T > 0 that bounds |M(c + it)| for all |t| >= T.

        ``lifts``, of imaginary parts that may help, and ``bits``, of precision, are for laws that need an integral.
        """
        size = self.moment(c).abs_upper()
        return lambda time: min(size, self.ceiling(c, time).abs_upper(), key=rough)

    def tails(self, epsilon: Any) -> tuple[Any, Any]:
        """P(eps < L < inf) and Q(eps < L < inf); at an atom, balls that hold both with the atom and without."""
        raise Undecided("the tails of a law of this composition are not known to this checker")

    def ends(self) -> Ends | None:
        """The ends of the likelihood ratio; None where there is none, or it is unknown."""
        return None

    def cut(self, base: Any, step: Any, number: int) -> Cells:
        """The cells between the points base + k step, k = 0 .. number."""
        spend(2 * STORED * number)
        points = [base + k * step for k in range(number + 1)]
        tails = [self.tails(t) for t in points]
        p, q = ([here[side] - there[side] for here, there in pairwise(tails)] for side in (0, 1))
        below = 1 - self.infinite() - tails[0][0], 1 - self.unreached() - tails[0][1]
        return Cells(points, p, q, below, tails[-1])

    def cuts(self, base: Any, step: Any, number: int) -> tuple[Cells, Cells]:
        """The cells of a pair below this one and of a pair above it: the same where the masses are known."""
        found = self.cut(base, step, number)
        return found, found

    def single_excess(self, epsilon: Any) -> Any:
        """D(eps) of this release alone in closed form."""
        p, q = self.tails(epsilon)
        return p - epsilon.exp() * q

    def largest(self) -> Any:
        """The largest finite loss; None if there is none, or it is unknown."""
        return None

    def constant(self) -> tuple[Any, Any] | None:
        """P and Q of the finite losses, if all of these are one number; None otherwise."""
        return None

    def listed(self) -> Any:
        """An atomic law as a :class:`Finite` one, of the outcomes that the precision in force resolves; others as they are."""
        return self

    def sampled(self, rate: Fraction) -> Law | None:
        """The law of ((1-rate) Q + rate P, Q), for 0 < rate < 1, if more than its tails is known; None otherwise."""
        return None

    def subset(self, rate: Fraction) -> Law | None:
        """The law under replace of a release on a subset, for a rate 0 < g < 1 ([AFA] Proposition 30, Corollary 32).

        Positive losses are those of ((1-g) Q + g P, Q), negative ones those of (P, (1-g) P + g Q); the remaining mass has the
        loss zero. None where no more than the tails is known.
        """
        return None


@dataclass(frozen=True)
class Reversed(Law):
    """The law of (Q, P) by that of (P, Q), which knows its mass ``unreached``; M(-1-z) if M is known left of zero, too."""

    base: Law

    def reversed(self) -> Law:
        return self.base

    def infinite(self) -> Any:
        return self.base.unreached()

    def omitted(self) -> Any:
        return self.base.omitted()

    def on_line(self, c: Any, step: Any, nodes: int) -> list[Any]:
        return self.base.on_line(-1 - c, -step, nodes)

    def ceiling_above(self, c: Any, lifts: list[float], bits: int) -> Callable[[Any], Any]:
        """That of M(-1-z), as heights of both signs have equal bounds."""
        return self.base.ceiling_above(-1 - c, lifts, bits)

    def tails(self, epsilon: Any) -> tuple[Any, Any]:
        """What the tails of the base at -eps lack of the finite masses."""
        p, q = self.base.tails(-epsilon)
        return 1 - self.infinite() - q, 1 - self.base.infinite() - p

    def single_excess(self, epsilon: Any) -> Any:
        return self.turned(epsilon, self.base.single_excess(-epsilon))

    def turned(self, epsilon: Any, excess: Any) -> Any:
        """D(eps) by that of the base at -eps, as q - e^eps p is (q - e^eps p)_+ less e^eps (p - e^{-eps} q)_+."""
        return 1 - self.infinite() - epsilon.exp() * (1 - self.base.infinite() - excess)

    def cuts(self, base: Any, step: Any, number: int) -> tuple[Cells, Cells]:
        below, above = self.base.cuts(-(base + number * step), step, number)
        return below.reversed(), above.reversed()


class ClosedForm(Law):
    """A law whose M is a formula; ``cost`` is that of a value."""

    cost = 3 * EXP

    def value(self, z: Any) -> Any:
        """M(z)."""
        raise NotImplementedError

    def on_line(self, c: Any, step: Any, nodes: int) -> list[Any]:
        spend((self.cost + STORED) * nodes)
        return [self.value(acb(c, k * step)) for k in range(nodes)]
