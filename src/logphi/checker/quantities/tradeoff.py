"""The smallest type II error of a test at a type I error, between values of a concave function and chords of it."""

from __future__ import annotations

from functools import reduce
from typing import Any

from flint import arb

from logphi.checker.arithmetic.balls import ball, precision
from logphi.checker.arithmetic.work import EXP, spend
from logphi.checker.releases import ReleaseLaws, Values, points_of, proof_of
from logphi.checker.text.reading import Claim


def values(claim: Claim, known: ReleaseLaws) -> Values:
    """Bounds of the smallest type II error f at a type I error alpha, the smaller one of both directions.

    f is the supremum over a = e^x >= 0 of g(a) = 1 - delta(x) - a alpha, which is concave in a, as delta is convex in e^x. So
    g at any x of the list ``lines`` bounds f from below, and at three of them from above: see :func:`_ceiling`.
    """
    floor, ceiling = arb(1), arb(1)
    for direction in known.directions(claim.direction):
        lines = points_of(claim, direction)
        if not lines:
            floor = arb(0)
            continue
        proof = proof_of(claim, direction)
        deltas = known.deltas(direction, lines, proof)
        with precision(proof.bits):
            spend(2 * EXP * len(lines))
            places = [ball(x).exp() for x in lines]
            heights = [1 - delta - a * ball(claim.at) for a, delta in zip(places, deltas, strict=True)]
            floor, ceiling = floor.min(reduce(arb.max, heights)), ceiling.min(_ceiling(places, heights))
    return [floor], [ceiling]


def _ceiling(places: list[Any], heights: list[Any]) -> Any:
    """An upper bound of a concave function, by its values at three points of which the middle one has the largest; else 1.

    Not finite where the balls do not tell which value is the largest.

    Between the last two points it is below the extended chord of the first two, between the first two below that of the last
    two, and outside of the three points below its value at the nearest of them.
    """
    if len(places) < 3 or heights[0] > heights[1] or heights[2] > heights[1]:
        return arb(1)
    if not (heights[0] <= heights[1] >= heights[2]):
        return arb.nan()
    left, right = places[1] - places[0], places[2] - places[1]
    rise, fall = (heights[1] - heights[0]) / left, (heights[1] - heights[2]) / right
    return heights[1] + (rise * right).max(fall * left)
