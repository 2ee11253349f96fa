"""Guesses which losses are large, whether they decide an excess, and where they may be capped."""

from __future__ import annotations

import math

import numpy as np

from logphi.arith.safe import log1mexp
from logphi.arrays import Array
from logphi.engine.large_losses.excess import Rest
from logphi.inversion.lines.half_line import centre, spread
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal.mixed_normal import CountedMixedNormals, mixed_normals

# measured: a contour of the whole loss loses digits where the tilted mean square of the large losses exceeds this share of the
# squared threshold; the tilt is the saddle times _AHEAD
_SHARE = 0.1
_AHEAD = 1.25
# chosen: the logarithm of the least mass of finite losses
_FINITE = -1.0
# measured: the largest number of laws, each of which has a quadrature of its own
_MOST = 8
# chosen: caps B that are tried, as (B - l) / l for the least large loss l, and the share of the tolerance that R may take
_CAPS = np.geomspace(1e-3, 1e6, 109)
REST = 1e-2
# chosen: thresholds that are tried, relative to a first guess that is too high
_BELOW = np.geomspace(1e-9, 1.0, 181)
# chosen: distances above the threshold at which the tilted law is sampled, in units of its shift
_STEPS = np.concatenate([[0.0], np.geomspace(1e-3, 1.0, 255)])
# measured: what small losses may add, over the threshold; where they add most of it, no single large loss decides
_ADDED = np.append(0.0, np.geomspace(1e-4, 0.3, 60))
# measured: a single large loss decides where two losses above half the threshold are rarer than e^_SINGLE times the excess
_SINGLE = -2.0
# derived: thresholds whose squares do not underflow, and for which e^{2 eps} does not overflow
NEAREST, FARTHEST = 1e-100, 300.0
# derived: below this exponent nothing overflows
_LARGE = 600.0


def large_of(loss: LogPhi) -> CountedMixedNormals:
    """The terms that may be clipped: none if there are many, or if losses are mostly infinite."""
    masses = loss.support.masses
    if not (masses.certain or min(float((one.mid - one.radius).real[0]) for one in masses) > _FINITE):
        return ()
    found, _ = mixed_normals(loss.terms)
    return found if len(found) <= _MOST else ()


def least_large(loss: LogPhi, x: float) -> float:
    """About the loss that makes the sum exceed x if all others are small."""
    return max(x, x - centre(loss))


def decides(loss: LogPhi, x: float, abscissa: float) -> bool:
    """Whether, under the tilt e^{cL}, losses that make the sum exceed x are so likely and large that the saddle is small."""
    if not 0 <= x < FARTHEST:
        return False
    x = least_large(loss, x)
    if not x > NEAREST:
        return False
    # large losses that matter just above the saddle make the contour longer, too
    abscissa *= _AHEAD
    for law, count in large_of(loss):
        m, _ = law.constants
        place = float(law.ratio.terms.inverse(x)[0, 0]) + _STEPS * max(10.0, (abscissa + 1) * m)
        own = law.ratio.value(place)[0]
        log_square = float(((abscissa + 1) * own + 2 * np.log(np.maximum(own, NEAREST)) - place * place / 2).max()) + math.log(
            count
        )
        moment = float(law.approximate(np.array([abscissa]))[0])
        # an unknown moment is replaced by its lower bound, zero
        if not log_square - (moment if math.isfinite(moment) else 0.0) < 2 * math.log(x) + math.log(_SHARE):
            return True
    return False


def alone(loss: LogPhi, x: float) -> float | None:
    """An estimate of the logarithm of the excess at x where a single large loss decides it; None elsewhere.

    The small losses add to it like a normal variable.
    """
    large = large_of(loss)
    least = least_large(loss, x) if large and 0 < x < FARTHEST else 0.0
    if not least > NEAREST:
        return None
    added = _ADDED * x
    _, log_jump = _masses_above(large, x - added, least - added)
    log_jump -= (added / max(spread(loss), NEAREST)) ** 2 / 2
    best = int(log_jump.argmax())
    # P(l > B) is E_P[1 - e^{x - l}; l > B] at x = -inf
    log_half = float(_masses_above(large, -math.inf, np.array([least / 2]))[1][0])
    if best == added.size - 1 or not 2 * log_half < log_jump[best] + _SINGLE:
        return None
    jump = math.exp(min(float(log_jump[best]), _LARGE))
    return float(log_jump[best]) if jump < NEAREST else log1mexp(-jump)


def guess(loss: LogPhi, x: float, log_level: float, abscissa: float) -> float:
    """An estimate of the threshold at which the excess has a level, if rare large losses determine it; otherwise the guess x.

    It is the threshold at which a single large loss would have that excess, plus some standard deviations of the small losses.
    """
    if not (x > NEAREST and decides(loss, x, abscissa)):
        return x
    places = x * _BELOW
    _, log_jump = _masses_above(large_of(loss), places, places)
    alone = float(places[int(np.argmax(log_jump <= log_level))])
    return min(x, alone + spread(loss) * math.sqrt(max(-2 * log_level, 0.0)))


def lowest_cap(large: CountedMixedNormals, rest: Rest, least: float, log_share: float, log_least: float) -> tuple[float, float]:
    """The lowest cap at which R is a small share of the excess, and about the logarithm of what larger losses add to that.

    Any cap gives a bound.
    """
    caps = least * (1 + _CAPS)
    log_mass, log_jump = _masses_above(large, rest.x, caps)
    good = rest.log_bounds(caps).min(axis=0) + log_mass <= np.maximum(log_jump, log_least) + log_share
    place = int(np.argmax(good)) if good.any() else -1
    jump = math.exp(min(float(log_jump[place]), _LARGE))
    # many losses may be large at once
    return float(caps[place]), log1mexp(-jump)


def _masses_above(large: CountedMixedNormals, x: Array | float, caps: Array) -> tuple[Array, Array]:
    """Approximate logarithms of the sum of Q(l > B) and of the sum of E_P[1 - e^{x - l}; l > B], for each cap."""
    from scipy.special import log_ndtr

    log_mass, log_jump = np.full(caps.size, -np.inf), np.full(caps.size, -np.inf)
    for law, count in large:
        m, q = law.constants
        place = law.ratio.terms.inverse(caps)[0]
        own, other = log_ndtr(-place), log_ndtr(m - place)
        gain = q * -np.expm1(own - other) - np.expm1(x) * np.exp(own - other)
        log_mass = np.logaddexp(log_mass, own + math.log(count))
        log_jump = np.logaddexp(log_jump, other + np.log(np.maximum(gain, 1e-300)) + math.log(count))
    return log_mass, log_jump
