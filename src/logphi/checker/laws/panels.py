"""Panels: intervals on which log p and log q are analytic, divided by where their difference, the loss, exceeds an epsilon.

Masses up to a panel are integrals by FLINT; inside, they are those of Taylor polynomials, with bounds of the remainders. What
lies near infinity, or next to zero where it is a singularity, is only bounded (see ``asymptotic``).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

from flint import acb, arb, arb_poly, arb_series, ctx

from logphi.checker.arithmetic.balls import ball, between, rough
from logphi.checker.arithmetic.work import EXP, Undecided, demand, evaluations, spend
from logphi.checker.formulas.asymptotic import Asymptotic, AsymptoticArithmetic
from logphi.checker.formulas.formula import Arithmetic, Complex, Formula, Piece, series

# chosen: a density is followed up to 2^FARTHEST, or down to 2^-FARTHEST next to a singularity at zero
FARTHEST = 2000
# chosen: no panel is shorter than 2^-SHORTEST times the modulus of its middle, or than 2^-SHORTEST near zero
SHORTEST = 300
# chosen: from 2^LEAST_DOUBLINGS on, the asymptotic form of a formula must be known
LEAST_DOUBLINGS = 100
# chosen: bits of the precision in force that masses need not have, as it exceeds what is asked for
SPARE_BITS = 40


class Panel:
    """An interval, with balls around the loss and its slope; it is ``regular`` if both formulas are analytic and real on it.

    ``whole`` is the regular panel of which this is a part; it keeps the masses up to each end of a part.
    """

    def __init__(self, piece: Piece, low: Any, high: Any, whole: Panel | None = None) -> None:
        self.piece, self.low, self.high, self.whole = piece, low, high, whole or self
        self.loss, self.slope = arb.nan(), arb.nan()
        # where the search for a crossing starts: at the middle, later where the last one ended
        self.last = self.middle = ((low + high) / 2).mid()
        self.half = between(low, high) - self.middle
        # derived: enough terms if the nearest singularity is eight half lengths away; if it is nearer, the panel is halved
        self.terms = 2 * (max(ctx.prec - SPARE_BITS, 0) // 8) + 8
        self.given = [one for one in (piece.log_p, piece.log_q) if one]
        # Taylor coefficients at all points of the panel; the last one bounds the remainder
        self.over = [series(one, between(low, high), self.terms + 1) for one in self.given]
        self.regular = all(one.is_finite() for own in self.over for one in own)
        if len(self.given) == 2 and self.regular:
            self.loss, self.slope = self.rising(self.half), self.rising.derivative()(self.half)
        self._masses: tuple[list[Any], list[Any]] = ([low], [(arb(0), arb(0))])

    @cached_property
    def logs(self) -> list[list[Any]]:
        """The Taylor coefficients of both formulas at the middle, and that of the remainder."""
        return [[*series(one, self.middle, self.terms), over[-1]] for one, over in zip(self.given, self.over, strict=True)]

    @cached_property
    def rising(self) -> Any:
        """The loss as a polynomial in the distance from the middle."""
        p, q = self.logs
        return arb_poly([a - b for a, b in zip(p, q, strict=True)])

    @cached_property
    def integrals(self) -> list[Any]:
        """The masses as polynomials. The remainder is the last coefficient times an even power, which has one sign."""
        found = []
        for own, over in zip(self.logs, self.over, strict=True):
            spend(self.terms**2 / 10)
            cap, ctx.cap = ctx.cap, self.terms + 1
            try:
                mass = list(arb_series(own[:-1]).exp())[: self.terms]
                mass += [arb(0)] * (self.terms - len(mass))
                found.append(arb_poly([*mass, arb_series(over).exp()[self.terms]]).integral())
            finally:
                ctx.cap = cap
        return found

    @cached_property
    def sharp(self) -> bool:
        """Whether all remainders are negligible."""
        size, most = self.half.abs_upper(), arb(2) ** (SPARE_BITS - ctx.prec)
        last = [
            self.rising[self.terms] * size**self.terms,
            *(one[self.terms + 1] * size ** (self.terms + 1) for one in self.integrals),
        ]
        return all(abs(one) < most for one in last)

    @cached_property
    def halves(self) -> tuple[Panel, Panel]:
        """Both halves; an :class:`Undecided` if they are too short."""
        if self.high - self.low < arb(2) ** -SHORTEST * abs(self.middle).max(arb(1)):
            raise Undecided(f"a formula is not analytic near {rough(self.middle):.6g}: an interval must end there")
        whole = self.whole if self.regular else None
        return Panel(self.piece, self.low, self.middle, whole), Panel(self.piece, self.middle, self.high, whole)

    def masses(self, x: Any) -> tuple[Any, Any]:
        """The integrals of e^{log p} and e^{log q} from the start of the whole to x."""
        if x == self.low or x == self.high:
            return self.whole.up_to(x)
        spend(4 * self.terms / 3)
        start = self.whole.up_to(self.low)
        return tuple(
            known + one(x - self.middle) - one(self.low - self.middle) for known, one in zip(start, self.integrals, strict=True)
        )

    def up_to(self, x: Any) -> tuple[Any, Any]:
        """The masses from the start of this panel to an end of a part, computed from the nearest known end on its left."""
        places, values = self._masses
        at = bisect_left(places, x)
        if at == len(places) or places[at] != x:
            start, own = places[at - 1], values[at - 1]
            logs = (self.piece.log_p, self.piece.log_q)
            found = tuple(before + _integral(one, start, x) for before, one in zip(own, logs, strict=True))
            places.insert(at, x)
            values.insert(at, found)
        return values[at]  # type: ignore[no-any-return]

    def parts(self, epsilon: Any) -> Iterator[Part]:
        """Parts from left to right, with whether the loss there is above epsilon or, where that is not known, the loss."""
        if self.loss > epsilon or self.loss < epsilon:
            yield self, self.low, self.high, bool(self.loss > epsilon)
        elif (self.slope > 0 or self.slope < 0) and self.sharp:
            yield from self._crossed(epsilon)
        elif self.flat():
            yield self, self.low, self.high, self.loss
        else:
            for half in self.halves:
                yield from half.parts(epsilon)

    def flat(self) -> bool:
        """Whether the loss is constant, as nearly as it is computed."""
        return bool(self.loss.rad() < arb(2) ** (-ctx.prec // 2))

    def _crossed(self, epsilon: Any) -> Iterator[Part]:
        """The parts where a monotone loss crosses epsilon: by Newton's method, proved by the signs on both sides."""
        rising, steepness = bool(self.slope > 0), self.rising.derivative()
        low, high, x = self.low, self.high, self.last
        unit = arb(2) ** (SPARE_BITS - ctx.prec) * abs(x).max(arb(1))
        for _ in range(ctx.prec + 64):
            spend(self.terms / 2)
            value = self.rising(x - self.middle) - epsilon
            if not (value > 0 or value < 0):
                break
            low, high = (low, x) if (value > 0) == rising else (x, high)
            following = (x - value / steepness(x - self.middle)).mid()
            if not low < following < high:
                following = ((low + high) / 2).mid()
            near, x = abs(following - x) < unit, following
            if near:
                break
        self.last, width = x, unit
        while True:
            spend(self.terms / 2)
            left, right = (x - width).mid().max(self.low), (x + width).mid().min(self.high)
            below, beyond = ((self.rising(place - self.middle) - epsilon) * (1 if rising else -1) for place in (left, right))
            if (left == self.low or below < 0) and (right == self.high or beyond > 0):
                break
            width *= 64
        if left > self.low:
            yield self, self.low, left, not rising
        yield self, left, right, self.rising(between(left, right) - self.middle)
        if right < self.high:
            yield self, right, self.high, rising


# a panel, an interval in it, and whether the loss there is above an epsilon, or the loss where that is not known
Part = tuple[Panel, Any, Any, Any]


def _integral(formula: Formula | None, low: Any, high: Any) -> Any:
    """The integral of e^formula; zero if there is none."""
    if formula is None:
        return arb(0)
    found = acb.integral(
        lambda z, analytic: formula.at(z, Complex(analytic)).exp(),
        low,
        high,
        abs_tol=arb(2) ** (SPARE_BITS - ctx.prec),
        rel_tol=arb(2) ** (SPARE_BITS - ctx.prec),
        eval_limit=evaluations(EXP * len(formula.steps)),
    ).real
    demand(found.is_finite(), "the integral of a density needs more work than this checker does")
    return found


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
    """Panels between the ends, divided at powers of two, then halved until both formulas are analytic on each."""
    sizes = [rough(abs(end).log()) / math.log(2) for end in (low, high) if not end.is_zero()]
    powers = range(math.floor(min(0.0, *sizes)), math.ceil(max(0.0, *sizes)) + 1)
    cuts = [arb(0), *(sign * arb(2) ** k for k in powers for sign in (-1, 1))]
    edges = [low, *sorted(one for one in cuts if low < one < high), high]
    for start, end in pairwise(edges):
        waiting = [Panel(piece, start, end)]
        while waiting:
            panel = waiting.pop()
            if panel.regular:
                yield panel
            else:
                waiting += reversed(panel.halves)
