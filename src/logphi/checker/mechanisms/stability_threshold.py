"""Partitions whose noisy counts are above a threshold: a partition has other records, or none.

One with other records has the pair of its noise, moved by s. One that only one record has is seen where noise brings it up to
the threshold, and never without the record. Both pairs together dominate either.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from flint import arb

from logphi.checker.arithmetic.balls import ball, cached, normal_tail
from logphi.checker.arithmetic.work import EXP, spend
from logphi.checker.laws.composition import Composition
from logphi.checker.laws.finite import Finite
from logphi.checker.mechanisms.kind import COUNT, POSITIVE, PRESENCE, REAL, Demands, Kind, Node, optional
from logphi.checker.mechanisms.noise import noise


def _law(
    *_: Any,
    threshold: Fraction,
    scale: Fraction | None,
    sigma: Fraction | None,
    truncation: Fraction | None,
    sensitivity: Fraction,
    partitions: int,
) -> Composition:
    """The noise of each partition, and whether new ones are seen."""
    width = scale or sigma or Fraction(0)
    far = None if truncation is None else truncation / width
    seen = _new_partitions((threshold - sensitivity) / width, far, scale is None, partitions)
    kept = noise(sensitivity / width, far, scale is None)
    return Composition([(kept, partitions), *([] if seen is None else [(seen, 1)])])


def _new_partitions(gap: Fraction, far: Fraction | None, normal: bool, number: int) -> Finite | None:
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


def _demands(node: Node) -> Demands:
    given = node.parameters
    far, least, move = given["truncation"], given["threshold"], given["sensitivity"]
    yield node.adjacency in PRESENCE, "is stated under add_remove, or one direction of it"
    yield (given["scale"] is None) is not (given["sigma"] is None), "needs a scale or a sigma"
    yield far is None or 2 * far > move, "needs a truncation of more than half its sensitivity"
    yield far is None or least - move > -far, "needs noise that may miss the threshold"


KINDS = {
    "StabilityThreshold": Kind(
        {
            "threshold": REAL,
            "scale": optional(POSITIVE),
            "sigma": optional(POSITIVE),
            "truncation": optional(POSITIVE),
            "sensitivity": POSITIVE,
            "partitions": COUNT,
        },
        _law,
        _demands,
        upper_only=True,
    )
}
