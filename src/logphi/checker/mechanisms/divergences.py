"""Mechanisms known by their Renyi divergences D_a in both directions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from logphi.checker.laws.declared import Declared
from logphi.checker.laws.law import Law
from logphi.checker.mechanisms.kind import NONNEGATIVE, VECTOR, Demands, Kind, Node


def _concentrated(*_: Any, rho: Fraction, xi: Fraction) -> Law | None:
    """D_a <= xi + rho a."""
    return Declared(((rho, xi),)) if rho or xi else None


def _renyi(*_: Any, orders: list[Fraction], epsilons: list[Fraction]) -> Law | None:
    """D_a at some orders a; if one is zero, P and Q are equal."""
    points = sorted((a - 1, (a - 1) * e) for a, e in zip(orders, epsilons, strict=True))
    return Declared(points=tuple(points)) if all(epsilons) else None


def _both_directions(node: Node) -> Demands:
    yield not node.one_direction, "is a guarantee in both directions"


def _demands(node: Node) -> Demands:
    yield from _both_directions(node)
    orders = node.parameters["orders"]
    fits = len(orders) == len(node.parameters["epsilons"]) == len(set(orders)) and min(orders) > 1
    yield fits, "needs as many epsilons as orders, which differ and are above one"


KINDS = {
    "ZCDP": Kind({"rho": NONNEGATIVE, "xi": NONNEGATIVE}, _concentrated, _both_directions, upper_only=True),
    "RenyiDP": Kind({"orders": VECTOR, "epsilons": VECTOR}, _renyi, _demands, upper_only=True),
}
