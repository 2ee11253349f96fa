"""Whether a claim follows: its two ends, compared with the answer for each order of the pair.

The worse of the two orders counts: in both, the answer must not exceed the upper end, and in one it must reach the lower end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property, reduce
from typing import Any

from flint import arb

from logphi.checker import profile
from logphi.checker.arithmetic.balls import ball, precision, upper
from logphi.checker.arithmetic.work import EXP, Undecided, demand, spend
from logphi.checker.laws.composition import Composition
from logphi.checker.mechanisms.above import Stated, apart
from logphi.checker.mechanisms.pairs import composed
from logphi.checker.methods import tangents
from logphi.checker.text.reading import UPPER_ONLY, Claim, Proof, Release

# chosen: bits with which values are compared, more than those of their proofs
SPARE = 64


class Fails(Exception):
    """The claim is wrong, or does not follow from what the certificate states: no precision would help."""


class ReleaseLaws:
    """The laws of a release in each order of the pair, and the deltas computed so far.

    ``stated`` gives the tangents for a composition with declared divergences; without it, they are those of the certificate.
    """

    def __init__(self, release: Release, stated: Stated | None = None) -> None:
        hulls = iter(release.hulls)
        self.stated = stated or (lambda whole: next(hulls, ()))
        self.adjacency, there = release.adjacency, composed(release.terms, self.stated)
        self.laws = {"remove": there, "add": there.reversed()}
        # its pairs lie above what it leaks
        self.above = release.holds(*UPPER_ONLY)
        self.found: dict[Any, list[Any]] = {}
        # of the last claim, a lower bound at its lower end and an upper bound at its upper end, of delta for an epsilon
        self.derived: tuple[Fraction, Fraction] | None = None

    def orders(self, direction: str | None) -> list[str]:
        """The orders of the pair to which a claim refers: those whose worse answer it bounds, one if they are the same."""
        if self.adjacency in ("add", "remove"):
            return [self.adjacency]
        both = ["remove"] if self.laws["remove"].symmetric else ["remove", "add"]
        return both if direction is None else [direction]

    @cached_property
    def with_hulls(self) -> dict[str, Composition]:
        """The laws, with the hull of all declared divergences in their place."""
        there = apart(self.laws["remove"], self.stated)
        return {"remove": there, "add": there.reversed()}

    def deltas(self, order: str, points: Sequence[Fraction], proof: Proof) -> list[Any]:
        """The privacy profile of an order, by a proof."""
        key = order, tuple(points), proof
        if key not in self.found:
            laws = self.laws if proof.way == "tangents" else self.with_hulls
            self.found[key] = profile.delta(laws[order], points, proof)
        return self.found[key]


def check_claim(claim: Claim, known: ReleaseLaws) -> None:
    """Return if the claim follows; raise a :class:`Fails` or an :class:`Undecided` with the reason if it does not.

    All values must be at most the upper end, and one must reach the lower end, or exceed that of an epsilon: delta falls, so
    that the smallest epsilon with delta(epsilon) <= at is above ``lower`` if delta(lower) > at, and at most ``upper`` if
    delta(upper) <= at.
    """
    if known.above and (claim.upper is not None if claim.quantity == "tradeoff" else claim.lower > 0):
        raise Undecided(f"only upper bounds are known of a {' or a '.join(UPPER_ONLY)}: nothing proves that it leaks this much")
    known.derived = None
    of_epsilon = claim.quantity == "epsilon"
    least, most = claim.lower, claim.upper
    if of_epsilon:
        least, most = claim.at if claim.lower else Fraction(0), None if claim.upper is None else claim.at
    at_least, at_most = _VALUES[claim.quantity](claim, known)
    with precision(max((proof.bits for proof in claim.proof.values()), default=0) + SPARE):
        if all(value.is_finite() for value in (*at_least, *at_most)):
            known.derived = max(-upper(-value) for value in at_least), max(map(upper, at_most))
        high, low = arb.pos_inf() if most is None else ball(most), ball(least)
        if any(value > high for value in at_most):
            raise Fails(_EXCEEDS.get(claim.quantity, f"delta at the upper end exceeds {float(most or 0):.6g}"))
        if least and all(value <= low if of_epsilon else value < low for value in at_least):
            raise Fails(_LACKS.get(claim.quantity, "the lower end is too large: delta is smaller there in every direction"))
        reached = not least or any(value > low if of_epsilon else value >= low for value in at_least)
        demand(reached and (most is None or all(value <= high for value in at_most)), "its proof does not decide it")


def points_of(claim: Claim, order: str) -> list[Fraction]:
    """The epsilons at which a claim needs the profile of an order."""
    if claim.quantity == "tradeoff":
        return sorted(set(claim.lines.get(order, ())))
    if claim.quantity == "epsilon":
        return [end for end in (claim.lower or None, claim.upper) if end is not None]
    return [claim.at]


# the values that must reach the lower end in one order of the pair, and those that must not exceed the upper end in any
Values = tuple[Sequence[Any], Sequence[Any]]


def _by_profile(claim: Claim, known: ReleaseLaws) -> Values:
    """Deltas at an epsilon, or at both ends of an epsilon."""
    found = [known.deltas(order, points_of(claim, order), _proof(claim, order)) for order in known.orders(claim.direction)]
    return [deltas[0] for deltas in found], [deltas[-1] for deltas in found]


def _proof(claim: Claim, order: str) -> Proof:
    demand(order in claim.proof, f"it states no proof for direction {order}")
    return claim.proof[order]


def _by_lines(claim: Claim, known: ReleaseLaws) -> Values:
    """Bounds of the smallest type II error f at a type I error alpha, the smaller one of both orders.

    f is the supremum over a = e^x >= 0 of g(a) = 1 - delta(x) - a alpha, which is concave in a, as delta is convex in e^x. So
    g at any x of the list ``lines`` bounds f from below, and at three of them from above: see :func:`_ceiling`.
    """
    floor, ceiling = arb(1), arb(1)
    for order in known.orders(claim.direction):
        lines = points_of(claim, order)
        if not lines:
            floor = arb(0)
            continue
        proof = _proof(claim, order)
        deltas = known.deltas(order, lines, proof)
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


def _by_moment(claim: Claim, known: ReleaseLaws) -> Values:
    """Renyi divergences of an order a > 1, log M(a - 1) / (a - 1); where divergences are declared, they are bounds."""
    place, found = claim.at - 1, []
    for order in known.orders(claim.direction):
        whole, proof = known.laws[order], _proof(claim, order)
        demand(proof.way == "moment", "its proof is not one of a divergence")
        with precision(proof.bits):
            if tangents.applies(whole):
                found.append(tangents.divergence(whole, place))
                continue
            inside = whole.infinite().is_zero() and whole.omitted().is_zero() and place < whole.end
            demand(inside, "a divergence is checked only where all losses are finite and the order lies in the strip")
            found.append(whole.log_moment(ball(place)) / ball(place))
    demand(all(value.is_finite() for value in found), "the moment of a law is not known at this order")
    return found, found


_VALUES: dict[str, Callable[[Claim, ReleaseLaws], Values]] = {
    "epsilon": _by_profile,
    "delta": _by_profile,
    "advantage": _by_profile,
    "tradeoff": _by_lines,
    "renyi": _by_moment,
}
# of other quantities than delta, what is wrong with an end that is not proved
_LACKS = {"tradeoff": "its lines do not prove the lower end", "renyi": "the divergence is below the lower end"}
_EXCEEDS = {"tradeoff": "its lines do not prove the upper end", "renyi": "the divergence exceeds the upper end"}
