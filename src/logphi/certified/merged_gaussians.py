"""A composition with its Gaussian mechanisms merged, and a route by a formula for the few releases that remain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import flint

from logphi.arith.ball import precision
from logphi.arith.protocol import Norm
from logphi.certified.laws.law import LawInBalls
from logphi.certified.laws.registry import in_balls
from logphi.certified.reals import on_ball
from logphi.certified.route import Excess
from logphi.laws.combined.parameters import normal_shift
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal.normal import Normal

# derived: routes that merge take fewer releases than this
_ENOUGH = 3


@dataclass(frozen=True)
class FewReleases:
    """The excess of few releases by a formula, at a precision of its own."""

    loss: LogPhi
    bits: int
    formula: Callable[[list[LawInBalls]], Excess]

    def excess(self, epsilon: Any) -> Any:
        """By the formula, at both ends of the ball."""
        with precision(self.bits):
            formula, kept = self.parts
            return on_ball(lambda end: kept * formula(end), epsilon)

    @cached_property
    def parts(self) -> tuple[Excess, Any]:
        """The formula, and the probability that no single release has an infinite loss.

        Raises
        ------
        NotCertifiedError
            If there is no formula.
        """
        with precision(self.bits):
            laws, kept = merged(self.loss)
            return self.formula(laws), kept


def merged(loss: LogPhi) -> tuple[list[LawInBalls], Any]:
    """The laws after merging, of which at most three, and the probability that laws of losses 0 or infinity give 0."""
    kept, shifts, laws = flint.arb(1), [], []
    for law, count in loss.terms:
        found, shift = in_balls(law), normal_shift(law)
        if found.zero_or_infinite:
            kept *= (1 - found.infinite_mass()) ** count
        elif shift is not None:
            shifts.append((shift, count))
        else:
            laws += [found] * min(count, _ENOUGH)
    if shifts:
        alone = len(shifts) == 1 == shifts[0][1]
        laws.insert(0, in_balls(Normal(shifts[0][0] if alone else Norm(tuple(shifts)))))
    return laws[:_ENOUGH], kept
