"""The profile by Chernoff's bound alone, if that is far below every demand or no route applies."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from logphi.answers.ledger import Entry
from logphi.arith.safe import log1mexp, safe_log
from logphi.arith.scaled import Scaled
from logphi.engine.ceiling import log_ceiling
from logphi.engine.large_losses.sampled_terms import sampled_terms
from logphi.engine.log_probability import LogProbability, from_inversion, masses, trivial
from logphi.engine.method import CHERNOFF
from logphi.inversion.chernoff import log_moments
from logphi.inversion.demand import Demand
from logphi.inversion.lines import contour
from logphi.inversion.lines.contour import Inversion, Part
from logphi.inversion.lines.saddle import MIDDLE, Saddle, interval_of, minimise
from logphi.laws.log_phi import LogPhi

# measured: for sampled Gaussians, the largest excess of the logarithm of the integrand at a saddle, without the pole at zero,
# over the bound by clipped losses
_AMISS = 10.0
# chosen: the logarithm of an upper end below which the profile is not nearly one
_NEARLY_ONE = -0.01


def by_chernoff(loss: LogPhi, x: float, level: float = math.inf, hint: float | None = None) -> LogProbability:
    """An upper bound of the profile; left of zero, of delta - (1 - e^x), which may be tiny.

    Where the profile may be nearly one, there is a lower bound, too. Right of zero the upper bound is trivial if it would
    hardly be below ``level``, a logarithm.
    """
    known = masses(loss)
    if x < 0:
        upper_tail = Scaled.between(-math.inf, x + log_ceiling(loss.reflected(), -x))
        return from_inversion(known, x, Inversion(Part.REVERSED, upper_tail), CHERNOFF)
    upper = min(float(np.logaddexp(safe_log(known[0][1]), log_ceiling(loss, x, level, hint))) + 1e-14, 0.0)
    plain = trivial(known, x)
    if upper > _NEARLY_ONE and not loss.support.omitted.mass:
        plain = _with_floor(loss, x, plain)
    value = plain.lower if plain.lower > -math.inf else upper - math.log(2.0)
    ledger = replace(plain.ledger, truncation=Entry(math.exp(upper)))
    return LogProbability(plain.lower, value, max(upper, plain.lower), CHERNOFF, ledger)


def _with_floor(loss: LogPhi, x: float, found: LogProbability) -> LogProbability:
    """A lower end from Chernoff's bound of the shortfall, E[min(1, e^{x-L})] <= e^{K(-u) + ux} for 0 <= u <= 1."""
    best = _saddle_of_shortfall(loss, x)
    if not (-1 < best.abscissa < 0 and best.value < 0):
        return found
    log_moment = float(log_moments(loss, np.array([best.abscissa]))[0])
    if not math.isfinite(log_moment):
        log_moment = _log_moment_of_sampled(loss, -best.abscissa)
    log_shortfall = log_moment - best.abscissa * x + 1e-13 * (1 + abs(log_moment) + abs(best.abscissa * x))
    if not log_shortfall < 0:
        return found
    lower = max(found.lower, log1mexp(log_shortfall) - 1e-15)
    return replace(found, lower=lower, value=max(found.value, lower))


def _log_moment_of_sampled(loss: LogPhi, u: float) -> float:
    """An upper bound of K(-u), 0 < u < 1, for sampled Gaussians with so little noise that K itself is unknown.

    As (a + b)^s <= a^s + b^s for 0 < s < 1, E_Q[w^{1-u}] <= (1 - q)^{1-u} + q^{1-u} e^{-u(1-u) m^2/2}.
    """
    found = sampled_terms(loss)
    if found is None or found[1]:
        return math.inf
    total, s = 0.0, 1 - u
    for m, q, of_m, of_q, count in found[0]:
        fall = u * s * m * m / 2
        own = float(np.logaddexp(s * math.log1p(-q), s * math.log(q) - fall))
        total += count * (own + 4 * (of_q + of_m * fall) + 1e-14 * (1 + fall + abs(math.log(q))))
    return total


def _saddle_of_shortfall(loss: LogPhi, x: float) -> Saddle:
    """The minimum of K(c) - cx over -1 < c < 0."""
    return minimise(lambda c: loss.approximate(c) - c * x, interval_of(loss, MIDDLE))


def may_be_certain(loss: LogPhi, x: float, rtol: float) -> bool:
    """Whether the profile may be one within a relative tolerance."""
    if not 0 <= x < contour.LARGEST_THRESHOLD or loss.support.omitted.mass:
        return False
    return _saddle_of_shortfall(loss, x).value < math.log(rtol)


def level_of_the_omitted(loss: LogPhi, demand: Demand) -> float:
    """The logarithm of a profile so small that, with the mass a loss omits, no route can meet a demand."""
    return math.log(loss.support.omitted.mass) - math.log(demand.sufficient.rtol)


def may_be_beneath(loss: LogPhi, least: float, found: Saddle) -> bool:
    """Whether :func:`by_chernoff` may prove the profile to be below e^least: a guess from the saddle of the excess."""
    if least == -math.inf:
        return False
    if not (found.abscissa > 0 and math.isfinite(found.value)):
        return True
    if sampled_terms(loss) is None:
        return contour.log_estimate(found) <= least
    # clipping lowers the bound
    return found.value + math.log(min(found.abscissa, 1.0)) <= least + _AMISS
