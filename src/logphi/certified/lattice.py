"""Losses on a lattice in balls: one period of a line, and nothing left out.

With the places a + k d of the loss and the first of them x_0 that is not below x, sums of geometric series make

    D(x) = 1/N sum over n of M(c + inh) g(c + inh),   g(z) = e^{-z x_0} [1/(1 - e^{-zd}) - e^{x - x_0}/(1 - e^{-(z + 1)d})],

h = 2 pi/(N d), exactly but for the aliases D(x + m N d), m other than 0, which are those of every step h.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

from flint import acb, arb

from logphi.arith.protocol import Arithmetic, Number
from logphi.certified.contour import Line
from logphi.certified.parts import part_of
from logphi.certified.plan import MOST_FORMULAS, line_at
from logphi.certified.reals import ball, balls
from logphi.certified.route import NotCertifiedError, NotThisRouteError, Route
from logphi.laws.finite import Thinned
from logphi.laws.integers import NormalOnIntegers
from logphi.laws.ladder import Ladder
from logphi.laws.log_phi import LogPhi
from logphi.laws.transform import Law
from logphi.laws.two_point import TwoPoint
from logphi.written import meant

# derived: from there on the next atom is e^-40 times the nearest one in a tilted law
_ALONE = 40.0


class _IrrationalError(Exception):
    """A gap that is no quotient of what was written."""


class _Rationals:
    """Quotients of parameters as they were written; no function of them is one."""

    def constant(self, value: float) -> Number:
        """The number itself."""
        return meant(value)

    def log1p(self, x: Number) -> Number:
        """Refused."""
        raise _IrrationalError


@dataclass(frozen=True, eq=False)
class Places:
    """The lattice ``offset + k span``."""

    offset: Any
    span: Any


@dataclass(frozen=True, eq=False)
class Periodic(Line):
    """Over one period; an odd number of nodes, so that all but the first come in pairs."""

    places: Places

    name = "lattice"

    def kernel(self, epsilon: Any) -> list[Any]:
        """Times d: the sum over the nodes has the factor h/(2 pi) = 1/(N d)."""
        c, span = arb(self.layout.abscissa), self.places.span
        first = self._first(epsilon)
        found = []
        for n in range(self.size):
            z = acb(c, self.step * n)
            both = 1 / (1 - (-z * span).exp()) - (epsilon - first).exp() / (1 - (-(z + 1) * span).exp())
            found.append(span * (-z * first).exp() * both)
        return found

    def truncation(self, epsilon: Any) -> Any:
        """What a place that cannot be told from epsilon may add: its mass is at most M(c) e^{-c x_0}."""
        first = self._first(epsilon)
        if first > epsilon:
            return arb(0)
        mass = self.values[0].real * (-arb(self.layout.abscissa) * first).exp()
        return mass * abs((epsilon - first).exp() - 1)

    def _first(self, epsilon: Any) -> Any:
        """The first place that is not below, or one that may be either."""
        rank = (epsilon - self.places.offset) / self.places.span
        first = rank.lower().ceil()
        # not known at all where more than one place may be the first
        known = first if first + 1 > rank else arb("nan")
        return self.places.offset + self.places.span * known


def prepare(loss: LogPhi, epsilon: Any, digits: int, most: int = MOST_FORMULAS) -> Route:
    """A loss on a lattice, near an epsilon, with at most so many nodes.

    Raises
    ------
    NotCertifiedError
        If the loss is on none, or on one that is too fine.
    """
    places = _places_of(loss)
    if not places.span > 0:
        raise NotThisRouteError("a loss of zero is on every lattice")
    chosen = line_at(loss, float(epsilon.mid()), digits)
    if most < MOST_FORMULAS and chosen.abscissa * float(places.span.mid()) > _ALONE:
        raise NotThisRouteError("so near the largest loss a sum of few atoms is simpler")
    size = math.ceil(math.pi / (chosen.step * float(places.span.mid()))) + 1
    if size > most:
        raise NotCertifiedError(
            "the lattice of these losses is too fine for a line of nodes: ask for fewer digits, or without a certificate"
        )
    step = 2 * arb.pi() / ((2 * size - 1) * places.span)
    return Periodic([(part_of(law), count) for law, count in loss.terms], chosen, step, size, places)


def _places_of(loss: LogPhi) -> Places:
    """The lattice that carries every term: all gaps are rational, or there is one law only."""
    laws = [(law, count) for law, count in loss.terms if not isinstance(law, Thinned)]
    if not laws or not all(isinstance(law, (TwoPoint, NormalOnIntegers, Ladder)) for law, _ in laws):
        raise NotThisRouteError("not every loss is on a lattice")
    try:
        # no more of an arithmetic than a gap is made of
        rationals = cast(Arithmetic, _Rationals())
        gaps = [abs(_gap(law, rationals)) for law, _ in laws]
    except _IrrationalError:
        return _lattice_of_one(laws)
    # rationals have a greatest common divisor
    scale = math.lcm(*(gap.denominator for gap in gaps))
    span = Fraction(math.gcd(*(int(gap * scale) for gap in gaps)), scale)
    offset = sum((count * _steps(law) * gap / 2 for (law, count), gap in zip(laws, gaps, strict=True)), Fraction(0))
    return Places(ball(offset), ball(span))


def _lattice_of_one(laws: list[tuple[Law, int]]) -> Places:
    """The lattice of a law whose gap is irrational, repeated."""
    if len(laws) > 1:
        raise NotThisRouteError("the lattices of these losses have no common span that is known to be one")
    law, count = laws[0]
    span = abs(_gap(law, balls()).value.real)
    return Places(span * (count * _steps(law)) / 2, span)


def _gap(law: Law, arith: Arithmetic) -> Number:
    """The distance of neighbouring atoms."""
    if isinstance(law, TwoPoint):
        return 2 * law.point.under(arith)
    return law.gap(arith)  # type: ignore[attr-defined]


def _steps(law: Law) -> int:
    """Twice the distance of some atom from zero, in gaps: atoms mirror one another."""
    if isinstance(law, TwoPoint):
        return 1
    return law.shift if isinstance(law, NormalOnIntegers) else law.steps  # type: ignore[attr-defined]
