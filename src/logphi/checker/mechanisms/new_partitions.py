"""Partitions that only one record has: seen where noise brings them up to a threshold, and never without the record."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from flint import arb

from logphi.checker.arithmetic.balls import ball, cached, normal_tail
from logphi.checker.arithmetic.work import EXP, spend
from logphi.checker.laws.finite import Finite


def new_partitions(gap: Fraction, far: Fraction | None, normal: bool, number: int) -> Finite | None:
    """The law of so many; None if none is ever seen.

    With p the probability of noise of at least ``gap``, of unit width and within [-far, far] if there is an end, all are missed
    with probability (1 - p)^number under P, and always under Q.
    """
    if far is not None and gap >= far:
        return None

    def outcomes() -> list[tuple[Any, Any]]:
        beyond = arb(0) if far is None else _tail(far, normal)
        seen = (_tail(gap, normal) - beyond) / (1 - 2 * beyond)
        spend(3 * EXP)
        logarithm = number * (-seen).log1p()
        return [(-logarithm.expm1(), arb(0)), (logarithm.exp(), arb(1))]

    return Finite.spaced(cached(outcomes))


def _tail(x: Fraction, normal: bool) -> Any:
    """P(noise >= x), normal or of the density e^{-|x|} / 2."""
    if normal:
        return normal_tail(ball(x))
    spend(EXP)
    half = (-abs(ball(x))).exp() / 2
    return half if x >= 0 else 1 - half
