"""A composition with its Gaussian mechanisms merged into one, and with the probability that no release fails."""

from __future__ import annotations

from typing import Any

import flint

from logphi.arith.protocol import Norm
from logphi.certified.laws.law import LawInBalls
from logphi.certified.laws.registry import in_balls
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal import Normal
from logphi.laws.parameters import normal_shift

# derived: no route that merges takes so many releases
_ENOUGH = 3


def merged(loss: LogPhi) -> tuple[list[LawInBalls], Any]:
    """The laws after merging, at most three of them, and the probability that no release fails, as a ball."""
    kept, shifts, laws = flint.arb(1), [], []
    for law, count in loss.terms:
        found, shift = in_balls(law), normal_shift(law)
        if found.only_fails:
            kept *= (1 - found.infinite_mass()) ** count
        elif shift is not None:
            shifts.append((shift, count))
        else:
            laws += [found] * min(count, _ENOUGH)
    if shifts:
        alone = len(shifts) == 1 == shifts[0][1]
        laws.insert(0, in_balls(Normal(shifts[0][0] if alone else Norm(tuple(shifts)))))
    return laws[:_ENOUGH], kept
