"""One release of a convex combination, whose profile is the weighted sum of the profiles of the parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import numpy as np

from logphi.answers.ledger import Ledger
from logphi.engine.log_probability import LogProbability
from logphi.engine.method import EXACT
from logphi.laws.log_phi import LogPhi
from logphi.laws.transform import LossTransform
from logphi.laws.visitor import LawVisitor
from logphi.laws.weights import Weights


@dataclass(frozen=True)
class Combined:
    """The parts, each a sum of losses, and their weights."""

    parts: tuple[LogPhi, ...]
    weights: Weights

    def profile(self, profile_of: Callable[[LogPhi], LogProbability]) -> LogProbability:
        """The weighted sum of the profiles, and of their errors."""
        lower = value = upper = -np.inf
        ledgers = []
        for part, weight in zip(self.parts, self.weights.table(), strict=True):
            found = profile_of(part)
            # the relative error of the weight, an ulp of its logarithm, and an ulp of the sum of logarithms
            doubt = weight.relative_error + 1e-15 * (1 + abs(weight.log))
            lower = np.logaddexp(lower, found.lower + weight.log - doubt)
            value = np.logaddexp(value, found.value + weight.log)
            upper = np.logaddexp(upper, found.upper + weight.log + doubt)
            scaled = found.ledger.scaled(weight.value)
            infinite = scaled.infinite_mass.scaled(weight.value)
            ledgers.append(replace(scaled, infinite_mass=infinite))
        return LogProbability.outward(map(float, (lower, value, upper)), EXACT, reduce(_sum, ledgers))


class _Combined(LawVisitor[Combined, LossTransform]):
    """The parts of a combination."""

    def combination(self, parts: tuple[LossTransform, ...], weights: Weights) -> Combined:
        """The parts and weights."""
        return Combined(tuple(LogPhi.of([(part, 1)]) for part in parts), weights)


def combination_of(loss: LogPhi) -> Combined | None:
    """The combination, if the loss consists of one; None for other losses."""
    alone = len(loss.terms) == 1 and loss.terms[0][1] == 1
    return loss.terms[0][0].accept(_Combined()) if alone else None


def _sum(one: Ledger, other: Ledger) -> Ledger:
    """The ledger of a sum."""
    return Ledger(*(add(a, b) for (_, a), (_, b) in zip(one.items(), other.items(), strict=True)))
