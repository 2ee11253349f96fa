"""Losses on a lattice in balls: a sum over one period of the line, without truncation error.

With the places a + k d of the loss and the first of them x_0 that is not below x, sums of geometric series make

    D(x) = 1/N sum over n of M(c + inh) g(c + inh),   g(z) = e^{-z x_0} [1/(1 - e^{-zd}) - e^{x - x_0}/(1 - e^{-(z + 1)d})],

h = 2 pi/(N d), exactly but for the aliases D(x + m N d), m other than 0, which are those of every step h.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import acb, arb

from logphi.arith.protocol import Arithmetic, Number
from logphi.certified.contour import Line, omitted_by
from logphi.certified.laws.law import CountedInBalls
from logphi.certified.laws.registry import terms_of
from logphi.certified.layout import line_at
from logphi.certified.locations import Exact, Location
from logphi.certified.reals import ball, balls
from logphi.certified.route import Demand, Excess, NotCertifiedError, NotThisRouteError
from logphi.certified.transform import MOST_FORMULAS
from logphi.laws.log_phi import LogPhi

# derived: for a larger c d, the masses of atoms above epsilon fall by a factor e^-40 or more from one to the next
_ALONE = 40.0


@dataclass(frozen=True, eq=False)
class Lattice:
    """The lattice ``offset + k span``."""

    offset: Any
    span: Any


@dataclass(frozen=True, eq=False)
class Periodic(Line):
    """The sum over one period, with an odd number of nodes: all but the first come in conjugate pairs."""

    lattice: Lattice

    def kernel(self, epsilon: Any) -> list[Any]:
        """The factors d g(z), as the sum over the nodes is multiplied by h/(2 pi) = 1/(N d)."""
        c, span = arb(self.layout.abscissa), self.lattice.span
        first = self._first(epsilon)
        found = []
        for n in range(self.size):
            z = acb(c, self.step * n)
            both = 1 / (1 - (-z * span).exp()) - (epsilon - first).exp() / (1 - (-(z + 1) * span).exp())
            found.append(span * (-z * first).exp() * both)
        return found

    def truncation(self, epsilon: Any) -> Any:
        """The contribution of a location that balls do not separate from epsilon: its mass is at most M(c) e^{-c x_0}."""
        first = self._first(epsilon)
        if first > epsilon:
            return arb(0)
        mass = self.values[0].real * (-arb(self.layout.abscissa) * first).exp()
        return mass * abs((epsilon - first).exp() - 1)

    def _first(self, epsilon: Any) -> Any:
        """The first location that is not certainly below epsilon."""
        rank = (epsilon - self.lattice.offset) / self.lattice.span
        first = rank.lower().ceil()
        # a NaN if two locations may be the first
        known = first if first + 1 > rank else arb("nan")
        return self.lattice.offset + self.lattice.span * known


def prepare(loss: LogPhi, epsilon: Any, demand: Demand, most: int = MOST_FORMULAS) -> Excess:
    """A line of at most ``most`` nodes near an epsilon, for a loss on a lattice.

    Raises
    ------
    NotCertifiedError
        If the loss is not known to be on a lattice, or the lattice is too fine.
    """
    terms = terms_of(loss)
    lattice = _lattice_of(terms)
    if not lattice.span > 0:
        raise NotThisRouteError("a loss of zero lies on every lattice")
    chosen = line_at(loss, float(epsilon.mid()), demand.digits)
    if most < MOST_FORMULAS and chosen.abscissa * float(lattice.span.mid()) > _ALONE:
        raise NotThisRouteError("so close to the largest loss, a sum over few atoms is simpler")
    size = math.ceil(math.pi / (chosen.step * float(lattice.span.mid()))) + 1
    if size > most:
        raise NotCertifiedError(
            "the lattice of these losses is too fine for a line of nodes: ask for fewer digits, or without a certificate"
        )
    step = 2 * arb.pi() / ((2 * size - 1) * lattice.span)
    parts = [(law.transform(), count) for law, count in terms]
    return Periodic(parts, chosen, step, size, omitted_by(terms), demand.shown, lattice).excess


def _lattice_of(terms: CountedInBalls) -> Lattice:
    """The lattice of the sum of all losses: their gaps must be rational, unless there is only one law."""
    laws = [(law, count) for law, count in terms if not law.zero_or_infinite]
    gaps = [(Location.of(gap).as_rational(), steps, count) for gap, steps, count in _lattices(laws, Exact())]
    if any(gap is None for gap, _, _ in gaps):
        if len(laws) > 1:
            raise NotThisRouteError("the lattices of these losses have no common span that is known to be one")
        [(gap, steps, count)] = _lattices(laws, balls())
        span = abs(gap.value.real)
        return Lattice(span * (count * steps) / 2, span)
    rationals = [(abs(gap), steps, count) for gap, steps, count in gaps if gap is not None]
    scale = math.lcm(*(gap.denominator for gap, _, _ in rationals))
    span = Fraction(math.gcd(*(int(gap * scale) for gap, _, _ in rationals)), scale)
    return Lattice(ball(sum((count * steps * gap / 2 for gap, steps, count in rationals), Fraction(0))), ball(span))


def _lattices(laws: CountedInBalls, arith: Arithmetic) -> list[tuple[Number, int, int]]:
    """For each law its gap; twice the distance, in gaps, of some atom from zero, an integer by symmetry; and its count."""
    found = [(law.lattice(arith), count) for law, count in laws]
    known = [(*one, count) for one, count in found if one is not None]
    if not known or len(known) < len(found):
        raise NotThisRouteError("not every loss is on a lattice")
    return known
