"""The two tails of the finite part of a loss, on a logarithmic scale, relatively accurate however small they are.

Those of one release may have a closed form. Otherwise P(L > x) and P(L <= x) are inverse Laplace transforms of e^{K(z)}/z on
either side of the pole; the smaller one is computed, and the other is the mass less it. If the transform does not decay, the
tails are sums in real space for a loss of few atoms and flat parts, and otherwise slopes of chords of the privacy profile,
whose slope in e^x is -Q(L > x).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from logphi.answers.enclosure import meet
from logphi.answers.ledger import Entry, Ledger
from logphi.arith.safe import log1mexp, log_difference, safe_log
from logphi.arith.scaled import Scaled
from logphi.engine.log_probability import LogProbability, enclosed, ends_of, ledger_of, masses, outward
from logphi.engine.method import CHERNOFF, EXACT, Method
from logphi.engine.routes.contour import CONTOUR
from logphi.engine.routes.exponential import EXPONENTIAL
from logphi.engine.routes.lattice import LATTICE
from logphi.engine.routes.registry import evaluator
from logphi.engine.routes.route import Request
from logphi.inversion.chernoff import log_tails
from logphi.inversion.demand import Demand
from logphi.inversion.lines import half_line
from logphi.inversion.lines.half_line import spread
from logphi.inversion.lines.lattice import reserve_at
from logphi.inversion.pieces import real_space, term_counts
from logphi.inversion.pieces.payoffs import DUAL_MASS, MASS
from logphi.laws.log_phi import LogPhi
from logphi.laws.transform import LossTransform
from logphi.laws.zero_or_infinite import zero_or_infinite

# measured: the shortest and the longest useful chords, in units of the standard deviation of the loss
_CHORDS = (1e-7, 0.1)
# derived: thresholds at which chords have no correct digits
_FARTHEST = 1e9
# derived: larger thresholds times abscissas overflow; a bound at this one holds at all larger ones
_LARGEST_THRESHOLD = 1e100
# derived: the logarithm of a tail below the smallest double
_NEGLIGIBLE = -746.0
CHORDS = Method("chords", blunt=True)
_NOTHING = LogProbability(-math.inf, -math.inf, -math.inf, EXACT, Ledger())

# a way to compute both tails of a law at a threshold, to a tolerance, from the logarithm of its mass; None where it fails
Attempt = Callable[[LogPhi, float, float, LogProbability], "Tails | None"]


@dataclass(frozen=True)
class Tails:
    """P(x < L < inf) and P(L <= x)."""

    above: LogProbability
    below: LogProbability

    @property
    def width(self) -> float:
        """The larger relative width."""
        return max(self.above.relative_width, self.below.relative_width)

    def meet(self, other: Tails) -> Tails:
        """The intersection of both enclosures of each tail."""
        return Tails(meet(self.above, other.above), meet(self.below, other.below))


def above(law: LogPhi, x: float, rtol: float = 1e-9) -> LogProbability:
    """Log P(x < L < inf)."""
    return tails(law, x, rtol).above


def below(law: LogPhi, x: float, rtol: float = 1e-9) -> LogProbability:
    """Log P(L <= x)."""
    return tails(law, x, rtol).below


def tails(law: LogPhi, x: float, rtol: float = 1e-9) -> Tails:
    """Both tails; an atom within rounding of the threshold may be on either side, and the bounds then contain both."""
    near = min(max(x, -_LARGEST_THRESHOLD), _LARGEST_THRESHOLD)
    found = _tails(law, near, rtol)
    if near < x:
        found = Tails(replace(found.above, lower=-math.inf), replace(found.below, upper=_mass(law).upper))
    elif x < near:
        found = Tails(replace(found.above, upper=_mass(law).upper), replace(found.below, lower=-math.inf))
    if not law.support.omitted.mass:
        return found
    # the omitted mass of the law may be at any loss
    low, high = masses(law)[0]
    omitted = safe_log(high - low)
    return Tails(*(_with_omitted(one, omitted) for one in (found.above, found.below)))


def _with_omitted(part: LogProbability, log_omitted: float) -> LogProbability:
    """The enclosure with its upper end raised by a mass that may belong to it."""
    return replace(part, upper=min(outward(float(np.logaddexp(part.upper, log_omitted)), 1), 0.0))


def _tails(law: LogPhi, x: float, rtol: float) -> Tails:
    """The tails without the omitted mass of the law."""
    finite = _mass(law)
    if x >= law.support.upper:
        return Tails(_NOTHING, finite)
    if x < law.support.lower:
        return Tails(finite, _NOTHING)
    best = Tails(replace(finite, lower=-math.inf), replace(finite, lower=-math.inf))
    for attempt in _attempts(law):
        found = attempt(law, x, rtol, finite)
        best = best if found is None else found.meet(best)
        narrow = best.width <= rtol or min(best.above.upper, best.below.upper) < _NEGLIGIBLE
        if narrow or (found is not None and attempt in _FINAL):
            break
    if law.traits.estimated:
        best = Tails(*(replace(one, ledger=one.ledger.estimating("truncation", "inner")) for one in (best.above, best.below)))
    return best


def _mass(law: LogPhi) -> LogProbability:
    """The logarithm of P(L < inf)."""
    low, high = ends_of(law.support.masses.own)
    return LogProbability(low, (low + high) / 2, high, EXACT, Ledger(rounding=Entry(high - low)))


def one_release(law: LogPhi) -> tuple[LossTransform, LogPhi] | None:
    """The law of a loss of one release, and the constant factors; None for any other loss."""
    constant, main = zero_or_infinite(law.terms)
    return (main[0][0], LogPhi(tuple(constant))) if len(main) == 1 == main[0][1] else None


def _in_closed_form(law: LogPhi, x: float, rtol: float, finite: LogProbability) -> Tails | None:
    single = one_release(law)
    masses_beside = single and single[0].closed_form.partial_masses(x)
    if single is None or masses_beside is None or not all(math.isfinite(one.high) for one in masses_beside):
        return None
    above, below = (_log_of(times_constants(amount, single[1]), EXACT) for amount in masses_beside)
    return Tails(meet(above, _complement(finite, below)), meet(below, _complement(finite, above)))


def times_constants(amount: Scaled, factors: LogPhi) -> Scaled:
    """A number times constant factors."""
    if not factors.terms:
        return amount
    kept = factors.support.masses.own
    return amount.times_exp(float(kept.mid[0]), float(kept.radius[0]))


def _by_contour(law: LogPhi, x: float, rtol: float, finite: LogProbability) -> Tails | None:
    prepared = half_line.prepare(law, x, Demand(rtol))
    return None if prepared is None else _with_rest(prepared.above, _log_of(prepared.at(x), CONTOUR.method), finite)


def _by_chernoff(law: LogPhi, x: float, rtol: float, finite: LogProbability) -> Tails | None:
    above, below = (
        LogProbability(
            -math.inf, min(end, 0.0), min(outward(end, 1), 0.0), CHERNOFF, Ledger(truncation=Entry(math.exp(min(end, 0.0))))
        )
        for end in log_tails(law, x)
    )
    return Tails(meet(above, _complement(finite, below)), meet(below, _complement(finite, above)))


def _on_the_lattice(law: LogPhi, x: float, rtol: float, finite: LogProbability) -> Tails | None:
    lattice = law.support.lattice
    if lattice is None:
        return None
    reserve = reserve_at(lattice, x)
    if math.isinf(lattice.span):
        # a law of one atom
        if abs(x - lattice.offset) <= reserve:
            return None
        return Tails(_NOTHING, finite) if lattice.offset <= x else Tails(finite, _NOTHING)
    prepared = half_line.prepare(law, x, Demand(rtol), lattice)
    if prepared is None:
        return None
    # the threshold is moved by the location error of atoms
    ends = [_log_of(prepared.at(x + side * reserve), LATTICE.method) for side in (-1, 1)]
    widest = LogProbability(
        min(one.lower for one in ends), ends[0].value, max(one.upper for one in ends), LATTICE.method, ends[0].ledger
    )
    return _with_rest(prepared.above, widest, finite)


def _by_pieces(law: LogPhi, x: float, rtol: float, finite: LogProbability) -> Tails | None:
    # the slope of K tells which tail is smaller
    low, high = law.approximate(np.array([-0.25, 0.25])).tolist()
    if x >= 2 * (high - low):
        prepared = real_space.prepare(law, x, Demand(rtol), MASS)
        return None if prepared is None else _with_rest(True, _log_of(prepared.at(x), EXPONENTIAL.method), finite)
    reflected = law.reflected()
    prepared = real_space.prepare(reflected, -x, Demand(rtol), DUAL_MASS)
    return None if prepared is None else _with_rest(False, _log_of(prepared.at(-x).times_exp(x), EXPONENTIAL.method), finite)


def _by_chords(law: LogPhi, x: float, rtol: float, finite: LogProbability) -> Tails | None:
    """Q(L > x) and P(L <= x) are slopes of the profiles of the two orders, which are convex in e^x."""
    if abs(x) > _FARTHEST:
        return None
    infinite, _ = masses(law)
    demand = Demand(rtol)
    profile, reverse = (evaluator()(Request(part, at, demand)) for part, at in ((law, x), (law.reflected(), -x)))
    here, opposite = profile(x), reverse(-x)
    # the error of chords grows with their length, the effect of the profile's errors with its inverse
    wide = max(here.relative_width, opposite.relative_width)
    length = max(min(max(math.sqrt(wide), _CHORDS[0]), _CHORDS[1]) * spread(law), 1e-12 * abs(x))
    tilted, lower = _slope(profile, here, x, length), _slope(reverse, opposite, -x, length)
    # P(L > x) = delta - P(L = inf) + e^x Q(L > x)
    ends = [
        safe_log(max(math.exp(end) - mass, 0.0) + math.exp(min(slope + x, 700.0)))
        for end, mass, slope in zip((here.lower, here.upper), reversed(infinite), tilted, strict=True)
    ]
    found = Tails(_between(ends[0], ends[1], here), _between(*lower, opposite))
    return found.meet(Tails(_complement(finite, found.below), _complement(finite, found.above)))


# the width of these comes from atoms within rounding of the threshold, which no other method resolves
_FINAL = (_in_closed_form, _on_the_lattice)


def _attempts(law: LogPhi) -> tuple[Attempt, ...]:
    """The methods that fit the loss, in order."""
    if not term_counts.served(law.terms):
        return (*_FINAL, _by_contour, _by_chernoff, _by_chords)
    # with few flat parts sums need no contour for the rest; with many, the contour is quicker; chords are no sharper
    few = term_counts.flat_count(law.terms) < term_counts.FLAT_PARTS
    return (*_FINAL, *((_by_pieces, _by_contour) if few else (_by_contour, _by_pieces)), _by_chernoff)


def _slope(profile: Callable[[float], LogProbability], here: LogProbability, x: float, length: float) -> tuple[float, float]:
    """Logarithms of bounds of minus the slope in e^x, from the chords on either side."""
    # the length of a chord has half an ulp of each end
    doubt = 4e-16 * (2 + abs(x)) / -math.expm1(-length)
    left, right = profile(x - length), profile(x + length)
    steep = log_difference(left.upper, here.lower) - log1mexp(-length) - x
    flat = log_difference(here.lower, right.upper) - length - log1mexp(-length) - x
    return flat + math.log1p(-min(doubt, 0.5)), steep + math.log1p(doubt)


def _between(lower: float, upper: float, source: LogProbability) -> LogProbability:
    """The enclosure by chords of a profile between two logarithms."""
    lower, upper = outward(lower, -1), min(outward(upper, 1), 0.0)
    lower = min(lower, upper)
    value = upper if lower == -math.inf else float(np.logaddexp(lower, upper)) - math.log(2)
    ledger = Ledger(discretization=Entry(math.exp(upper) - math.exp(lower), source.ledger.proved))
    return LogProbability(lower, min(max(value, lower), upper), upper, CHORDS, ledger)


def _log_of(amount: Scaled, method: Method) -> LogProbability:
    return LogProbability.outward(enclosed(amount), method, ledger_of(amount))


def _with_rest(is_above: bool, found: LogProbability, finite: LogProbability) -> Tails:
    """Both tails from one of them, and from the mass of both."""
    rest = _complement(finite, found)
    return Tails(found, rest) if is_above else Tails(rest, found)


def _complement(finite: LogProbability, part: LogProbability) -> LogProbability:
    """The mass less one part of it."""
    pairs = ((finite.lower, part.upper), (finite.value, part.value), (finite.upper, part.lower))
    return LogProbability.outward((log_difference(whole, own) for whole, own in pairs), part.method, part.ledger)
