"""Proofs of the claims of a certificate: a method of the checker for each, found by trying all that apply."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from logphi.certified.witness.lattices import ROOM, by_cells, by_nodes, of_profile
from logphi.certified.witness.lines import abscissa, by_line
from logphi.certified.witness.tangents import by_tangents, of_hull
from logphi.checker.allocation.allocated import Allocated
from logphi.checker.allocation.levels import Kind
from logphi.checker.arithmetic.balls import ball, precision, resolving
from logphi.checker.arithmetic.work import LARGEST_WORK, OUT_OF_RANGE, Undecided, budget
from logphi.checker.claims import Fails, check_claim
from logphi.checker.entries import NotACertificate
from logphi.checker.laws.composition import Composition
from logphi.checker.laws.law import Reversed
from logphi.checker.laws.normal_mixtures import NormalMixtures
from logphi.checker.laws.normal_pair import NormalPair
from logphi.checker.laws.uniform import TiltedUniform
from logphi.checker.methods import residues, two_releases
from logphi.checker.releases import ReleaseLaws, points_of
from logphi.checker.text.reading import Claim, Proof, read

# chosen: how many times the digits of a claim, and spare ones, each attempt has until the balls decide; the first do less work
ATTEMPTS = ((1, 2), (1, 3), (1, 4), (2, 8), (4, 16))
# chosen: the digits of the first attempt at a claim with one end or two equal ends, and the most
FIRST_DIGITS, MOST_DIGITS = 3, 1000
# methods that the budget keeps from becoming sharper
ROUGH = ("cells", "nodes", "tangents")
# measured: with more pairs, M decays fast enough on a straight line
MOST_PAIRS = 200
# derived: bits that a closed form loses for each tilted uniform release
PER_TILTED = 3


# bounds at the lower and the upper end of a claim, as those of a verdict
Derived = tuple[Fraction, Fraction] | None


def proved(content: Mapping[str, Any], work: float = LARGEST_WORK) -> tuple[dict[str, Any], str, Derived]:
    """A certificate with the proofs that are found within a budget; why one is not, and what was derived of the last claim.

    It is returned as it is where it is malformed.
    """
    whole: dict[str, Any] = deepcopy(dict(content))
    try:
        for part, name, empty in (("releases", "hulls", []), ("claims", "proof", {})):
            for one in whole[part]:
                one[name] = deepcopy(empty)
        certificate = read({**whole, "sha256": "0" * 64})
    except (NotACertificate, RecursionError, LookupError, TypeError):
        return deepcopy(dict(content)), "", None
    reason, derived = "", None
    with precision(64), budget(work), suppress(RecursionError):
        try:
            known = [
                ReleaseLaws(release, partial(_recorded, data["hulls"]))
                for release, data in zip(certificate.releases, whole["releases"], strict=True)
            ]
            for claim, data in zip(certificate.claims, whole["claims"], strict=True):
                found, why, derived = _proof_of(claim, known[claim.release])
                data["proof"] = {order: [one.method, one.bits, *map(written, one.numbers)] for order, one in found.items()}
                reason = reason or why
        except Undecided as why:
            reason = reason or str(why)
        except (ArithmeticError, ValueError):
            reason = reason or OUT_OF_RANGE
    return whole, reason, derived


def written(number: Fraction) -> str:
    """A number as the text of a double, if it is one."""
    with suppress(OverflowError):
        text = repr(float(number))
        if Fraction(text) == number:
            return text.removesuffix(".0")
    return str(number)


def _recorded(hulls: list[list[str]], whole: Composition) -> tuple[Fraction, ...]:
    """The numbers for the hull of a composition, which are noted in the order in which the checker asks for them."""
    found = of_hull(whole) if whole.declared else of_profile(whole)
    hulls.append([written(number) for number in found])
    return found


def _proof_of(claim: Claim, known: ReleaseLaws) -> tuple[Mapping[str, Proof], str, Derived]:
    """The proof of each order with which a claim follows, or the sharpest; why it does not follow, and what was derived."""
    # the size of the numbers compared; 1e-400 where they are zero
    scale = max(claim.at if claim.quantity == "epsilon" else claim.upper or claim.lower, Fraction(1, 10**400))
    best, width, reason, derived = dict[str, Proof](), math.inf, "", None
    for times, spare in ATTEMPTS:
        goal = math.log(scale.numerator) - math.log(scale.denominator) - (times * _digits(claim) + spare) * math.log(10)
        try:
            found = {
                order: _found(claim, known, order, goal)
                for order in known.directions(claim.direction)
                if claim.quantity != "tradeoff" or points_of(claim, order)
            }
        except (Undecided, ArithmeticError, ValueError) as why:
            return best, str(why) if isinstance(why, Undecided) else OUT_OF_RANGE, derived
        try:
            check_claim(replace(claim, proof=found), known)
        except Fails as why:
            return found, str(why), known.derived
        except Undecided as why:
            reason = str(why)
        else:
            return found, "", known.derived
        own = _width(claim, known, found)
        if own < width or not best:
            best, width, derived = found, own, known.derived
        # the budget kept it from becoming sharper
        if any(one.method in ROUGH for one in found.values()) and own > math.exp(goal + ROOM):
            break
    return best, reason, derived


def _digits(claim: Claim) -> int:
    """The digits that both ends of a claim share."""
    gap = claim.upper - claim.lower if claim.upper else Fraction(0)
    size = max(claim.upper or 0, int(claim.quantity == "epsilon"))
    return next((k for k in range(MOST_DIGITS) if gap * 10**k >= size), FIRST_DIGITS) if gap else FIRST_DIGITS


def _width(claim: Claim, known: ReleaseLaws, found: Mapping[str, Proof]) -> float:
    if claim.quantity == "renyi":
        return math.inf
    values = [value for order, proof in found.items() for value in known.deltas(order, points_of(claim, order), proof)]
    return max(float(value.rad()) for value in values)


def _found(claim: Claim, known: ReleaseLaws, order: str, goal: float) -> Proof:
    """The first proof of which the values can be computed."""
    if claim.quantity == "renyi":
        return Proof("moment", resolving(goal) + claim.at.numerator.bit_length())
    points, refusal = points_of(claim, order), Undecided()

    def evaluate(proof: Proof) -> list[Any]:
        return known.deltas(order, points, proof)

    if known.laws[order].declared:
        with suppress(Undecided):
            # which does not depend on the goal
            given = order, tuple(points), "tangents"
            earlier = (proof for one, at, proof in known.found if (one, at, proof.method) == given)
            return next(earlier, None) or by_tangents(known.laws[order], points)
    for method in methods(known.with_hulls[order], points, evaluate, goal):
        try:
            proof = method()
            evaluate(proof)
        except Undecided as why:  # noqa: PERF203
            refusal = why
        except (ArithmeticError, ValueError):
            refusal = Undecided(OUT_OF_RANGE)
        else:
            return proof
    raise refusal


def methods(
    whole: Composition, points: Sequence[Fraction], evaluate: Callable[[Proof], list[Any]], goal: float
) -> Iterator[Callable[[], Proof]]:
    """The methods that apply, fast ones first."""
    bits = resolving(goal)
    yield lambda: Proof("beyond", bits)
    if whole.alone is not None:
        yield lambda: Proof("alone", bits)
    one = whole.alone.base if isinstance(whole.alone, Reversed) else whole.alone
    if isinstance(one, Allocated):
        # the other order may have found the sums already
        first, _ = one.known.found.get(Kind(True, True, resolving(goal, 96)), (0, None))
        yield lambda: by_nodes(evaluate, goal, first)
    if whole.lattice() is not None:
        yield lambda: by_line(whole, points, goal, folded=True)
    if residues.applies(whole):
        tilted = sum(count for law, count in whole.terms if isinstance(law, TiltedUniform))
        yield lambda: Proof("residues", bits + PER_TILTED * tilted)
    if all(isinstance(law, NormalPair) for law, _ in whole.terms) and whole.count <= MOST_PAIRS:
        yield lambda: Proof("bent", resolving(goal, 40), (_saddle(whole, points, goal),))
    if two_releases.applies(whole):
        yield lambda: Proof("two", resolving(goal, 30), (_middle(whole, points[0]),))
    rest = Composition([(law, count) for law, count in whole.terms if not law.atomic])
    if rest.alone is not None and rest.alone.squared_shift is None:
        yield lambda: Proof("averaged", bits)
    yield lambda: by_line(whole, points, goal)
    yield lambda: by_cells(whole, evaluate, goal)


def _saddle(whole: Composition, points: Sequence[Fraction], goal: float) -> Fraction:
    with precision(64):
        return Fraction(abscissa(whole, float(points[0]), goal))


def _middle(whole: Composition, epsilon: Fraction) -> Fraction:
    """An output at which neither of two sampled losses is near its limit."""
    one, other = (law for law, count in whole.terms for _ in range(count) if isinstance(law, NormalMixtures))
    # each loss has a limit on one side, +-log(1 - g); shares of epsilon in proportion to these are reached by both
    with precision(64):
        limits = [(-max(law.p, law.q, key=len)[1][0]()).log1p() for law in (one, other)]
        return Fraction(float(one.threshold(ball(epsilon) * limits[0] / sum(limits)).mid()))
