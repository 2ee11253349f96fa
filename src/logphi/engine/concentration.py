"""The profile of so many releases that their loss equals its mean to all digits, by Chernoff's bounds from both sides.

notation: K is the sum of count times K_i, over the finite losses. Since (1 - e^{-y})_+ <= kappa(c) e^{cy} and
min(1, e^y) <= e^{uy} for 0 <= u <= 1,

    delta(x) <= P(L = inf) + kappa(c) e^{K(c) - cx},        delta(x) >= 1 - e^{K(-u) + ux},

and both are solved for x. Small c and u have their bounds near the mean of L, the first far above it and the second far below.
A contour is no use: K(-1/2) is so far below zero that its exponents would have no correct digit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from logphi.answers.bound import Bound
from logphi.answers.enclosure import meet
from logphi.answers.ledger import Entry, Ledger
from logphi.arith.safe import log1mexp, safe_log
from logphi.arrays import Array
from logphi.engine.log_probability import LogProbability, Masses, known_at_once, masses
from logphi.engine.method import CHERNOFF
from logphi.inputs.tolerance import Tolerance
from logphi.inversion.lines.kernels import log_kappa
from logphi.laws.log_phi import LogPhi
from logphi.laws.transform import Terms

# chosen: with fewer releases, other routes have some correct digits
_MANY = 10**9
# chosen: with a larger log-affinity K(-1/2), other routes have some correct digits
_LOG_AFFINITY = -1e15
# chosen: with a smaller log-affinity, no other route has any correct digit
_HOPELESS = -1e18
# chosen: the exponents u and c that are tried, powers of two, for which 1 - u is exact
_EXPONENTS: Array = np.array([2.0**k for k in range(-31, 0, 2)])
# chosen: larger exponents c that are tried
_LARGE = np.array([1.0, 3.0, 10.0])
# measured: with more distinct terms the bounds take long, and nobody repeats so many different releases so often
_MOST_TERMS = 64
# derived: far above the roundings of a dozen operations
_ROUNDING = 1e-14
# chosen: if the relative width is no larger than this, no other route is tried
_NARROW = 1e-6
# derived: e^-_FAR is below every double
_FAR = 800.0
# derived: an upper bound of sums of logarithms that are below every double
_LOWEST = -1e307
# derived: a logarithm below which 1 - e^x rounds to one
_LEAST_LOG = -800.0


@dataclass(frozen=True)
class _Sides:
    """Upper bounds of K at -u and at c with log kappa(c), and of the rounding of each, all finite."""

    left: Array
    right: Array
    exponents: Array
    abscissas: Array
    hopeless: bool

    def lower(self, x: float) -> float:
        """The logarithm of an upper bound of 1 - delta(x)."""
        exponents = self.left + self.exponents * x
        return float((exponents + _ROUNDING * (np.abs(self.left) + self.exponents * abs(x))).min(initial=0.0))

    def upper(self, x: float) -> float:
        """The logarithm of an upper bound of the excess at x."""
        exponents = self.right - self.abscissas * x
        return float((exponents + _ROUNDING * (np.abs(self.right) + self.abscissas * abs(x))).min(initial=0.0))


def _sides(loss: LogPhi) -> _Sides | None:
    """The bounds of K; None if there are so few releases that other routes have digits."""
    if sum(count for _, count in loss.terms) < _MANY or len(loss.terms) > _MOST_TERMS:
        return None
    terms = loss.with_omitted_mass().terms
    affinity = _upper(terms, np.array([-0.5]))[0]
    if not affinity < _LOG_AFFINITY:
        return None
    within = np.concatenate([_EXPONENTS, _LARGE])
    within = within[within < loss.strip[1]]
    left, right = _upper(terms, -_EXPONENTS), _upper(terms, within) + log_kappa(within)
    known, those = np.isfinite(left), np.isfinite(right)
    return _Sides(left[known], right[those], _EXPONENTS[known], within[those], bool(affinity < _HOPELESS))


def _upper(terms: Terms, points: Array) -> Array:
    """Upper bounds of K; infinite where it is unknown, or too large."""
    total = np.zeros(points.size)
    for law, count in terms:
        values = law.log_transform(points, min(count, _MANY))
        top = np.where(np.isfinite(values.mid), values.mid.real + values.radius, np.inf)
        with np.errstate(over="ignore", invalid="ignore"):  # on overflow, or without a value, it is unknown
            own = np.maximum(top * float(count), _LOWEST)
            total = np.maximum(total + own + _ROUNDING * np.abs(own), _LOWEST)
    return total


def at_once(loss: LogPhi, known: Masses, x: float) -> LogProbability | None:
    """The profile if it is known without computing, or if there are so many releases; None otherwise."""
    found = known_at_once(loss, known, x)
    if found is not None and not found.method.trivial:
        return found
    sides = _sides(loss)
    if sides is None:
        return found
    infinite = masses(loss.with_omitted_mass())[0]
    rest, excess = sides.lower(x), sides.upper(x)
    lower = max(log1mexp(rest), safe_log(infinite[0]))
    upper = float(np.logaddexp(safe_log(infinite[1]), excess))
    value = lower if lower > -math.inf else upper - math.log(2.0)
    gap = math.exp(min(upper, 0.0)) - math.exp(lower)
    ledger = Ledger(truncation=Entry(gap), infinite_mass=Entry(infinite[1]))
    own = LogProbability.outward((lower, value, upper), CHERNOFF, ledger)
    if found is not None:
        return meet(own, found)
    return own if sides.hopeless or own.relative_width <= _NARROW or own.upper < -_FAR else None


def epsilon_of_many(loss: LogPhi, delta: float, tolerance: Tolerance) -> Bound | None:
    """Epsilon of so many releases; None for fewer, and if other routes are sharper."""
    sides = _sides(loss) if 0 < delta < 1 else None
    if sides is None:
        return None
    infinite = masses(loss.with_omitted_mass())[0]
    if delta <= infinite[0]:
        return None
    # delta is known to half an ulp
    rest = math.log1p(-delta * (1 + 3e-16)) if delta * (1 + 3e-16) < 1 else _LEAST_LOG
    room = delta * (1 - 3e-16) - infinite[1]
    upper = math.inf
    with np.errstate(over="ignore"):  # overflow
        lows = (rest - sides.left - 4 * _ROUNDING * (np.abs(sides.left) + 1)) / sides.exponents
        if room > 0:
            log_room = math.log(room)
            highs = (sides.right - log_room + 4 * _ROUNDING * (np.abs(sides.right) + 1 - log_room)) / sides.abscissas
            top = math.inf if loss.support.omitted.mass else max(loss.support.upper, 0.0)
            upper = min(float(highs.min(initial=math.inf)), top)
    lower = max(float(lows.max(initial=0.0)), 0.0)
    upper = max(upper, lower)
    width = upper - lower
    if not (sides.hopeless or width <= max(tolerance.aim, _NARROW) * max(1.0, lower)):
        return None
    value = lower + width / 2 if math.isfinite(width) else lower
    ledger = Ledger(truncation=Entry(width, proved=not loss.traits.estimated))
    return Bound(lower, value, upper, method=CHERNOFF, ledger=ledger)
