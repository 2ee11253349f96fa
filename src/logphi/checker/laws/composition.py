"""The loss of a composition: a sum of independent losses, whose transforms and finite masses multiply."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import acb, arb

from logphi.checker.arithmetic.balls import ball
from logphi.checker.arithmetic.work import STORED, demand, spend
from logphi.checker.laws.law import Cells, Law, Spacing, common_span

Terms = Sequence[tuple[Law, int]]


@dataclass(frozen=True)
class Composition(Law):
    """Laws with their counts; no terms at all are a loss that is always zero."""

    terms: Terms

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        return all(law.symmetric for law, _ in self.terms)

    @property
    def declared(self) -> bool:  # type: ignore[override]
        """Whether any of them is."""
        return any(law.declared for law, _ in self.terms)

    @property
    def end(self) -> Fraction | float:
        return min((law.end for law, _ in self.terms), default=math.inf)

    @property
    def count(self) -> int:
        return sum(count for _, count in self.terms)

    @property
    def alone(self) -> Law | None:
        """The law of a single release; None of several."""
        return self.terms[0][0] if self.count == 1 else None

    def reversed(self) -> Composition:
        return Composition([(law.reversed(), count) for law, count in self.terms])

    def listed(self) -> Composition:
        return Composition([(law.listed(), count) for law, count in self.terms])

    def infinite(self) -> Any:
        """One minus the product of the finite masses."""
        return -sum((count * (-law.infinite()).log1p() for law, count in self.terms), arb(0)).expm1()

    def omitted(self) -> Any:
        return sum((count * law.omitted() for law, count in self.terms), arb(0))

    def log_moment(self, x: Any) -> Any:
        """Log M(x) for a real x >= 0."""
        return sum((count * law.moment(x).log() for law, count in self.terms), arb(0))

    def on_line(self, c: Any, step: Any, nodes: int) -> list[Any]:
        values = [acb(1)] * nodes
        for law, count in self.terms:
            spend(nodes * (STORED + 3 * count.bit_length()))
            own = law.on_line(c, step, nodes)
            values = [value * one**count for value, one in zip(values, own, strict=True)]
        return values

    def ceiling_above(self, c: Any, lifts: list[float], bits: int) -> Callable[[Any], Any]:
        bounds = [(law.ceiling_above(c, lifts, bits + count.bit_length()), count) for law, count in self.terms]
        return lambda time: sum((count * bound(time).log() for bound, count in bounds), arb(0)).exp().abs_upper()

    def tails(self, epsilon: Any) -> tuple[Any, Any]:
        """Those of none or of a single release, beside others whose finite loss is one number."""
        p, q, kept = arb(1), arb(1), Composition([])
        for law, count in self.terms:
            alike = law.constant()
            if alike is None:
                kept = Composition([*kept.terms, (law, count)])
            else:
                p, q = p * alike[0] ** count, q * alike[1] ** count
        shifted = epsilon - (p / q).log()
        if kept.alone is not None:
            own, other = kept.alone.tails(shifted)
            return p * own, q * other
        demand(not kept.terms, "this checker knows the transform of several releases together, but not their tails")
        share = arb(0) if shifted > 0 else arb(1) if shifted < 0 else arb(0).union(arb(1))
        return p * share, q * share

    def cuts(self, base: Any, step: Any, number: int) -> tuple[Cells, Cells]:
        return super().cuts(base, step, number) if self.alone is None else self.alone.cuts(base, step, number)

    def largest(self) -> Any:
        found = [(law.largest(), count) for law, count in self.terms]
        return None if any(one is None for one, _ in found) else sum((count * one for one, count in found), arb(0))

    def lattice(self) -> Spacing | None:
        """The lattice of the sum, with steps of one."""
        given = [(spacing, count) for law, count in self.terms if (spacing := law.lattice()) is not None]
        if not given or len(given) < len(self.terms) or len({spacing.key for spacing, _ in given}) > 1:
            return None
        first, span = given[0][0], common_span([spacing.span() for spacing, _ in given])
        if not span:
            return None
        return Spacing(
            first.key,
            lambda: abs(first.unit() * ball(span)),
            (Fraction(0), Fraction(1)),
            lambda: sum((count * (one.base() + one.unit() * ball(one.steps[0])) for one, count in given), arb(0)),
        )
