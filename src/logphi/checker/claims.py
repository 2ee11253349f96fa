"""Whether a claim follows: its two ends, compared with the answer for each order of the pair.

The worse of the two orders counts: in both, the answer must not exceed the upper end, and in one it must reach the lower end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any

from flint import arb

from logphi.checker import profile
from logphi.checker.arithmetic.balls import ball, precision, resolving, upper
from logphi.checker.arithmetic.work import EXP, Undecided, spend
from logphi.checker.laws.composition import Composition
from logphi.checker.mechanisms.pairs import composed
from logphi.checker.methods import declared
from logphi.checker.text.reading import UPPER_ONLY, Claim, Release

# chosen: how many times the digits of a claim, and spare ones, each attempt has until the balls decide; the first do less work
ATTEMPTS = ((1, 2), (1, 3), (1, 4), (2, 8), (4, 16))


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
        # of the last claim, a lower bound at its lower end and an upper bound at its upper end, of delta for an epsilon
        self.derived: tuple[Fraction, Fraction] | None = None

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
    of_epsilon = claim.quantity == "epsilon"
    # delta falls: the smallest epsilon with delta(epsilon) <= at is above ``lower`` if delta(lower) > at, and at most ``upper``
    # if delta(upper) <= at
    least, most = claim.lower, claim.upper
    if of_epsilon:
        least, most = claim.at if claim.lower else Fraction(0), None if claim.upper is None else claim.at
    # the size of the numbers compared; 1e-400 where they are zero
    scale = max(claim.at if of_epsilon else claim.upper or claim.lower, Fraction(1, 10**400))
    known.derived, width = None, arb.pos_inf()
    for times, spare in ATTEMPTS:
        digits = times * claim.digits + spare
        goal = math.log(scale.numerator) - math.log(scale.denominator) - digits * math.log(10)
        at_least, at_most = _VALUES[claim.quantity](claim, known, goal)
        values = [*at_least, *at_most]
        with precision(resolving(goal)):
            before, width = width, sum((value.rad() for value in values), arb(0))
            if width < before and all(value.is_finite() for value in values):
                known.derived = max(-upper(-value) for value in at_least), max(map(upper, at_most))
            if _decided(at_least, at_most, least, most, claim, strict=of_epsilon):
                return
            if before.is_finite() and not 2 * width < before:
                break
    raise Undecided("the highest precision of this checker does not decide it")


def _decided(
    at_least: Sequence[Any], at_most: Sequence[Any], least: Fraction, most: Fraction | None, claim: Claim, *, strict: bool
) -> bool:
    """Whether the balls prove that all values are at most the upper end, and that one reaches, or exceeds, the lower one.

    A :class:`Fails` if they disprove it.
    """
    high, low = None if most is None else ball(most), ball(least)
    if high is not None and any(value > high for value in at_most):
        raise Fails(_EXCEEDS.get(claim.quantity, f"delta at the upper end exceeds {float(most or 0):.6g}"))
    if least and all(value <= low if strict else value < low for value in at_least):
        raise Fails(_LACKS.get(claim.quantity, "the lower end is too large: delta is smaller there in every direction"))
    return (high is None or all(value <= high for value in at_most)) and (
        not least or any(value > low if strict else value >= low for value in at_least)
    )


# the values that must reach the lower end in one order of the pair, and those that must not exceed the upper end in any
Values = tuple[Sequence[Any], Sequence[Any]]


def _by_profile(claim: Claim, known: ReleaseLaws, goal: float) -> Values:
    """Deltas at an epsilon, or at both ends of an epsilon."""
    points = [claim.at]
    if claim.quantity == "epsilon":
        points = [end for end in (claim.lower or None, claim.upper) if end is not None]
    found = [known.deltas(order, points, goal) for order in known.orders(claim.direction)]
    return [deltas[0] for deltas in found], [deltas[-1] for deltas in found]


def _by_lines(claim: Claim, known: ReleaseLaws, goal: float) -> Values:
    """Bounds of the smallest type II error f at a type I error alpha, the smaller one of both orders.

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
            highest = reduce(arb.max, heights)
            floor, ceiling = floor.min(highest), ceiling.min(_ceiling(places, heights))
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


def _by_moment(claim: Claim, known: ReleaseLaws, goal: float) -> Values:
    """Renyi divergences of an order a > 1, log M(a - 1) / (a - 1); where divergences are declared, they are bounds."""
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
    return found, found


_VALUES: dict[str, Callable[[Claim, ReleaseLaws, float], Values]] = {
    "epsilon": _by_profile,
    "delta": _by_profile,
    "advantage": _by_profile,
    "tradeoff": _by_lines,
    "renyi": _by_moment,
}
# of other quantities than delta, what is wrong with an end that is not proved
_LACKS = {"tradeoff": "its lines do not prove the lower end", "renyi": "the divergence is below the lower end"}
_EXCEEDS = {"tradeoff": "its lines do not prove the upper end", "renyi": "the divergence exceeds the upper end"}
