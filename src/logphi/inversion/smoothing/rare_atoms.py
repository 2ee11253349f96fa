"""Laws of finitely many atoms without their highest atoms, where these are too rare to matter.

notation: X = sum of n_i independent X_i, D(x) = E[(1 - e^{x-X})_+]; D_0(x) the same mean where no X_i is above its cut c_i. As
the payoff lies between zero and one,

    D_0(x) <= D(x) <= D_0(x) + sum of n_i P(X_i > c_i).

Rare large losses dominate the law under a large tilt: they keep the saddle small and make the tilted law wide. Without them the
saddle is that of the losses that determine the answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from logphi.inversion.lines.kernels import Smooth
from logphi.inversion.lines.saddle import RIGHT, saddle
from logphi.laws.atomic.finite import finite_laws
from logphi.laws.log_phi import LogPhi, terms_of
from logphi.laws.transform import LossTransform

# measured: the mass that may be left out, as a share of the requested tolerance of the excess
_SHARE = 1e-2
# measured: the largest number of rounds
_ROUNDS = 8
# measured: rounds end once the logarithm of the value changes by less than this
_SETTLED = 1.0
# measured: the error of the logarithm of a value with which it is known which atoms are rare
_CLOSE = 3.0
# measured: the logarithm of the integrand at the saddle over the value
_ABOVE = 4.0
# chosen: the least share of a bracket that a round removes
_LEAST = 0.1


def without_rare_atoms(
    law: LossTransform, x: float, rtol: float, hint: float | None = None
) -> tuple[LossTransform, float, float | None]:
    """The law without atoms that are rare compared with the excess at x, a bound of their mass, an abscissa near its saddle.

    The bound holds at every threshold; the saddle is sought near a hint. Which atoms are rare depends on the excess, and an
    estimate of the excess depends on the atoms that are kept: if it is too large, too many atoms are dropped, and the next
    estimate is too small. The two are bracketed.
    """
    finite, others = finite_laws(terms_of(law))
    total = sum(count for _, count in finite)
    if not total:
        return law, 0.0, hint
    whole = _seen(law, x, hint)
    high = whole.log_value
    if not math.isfinite(high):
        return law, 0.0, None

    def beside(log_value: float) -> _Rest:
        most = math.exp(min(log_value + math.log(_SHARE * rtol) - math.log(total), 0.0))
        cut = [(term.without_rare(most), count) for term, count in finite]
        omitted = sum(count * mass for (_, mass), count in cut) * (1 + 1e-9)
        if not omitted:
            return whole
        return _seen(LogPhi.of([*((term, count) for (term, _), count in cut), *others]), x, whole.abscissa, omitted)

    first = beside(high)
    if first.log_value >= high - _SETTLED:
        return first.law, first.omitted, first.abscissa
    # assumed values for which the estimate is above them, and below them
    low = first.log_value
    below, high_gap = beside(low), low - high
    for _ in range(_ROUNDS):
        low_gap = below.log_value - low
        if not _SETTLED < low_gap < math.inf or high - low <= _CLOSE:
            break
        share = low_gap / (low_gap - high_gap) if math.isfinite(high_gap) else 0.5
        between = low + (high - low) * min(max(share, _LEAST), 1 - _LEAST)
        found = beside(between)
        if found.log_value >= between:
            low, below = between, found
        else:
            high, high_gap = between, found.log_value - between
    return below.law, below.omitted, below.abscissa


@dataclass(frozen=True)
class _Rest:
    """A law without some atoms, their mass, an estimate of the logarithm of its excess, infinite if unknown, and its saddle."""

    law: LossTransform
    omitted: float
    log_value: float
    abscissa: float | None


def _seen(law: LossTransform, x: float, hint: float | None, omitted: float = 0.0) -> _Rest:
    found = saddle(law, Smooth(x), RIGHT, hint)
    known = math.isfinite(found.value)
    log_value = found.value + math.log(max(found.abscissa, 1e-300)) - _ABOVE
    return _Rest(law, omitted, log_value, found.abscissa if known else None)
