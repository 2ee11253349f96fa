"""The rules that decide whether one more release is within a budget: a file for each, with its theorem."""

from __future__ import annotations

import sys
from typing import Any

from logphi.accountant.rules.gaussian import GaussianRule
from logphi.accountant.rules.renyi import RenyiRule, best_order
from logphi.accountant.rules.rule import Rule
from logphi.accountant.rules.schedule import ScheduleRule
from logphi.inputs import check
from logphi.text.written import exact

NAMES = ("renyi", "gaussian", "schedule")
# derived: the product with the largest order does not overflow
LARGEST_EPSILON = 1e100


def rule_of(name: str, epsilon: Any, delta: Any, order: Any, infinite_mass: Any) -> Rule[Any]:
    """The rule of this name for a budget.

    Raises a ValueError or TypeError if there is no such rule, or a number is outside its range or none of the rule's.
    """
    if name not in NAMES:
        raise ValueError(f"rule must be one of {', '.join(map(repr, NAMES))}, got {name!r}")
    epsilon, delta = check.nonnegative("epsilon", epsilon), check.unit("delta", delta)
    if epsilon > LARGEST_EPSILON:
        raise ValueError(f"epsilon must be at most {LARGEST_EPSILON:g}, got {epsilon!r}: such a budget guarantees nothing")
    if exact(delta) == 1:
        raise ValueError("delta must be below 1, got 1.0: such a budget guarantees nothing")
    infinite_mass = check.nonnegative("infinite_mass", infinite_mass)
    if exact(infinite_mass) > exact(delta):
        raise ValueError(f"infinite_mass is a part of delta={delta!r} and must not exceed it, got {infinite_mass!r}")
    if name != "renyi" and (order is not None or infinite_mass):
        raise ValueError(f"order and infinite_mass belong to the rule 'renyi', not to {name!r}: leave them out")
    if name == "gaussian":
        return GaussianRule.of(epsilon, delta)
    if name == "schedule" and delta:
        return ScheduleRule(epsilon, delta)
    left = exact(delta) - exact(infinite_mass)
    if 0 < left < sys.float_info.min:
        raise ValueError(
            f"delta less infinite_mass must be 0 or at least {sys.float_info.min:.3g}, got {delta!r} less {infinite_mass!r}: "
            "make them equal, or give a larger delta"
        )
    if not left:
        if order is not None:
            raise ValueError(
                "order has no meaning where nothing of delta is left for it: the largest losses add up; leave it out"
            )
        return RenyiRule(epsilon, delta, None, infinite_mass)
    return RenyiRule(epsilon, delta, best_order(epsilon, left) if order is None else _order(order), infinite_mass)


def _order(order: float) -> float:
    # the double that is used is the one that is written
    order = float(check.real("order", order))
    if not 1 < order <= 1e15:
        raise ValueError(f"order must lie above 1 and be at most 1e15, got {order!r}")
    return order
