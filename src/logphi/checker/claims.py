"""Whether a claim follows: its two ends, compared with the answer for each direction.

The worse direction counts: in both, the answer must not exceed the upper end, and in one it must reach the lower end.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from logphi.checker.arithmetic.balls import ball, precision, upper
from logphi.checker.arithmetic.work import Undecided, demand
from logphi.checker.needed import needed
from logphi.checker.releases import ReleaseLaws, Values, points_of, proof_of
from logphi.checker.text.reading import Claim

# chosen: bits with which values are compared, more than those of their proofs
SPARE = 64


class Fails(Exception):
    """The claim is wrong, or does not follow from what the certificate states: no precision would help."""


def check_claim(claim: Claim, known: ReleaseLaws) -> None:
    """Return if the claim follows; raise a :class:`Fails` or an :class:`Undecided` with the reason if it does not.

    All values must be at most the upper end, and one must reach the lower end, or exceed that of an epsilon: delta falls, so
    that the smallest epsilon with delta(epsilon) <= at is above ``lower`` if delta(lower) > at, and at most ``upper`` if
    delta(upper) <= at.
    """
    if known.above and (claim.upper is not None if claim.quantity == "tradeoff" else claim.lower > 0):
        raise Undecided(
            f"only upper bounds are known of {' and '.join(known.above)}: nothing proves that the release leaks so much"
        )
    known.derived = None
    of_epsilon = claim.quantity == "epsilon"
    least, most = claim.lower, claim.upper
    if of_epsilon:
        least, most = claim.at if claim.lower else Fraction(0), None if claim.upper is None else claim.at
    other = _VALUES.get(claim.quantity)
    at_least, at_most = needed(other)(claim, known) if other else _deltas(claim, known)
    with precision(max((proof.bits for proof in claim.proof.values()), default=0) + SPARE):
        if all(value.is_finite() for value in (*at_least, *at_most)):
            known.derived = max(-upper(-value) for value in at_least), max(map(upper, at_most))
        high, low = arb.pos_inf() if most is None else ball(most), ball(least)
        if any(value > high for value in at_most):
            raise Fails(_EXCEEDS.get(claim.quantity, f"delta at the upper end exceeds {float(most or 0):.6g}"))
        if least and all(value <= low if of_epsilon else value < low for value in at_least):
            raise Fails(_LACKS.get(claim.quantity, "the lower end is too large: delta is smaller there in every direction"))
        reached = not least or any(value > low if of_epsilon else value >= low for value in at_least)
        demand(reached and (most is None or all(value <= high for value in at_most)), "its proof is too wide")


def _deltas(claim: Claim, known: ReleaseLaws) -> Values:
    """Deltas at an epsilon, or at both ends of an epsilon."""
    found = [
        known.deltas(direction, points_of(claim, direction), proof_of(claim, direction))
        for direction in known.directions(claim.direction)
    ]
    return [deltas[0] for deltas in found], [deltas[-1] for deltas in found]


# of other quantities than delta, where their values come from, and what is wrong with an end that is not proved
_VALUES = {"tradeoff": "quantities.tradeoff:values", "renyi": "quantities.renyi:values"}
_LACKS = {"tradeoff": "its lines do not prove the lower end", "renyi": "the divergence is below the lower end"}
_EXCEEDS = {"tradeoff": "its lines do not prove the upper end", "renyi": "the divergence exceeds the upper end"}
