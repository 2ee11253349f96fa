"""Whether the profile of one loss lies below that of another everywhere: delta_2(eps) <= delta_1(eps) for all real eps.

As delta(-eps) = 1 - e^-eps + e^-eps delta'(eps), delta' the profile of the reversed pair, it is enough to compare for eps >= 0,
in both directions. There are two kinds of proof. If the first loss has finitely many values, its profile is linear in e^eps
between them, and the second, which is convex, lies below it if it does so at each value ([AFA] Corollary 26 is about the same
hull). Otherwise chords of the second profile are compared with supporting lines of the first, on cells that are halved until
the order is proved (:mod:`logphi.convex.supporting_lines`), up to an eps above which the second profile is constant, below the
infinite mass of the first, or below the first by the tails of two normal losses (:mod:`logphi.normal.order`).

The file is longer than others because one comparison covers finitely many values, cells, and the tail.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from logphi.answers.bound import Bound, Bounds, single
from logphi.answers.status import Direction
from logphi.arith.floats import FLOATS
from logphi.arith.safe import safe_log
from logphi.arrays import Array
from logphi.convex.supporting_lines import below_on_cells
from logphi.engine.directions import Loss
from logphi.engine.known_order import surely_above, without_common
from logphi.engine.log_probability import masses
from logphi.inputs.adjacency import Adjacency
from logphi.inversion.pieces import term_counts
from logphi.inversion.pieces.atom_list import atom_list
from logphi.laws.combined.parameters import as_mixture, normal_shift
from logphi.laws.log_phi import LogPhi
from logphi.laws.shift_bound import shift_bound_of_sum
from logphi.laws.transform import LossTransform
from logphi.listed import Listed
from logphi.normal.order import NormalTail, stays_above
from logphi.questions.delta import log_delta

# measured: the relative width of profiles with which chords are compared
_RTOL = 1e-8
# measured: the initial number of points
_START = 25
# measured: the largest number of points
_MOST = 400
# measured: the width of the narrowest cell, relative to the range
_NARROWEST = 1e-6
# measured: the largest number of values at which the profiles are compared one by one
_MOST_VALUES = 1000
# derived: without a bound of the tails, profiles are compared down to this logarithm, near the smallest double
_LEAST = -700.0
# derived: more doublings of one than a double has
_DOUBLINGS = 40
# measured: a profile this close to its infinite mass counts as constant
_HARDLY = 1e-3
# derived: shifts whose squares and inverses neither underflow nor overflow
_FAINT = 1e-280
# chosen: the shortest range, as one of length zero has no cells
_SHORTEST = 1e-9


class Verdict(enum.Enum):
    """Proved, refuted or undecided."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


# the verdict for both directions is the one that comes first
_GRAVITY = (Verdict.REFUTED, Verdict.UNDECIDED, Verdict.PROVED)


@dataclass(frozen=True)
class Dominance(Listed):
    """Whether the profile of one mechanism is nowhere above that of another; true only if that is proved.

    Parameters
    ----------
    verdict
        Proved, refuted or undecided.
    reason
        How it is proved, or what is missing.
    direction
        The order of the pair in which a counterexample was found, or the proof is missing.
    epsilon
        The counterexample; or, if undecided, the epsilon at which the profiles come closest.
    log_first, log_second
        Logarithms of delta there, with bounds: of the mechanism that should dominate, and of the other one.
    open_range
        If undecided, the epsilons that no proof covers are all between these two.
    """

    verdict: Verdict
    reason: str
    direction: Direction | None = None
    epsilon: float | None = None
    log_first: Bound | None = None
    log_second: Bound | None = None
    open_range: tuple[float, float] | None = None

    @property
    def proved(self) -> bool:
        """Whether dominance is proved."""
        return self.verdict is Verdict.PROVED

    @property
    def refuted(self) -> bool:
        """Whether a counterexample is proved."""
        return self.verdict is Verdict.REFUTED

    def __bool__(self) -> bool:
        return self.proved

    def __str__(self) -> str:
        lines = [f"{self.verdict.value}: {self.reason}"]
        if self.epsilon is not None and self.log_first is not None and self.log_second is not None:
            where = f"direction {self.direction.value!r}, " if self.direction is not None else ""
            index = "at" if self.refuted else "closest at"
            lines.append(f"  {index} {where}epsilon = {self.epsilon!r}:")
            for name, log in (("first", self.log_first), ("second", self.log_second)):
                lines.append(f"    log delta of the {name} mechanism: {log}")
        if self.open_range is not None:
            lines.append("  not covered by a proof: epsilon from {:.6g} to {:.6g}".format(*self.open_range))
        return "\n".join(lines)


def dominance(first: LogPhi, second: LogPhi) -> Dominance:
    """Whether the profile of the second loss is nowhere above that of the first."""
    if first.traits.estimated or second.traits.estimated:
        return Dominance(Verdict.UNDECIDED, "the transform of one of the losses is known by estimates only")
    rest_first, rest_second = without_common(first, second)
    if not rest_second.terms:
        return Dominance(Verdict.PROVED, "the first mechanism contains the second")
    if surely_above(rest_first, rest_second):
        return Dominance(Verdict.PROVED, "the terms of the losses are ordered by their form")
    if len(rest_first.terms) < len(first.terms) and rest_first.terms:
        found = _compared(rest_first, rest_second)
        if found.proved:
            return replace(found, reason=f"common terms cancel, and {found.reason}")
    return _compared(first, second)


def _compared(first: LogPhi, second: LogPhi) -> Dominance:
    """The comparison of profiles, in both directions."""
    orders = [(Direction.REMOVE, first, second), (Direction.ADD, first.reflected(), second.reflected())]
    if first.traits.symmetric and second.traits.symmetric:
        orders = [(Direction.BOTH, first, second)]
    found = [replace(_one_order(one, other), direction=name) for name, one, other in orders]
    return min(found, key=lambda one: _GRAVITY.index(one.verdict))


def _one_order(first: LogPhi, second: LogPhi) -> Dominance:
    """The comparison at all eps >= 0."""
    values = _values(first)
    return _by_cells(first, second) if values is None else _at_values(first, second, values)


def _values(loss: LogPhi) -> tuple[Array, float] | None:
    """The positive values of a loss with finitely many values, with a bound of their errors."""
    if not term_counts.made_of_pieces(loss.terms) or term_counts.flat_count(loss.terms):
        return None
    if term_counts.atom_count(loss.terms) > _MOST_VALUES:
        return None
    atoms = atom_list(loss.terms)
    return np.append(0.0, atoms.locations[atoms.locations > 0]), atoms.location_error


def _at_values(first: LogPhi, second: LogPhi, values: tuple[Array, float]) -> Dominance:
    """Whether a convex profile lies below one that is piecewise linear in e^eps with known vertices."""
    x, error = values
    margins = np.where(x > 0, error + 4e-16 * x, 0.0)
    own, other = _profile(first, x + margins), _profile(second, x - margins)
    if np.all(other.upper <= own.lower):
        reason = "the first profile is linear between finitely many points, at each of which the second lies below it"
        return Dominance(Verdict.PROVED, reason)
    missing = x[other.upper > own.lower]
    # above the last value the first profile is constant
    x = np.append(x, max(first.support.upper, 0.0))
    own, other = _profile(first, x), _profile(second, x)
    refuted = _counterexample(x, own, other)
    if refuted is not None:
        return refuted
    reason = "the profiles come too close to each other where the first one bends"
    return _undecided(reason, x, own, other, (float(missing.min()), float(missing.max())))


def _by_cells(first: LogPhi, second: LogPhi) -> Dominance:
    end, covered = _end(first, second)
    h = end / _START
    x = np.concatenate([[-h], np.linspace(0.0, end, _START), [end + h]])
    if math.isfinite(first.support.upper) and 0 < first.support.upper < end:
        x = np.union1d(x, [first.support.upper])
    own, other = _profile(first, x), _profile(second, x)
    while True:
        refuted = _counterexample(x, own, other)
        if refuted is not None:
            return refuted
        missing = ~below_on_cells(x, other.upper, own.lower, own.upper) & (x[:-1] >= 0) & (x[1:] <= end)
        if not missing.any():
            break
        width = np.diff(x)
        # supporting lines need neighbouring cells of similar width
        least = np.where(missing, width, np.inf)
        beside = np.minimum(np.append(least[1:], np.inf), np.append(np.inf, least[:-1]))
        split = (missing | (width > 1.5 * beside)) & (width > _NARROWEST * end)
        if not split[missing].any() or x.size + int(split.sum()) > _MOST:
            start, stop = float(x[:-1][missing].min()), float(x[1:][missing].max())
            reason = "chords and supporting lines do not separate the profiles"
            return _undecided(reason, x, own, other, (start, stop if covered else math.inf))
        new = x[:-1][split] + width[split] / 2
        x, order = np.append(x, new), np.argsort(np.append(x, new))
        own, other = _joined(own, _profile(first, new), order), _joined(other, _profile(second, new), order)
        x = x[order]
    if not covered:
        return _undecided("nothing is known of the tails", x, own, other, (end, math.inf))
    return Dominance(Verdict.PROVED, "chords of the second profile lie below supporting lines of the first one")


def _end(first: LogPhi, second: LogPhi) -> tuple[float, bool]:
    """A point up to which the profiles must be compared, and whether the order is proved above it."""
    (least, room), (fewest, most) = masses(first)[0], masses(second)[0]
    top = second.support.upper
    if fewest > room:
        # there is a counterexample where the first profile falls below the infinite mass of the second
        return max(_fallen(first, safe_log(fewest)), top if math.isfinite(top) else 0.0), False
    if math.isfinite(top):
        return max(top, _SHORTEST), most <= least
    if most == 0 and least == 0:
        tail = _tail(first, second)
        if math.isfinite(tail):
            return tail, True
    if least > most:
        return _fallen(second, safe_log(least)), True
    return _fallen(second, max(safe_log(most * (1 + _HARDLY)), _LEAST)), False


def _fallen(loss: LogPhi, level: float) -> float:
    """A point where the logarithm of the profile is below a level."""
    x = 1.0
    for _ in range(_DOUBLINGS):
        if _profile(loss, np.array([x])).upper[0] < level:
            break
        x *= 2
    return x


def _tail(first: LogPhi, second: LogPhi) -> float:
    """The point from which the tails of normal losses prove the order; infinity if they do not."""
    bounded = [(law, count) for law, count in second.terms if math.isfinite(law.support.upper)]
    others = LogPhi(tuple((law, count) for law, count in second.terms if not math.isfinite(law.support.upper)))
    shift = shift_bound_of_sum(others)
    if not math.isfinite(shift):
        return math.inf
    top = max(LogPhi(tuple(bounded)).support.upper, 0.0) if bounded else 0.0
    above = NormalTail(max(shift**2, _FAINT) * (1 + 1e-15), top)
    # a normal term adds no logarithm, a sampled one that of its rate
    known = [(square, cost, count) for law, count in first.terms for square, cost in _normal_part(law) if square > _FAINT]
    parts = sorted((cost / square, square, cost, count) for square, cost, count in known)
    best, square, move = math.inf, 0.0, 0.0
    for _, own, cost, count in parts:
        enough = (1.5 * above.square - square) / own
        used = {count} | ({math.ceil(enough)} if 0 < enough < count else set())
        for number in used if cost else {count}:
            best = min(best, stays_above(NormalTail((square + number * own) * (1 - 1e-14), move + number * cost), above))
        square, move = square + count * own, move + count * cost
    return best


def _normal_part(law: LossTransform) -> list[tuple[float, float]]:
    """The square of the shift of a normal loss, sampled or not, and minus the logarithm of the sampling rate."""
    base, rate = as_mixture(law) or (law, None)
    shift = normal_shift(base)
    if shift is None:
        return []
    m = shift.under(FLOATS)
    square = float(m.mid - m.rad) ** 2 * (1 - 1e-15)
    if rate is None:
        return [(square, 0.0)]
    q = rate.under(FLOATS)
    return [(square, -math.log(float(q.mid - q.rad)) * (1 + 1e-15))]


def _profile(loss: LogPhi, x: Array) -> Bounds:
    """Logarithms of delta in one direction."""
    found = log_delta(Loss(loss, Adjacency.REMOVE), x, rtol=_RTOL)
    assert isinstance(found, Bounds)
    return found


def _joined(one: Bounds, other: Bounds, order: NDArray[np.intp]) -> Bounds:
    """The answers at old and new points, sorted."""
    together = np.empty(len(one) + len(other), dtype=object)
    together[:] = [*one, *other]
    return Bounds(together[order])


def _counterexample(x: Array, own: Bounds, other: Bounds) -> Dominance | None:
    """The point where the second profile is proved larger by the largest factor, if any."""
    larger = (other.lower > own.upper) & (x >= 0)
    if not larger.any():
        return None
    apart = np.where(larger, np.exp(other.lower) - np.exp(own.upper), -1.0)
    with np.errstate(invalid="ignore"):  # the difference of infinities, where neither is larger
        index = int(np.argmax(apart if apart.max() > 0 else np.where(larger, other.lower - own.upper, -np.inf)))
    return _shown(Verdict.REFUTED, "the second profile is larger", index, x, own, other)


def _undecided(reason: str, x: Array, own: Bounds, other: Bounds, range_: tuple[float, float]) -> Dominance:
    """The undecided verdict, with the point where the profiles come closest."""
    with np.errstate(invalid="ignore"):  # both are zero
        gap = np.where(other.upper > -np.inf, own.lower - other.upper, np.inf)
    index = int(np.argmin(np.where(x >= 0, gap, np.inf)))
    return replace(_shown(Verdict.UNDECIDED, reason, index, x, own, other), open_range=range_)


def _shown(verdict: Verdict, reason: str, index: int, x: Array, own: Bounds, other: Bounds) -> Dominance:
    """A verdict with both profiles at the point that shows it."""
    return Dominance(verdict, reason, epsilon=float(x[index]), log_first=single(own[index]), log_second=single(other[index]))
