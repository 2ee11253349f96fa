"""Composition of guarantees: basic, advanced and optimal, of differing (eps_j, delta_j) with counts.

A mechanism that is (eps_j, delta_j)-DP is, with probability 1 - delta_j, dominated by an eps_j-DP one (Kairouz, Oh &
Viswanath 2015, Theorem 3.4). An epsilon that a theorem proves for the pure mechanisms at delta' therefore holds for all at

    delta = 1 - (1 - delta') prod (1 - delta_j)  <=  delta' + sum delta_j.

The slack delta' is therefore determined by delta and the delta_j.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from logphi.answers.bound import Bound
from logphi.answers.status import Side
from logphi.classical.claim import Claim, at_most
from logphi.classical.crossing import crossing
from logphi.classical.exact_composition import compose_guarantees
from logphi.classical.interval_arithmetic import Interval, decimal, down, exact, intervals, up
from logphi.inputs import check


@dataclass(frozen=True)
class Guarantee:
    """``count`` releases, each (epsilon, delta)-DP.

    Raises
    ------
    ValueError, TypeError
        If epsilon is negative, delta outside [0, 1], the count not an integer, or one of them not a proved bound.

    Examples
    --------
    >>> Guarantee(0.1, 1e-8, count=100)
    Guarantee(epsilon=0.1, delta=1e-08, count=100)
    """

    epsilon: float | Bound | Claim
    delta: float | Bound | Claim = 0.0
    count: int = 1

    def __post_init__(self) -> None:
        kept = {
            "epsilon": check.nonnegative("epsilon", at_most("epsilon", self.epsilon)),
            "delta": check.unit("delta", at_most("delta", self.delta)),
            "count": check.count("the number of repetitions", self.count),
        }
        for name, value in kept.items():
            object.__setattr__(self, name, value)


class Advanced(enum.Enum):
    """The theorem of advanced composition: min(sum eps_j, drift + sqrt(2 log(1/delta') sum eps_j^2)), with its own drift."""

    STEINKE = "Steinke 2022, Theorem 22"
    KAIROUZ = "Kairouz, Oh & Viswanath 2017, Theorem 3.5 (first and third term)"


_OPTIMAL = "Kairouz, Oh & Viswanath 2015, Theorem 3.3; Murtagh & Vadhan 2016, Theorem 1.5"


def basic_epsilon(guarantees: Iterable[Guarantee], delta: float) -> Claim:
    """The sum of eps_j, if delta is at least 1 - prod (1 - delta_j); infinity otherwise.

    It holds for one direction of a pair alone: the part min(P_j, e^{eps_j} Q_j) of P_j has at least the mass 1 - delta_j, the
    product of these parts is at most e^{sum eps_j} times the product of the Q_j, and the rest of the product of the P_j has at
    most the mass 1 - prod (1 - delta_j).

    Examples
    --------
    >>> basic_epsilon([Guarantee(0.5, count=3), Guarantee(1)], 0.0).value
    2.5
    """
    parts = _listed(guarantees)
    enough = check.unit("delta", delta) >= _spent(parts)
    return Claim(_sum(parts) if enough else math.inf, Side.UPPER, "basic composition", _basic(parts))


def basic_delta(guarantees: Iterable[Guarantee], epsilon: float) -> Claim:
    """1 - prod (1 - delta_j), at most the sum of delta_j, if epsilon is at least the sum of eps_j; one otherwise."""
    parts = _listed(guarantees)
    enough = check.real("epsilon", epsilon) >= _sum(parts)
    return Claim(_spent(parts) if enough else 1.0, Side.UPPER, "basic composition", _basic(parts))


def advanced_epsilon(guarantees: Iterable[Guarantee], delta: float, theorem: Advanced = Advanced.STEINKE) -> Claim:
    """The smaller of sum eps_j and drift + sqrt(2 log(1/delta') sum eps_j^2), at the delta' that delta leaves.

    The drift is sum eps_j^2 / 2 or, for ``Advanced.KAIROUZ``, sum eps_j tanh(eps_j / 2), which is smaller. If delta' = 0 the
    bound is sum eps_j; if delta is below 1 - prod (1 - delta_j) it is infinite.

    Examples
    --------
    >>> round(float(advanced_epsilon([Guarantee(0.1, count=100)], 1e-6)), 6)
    5.756522
    >>> float(advanced_epsilon([Guarantee(0.1, 1e-7, count=20), Guarantee(0.3, 1e-8, count=5)], 1e-5))
    3.5000000000000004
    """
    parts = _listed(guarantees)
    survival = _survival(parts)
    slack = 1 - (1 - decimal(check.unit("delta", delta))) / survival if survival.a > 0 else exact(-1.0)
    drift, squares = _drift(parts, theorem), _squares(parts)
    if delta == 1:
        value = 0.0
    elif not slack.a > 0:
        value = math.inf if up(squares) > 0 or down(slack) < 0 else 0.0
    else:
        room = -2 * intervals().log(slack) * squares
        value = max(0.0, up(drift + intervals().sqrt(_positive(room))))
    value, note = _smaller((value, f"slack {max(0.0, down(slack)):.3g}"), basic_epsilon(parts, delta))
    return Claim(value, Side.UPPER, "advanced composition", theorem.value, note)


def advanced_delta(guarantees: Iterable[Guarantee], epsilon: float, theorem: Advanced = Advanced.STEINKE) -> Claim:
    """1 - (1 - delta') prod (1 - delta_j), with delta' = exp(-(eps - drift)^2 / (2 sum eps_j^2)).

    For eps up to the drift delta' is one; for eps >= sum eps_j it is zero.
    """
    parts = _listed(guarantees)
    drift, squares = _drift(parts, theorem), _squares(parts)
    ahead = decimal(check.real("epsilon", epsilon)) - drift
    if up(squares) == 0:
        slack = exact(0.0 if epsilon >= 0 else 1.0)
    elif not ahead.a > 0:
        slack = exact(1.0)
    else:
        slack = intervals().exp(-(ahead**2) / (2 * squares))
    value = min(1.0, up(1 - (1 - slack) * _survival(parts)))
    value, note = _smaller((value, f"slack {up(slack):.3g}"), basic_delta(parts, epsilon))
    return Claim(value, Side.UPPER, "advanced composition", theorem.value, note)


def optimal_delta(guarantees: Iterable[Guarantee], epsilon: float) -> Claim:
    """The smallest delta that the guarantees imply: that of randomized responses of the same eps_j. Long sums are refused.

    The guarantees must hold for both directions of each pair.

    Examples
    --------
    >>> round(float(optimal_delta([Guarantee(0.3, 0.01), Guarantee(0.5), Guarantee(0.1, 0.02)], 0.4)), 9)
    0.144169802
    """
    found = compose_guarantees([(float(one.epsilon), float(one.delta), one.count) for one in _listed(guarantees)], epsilon)
    return Claim(found.upper, Side.UPPER, "optimal composition", _OPTIMAL)


def optimal_epsilon(guarantees: Iterable[Guarantee], delta: float) -> Claim:
    """The smallest eps >= 0 at which :func:`optimal_delta` is at most delta."""
    parts = _listed(guarantees)
    # delta may be any decimal that reads as the double
    level = max(math.nextafter(check.unit("delta", delta), -1.0), 0.0)
    least = crossing(lambda at: optimal_delta(parts, at).value <= level)[1] if level >= _spent(parts) else math.inf
    return Claim(least, Side.UPPER, "optimal composition", _OPTIMAL)


def _smaller(advanced: tuple[float, str], basic: Claim) -> tuple[float, str]:
    """The smaller bound, with a note that says which."""
    return advanced if advanced[0] < basic.value else (basic.value, "sum of the epsilons")


def _listed(guarantees: Iterable[Guarantee]) -> Sequence[Guarantee]:
    parts = list(guarantees)
    for one in parts:
        if not isinstance(one, Guarantee):
            raise TypeError(f"only guarantees compose here, got {one!r} of type {type(one).__name__}")
    return parts


def _basic(parts: Sequence[Guarantee]) -> str:
    """The theorem on pure guarantees, or the one whose minimum contains their sum."""
    return f"Steinke 2022, Theorem {22 if any(one.delta for one in parts) else 1}"


def _sum(parts: Sequence[Guarantee]) -> float:
    """The sum of eps_j; for a single release its epsilon as given, without rounding."""
    if sum(one.count for one in parts if one.epsilon) == 1:
        return max(float(one.epsilon) for one in parts if one.count)
    return up(sum((_epsilon(one) * one.count for one in parts), exact(0.0)))


def _spent(parts: Sequence[Guarantee]) -> float:
    """The probability that some release fails; for a single one its delta as given, without rounding."""
    if sum(one.count for one in parts if one.delta) == 1:
        return max(float(one.delta) for one in parts if one.count)
    return min(1.0, up(1 - _survival(parts)))


def _squares(parts: Sequence[Guarantee]) -> Interval:
    return sum((_epsilon(one) ** 2 * one.count for one in parts), exact(0.0))


def _drift(parts: Sequence[Guarantee], theorem: Advanced) -> Interval:
    if theorem is Advanced.STEINKE:
        return _squares(parts) / 2
    exp = intervals().exp
    return sum((_epsilon(one) * (1 - 2 / (exp(_epsilon(one)) + 1)) * one.count for one in parts), exact(0.0))


def _survival(parts: Sequence[Guarantee]) -> Interval:
    product = exact(1.0)
    for one in parts:
        product = product * (1 - decimal(float(one.delta))) ** one.count
    return product


def _epsilon(one: Guarantee) -> Interval:
    return decimal(float(one.epsilon))


def _positive(x: Interval) -> Interval:
    return intervals().mpf([max(x.a, 0), x.b])
