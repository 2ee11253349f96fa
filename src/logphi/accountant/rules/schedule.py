"""The rule for a schedule that is fixed in advance: the composition of all steps is within the budget.

Queries may be chosen adaptively, but their noise, rate and count must not depend on earlier outputs ([AFA] Theorem 10). If they
do, comparing a composition with a budget is not a valid filter: the worst case over all adaptive choices is larger than that of
every schedule.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from logphi.accountant.rules.exact_costs import law_of
from logphi.accountant.rules.rule import Amount, Rule
from logphi.algebra.release import Mechanism, compose
from logphi.answers.bound import single
from logphi.answers.status import Direction
from logphi.text.written import exact


@dataclass(frozen=True)
class ScheduleRule(Rule[Mechanism | None]):
    """The proved delta of the composition at the epsilon of the budget."""

    epsilon: float
    delta: float

    @property
    def nothing(self) -> Mechanism | None:
        """No composition yet."""
        return None

    def after(self, spent: Mechanism | None, mechanism: Mechanism, count: int) -> Mechanism | None:
        """The composition; a release with count zero leaves the relation open."""
        for one, _ in mechanism.counted():
            law_of(one, Direction.REMOVE)
        more = count * mechanism
        return compose([*([] if spent is None else [spent]), more]) if more.counted() else spent

    def fits(self, spent: Mechanism | None) -> bool:
        """Whether its delta is at most that of the budget."""
        return self.amounts(spent)["delta"] <= self.budget["delta"]

    def amounts(self, spent: Mechanism | None) -> dict[str, Amount]:
        """Its delta, rounded up."""
        return {"delta": Fraction(0) if spent is None else proved_delta(spent, self.epsilon)}

    @property
    def budget(self) -> dict[str, Fraction]:
        """The delta of the budget."""
        return {"delta": exact(self.delta)}


def proved_delta(mechanism: Mechanism, epsilon: float) -> Fraction:
    """An upper bound of delta at an epsilon, which is rounded down."""
    at = float(epsilon)
    # extreme epsilons overflow: an unknown bound counts as not private enough
    with np.errstate(all="ignore"):
        found = single(mechanism.delta(at if Fraction(at) <= exact(epsilon) else math.nextafter(at, -math.inf)))
    return Fraction(found.upper if found.ledger.proved else 1)
