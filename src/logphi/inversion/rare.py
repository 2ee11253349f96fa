"""Atoms so rare that they change nothing, but hold the line back: left out, and counted by their mass.

notation: X a sum of independent losses, F the event that one of them is above a cap B. The excess E[(1 - e^{x-X})_+] is that
of the law off F and at most P(F) more. Under a tilt e^{cX} the rarest atoms, which may be far above all others, can weigh most:
then M(c + s) explodes beside the saddle, and steps along the line are short.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from logphi.arith.scaled import Scaled
from logphi.inversion.contour import Inversion
from logphi.inversion.kernels import Smooth
from logphi.inversion.saddle import RIGHT, Saddle, saddle
from logphi.laws.finite import Finite
from logphi.laws.log_phi import LogPhi

# measured: what the atoms that are left out may take of the tolerance
_SHARE = 1e-2
# measured: by so much they may raise K at twice the saddle before they hold the line back
_HARMLESS = 0.1
# measured: bisections of a cap, and the least one over the threshold; a few atoms more or less change little
_BISECTIONS = 10
_LEAST = 1e-3


@dataclass(frozen=True)
class Capped:
    """A law without its rarest atoms, and the logarithm of an upper bound of their mass."""

    law: LogPhi
    log_mass: float = -math.inf

    def with_rest(self, found: Inversion) -> Inversion:
        """The excess with what was left out."""
        if self.log_mass == -math.inf:
            return found
        return replace(found, amount=found.amount + Scaled(self.log_mass, 0.5, truncation=0.5))


def without_rare_atoms(law: LogPhi, x: float, rtol: float) -> Capped:
    """The law as it is, or without atoms that matter little at the threshold x and would make lines long."""
    whole = Capped(law)
    tops = [own.support.upper for own, _ in law.terms if isinstance(own, Finite)]
    if not (x > 0 and max(tops, default=0.0) > 0 and _log_mass_above(law, 0.0) > -math.inf):
        return whole
    found = saddle(law, Smooth(x), RIGHT)
    if not math.isfinite(found.value):
        return whole
    low, top, log_share = _LEAST * min(x, max(tops)), 2 * max(tops), math.log(_SHARE * rtol)

    def log_negligible(at: Saddle) -> float:
        # the excess is about M(c) e^{-cx} over c, or far less where rare atoms decide
        return at.value + math.log(at.abscissa) - 1 + log_share

    least = _lowest(low, top, lambda cap: _log_mass_above(law, cap) <= log_negligible(found))
    far = np.array([2 * found.abscissa])
    if not law.approximate(far)[0] - _capped(law, least).approximate(far)[0] > _HARMLESS:
        return whole

    def negligible(cap: float) -> bool:
        own = saddle(_capped(law, cap), Smooth(x), RIGHT, found.abscissa)
        return math.isfinite(own.value) and _log_mass_above(law, cap) <= log_negligible(own)

    cap = _lowest(least, top, negligible)
    return Capped(_capped(law, cap), _log_mass_above(law, cap))


def _capped(law: LogPhi, cap: float) -> LogPhi:
    return LogPhi(tuple((own.capped(cap) if isinstance(own, Finite) else own, count) for own, count in law.terms))


def _log_mass_above(law: LogPhi, cap: float) -> float:
    """At most the sum over the terms, as one of them is above the cap."""
    found = [own.log_mass_above(cap) + math.log(count) for own, count in law.terms if isinstance(own, Finite)]
    return float(np.logaddexp.reduce(found, initial=-math.inf)) + 1e-12


def _lowest(low: float, high: float, good: Callable[[float], bool]) -> float:
    """About the lowest cap that is good, as all above it are."""
    if good(low):
        return low
    for _ in range(_BISECTIONS):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if good(middle) else (middle, high)
    return high
