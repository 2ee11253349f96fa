"""A public random choice of one of several releases: transforms, tails and masses are weighted means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

from flint import acb, arb

from logphi.checker.arithmetic.balls import ball
from logphi.checker.arithmetic.work import STORED, spend
from logphi.checker.laws.composition import Composition
from logphi.checker.laws.law import Cells, Law
from logphi.checker.mechanisms.above import with_pair
from logphi.checker.mechanisms.kind import Demands, Kind, Node, Stated, probabilities
from logphi.checker.mechanisms.pairs import composed


@dataclass(frozen=True)
class Choice(Law):
    """M = sum of w_i M_i, where M_i is that of a composition and the weights w_i sum to one."""

    parts: tuple[tuple[Fraction, Composition], ...]

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        """Whether all parts are symmetric."""
        return all(part.symmetric for _, part in self.parts)

    @property
    def end(self) -> Fraction | float:
        return min(part.end for _, part in self.parts)

    def reversed(self) -> Choice:
        return Choice(tuple((weight, part.reversed()) for weight, part in self.parts))

    def listed(self) -> Choice:
        return Choice(tuple((weight, part.listed()) for weight, part in self.parts))

    def infinite(self) -> Any:
        return sum((ball(weight) * part.infinite() for weight, part in self.parts), arb(0))

    def omitted(self) -> Any:
        return sum((ball(weight) * part.omitted() for weight, part in self.parts), arb(0))

    def on_line(self, c: Any, step: Any, nodes: int) -> list[Any]:
        found = [acb(0)] * nodes
        for weight, part in self.parts:
            share = ball(weight)
            found = [value + share * own for value, own in zip(found, part.on_line(c, step, nodes), strict=True)]
        return found

    def ceiling_above(self, c: Any, lifts: list[float], bits: int) -> Callable[[Any], Any]:
        bounds = [(ball(weight), part.ceiling_above(c, lifts, bits)) for weight, part in self.parts]
        return lambda time: sum((weight * bound(time) for weight, bound in bounds), arb(0)).abs_upper()

    def tails(self, epsilon: Any) -> tuple[Any, Any]:
        """The mean of the tails, if no part is of several releases."""
        p, q = arb(0), arb(0)
        for weight, part in self.parts:
            own = part.tails(epsilon)
            p, q = p + ball(weight) * own[0], q + ball(weight) * own[1]
        return p, q

    def cuts(self, base: Any, step: Any, number: int) -> tuple[Cells, Cells]:
        both = zip(*(part.cuts(base, step, number) for _, part in self.parts), strict=True)
        below, above = (self._mean(cells) for cells in both)
        return below, above

    def largest(self) -> Any:
        found = [part.largest() for _, part in self.parts]
        if any(one is None for one in found):
            return None
        return reduce(arb.max, found)

    def _mean(self, parts: Sequence[Cells]) -> Cells:
        shares = [ball(weight) for weight, _ in self.parts]
        spend(3 * STORED * len(shares) * len(parts[0].p))

        def mean(*masses: Any) -> Any:
            return sum((share * mass for share, mass in zip(shares, masses, strict=True)), arb(0))

        p, q, below, above = (
            list(map(mean, *many)) for many in zip(*((c.p, c.q, c.below, c.above) for c in parts), strict=True)
        )
        return Cells(parts[0].points, p, q, (below[0], below[1]), (above[0], above[1]))


def _law(node: Node, stated: Stated, *, probabilities: list[Fraction]) -> Law | None:
    """The weighted mean of the pairs of the alternatives."""
    kept = [
        (weight, with_pair(composed(part, stated), stated))
        for weight, part in zip(probabilities, node.parts, strict=True)
        if weight
    ]
    return Choice(tuple(kept)) if any(part.terms for _, part in kept) else None


def _demands(node: Node) -> Demands:
    yield len(node.parameters["probabilities"]) == len(node.parts), "needs as many mechanisms as probabilities"
    yield all(one.adjacency == node.adjacency for _, one in node.within()), "needs mechanisms under its own adjacency"


KINDS = {
    "RandomChoice": Kind(
        {"probabilities": probabilities},
        _law,
        _demands,
        base="compositions",
        not_within=(
            frozenset({"RandomChoice", "allocation"}),
            "a random choice is not known as a part of another one, or of random allocation",
        ),
    )
}
