"""The privacy profile of one order of a pair, on a logarithmic scale.

delta(eps) = P(L = inf) + E_P[(1 - e^{eps - L})_+ ; L < inf] ([AFA] Definition 2 and Lemma 5). Every route returns an
enclosure; if the caller names no route, the cheapest one that promises enough is taken.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from logphi.answers.enclosure import Enclosure, meet
from logphi.answers.ledger import Entry, Ledger
from logphi.answers.status import Direction
from logphi.arith.safe import log1mexp, safe_log
from logphi.arith.scaled import Scaled
from logphi.engine.method import EXACT, TRIVIAL, Method
from logphi.inversion.demand import Demand
from logphi.inversion.lines.contour import LARGEST_THRESHOLD, Inversion, Part
from logphi.laws.log_phi import LogPhi
from logphi.quadrature.values import Values

# derived: the rounding of a handful of additions and one exponential, of a logarithm near zero
_ROUNDING = 1e-15
# derived: e^-100 is far below the last digit of one
_CERTAIN = 100.0
# measured: farther from the upper end of the loss, a route is sharper than the bound from that end
_NEAR = 1e-3
# derived: above this, exponentials of parts that cancel have no correct digits
_HUGE = 600.0


@dataclass(frozen=True)
class LogProbability(Enclosure):
    """An enclosure of the logarithm of a probability, and the ledger of the probability itself.

    ``direction`` is the order of the pair, if there is more than one.
    """

    method: Method
    ledger: Ledger
    direction: Direction | None = None

    @staticmethod
    def outward(ends: Iterable[float], method: Method, ledger: Ledger) -> LogProbability:
        """The enclosure from lower end, value and upper end, with ends rounded outward and the upper one at most zero."""
        lower, value, upper = ends
        lower, upper = outward(lower, -1), min(outward(upper, 1), 0.0)
        lower = min(lower, upper)
        return LogProbability(lower, min(max(value, lower), upper), upper, method, ledger)

    @property
    def relative_width(self) -> float:
        """upper/lower - 1 of the probability; zero for an exact zero, infinite if the lower end is zero."""
        if self.upper == -math.inf:
            return 0.0
        return math.expm1(min(self.upper - self.lower, 700.0)) if self.lower > -math.inf else math.inf

    def meets(self, demand: Demand) -> bool:
        """Whether the enclosure is as narrow as demanded."""
        return self.relative_width <= demand.rtol or self.upper < demand.least


# the profile of a loss that is never finite
CERTAINTY = LogProbability(0.0, 0.0, 0.0, EXACT, Ledger(infinite_mass=Entry(1.0)))

Masses = tuple[tuple[float, float], tuple[float, float]]
# the masses of a loss that is always finite in both orders
FINITE: Masses = ((0.0, 0.0), (0.0, 0.0))


def trivial(known: Masses, epsilon: float) -> LogProbability:
    """The bounds for any pair: max(0, 1 - e^eps Q(L > -inf)) <= delta <= 1, and delta >= P(L = inf)."""
    floor = _floor(known, epsilon)
    lower = outward(safe_log(floor), -1)
    ledger = Ledger(truncation=Entry(1.0 - floor), infinite_mass=Entry(known[0][1]))
    return LogProbability(lower, lower if lower > -math.inf else -math.log(2.0), 0.0, TRIVIAL, ledger)


def _floor(known: Masses, epsilon: float) -> float:
    """The lower bound of delta for any pair."""
    infinite, reverse_log_mass = known
    return max(infinite[0], -math.expm1(min(epsilon + reverse_log_mass[1] + 1e-14 * abs(epsilon), 0.0)) * (1 - 1e-15))


def bounded(loss: LogPhi, known: Masses, epsilon: float, found: LogProbability) -> LogProbability:
    """An enclosure met with the bounds for any pair; for a loss with upper end b, delta <= P(L = inf) + 1 - e^{eps - b}."""
    room = max(loss.support.upper - epsilon, 0.0) + 1e-15 * abs(epsilon)
    if not room < _NEAR:
        inside = found.upper <= 0.0 and math.exp(found.lower) >= _floor(known, epsilon)
        return found if inside else meet(found, trivial(known, epsilon))
    other = trivial(known, epsilon)
    top = known[0][1] - math.expm1(-room)
    upper = max(min(outward(safe_log(top * (1 + 1e-15)), 1), 0.0), other.lower)
    ledger = replace(other.ledger, truncation=Entry(top))
    return meet(found, replace(other, value=min(other.value, upper), upper=upper, ledger=ledger))


def known_at_once(loss: LogPhi, known: Masses, epsilon: float) -> LogProbability | None:
    """The profile if it is known without computing; None otherwise.

    Above the support delta = P(L = inf), below it delta = 1 - e^eps Q(L > -inf). Far below zero delta is one to all digits; for
    epsilons too large to compute with only the bounds for any pair are known.
    """
    infinite, reverse_log_mass = known
    if loss.empty:
        return CERTAINTY
    if epsilon >= loss.support.upper:
        ends = infinite
    elif epsilon <= loss.support.lower:
        doubt = 4e-16 * abs(epsilon)
        low, high = reverse_log_mass
        ends = -math.expm1(min(epsilon + high + doubt, 0.0)), -math.expm1(min(epsilon + low - doubt, 0.0))
    else:
        return trivial(known, epsilon) if epsilon < -_CERTAIN or epsilon > LARGEST_THRESHOLD else None
    lower, upper = (safe_log(end) for end in ends)
    ledger = Ledger(rounding=Entry(ends[1] - ends[0]), infinite_mass=Entry(infinite[1]))
    return LogProbability.outward((lower, lower, upper), EXACT, ledger)


def masses(loss: LogPhi) -> Masses:
    """Enclosures of P(L = inf) and of log Q(L > -inf)."""
    logs = loss.support.masses
    if logs.certain:
        return FINITE
    at_zero, at_minus_one = (ends_of(values) for values in logs)
    if at_zero[1] == -math.inf:
        return (1.0, 1.0), at_minus_one
    infinite = tuple(
        max(0.0, -math.expm1(end) * sign) for end, sign in zip(reversed(at_zero), (1 - 1e-15, 1 + 1e-15), strict=True)
    )
    return (infinite[0], infinite[1]), at_minus_one


def ends_of(values: Values) -> tuple[float, float]:
    """An enclosure of the logarithm of a mass of at most one."""
    mid, radius = float(values.mid[0].real), float(values.radius[0])
    return min(mid - radius, 0.0), min(mid + radius, 0.0)


def enclosed(amount: Scaled) -> tuple[float, float, float]:
    """The logarithms of the lower end, the value and the upper end of a positive number; unknown if it is NaN."""
    low, high, scale = amount.low, amount.high, amount.log_scale
    if math.isnan(low + high):
        return -math.inf, -math.inf, math.inf
    doubt, middle = 4e-16 * abs(scale), min(max(amount.value, low), high)
    return safe_log(low) + scale - doubt, safe_log(middle) + scale, safe_log(high) + scale + doubt


def ledger_of(amount: Scaled, infinite: float = 0.0) -> Ledger:
    """The ledger of a number, relative to the number."""
    unit = math.exp(min(amount.log_scale, 700.0))
    return Ledger(
        aliasing=Entry(amount.excess * unit),
        truncation=Entry(amount.truncation * unit),
        inner=Entry(amount.inner * unit),
        rounding=Entry(amount.rounding * unit),
        discretization=Entry(amount.discretization * unit),
        infinite_mass=Entry(infinite),
    )


def from_inversion(known: Masses, epsilon: float, found: Inversion, method: Method) -> LogProbability:
    """Delta from the functional that was computed.

    delta = P(L = inf) + excess = 1 - shortfall = 1 - e^eps Q(L > -inf) + reversed excess.
    """
    infinite, reverse_log_mass = known
    low, value, high = enclosed(found.amount)
    if found.part is Part.EXCESS:
        finite = infinite[1] == 0.0
        ends = (
            [low, value, high]
            if finite
            else [
                float(np.logaddexp(safe_log(mass), part))
                for mass, part in ((infinite[0], low), ((infinite[0] + infinite[1]) / 2, value), (infinite[1], high))
            ]
        )
    elif found.part is Part.SHORTFALL:
        ends = [log1mexp(part) for part in (high, value, low)]
    else:
        tilt = [epsilon + end + 2e-16 * abs(epsilon) * sign for end, sign in zip(reverse_log_mass, (-1, 1), strict=True)]
        if max(tilt[1], high) > _HUGE:
            # far right of zero a reversed excess gives no bound
            return trivial(known, epsilon)
        # left of zero both parts are positive; right of zero they cancel
        slack = 1e-15 * (math.exp(tilt[1]) + math.exp(high)) if tilt[1] > 0 else 0.0
        ends = [
            safe_log(max(-math.expm1(mass) + math.exp(part) + sign * slack, 0.0))
            for mass, part, sign in ((tilt[1], low, -1), ((tilt[0] + tilt[1]) / 2, value, 0), (tilt[0], high, 1))
        ]
    return LogProbability.outward(ends, method, ledger_of(found.amount, infinite[1]))


def outward(end: float, sign: int) -> float:
    """A logarithm rounded outward, by its own rounding and that of its computation."""
    return end + sign * (_ROUNDING + 4e-16 * abs(end)) if math.isfinite(end) else end
