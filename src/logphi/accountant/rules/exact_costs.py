"""Exact costs of one release: its largest finite loss, and the probability of an infinite one."""

from __future__ import annotations

import math
from fractions import Fraction

from logphi.algebra.release import Mechanism
from logphi.answers.status import Direction
from logphi.engine.log_probability import masses
from logphi.laws.log_phi import LogPhi
from logphi.pairs.pair import UnsupportedError


def law_of(mechanism: Mechanism, direction: Direction) -> LogPhi:
    """The loss in one direction of the pair; an UnsupportedError if its errors are not proved."""
    law = mechanism.loss_law().with_omitted_mass()
    if law.traits.estimated:
        raise UnsupportedError(
            f"{mechanism!r} has errors that are estimates, and a budget needs proofs: spend a mechanism that dominates it"
        )
    return law if direction is Direction.REMOVE else law.reflected()


def largest_loss(mechanism: Mechanism, direction: Direction) -> Fraction | float:
    """An upper bound of the finite losses of one release, in nats; exact if it is a quotient of parameters."""
    known = mechanism._exact_largest_loss
    return _upward(law_of(mechanism, direction).support.upper) if known is None else known


def infinite_mass(mechanism: Mechanism, direction: Direction) -> Fraction | float:
    """An upper bound of the probability of an infinite loss; exact if it is a parameter."""
    known = mechanism._exact_infinite_mass
    return _upward(masses(law_of(mechanism, direction))[0][1]) if known is None else known


def _upward(end: float) -> Fraction | float:
    return Fraction(max(end, 0.0)) if math.isfinite(end) else math.inf
