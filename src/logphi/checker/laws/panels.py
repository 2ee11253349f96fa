"""Panels: intervals on which log p, log q and both densities are polynomials, divided by where the loss exceeds an epsilon.

They are Taylor polynomials, with bounds of the remainders. What lies near infinity, or next to zero where it is a singularity,
is only bounded (see ``asymptotic``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

from flint import acb, arb, arb_poly, arb_series, ctx

from logphi.checker.arithmetic.balls import ball, between, rough
from logphi.checker.arithmetic.work import Undecided, spend
from logphi.checker.formulas.asymptotic import Asymptotic, AsymptoticArithmetic
from logphi.checker.formulas.formula import Arithmetic, Complex, Piece, series

# chosen: a density is followed up to 2^FARTHEST, or down to 2^-FARTHEST next to a singularity at zero
FARTHEST = 2000
# chosen: no panel is shorter than 2^-SHORTEST times the modulus of its middle, or than 2^-SHORTEST near zero
SHORTEST = 300
# chosen: from 2^LEAST_DOUBLINGS on, the asymptotic form of a formula must be known
LEAST_DOUBLINGS = 100
# chosen: bits of the precision in force that masses need not have, as it exceeds what is asked for
SPARE_BITS = 40


# an interval of a panel, and whether the loss there is above an epsilon, or the loss where that is not known
Part = tuple[Any, Any, Any]


class Panel:
    """An interval on which both densities are Taylor polynomials about its middle, with bounds of the remainders.

    It is ``sharp`` if both formulas are analytic and real on it, and the remainders negligible: that of the loss is small, and
    negligible when multiplied by the mass.
    """

    def __init__(self, piece: Piece, low: Any, high: Any) -> None:
        self.low, self.high, self.middle, self.sharp = low, high, ((low + high) / 2).mid(), False
        # measured: with so many terms panels take the least time; enough if the nearest singularity is six half lengths away
        self.terms = 2 * (max(ctx.prec - SPARE_BITS, 0) // 5) + 8
        logs, sides, self.integrals, most = [], [one for one in (piece.log_p, piece.log_q) if one], list[Any](), arb(0)
        for formula in sides:
            # at all points of the panel; the last one bounds the remainder
            over = series(formula, between(low, high), self.terms + 1)
            if not all(one.is_finite() for one in over):
                return
            most = most.max((over[0].exp() * (high - low)).abs_upper())
            logs.append([*series(formula, self.middle, self.terms), over[-1]])
            self.integrals.append(_integral(logs[-1], over))
        self.both = len(sides) == 2
        self.rising = arb_poly([a - b for a, b in zip(logs[0], logs[-1], strict=True)])
        self.slope, half = self.rising.derivative(), (between(low, high) - self.middle).abs_upper()
        small = arb(2) ** (SPARE_BITS - ctx.prec)
        self.error = abs(self.rising[self.terms]).upper() * half**self.terms
        last = [
            self.error * most.max(small.sqrt()),
            *(abs(one[self.terms + 1]) * half ** (self.terms + 1) for one in self.integrals),
        ]
        self.sharp = all(one < small for one in last)
        if not piece.log_p:
            self.integrals.insert(0, arb_poly([]))
        elif not piece.log_q:
            self.integrals.append(arb_poly([]))

    def halves(self, piece: Piece) -> list[Panel]:
        """Both halves; an :class:`Undecided` if they are too short."""
        if self.high - self.low < arb(2) ** -SHORTEST * abs(self.middle).max(arb(1)):
            raise Undecided(f"a formula is not analytic near {rough(self.middle):.6g}: an interval must end there")
        return [Panel(piece, self.low, self.middle), Panel(piece, self.middle, self.high)]

    def masses(self, low: Any, high: Any) -> list[Any]:
        """The integrals of e^{log p} and e^{log q} over an interval of the panel."""
        spend(4 * self.terms / 3)
        return [one(high - self.middle) - one(low - self.middle) for one in self.integrals]

    @cached_property
    def whole(self) -> list[Any]:
        """The masses of the whole panel."""
        return self.masses(self.low, self.high)

    @cached_property
    def loss(self) -> Any:
        """The losses on the panel."""
        return self.over(self.low, self.high)[0]

    def over(self, low: Any, high: Any) -> tuple[Any, Any]:
        """The losses on an interval of the panel, and their slopes."""
        spend(self.terms / 2)
        x, middle = between(low, high) - self.middle, ((low + high) / 2).mid() - self.middle
        slope = self.slope(x)
        return self.rising(middle) + slope * (x - middle), slope

    def parts(self, epsilon: Any, low: Any, high: Any) -> Iterator[Part]:
        """The parts of an interval of the panel."""
        loss, slope = self.over(low, high)
        if loss > epsilon or loss < epsilon:
            yield low, high, bool(loss > epsilon)
        elif slope > 0 or slope < 0:
            near = self._crossing(epsilon, low, high)
            left, right = (high, high) if near is None else (near.lower().max(low), near.upper().min(high))
            for a, b in ((low, left), (right, high)):
                if a < b:
                    # without a crossing, the sign is that at any one point
                    loss = self.rising((a + b) / 2 - self.middle)
                    yield a, b, bool(loss > epsilon) if loss > epsilon or loss < epsilon else self.over(a, b)[0]
            if left < right:
                yield left, right, self.over(left, right)[0]
        elif self.flat(loss):
            yield low, high, loss
        else:
            middle = ((low + high) / 2).mid()
            yield from self.parts(epsilon, low, middle)
            yield from self.parts(epsilon, middle, high)

    def flat(self, loss: Any) -> bool:
        """Whether losses on an interval of the panel are one number, as nearly as they are computed."""
        return bool(loss.rad() < (4 * self.error).max(arb(2) ** (-ctx.prec // 2)))

    def _crossing(self, epsilon: Any, low: Any, high: Any) -> Any:
        """An interval that holds the x at which a monotone loss is epsilon, or None: Newton's method for intervals."""
        x = between(low, high)
        while True:
            spend(self.terms / 2)
            middle = x.mid()
            found = middle - (self.rising(middle - self.middle) - epsilon) / self.slope(x - self.middle)
            if not x.overlaps(found):
                return None
            narrower = x.intersection(found)
            if not narrower.rad() < x.rad() / 2:
                return narrower
            x = narrower


def _integral(own: list[Any], over: list[Any]) -> Any:
    """The integral of e^f as a polynomial, by the Taylor coefficients of f at the middle and at all points.

    The remainder of e^f is the last coefficient times an even power, which has one sign.
    """
    terms = len(own) - 1
    spend(terms**2 / 10)
    cap, ctx.cap = ctx.cap, terms + 1
    try:
        mass = list(arb_series(own[:-1]).exp())[:terms]
        mass += [arb(0)] * (terms - len(mass))
        return arb_poly([*mass, arb_series(over).exp()[terms]]).integral()
    finally:
        ctx.cap = cap


def panels_of(piece: Piece) -> tuple[list[Panel], list[Any]]:
    """The panels of an interval, and bounds of the integrals of both densities outside of them."""
    (low, below), (high, above) = (_end(piece, end, sign) for end, sign in ((piece.low, -1), (piece.high, 1)))
    return list(_panels(piece, low, high)), [one + other for one, other in zip(below, above, strict=True)]


def _end(piece: Piece, end: Fraction | None, sign: int) -> tuple[Any, list[Any]]:
    """Where the panels end on one side, and bounds of the integrals of both densities from there on."""
    if end is not None:
        near = ball(end)
        edge = near.upper() if sign < 0 else near.lower()
        sliver = _values(piece, acb(between(near, edge)), Complex(analytic=False))
        if end != 0 or all(one is None or one.is_finite() for one in sliver):
            return edge, [arb(0) if one is None else (one.exp().real * (near - edge)).abs_upper() for one in sliver]
    for doublings in range(4, FARTHEST):
        start = arb(2) ** doublings
        # x = +-y, or x = +-1/y next to a singularity at zero
        side, power, shift = (sign, 1, 0) if end is None else (-sign, -1, -2)
        x = Asymptotic(start, arb(side), Fraction(power))
        place = sign * start if end is None else -sign / start
        try:
            logs = _values(piece, x, AsymptoticArithmetic(start))
            lost = [arb(0) if one is None else one.integral(shift) for one in logs]
        except Undecided:
            if doublings > LEAST_DOUBLINGS:
                raise
            continue
        others = [ball(other) for other in (piece.low, piece.high) if other is not None and other != end]
        if all(one < arb(2) ** (SPARE_BITS - ctx.prec) for one in lost) and all(
            sign * other < sign * place for other in others
        ):
            return place, lost
    raise Undecided("a density falls too slowly for this checker")


def _values(piece: Piece, x: Any, arith: Arithmetic) -> list[Any]:
    """Both formulas at x; None for one that is missing."""
    return [one and one.at(x, arith) for one in (piece.log_p, piece.log_q)]


def _panels(piece: Piece, low: Any, high: Any) -> Iterator[Panel]:
    """Panels between the ends, divided at powers of two, then halved until each is sharp."""
    sizes = [rough(abs(end).log()) / math.log(2) for end in (low, high) if not end.is_zero()]
    powers = range(math.floor(min(0.0, *sizes)), math.ceil(max(0.0, *sizes)) + 1)
    cuts = [arb(0), *(sign * arb(2) ** k for k in powers for sign in (-1, 1))]
    edges = [low, *sorted(one for one in cuts if low < one < high), high]
    for start, end in pairwise(edges):
        waiting = [Panel(piece, start, end)]
        while waiting:
            panel = waiting.pop()
            if panel.sharp:
                yield panel
            else:
                waiting += reversed(panel.halves(piece))
