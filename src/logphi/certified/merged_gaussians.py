"""A composition with all its Gaussian mechanisms as one, and the share that is kept where some releases fail."""

from __future__ import annotations

from typing import Any

import flint

from logphi.arith.protocol import Norm
from logphi.certified.laws.law import LawInBalls
from logphi.certified.laws.registry import in_balls
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal import Normal

# more releases than any route takes
_ENOUGH = 3


def merged(loss: LogPhi) -> tuple[list[LawInBalls], Any]:
    """The releases that are left, at most three of them, and the share that is kept, as a ball of the present precision."""
    kept, shifts, laws = flint.arb(1), [], []
    for law, count in loss.terms:
        found, shift = in_balls(law), law.normal_shift
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
