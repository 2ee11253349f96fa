"""Mechanisms known by points of a trade-off function or of a privacy profile."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from logphi.checker.laws.law import Law
from logphi.checker.mechanisms.hulls import of_profile, of_tradeoff
from logphi.checker.mechanisms.kind import REAL, VECTOR, Demands, Kind, Node, many
from logphi.checker.mechanisms.outcomes import exact

# derived: two errors that sum to one do so to within this as doubles
ROUNDED = Fraction(1, 2**51)


def _tradeoff(node: Node, *_: Any, type_one_errors: list[Fraction], type_two_errors: list[Fraction]) -> Law | None:
    """The curve is that of the direction remove; under the relation add, that of the direction add."""
    p, q = of_tradeoff(type_one_errors, type_two_errors)
    proper = [(a, b) for a, b in zip(p, q, strict=True) if a or b]
    found = exact([a for a, _ in proper], [b for _, b in proper])
    return found.reversed() if found is not None and node.adjacency == "add" else found


def _profile(node: Node, *_: Any, epsilons: list[Fraction], deltas: list[Fraction]) -> Law:
    """Under add and under remove the points hold in that direction, elsewhere in both."""
    points = list(zip(epsilons, deltas, strict=True))
    found = of_profile(points, () if node.one_direction else points)
    return found.reversed() if node.adjacency == "add" else found


def _demands_of_tradeoff(node: Node) -> Demands:
    first, second = node.parameters["type_one_errors"], node.parameters["type_two_errors"]
    yield len(first) == len(second), "needs as many numbers in both lists"
    points = list(zip(first, second, strict=True))
    yield all(a <= 1 and a + b <= 1 + ROUNDED for a, b in points), "needs two errors that sum to one at most"
    at_zero = [b for a, b in points if a == 0]
    yield bool(at_zero) and min(at_zero) > 0, "needs a type II error above zero at a type I error of zero"


def _demands_of_profile(node: Node) -> Demands:
    epsilons, deltas = node.parameters["epsilons"], node.parameters["deltas"]
    yield len(epsilons) == len(deltas), "needs as many numbers in both lists"
    yield max(deltas) <= 1 and min(deltas) < 1, "needs deltas of at most 1, one of them below 1"


KINDS = {
    "FromTradeoff": Kind({"type_one_errors": VECTOR, "type_two_errors": VECTOR}, _tradeoff, _demands_of_tradeoff),
    "FromProfile": Kind({"epsilons": many(REAL), "deltas": VECTOR}, _profile, _demands_of_profile),
}
