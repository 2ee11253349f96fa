"""One of several releases, by a public coin: transforms, tails and masses are weighted means."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import acb, arb

from logphi.checker.balls import ball, rough
from logphi.checker.law import Law, Terms
from logphi.checker.work import STORED, Undecided, spend


@dataclass(frozen=True)
class Choice(Law):
    """M = sum of w_i M_i, where M_i is that of a composition and the weights w_i sum to one."""

    parts: tuple[tuple[Fraction, Terms], ...]

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        """Whether all parts are symmetric."""
        return all(law.symmetric for _, terms in self.parts for law, _ in terms)

    @property
    def end(self) -> float:
        """The smallest end of all parts."""
        return min((law.end for _, terms in self.parts for law, _ in terms), default=float("inf"))

    def reversed(self) -> Choice:
        """Every part reversed."""
        return Choice(tuple((weight, [(law.reversed(), count) for law, count in terms]) for weight, terms in self.parts))

    def infinite(self) -> Any:
        """The mean of one minus the products of the finite masses."""
        found = arb(0)
        for weight, terms in self.parts:
            log_finite = sum((count * (-law.infinite()).log1p() for law, count in terms), arb(0))
            found -= ball(weight) * log_finite.expm1()
        return found

    def omitted(self) -> Any:
        """The mean of the sums over each composition."""
        return sum((ball(w) * count * law.omitted() for w, terms in self.parts for law, count in terms), arb(0))

    def on_line(self, c: Any, step: Any, nodes: int) -> list[Any]:
        """The mean of the products."""
        found = [acb(0)] * nodes
        for weight, terms in self.parts:
            own = [acb(ball(weight))] * nodes
            for law, count in terms:
                spend(nodes * (STORED + 3 * count.bit_length()))
                own = [value * one**count for value, one in zip(own, law.on_line(c, step, nodes), strict=True)]
            found = [value + one for value, one in zip(found, own, strict=True)]
        return found

    def ceiling_above(self, c: Any, lifts: list[float], bits: int) -> Callable[[Any], Any]:
        """The mean of the products of the bounds of their laws."""
        prepared = [
            (ball(weight), [(law.ceiling_above(c, lifts, bits + count.bit_length()), count) for law, count in terms])
            for weight, terms in self.parts
        ]

        def bound(time: Any) -> Any:
            found = arb(0)
            for weight, bounds in prepared:
                found += math.prod((one(time) ** count for one, count in bounds), start=weight)
            return found.abs_upper()

        return bound

    def tails(self, epsilon: Any) -> tuple[Any, Any]:
        """The mean of the tails, if every part is a single release."""
        p, q = arb(0), arb(0)
        for weight, terms in self.parts:
            if not terms:
                own = _tails_of_zero(epsilon)
            elif [count for _, count in terms] == [1]:
                own = terms[0][0].tails(epsilon)
            else:
                raise Undecided("of a random choice between compositions, this checker knows the transform but no tails")
            p, q = p + ball(weight) * own[0], q + ball(weight) * own[1]
        return p, q

    def atom_losses(self) -> list[Any]:
        """The smallest and the largest atom of all parts."""
        found = [corner for _, terms in self.parts for law, _ in terms for corner in law.atom_losses()]
        return sorted(found, key=rough)[:: max(len(found) - 1, 1)] if len(found) > 1 else found


def _tails_of_zero(epsilon: Any) -> tuple[Any, Any]:
    """The tails of a loss that is always zero."""
    if epsilon > 0:
        return arb(0), arb(0)
    return (arb(1), arb(1)) if epsilon < 0 else (arb(0).union(arb(1)), arb(0).union(arb(1)))
