"""Epsilons near the largest loss, from the masses next to the upper ends of the laws.

notation: X = sum of n_i independent X_i <= u_i, u = sum of n_i u_i, D(x) = E[(1 - e^{x-X})_+]. X is above u - g only if every
X_i is above u_i - g, and above u - s if every X_i is above u_i - s_i, s = sum of n_i s_i. With the products A(g) of
P(X_i > u_i - g) and a of P(X_i > u_i - s_i),

    a (1 - e^{s-g}) <= D(u - g) <= A(g) (1 - e^{-g}).
"""

from __future__ import annotations

import math

from logphi.answers.bound import Bound
from logphi.answers.ledger import Entry, Ledger
from logphi.arith.safe import log1mexp
from logphi.engine.log_probability import masses
from logphi.engine.method import EXACT
from logphi.inputs.tolerance import Tolerance
from logphi.inversion.pieces import term_counts
from logphi.laws.log_phi import LogPhi

# measured: the distance, in units of the tolerance, within which losses count as the largest if that has no atom
_CLOSE = 0.01
# chosen: the share of the sufficient width up to which no route is tried
_SHARE = 0.1
# derived: a relative margin far above the rounding of a sum of logarithms of masses
_MARGIN = 1e-12
# derived: at a distance of one other losses matter as well
_FARTHEST = 1.0


def near_largest_loss(loss: LogPhi, delta: float, tolerance: Tolerance) -> Bound | None:
    """The smallest epsilon for a delta so small that only losses close to the largest one matter; None for a larger delta."""
    top, infinite = loss.support.upper, masses(loss)[0][1]
    if not 0 < top < math.inf or delta <= infinite:
        return None
    size, releases = max(1.0, top), sum(count for _, count in loss.terms)
    # an atom at the largest loss, or all losses that the tolerance does not distinguish from it
    at_end = max(4 * law.support.error + 1e-14 * abs(law.support.upper) for law, _ in loss.terms)
    nearby = (at_end, _CLOSE * tolerance.aim * size / (2 * releases))
    log_delta = math.log(delta)
    distance = min(
        _distance(log_delta + _MARGIN, _log_mass(loss, near, sure=True, least=log_delta)) + releases * near for near in nearby
    )
    distance = distance * (1 + _MARGIN) + loss.support.error
    if not distance < _FARTHEST:
        return None
    least = _distance(math.log(delta - infinite) - _MARGIN, _log_mass(loss, distance, sure=False)) * (1 - _MARGIN)
    rounding = 4e-16 * size
    lower, upper = max(top - distance - rounding, 0.0), max(top - min(least, distance) + rounding, 0.0)
    # sums in real space are quick and sharp
    quick = term_counts.served(loss.terms)
    if upper - lower > (_CLOSE * tolerance.aim if quick else max(tolerance.aim, _SHARE * tolerance.enough)) * size:
        return None
    return Bound(lower, lower + (upper - lower) / 2, upper, method=EXACT, ledger=Ledger(discretization=Entry(upper - lower)))


def _distance(log_delta: float, log_mass: float) -> float:
    """The g at which a mass times 1 - e^{-g} is delta; infinite if delta exceeds the mass."""
    return -log1mexp(log_delta - log_mass)


def _log_mass(loss: LogPhi, near: float, *, sure: bool, least: float = -math.inf) -> float:
    """A bound of the logarithm of the probability that every loss is within ``near`` of its largest, lower if ``sure``.

    A lower bound below ``least`` need not be sharp.
    """
    total = 0.0
    for law, count in loss.terms:
        if total < least:
            return -math.inf
        support = law.support
        sides = law.closed_form.partial_masses(support.upper - (support.error if sure else 0.0) - near)
        if sides is None:
            return -math.inf if sure else 0.0
        mass = sides[0].low if sure else sides[0].high
        total += count * (math.log(mass) + sides[0].log_scale) if mass > 0 else -math.inf
    return total + (-1 if sure else 1) * _MARGIN * (1 + abs(total))
