"""The excess D(eps) = E_P[(1 - e^{eps - L})_+; |L| < inf], delta without infinite losses, by nodes of a line c + i R, c > 0.

With step h, and F(z) = e^{-z eps} M(z) / (z (z+1)), Poisson summation says exactly

    (h / 2 pi) * sum over all k of F(c + i k h) = sum over all m of e^{2 pi m c / h} D(eps + 2 pi m / h),

where all terms are positive, and the term m = 0 is D(eps). The others are bounded by D(x) <= kappa(s) M(s) e^{-s x} for every
s >= 0 in the strip, with kappa(s) = s^s / (1+s)^{1+s}, the maximum of (1 - e^{-y}) e^{-s y} over y > 0. The nodes that a sum
leaves out are bounded by how |M| of each law falls along the line. The certificate states the line: c, the step and the number
of nodes, and how far to the right and to the left of c the bounds of the aliases are taken. Whatever it states, all errors are
enclosed for that line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from flint import acb, arb

from logphi.checker.arithmetic.balls import ball, between, precision, within
from logphi.checker.arithmetic.work import EXP, MOST_BITS, demand, spend, whole_number
from logphi.checker.laws.composition import Composition

# measured: longer lines take minutes
MOST_NODES = 2**20


def line(
    whole: Composition,
    epsilons: Sequence[Fraction],
    c: Fraction,
    step: Fraction,
    count: Fraction,
    right: Fraction,
    left: Fraction,
    bits: Fraction,
    *lifts: Fraction,
) -> list[Any]:
    """D at neighbouring epsilons by the nodes of a line; ``lifts`` and ``bits`` are those of :meth:`Law.ceiling_above`.

    Of the nodes from N on, |z (z+1)| > t^2, and the sum of 1/k^2 over k >= N is below (1 + 1/N) / N.
    """
    nodes = whole_number(count, MOST_NODES)
    heights = [float(lift) for lift in lifts]
    demand(step > 0 and all(height > 0 for height in heights), "a step of its line, or a lift, is not positive")
    h, time = ball(step), nodes * ball(step)
    own = Line(whole, epsilons, c, h, nodes, (right, -left))
    with precision(32 + whole.count.bit_length()):
        ceiling = whole.ceiling_above(own.c, heights, whole_number(bits, MOST_BITS))(time)

    def enclosed(epsilon: Any) -> Any:
        tail = ceiling * (-own.c * epsilon).exp() * (1 + arb(1) / nodes) / (arb.pi() * time)
        return h / (2 * arb.pi()) * own.total(lambda z: (-z * epsilon).exp() / (z * (z + 1))) + within(tail)

    return own.without_aliases(enclosed)


def chernoff(whole: Composition, epsilons: Sequence[Fraction], c: Fraction) -> list[Any]:
    """From zero to kappa(c) M(c) e^{-c eps}."""
    demand(0 < c < whole.end, OUTSIDE)
    return [between(0, log_chernoff(whole, c, ball(epsilon)).exp()) for epsilon in epsilons]


# why a line, or the bounds of its aliases, prove nothing
OUTSIDE = "its line does not lie in the strip to the right of zero"


class Line:
    """The transform at the nodes from the real axis up, and the bounds of the aliases."""

    def __init__(
        self, whole: Composition, epsilons: Sequence[Fraction], c: Fraction, h: Any, nodes: int, shifts: Sequence[Fraction]
    ) -> None:
        right, left = shifts
        demand(0 < c < c + right < whole.end and 0 <= c + left < c, OUTSIDE)
        demand(whole.omitted().is_zero(), "no transform is known of a law that leaves out outcomes")
        self.whole, self.epsilons, self.c, self.h = whole, epsilons, ball(c), h
        self.sides = [(c + shift, 2 * arb.pi() * ball(abs(shift)) / h) for shift in shifts]
        self.values = whole.on_line(self.c, h, nodes)

    def total(self, kernel: Callable[[Any], Any]) -> Any:
        """The sum over all nodes; those below the real axis contribute the conjugates."""
        spend(4 * EXP * len(self.values))
        first, *others = ((value * kernel(acb(self.c, k * self.h))).real for k, value in enumerate(self.values))
        return 2 * sum(others, arb(0)) + first

    def without_aliases(self, enclosed: Callable[[Any], Any]) -> list[Any]:
        """What is enclosed at each epsilon, less the sum of all terms with m != 0: from zero to its bound."""
        found = []
        for epsilon in map(ball, self.epsilons):
            bounds = (log_chernoff(self.whole, s, epsilon).exp() / turns.expm1() for s, turns in self.sides)
            found.append(enclosed(epsilon) - between(0, sum(bounds, arb(0))))
        return found


def log_chernoff(whole: Composition, s: Fraction, epsilon: Any) -> Any:
    """The logarithm of kappa(s) M(s) e^{-s eps}, a bound of D(eps) for every s >= 0 in the strip."""
    x = ball(s)
    kappa = (x * x.log() if s > 0 else arb(0)) - (1 + x) * x.log1p()
    return kappa - x * epsilon + whole.log_moment(x)
