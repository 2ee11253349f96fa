"""Random allocation: a record is in one of t batches, drawn uniformly. One batch has the law P of the base, all others Q.

notation: X = p/q of the base, t batches, S = (X_1 + .. + X_t) / t with independent X under Q.

S is the likelihood ratio of an epoch, E_Q S = 1 - f with the mass f of infinite losses of the base, and

    D(eps) = E_Q (S - a)_+ = 1 - f - a + E_Q (a - S)_+,   a = e^eps;  in the other direction  a E_Q (1/a - S)_+ - Q(S = 0).

So bounds of (b - S)_+ are bounds of D, and those are means of decreasing convex functions: see ``levels``. Epochs compose by
the same order, as (a - S_1 S_2 ..)_+ is decreasing and convex in each S_i. There, with masses rounded down, the sums above
become a pair as their masses m at s, of m s under P; what is missing of either law is an outcome that only this law reaches,
which raises D. Of the sums below, masses that have moved up without limit are left out: with all the mass that is missing at
the place where P is complete, they are a pair below in the convex order, if that place is above all nodes that are kept; and
an outcome that is left out lowers D.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from typing import Any

from flint import arb, ctx

from logphi.checker.allocation.levels import Kind
from logphi.checker.allocation.ratios import NEAR, Sums, sum_of
from logphi.checker.arithmetic.balls import ball, between, cached, rough
from logphi.checker.arithmetic.work import EXP, STORED, Undecided, demand, spend, whole_number
from logphi.checker.laws.composition import Composition
from logphi.checker.laws.finite import Finite
from logphi.checker.laws.law import Cells, Law, Reversed
from logphi.checker.methods.residues import multinomial, vectors

# chosen: nodes on the first level of one ratio, at least
FEWEST = 64
# chosen: more nodes on a level are refused
MOST_NODES = 10**7
# chosen: more vectors of outcomes take too long
MOST_VECTORS = 5000
# chosen: a number of nodes is a multiple of it
EVEN = 8


class Known:
    """The sums that were computed last, above and below, with their numbers of nodes; both directions share them."""

    def __init__(self) -> None:
        self.found: dict[Kind, tuple[int, Sums]] = {}

    def sums(self, law: Law, batches: int, size: int, most: Any, kind: Kind) -> Sums:
        """The sums as far as ``most``, or further."""
        known = self.found.get(kind)
        if known is None or known[0] != size or not known[1].reaches(most):
            known = self.found[kind] = size, sum_of(law, batches, size, most, kind)
        return known[1]


@dataclass(frozen=True)
class Allocated(Law):
    """One epoch."""

    base: Law
    batches: int
    known: Known = field(default_factory=Known, compare=False, repr=False)

    def infinite(self) -> Any:
        return self.base.infinite()

    def unreached(self) -> Any:
        """Where the ratio of every batch is zero."""
        return self.base.unreached() ** self.batches

    def sums(self, size: int, most: Any, kind: Kind) -> Sums:
        """The sums as far as ``most``, or further."""
        return self.known.sums(self.base, self.batches, size, most, kind)

    def bounds(self, epsilons: Sequence[Fraction], size: int, bits: int) -> list[Any]:
        """D at each epsilon, with ``size`` nodes on the first level of one ratio."""
        spend(2 * EXP * len(epsilons))
        strikes = [ball(epsilon).exp() for epsilon in epsilons]
        most = reduce(arb.max, strikes) * self.batches
        below, above = (self.sums(size, most, Kind(side, side, bits)) for side in (False, True))
        found = []
        for a in strikes:
            low, high = (sums.put(a * self.batches) / self.batches for sums in (below, above))
            found.append(1 - self.infinite() - a + between(low.lower(), high.upper()))
        return found

    def cuts(self, base: Any, step: Any, number: int) -> tuple[Cells, Cells]:
        """Those of a pair below and of one above."""
        if not self.base.unreached().is_zero():
            raise Undecided("this checker does not compose epochs of a base whose output may rule out the record")
        # a lattice of the losses with this step errs as much as one of the ratios of this size
        doublings = self.batches.bit_length()
        size = even(NEAR * math.sqrt(doublings / self.batches) / rough(step))
        most = (base + number * step).exp() * self.batches
        below, above = (self.sums(size, most, Kind(kind, False, ctx.prec)) for kind in (False, True))
        return self._cut(below, base, step, number), self._cut(above, base, step, number)

    def _cut(self, sums: Sums, base: Any, step: Any, number: int) -> Cells:
        spend((2 * EXP + 4 * STORED) * number)
        points = [base + k * step for k in range(number + 1)]
        mean = 1 - self.base.infinite()
        last = None if sums.kind.above else sums.complete(mean * self.batches)
        whole, *tails = [
            (p / self.batches, q)
            for p, q in [sums.up_to(None, last), *(sums.up_to(t.exp() * self.batches, last) for t in points)]
        ]
        missing = (mean - whole[0], 1 - whole[1]) if sums.kind.above else (arb(0), arb(0))
        p, q = ([there[side] - here[side] for here, there in pairwise(tails)] for side in (0, 1))
        below = tails[0][0], tails[0][1] + missing[1]
        return Cells(points, p, q, below, (whole[0] - tails[-1][0] + missing[0], whole[1] - tails[-1][1]))


def counted(base: Finite, batches: int) -> Finite:
    """An epoch of a base with few outcomes: the vectors of how many batches have each outcome that Q reaches."""
    if vectors(sum(not q.is_zero() for _, q in base.outcomes()), batches) > MOST_VECTORS:
        raise Undecided("the allocated release has more combinations of outcomes than this checker lists")

    def outcomes() -> list[tuple[Any, Any]]:
        reached = [(q, p / q) for p, q in base.outcomes() if not q.is_zero()]
        listed = multinomial([q for q, _ in reached], [ratio for _, ratio in reached], batches)
        # a sum of ratios is exactly zero where none is above
        found = [(mass * ratios / batches, mass) for ratios, mass in listed]
        alone = base.infinite()
        return found if alone.is_zero() else [*found, (alone, arb(0))]

    return Finite.spaced(cached(outcomes), lambda: batches * base.omitted())


def even(number: float) -> int:
    """A number of nodes on the first level of one ratio."""
    return EVEN * max(math.ceil(number / EVEN), FEWEST // EVEN)


def enclose(whole: Composition, epsilons: Sequence[Fraction], number: Fraction) -> list[Any]:
    """D of one epoch at each epsilon, with so many nodes, a multiple of ``EVEN``, on the first level of one ratio."""
    turned = whole.alone if isinstance(whole.alone, Reversed) else None
    law, size = turned.base if turned else whole.alone, whole_number(number, MOST_NODES)
    demand(isinstance(law, Allocated) and size % EVEN == 0, "this is not one epoch, or the number of nodes is wrong")
    assert isinstance(law, Allocated), "demanded above"
    found = law.bounds([-epsilon if turned else epsilon for epsilon in epsilons], size, ctx.prec)
    if turned:
        found = [turned.turned(ball(epsilon), one) for epsilon, one in zip(epsilons, found, strict=True)]
    return [between(one.lower().max(arb(0)), one.upper().max(arb(0))) for one in found]
