"""Renyi divergences of the composition."""

from __future__ import annotations

from logphi.checker.arithmetic.balls import ball, precision
from logphi.checker.arithmetic.work import demand
from logphi.checker.needed import needed
from logphi.checker.releases import ReleaseLaws, Values, proof_of
from logphi.checker.text.reading import Claim


def values(claim: Claim, known: ReleaseLaws) -> Values:
    """Renyi divergences of an order a > 1, log M(a - 1) / (a - 1); where divergences are declared, they are bounds."""
    place, found = claim.at - 1, []
    for direction in known.directions(claim.direction):
        whole, proof = known.laws[direction], proof_of(claim, direction)
        demand(proof.method == "moment", f"its proof is by {proof.method}, which gives no divergence")
        with precision(proof.bits):
            if whole.declared:
                found.append(needed("methods.tangents:divergence")(whole, place))
                continue
            inside = whole.infinite().is_zero() and whole.omitted().is_zero() and place < whole.end
            demand(inside, "a divergence is checked only where all losses are finite and the order lies in the strip")
            found.append(whole.log_moment(ball(place)) / ball(place))
    demand(all(value.is_finite() for value in found), "the moment of a law is not known at this order")
    return found, found
