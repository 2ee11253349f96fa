"""One release on a Poisson sample, whose profile follows from that of the base.

With q the rate and e^{x'} = 1 + (e^x - 1)/q, the profile in the remove direction is q delta_{P|Q}(x') for
x > log(1 - q) ([LT] Theorem 5.1); the add direction is its reversal, e^x q e^{y'} delta_{Q|P}(-y') with
e^{y'} = 1 + (e^{-x} - 1)/q, where delta is then the profile of the base with P and Q exchanged.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from logphi.answers.ledger import Ledger
from logphi.arith.floats import FLOATS
from logphi.arith.safe import log1mexp
from logphi.engine.log_probability import LogProbability
from logphi.engine.method import EXACT
from logphi.laws.combined.parameters import as_mixture
from logphi.laws.curves import log_mixture
from logphi.laws.log_phi import LogPhi


@dataclass(frozen=True)
class Release:
    """A single sampled release: its base in the requested order, its rate, and whether the direction is add."""

    base: LogPhi
    rate: float
    added: bool


def release_of(loss: LogPhi) -> Release | None:
    """The release, if the loss is that of a single sampled release; None otherwise."""
    if len(loss.terms) != 1 or loss.terms[0][1] != 1:
        return None
    law = loss.terms[0][0]
    parts = as_mixture(law)
    added = parts is None
    parts = as_mixture(law.reflected()) if added else parts
    if parts is None:
        return None
    base = LogPhi.of([(parts[0], 1)])
    return Release(base.reflected() if added else base, float(parts[1].under(FLOATS).mid), added)


def single_release(release: Release, epsilon: float, base_profile: Callable[[float], LogProbability]) -> LogProbability:
    """The profile at epsilon; the rounding of x' is covered by moving it outward."""
    x = -epsilon if release.added else epsilon
    low, high = log_mixture.inverse(x, release.rate)
    if high == -math.inf and not release.added:
        # below log(1 - q) the density of P exceeds e^epsilon times that of Q everywhere: delta is 1 - e^epsilon
        found = log1mexp(epsilon)
        return LogProbability.outward((found, found, found), EXACT, Ledger())
    middle = (low + high) / 2 if math.isfinite(low) else high
    factor = math.log(release.rate)
    rounding = 1e-15 * (1 + abs(factor) + abs(epsilon))
    if release.added:
        # e^{y'} delta(-y') grows with y', from zero
        best = base_profile(-middle)
        lower = base_profile(-low).lower + low if math.isfinite(low) else low
        upper = base_profile(-high).upper + high if math.isfinite(high) else high
        value = best.value + middle
        factor += epsilon
    else:
        # delta(x') falls with x', from one
        best = base_profile(middle)
        lower = base_profile(high).lower if math.isfinite(high) else 0.0
        upper = base_profile(low).upper if math.isfinite(low) else 0.0
        value = best.value
    lower, value, upper = (end + factor for end in (lower, value, upper))
    lower, upper = lower - rounding, min(upper + rounding, 0.0)
    ledger = best.ledger.scaled(math.exp(min(factor, 700.0)))
    return LogProbability(lower, min(max(value, lower), upper), upper, EXACT, ledger)
