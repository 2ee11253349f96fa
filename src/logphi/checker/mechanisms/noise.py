"""Laplace noise, bounded ranges and the distance to instability, whose losses are tilted uniform laws; truncated noise."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from logphi.checker.arithmetic.balls import Real, ball, exactly
from logphi.checker.arithmetic.work import demand
from logphi.checker.laws.law import Law
from logphi.checker.laws.normal import Normal
from logphi.checker.laws.uniform import bounded_range, laplace, truncated_laplace
from logphi.checker.mechanisms.kind import BELOW_ONE, POSITIVE, Demands, Kind, Node
from logphi.checker.needed import needed


def _untruncated(*_: Any, scale: Fraction, sensitivity: Fraction) -> Law:
    """Lap(s/b, 1) against Lap(0, 1)."""
    return laplace(exactly(sensitivity / scale))


def _exponential(*_: Any, epsilon: Fraction) -> Law:
    """A loss with density proportional to e^{x/2} on [-eps, eps]."""
    return bounded_range(exactly(epsilon))


def _distance(*_: Any, epsilon: Fraction, delta: Fraction) -> Law:
    """With probability delta the loss is infinite, otherwise it is that of Laplace with w = eps + 2 log(1 - delta)."""
    width: Real = lambda: ball(epsilon) + 2 * (-ball(delta)).log1p()  # noqa: E731
    demand(width() > 0, "a DistanceToInstability that fails so often leaks more by its failures than by its test")
    return laplace(width, exactly(delta))


def noise(move: Fraction, far: Fraction | None, normal: bool) -> Law:
    """Noise of unit width that is moved, within [-far, far] if there is an end."""
    if far is None:
        return Normal(exactly(move**2), move) if normal else laplace(exactly(move))
    if not normal:
        return truncated_laplace(move, far)
    found: Law = needed("laws.truncated_normal:TruncatedNormal")(move, far)
    return found


def _gaussian(*_: Any, sigma: Fraction, truncation: Fraction, sensitivity: Fraction) -> Law:
    return noise(sensitivity / sigma, truncation / sigma, True)


def _laplace(*_: Any, scale: Fraction, truncation: Fraction, sensitivity: Fraction) -> Law:
    return noise(sensitivity / scale, truncation / scale, False)


def _demands(node: Node) -> Demands:
    far, move = node.parameters["truncation"], node.parameters["sensitivity"]
    yield 2 * far > move, "needs a truncation of more than half its sensitivity"


KINDS = {
    "Laplace": Kind({"scale": POSITIVE, "sensitivity": POSITIVE}, _untruncated),
    "ExponentialMechanism": Kind({"epsilon": POSITIVE}, _exponential),
    "DistanceToInstability": Kind({"epsilon": POSITIVE, "delta": BELOW_ONE}, _distance),
    "TruncatedGaussian": Kind({"sigma": POSITIVE, "truncation": POSITIVE, "sensitivity": POSITIVE}, _gaussian, _demands),
    "TruncatedLaplace": Kind({"scale": POSITIVE, "truncation": POSITIVE, "sensitivity": POSITIVE}, _laplace, _demands),
}
