"""Whether a claim follows: its two ends, compared with the answer for each order of the pair.

The worse of the two orders counts: in both, the answer must not exceed the upper end, and in one it must reach the lower end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from flint import arb

from logphi.checker import declared, profile
from logphi.checker.balls import ball, precision, resolving
from logphi.checker.composition import Composition
from logphi.checker.laws import composed
from logphi.checker.reading import UPPER_ONLY, Claim, Release
from logphi.checker.work import EXP, Undecided, spend

# chosen: spare digits; all digits are doubled in each attempt until the balls decide
SPARE = 4
ATTEMPTS = 4


class Fails(Exception):
    """The claim is wrong, or does not follow from what the certificate states: no precision would help."""


class ReleaseLaws:
    """The laws of a release in each order of the pair, and the deltas computed so far."""

    def __init__(self, release: Release) -> None:
        there = composed(release.terms)
        self.laws = {"remove": there, "add": there.reversed()}
        self.adjacency = release.adjacency
        # its pairs lie above what it leaks
        self.above = release.holds(*UPPER_ONLY)
        self.symmetric = there.symmetric
        self.found: dict[Any, list[Any]] = {}

    def orders(self, direction: str | None) -> dict[str, Composition]:
        """The orders of the pair to which a claim refers: those whose worse answer it bounds."""
        if self.adjacency in ("add", "remove"):
            return {self.adjacency: self.laws[self.adjacency]}
        return {order: laws for order, laws in self.laws.items() if direction in (None, order)}

    def deltas(self, order: str, points: Sequence[Fraction], goal: float) -> list[Any]:
        """The privacy profile of an order, with errors of about e^``goal``."""
        # bounds implied by declared divergences do not depend on the goal
        whole = self.laws[order]
        key = "both" if self.symmetric else order, tuple(points), None if declared.applies(whole) else goal
        if key not in self.found:
            self.found[key] = profile.delta(whole, points, goal)
        return self.found[key]


def check_claim(claim: Claim, known: ReleaseLaws) -> None:
    """Return if the claim follows; raise a :class:`Fails` or an :class:`Undecided` with the reason if it does not."""
    if known.above and (claim.upper is not None if claim.quantity == "tradeoff" else claim.lower > 0):
        raise Undecided(f"only upper bounds are known of a {' or a '.join(UPPER_ONLY)}: nothing proves that it leaks this much")
    # the size of the numbers compared; 1e-400 where they are zero
    scale = max(claim.at if claim.quantity == "epsilon" else claim.upper or claim.lower, Fraction(1, 10**400))
    for attempt in range(ATTEMPTS):
        digits = (claim.digits + SPARE) * 2**attempt
        goal = math.log(scale.numerator) - math.log(scale.denominator) - digits * math.log(10)
        if _CHECKS[claim.quantity](claim, known, goal):
            return
    raise Undecided("the highest precision of this checker does not decide it")


def _by_profile(claim: Claim, known: ReleaseLaws, goal: float) -> bool:
    """Check epsilon at a delta, delta at an epsilon, or the advantage, which is delta at zero.

    As delta falls with epsilon, the smallest epsilon with delta(epsilon) <= at is above ``lower`` if delta(lower) > at, and at
    most ``upper`` if delta(upper) <= at.
    """
    of_epsilon, points, most, least = claim.quantity == "epsilon", [claim.at], claim.upper, claim.lower
    if of_epsilon:
        ends = [end for end in (claim.lower or None, claim.upper) if end is not None]
        points, most, least = ends, None if claim.upper is None else claim.at, claim.at if claim.lower else Fraction(0)
    found = [known.deltas(order, points, goal) for order in known.orders(claim.direction)]
    with precision(resolving(goal)):
        kept = _kept([deltas[-1] for deltas in found], most, f"delta at the upper end exceeds {float(most or 0):.6g}")
        lack = "the lower end is too large: delta is smaller there in every direction"
        return _reached([deltas[0] for deltas in found], least, lack, strict=of_epsilon) and kept


def _kept(values: Sequence[Any], most: Fraction | None, excess: str) -> bool:
    """Whether the balls prove that all values are at most the upper end; a :class:`Fails` if they disprove it."""
    if most is not None and any(value > ball(most) for value in values):
        raise Fails(excess)
    return most is None or all(value <= ball(most) for value in values)


def _reached(values: Sequence[Any], least: Fraction, lack: str, strict: bool = False) -> bool:
    """Whether the balls prove that some value is at least the lower end, or above it; a :class:`Fails` if they disprove it."""
    if least and all(value <= ball(least) if strict else value < ball(least) for value in values):
        raise Fails(lack)
    return not least or any(value > ball(least) if strict else value >= ball(least) for value in values)


def _by_lines(claim: Claim, known: ReleaseLaws, goal: float) -> bool:
    """Check the smallest type II error f at a type I error alpha, the smaller one of both orders.

    f is the supremum over a = e^x >= 0 of g(a) = 1 - delta(x) - a alpha, which is concave in a, as delta is convex in e^x. So
    g at any x of the list ``lines`` bounds f from below, and at three of them from above: see :func:`_ceiling`.
    """
    floor, ceiling = arb(1), arb(1)
    for order in known.orders(claim.direction):
        lines = sorted(set(claim.lines.get(order, ())))
        if not lines:
            floor = arb(0)
            continue
        deltas = known.deltas(order, lines, goal)
        with precision(resolving(goal)):
            spend(2 * EXP * len(lines))
            places = [ball(x).exp() for x in lines]
            heights = [1 - delta - a * ball(claim.at) for a, delta in zip(places, deltas, strict=True)]
            highest = heights[0]
            for height in heights[1:]:
                highest = highest.max(height)
            floor = floor.min(highest)
            ceiling = ceiling.min(_ceiling(places, heights))
    with precision(resolving(goal)):
        least = _reached([floor], claim.lower, "its lines do not prove the lower end")
        return _kept([ceiling], claim.upper, "its lines do not prove the upper end") and least


def _ceiling(places: list[Any], heights: list[Any]) -> Any:
    """An upper bound of a concave function, by its values at three points of which the middle one has the largest; else 1.

    Between the last two points it is below the extended chord of the first two, between the first two below that of the last
    two, and outside of the three points below its value at the nearest of them.
    """
    if len(places) < 3 or not (heights[0] <= heights[1] >= heights[2]):
        return arb(1)
    left, right = places[1] - places[0], places[2] - places[1]
    rise, fall = (heights[1] - heights[0]) / left, (heights[1] - heights[2]) / right
    return heights[1] + (rise * right).max(fall * left)


def _by_moment(claim: Claim, known: ReleaseLaws, goal: float) -> bool:
    """Check the Renyi divergence of an order a > 1, log M(a - 1) / (a - 1), the larger one over the orders of the pair.

    Where divergences are declared, they are bounds.
    """
    place, found = claim.at - 1, []
    with precision(resolving(goal) + claim.at.numerator.bit_length()):
        for whole in known.orders(claim.direction).values():
            if declared.applies(whole):
                found.append(declared.divergence(whole, place))
                continue
            if not (whole.infinite().is_zero() and whole.omitted().is_zero() and place < whole.end):
                raise Undecided("a divergence is checked only where all losses are finite and the order lies in the strip")
            found.append(whole.log_moment(ball(place)) / ball(place))
        if not all(value.is_finite() for value in found):
            raise Undecided("the moment of a law is not known at this order")
        least = _reached(found, claim.lower, "the divergence is below the lower end")
        return _kept(found, claim.upper, "the divergence exceeds the upper end") and least


_CHECKS: dict[str, Callable[[Claim, ReleaseLaws, float], bool]] = {
    "epsilon": _by_profile,
    "delta": _by_profile,
    "advantage": _by_profile,
    "tradeoff": _by_lines,
    "renyi": _by_moment,
}
