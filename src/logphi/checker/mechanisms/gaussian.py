"""Gaussian noise on a query that moves by its sensitivity, or by one of several at random; two normal laws."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from logphi.checker.laws.law import Law
from logphi.checker.laws.normal import shifted
from logphi.checker.mechanisms.kind import POSITIVE, REAL, VECTOR, Demands, Kind, Node, probabilities
from logphi.checker.needed import needed


def _gaussian(*_: Any, sigma: Fraction, sensitivity: Fraction) -> Law | None:
    """N(s/sigma, 1) against N(0, 1)."""
    return shifted(sensitivity / sigma)


def _mixture(*_: Any, sigma: Fraction, sensitivities: list[Fraction], probabilities: list[Fraction]) -> Law | None:
    """The sum of p_i N(c_i/sigma, 1) against N(0, 1)."""
    shares = dict[Fraction, Fraction]()
    for shift, share in zip(sensitivities, probabilities, strict=True):
        if share:
            shares[shift / sigma] = shares.get(shift / sigma, 0) + share
    if len(shares) == 1:
        return shifted(*shares)
    found: Law = needed("laws.normal_mixtures:mixture")(shares)
    return found


def _pair(*_: Any, mean_p: Fraction, sigma_p: Fraction, mean_q: Fraction, sigma_q: Fraction) -> Law | None:
    """N(m_p, s_p^2) against N(m_q, s_q^2)."""
    ratio, shift = sigma_p / sigma_q, (mean_p - mean_q) / sigma_q
    found: Law | None = shifted(shift) if ratio == 1 else needed("laws.normal_pair:NormalPair")(ratio, shift**2)
    return found


def _demands(node: Node) -> Demands:
    moves, weights = node.parameters["sensitivities"], node.parameters["probabilities"]
    yield len(moves) == len(weights), "needs as many sensitivities as probabilities"
    moved = any(a and b for a, b in zip(moves, weights, strict=True))
    yield moved, "needs a positive sensitivity of positive probability"


KINDS = {
    "Gaussian": Kind({"sigma": POSITIVE, "sensitivity": POSITIVE}, _gaussian),
    "GaussianPair": Kind({"mean_p": REAL, "sigma_p": POSITIVE, "mean_q": REAL, "sigma_q": POSITIVE}, _pair),
    "GaussianMixture": Kind({"sigma": POSITIVE, "sensitivities": VECTOR, "probabilities": probabilities}, _mixture, _demands),
}
