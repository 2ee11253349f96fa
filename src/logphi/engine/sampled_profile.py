"""One release on a Poisson sample: its profile in closed form from that of the base.

With q the rate and e^{x'} = 1 + (e^x - 1)/q, the profile in the remove direction is q delta_{P|Q}(x') for
x > log(1 - q) ([LT] Theorem 5.1); the add direction is its reversal, e^x q e^{y'} delta_{Q|P}(-y') with
e^{y'} = 1 + (e^{-x} - 1)/q, where delta is then the profile of the base with P and Q exchanged.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from logphi.arith.floats import FLOATS
from logphi.engine.profile import LogDelta
from logphi.laws.log_mixture import unmixed
from logphi.laws.log_phi import LogPhi
from logphi.laws.transform import Reflected


@dataclass(frozen=True)
class Release:
    """A single sampled release: its base in the order that is asked for, its rate, and whether the record is added."""

    base: LogPhi
    rate: float
    added: bool


def release_of(loss: LogPhi) -> Release | None:
    """The release, if the loss is that of just one."""
    if len(loss.terms) != 1 or loss.terms[0][1] != 1:
        return None
    law = loss.terms[0][0]
    added = isinstance(law, Reflected)
    parts = (law.reflected() if added else law).unmixed
    if parts is None:
        return None
    base = LogPhi.of([(parts[0], 1)])
    return Release(base.reflected() if added else base, float(parts[1].under(FLOATS).mid), added)


def single_release(release: Release, epsilon: float, base_profile: Callable[[float], LogDelta]) -> LogDelta:
    """The profile at epsilon; the rounding of x' is covered by moving it outward."""
    x = -epsilon if release.added else epsilon
    low, high = unmixed(x, release.rate)
    middle = (low + high) / 2 if math.isfinite(low) else high
    factor = math.log(release.rate)
    slack = 1e-15 * (1 + abs(factor) + abs(epsilon))
    if release.added:
        # e^{y'} delta(-y') grows with y', from zero
        best = base_profile(-middle)
        ends = [base_profile(-at).value_at(side) + at if math.isfinite(at) else at for at, side in ((low, -1), (high, 1))]
        factor += epsilon
        ends.insert(1, best.value + middle)
    else:
        # delta(x') falls with x', from one
        best = base_profile(middle)
        ends = [base_profile(at).value_at(side) if math.isfinite(at) else 0.0 for at, side in ((high, -1), (low, 1))]
        ends.insert(1, best.value)
    lower, value, upper = (end + factor for end in ends)
    lower, upper = lower - slack, min(upper + slack, 0.0)
    ledger = best.ledger.scaled(math.exp(min(factor, 700.0)))
    return LogDelta(lower, min(max(value, lower), upper), upper, "exact", ledger)
