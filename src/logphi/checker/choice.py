"""One of several releases, by a public coin: transforms, tails and masses are weighted means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import acb, arb

from logphi.checker.balls import ball, rough
from logphi.checker.composition import Composition
from logphi.checker.law import Law


@dataclass(frozen=True)
class Choice(Law):
    """M = sum of w_i M_i, where M_i is that of a composition and the weights w_i sum to one."""

    parts: tuple[tuple[Fraction, Composition], ...]

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        """Whether all parts are symmetric."""
        return all(part.symmetric for _, part in self.parts)

    @property
    def end(self) -> float:
        """The smallest end of all parts."""
        return min(part.end for _, part in self.parts)

    def reversed(self) -> Choice:
        """Every part reversed."""
        return Choice(tuple((weight, part.reversed()) for weight, part in self.parts))

    def infinite(self) -> Any:
        """The mean of those of the parts."""
        return sum((ball(weight) * part.infinite() for weight, part in self.parts), arb(0))

    def omitted(self) -> Any:
        """The mean of those of the parts."""
        return sum((ball(weight) * part.omitted() for weight, part in self.parts), arb(0))

    def on_line(self, c: Any, step: Any, nodes: int) -> list[Any]:
        """The mean of the transforms."""
        found = [acb(0)] * nodes
        for weight, part in self.parts:
            share = ball(weight)
            found = [value + share * own for value, own in zip(found, part.on_line(c, step, nodes), strict=True)]
        return found

    def ceiling_above(self, c: Any, lifts: list[float], bits: int) -> Callable[[Any], Any]:
        """The mean of the bounds."""
        bounds = [(ball(weight), part.ceiling_above(c, lifts, bits)) for weight, part in self.parts]
        return lambda time: sum((weight * bound(time) for weight, bound in bounds), arb(0)).abs_upper()

    def tails(self, epsilon: Any) -> tuple[Any, Any]:
        """The mean of the tails, if no part is of several releases."""
        p, q = arb(0), arb(0)
        for weight, part in self.parts:
            own = part.tails(epsilon)
            p, q = p + ball(weight) * own[0], q + ball(weight) * own[1]
        return p, q

    def atom_losses(self) -> list[Any]:
        """The smallest and the largest atom of all parts."""
        found = sorted((loss for _, part in self.parts for loss in part.atom_losses()), key=rough)
        return found[:: max(len(found) - 1, 1)]
