"""One release on a Poisson sample: its profile in closed form from that of the base.

With q the rate and e^{x'} = 1 + (e^x - 1)/q, the profile in the remove direction is q delta_{P|Q}(x') for
x > log(1 - q) ([LT] Theorem 5.1); the add direction is its reversal, e^x q e^{y'} delta_{P|Q}(-y') with
e^{y'} = 1 + (e^{-x} - 1)/q, for a symmetric base.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from logphi.arith.floats import FLOATS
from logphi.core.logphi import LogPhi
from logphi.numerics.law import Reflected
from logphi.views.profile import LogDelta


@dataclass(frozen=True)
class Release:
    """A single sampled release: its base, its rate, and whether the record is added."""

    base: LogPhi
    rate: float
    added: bool


def release_of(loss: LogPhi) -> Release | None:
    """The release, if the loss is that of just one, of a symmetric base."""
    if len(loss.terms) != 1 or loss.terms[0][1] != 1:
        return None
    law = loss.terms[0][0]
    added = isinstance(law, Reflected)
    unmixed = (law.reflected() if added else law).unmixed
    if unmixed is None or not unmixed[0].symmetric:
        return None
    return Release(LogPhi(((unmixed[0], 1),)), float(unmixed[1].under(FLOATS).mid), added)


def single_release(release: Release, epsilon: float, base_profile: Callable[[float], LogDelta]) -> LogDelta:
    """The profile at epsilon; the rounding of x' is covered by moving it outward."""
    x = -epsilon if release.added else epsilon
    growth = math.expm1(x) / release.rate
    inner = math.log1p(growth)
    # half an ulp in x and q, and the roundings of the three steps, as a shift of x'
    slip = 8e-16 * (abs(growth) + abs(x) * math.exp(x) / release.rate) / (1 + growth) + 4e-16 * abs(inner)
    if not math.isfinite(inner) or not math.isfinite(slip):
        raise ArithmeticError("internal error: a sampled release was asked outside its support; please report it")
    at = -inner if release.added else inner
    middle, low, high = base_profile(at), base_profile(at + slip), base_profile(at - slip)
    factor = math.log(release.rate) + (epsilon + inner if release.added else 0.0)
    slack = 1e-15 * (1 + abs(factor) + abs(epsilon)) + slip
    lower, upper = low.lower + factor - slack, min(high.upper + factor + slack, 0.0)
    value = min(max(middle.value + factor, lower), upper)
    return LogDelta(lower, value, upper, "exact", middle.ledger.scaled(math.exp(min(factor, 700.0))))
