"""Rare large losses among many small ones: a contour integral for the small losses, a closed form for the large ones.

notation: L is a sum of independent losses, some of them of sampled normal pairs. F is the event that one of certain of these
exceeds a cap B > eps, and T the law of L on the complement of F. Then

    delta(eps) = E_P[(1 - e^{eps - L})_+ ; not F] + P(F) - e^eps Q(F) + R,
    R = E_P[(e^{eps - L} - 1)_+ ; F] <= kappa(v) e^{eps + v (eps - B)} M(-1 - v) * (sum of Q(l > B)),    v > 0,

since (e^y - 1)_+ <= kappa(v) e^{(1+v) y}, E_P[e^{-(1+v) l}; l > B] <= e^{-vB} Q(l > B), and every factor of M(-1 - v) that is
left out is at least one. R is small if L nearly always exceeds eps when one loss exceeds B. The first part is a contour
integral over T. The moments of T do not grow with the rare losses: its saddle lies far to the right of L's, where
M(c) e^{-c eps} is close to delta.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from logphi.arith.scaled import Scaled
from logphi.engine.large_losses.excess import LargeLosses, Rest, Tails
from logphi.engine.large_losses.large_guesses import FARTHEST, NEAREST, REST, large_of, least_large, lowest_cap
from logphi.engine.large_losses.one_large import COINS, PlannedLine, parts_of
from logphi.inversion.demand import Demand
from logphi.inversion.lines.contour import Ceiling, Inversion, Part
from logphi.inversion.lines.kernels import Smooth
from logphi.inversion.lines.line_sum import Contour
from logphi.inversion.lines.saddle import RIGHT, Saddle, saddle
from logphi.inversion.lines.threshold_sum import LONG_LINE, Summands, ThresholdSum
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal.mixed_normal import MixedNormal, mixed_normals

if TYPE_CHECKING:
    from logphi.laws.normal.clipped import ClippedNormal

# measured: the logarithm of the integrand over the answer from which on a line is split
_LOST = 9.0
# measured: a coarser line is hardly shorter, and the digits lost at the saddle would use up its tolerance
_COARSEST = 1e-6
# measured: the size of a line that takes some ten milliseconds, and how much larger than usual, as a share of the tolerance,
# the truncation error of a longer one may be: a tenth, instead of a thousandth
_QUICK, _SLOWLY = 1 << 14, 100.0
# measured: the size from which split lines are quicker
_LONGEST = 1 << 16
# measured: how much farther than the tilt a law must be alike with and without large losses, and the difference of the
# logarithms of its transforms
_FARTHER, _ALIKE = 1.5, 0.01
# measured: on a shorter line, the transform of a whole law takes less time than that of a clipped one
_LONG_WHOLE = 1 << 11
# chosen: a tilted law is negligible where its density is below e^-_FAR/2
_FAR = 100.0
# derived: up to this relative error, masses and their logarithms have about the same error
_KNOWN = 1e-3
_UNKNOWN = Scaled(0.0, 0.5, truncation=0.5)


@dataclass(frozen=True)
class Prepared:
    """Contours of the clipped law for one threshold, and the large losses; the bounds hold at every threshold.

    A part of the clipped law that is negligible has a ceiling and no contour.
    """

    x: float
    contours: tuple[Contour, ...]
    ceilings: tuple[Ceiling, ...]
    large_losses: LargeLosses | None

    @cached_property
    def _integrals(self) -> tuple[Callable[[float], Scaled], ...]:
        """The integral along each contour, as a function of the threshold."""
        return tuple(_integral(one, self.x) for one in self.contours)

    def at(self, x: float) -> Inversion:
        """The excess at x."""
        if not abs(x) < FARTHEST:
            return Inversion(Part.EXCESS, _UNKNOWN)
        amount = sum((integral(x) for integral in self._integrals), Scaled(0.0, 0.0))
        if self.large_losses is not None:
            amount += self.large_losses.at(x)
        for ceiling in self.ceilings:
            amount += Scaled(ceiling.at(x), 0.5, truncation=0.5)
        abscissa = self.contours[0].abscissa if self.contours else None
        return Inversion(Part.EXCESS, amount, abscissa, sum(one.line.size for one in self.contours))


def _integral(contour: Contour, near: float) -> Callable[[float], Scaled]:
    """The integral along a contour; the summands of a long one are computed once, at a threshold."""
    if contour.line.size < LONG_LINE:
        return lambda x: contour.integral(x, Smooth(x))
    return ThresholdSum.of(contour, near, Summands.of(contour, Smooth(near))).at


@dataclass(frozen=True)
class Draft:
    """Lines for the losses that are not too large, without the values of K on them, and the tails of the large ones.

    A ``split`` draft has a line for each number of losses that are large, but not too large, or a ceiling: ``log_loose`` is
    about the logarithm of the largest one. ``rtol`` is the tolerance for which a single line is laid.
    """

    x: float
    loss: LogPhi
    lines: tuple[PlannedLine, ...]
    rest: Rest
    tails: Tails | None
    ceilings: tuple[Ceiling, ...] = ()
    split: bool = False
    log_loose: float = -math.inf
    rtol: float = 0.0

    @staticmethod
    def of(loss: LogPhi, x: float, demand: Demand, log_answer: float | None = None) -> Draft | None:
        """The draft for a threshold; None if no loss can be clipped, or if a line would be too long.

        ``log_answer`` is about the logarithm of the excess, where it is known: a line far above it is split in two.
        """
        question = _Question.of(loss, x, demand)
        if question is None:
            return None
        line, rtol = question.line(demand)
        if line is not None and line.extent.size > _LONG_WHOLE and (other := question.all_clipped):
            question = other
            line, rtol = question.line(demand)
        whole = None if line is None else Draft(x, loss, (line,), question.rest, question.tails, rtol=rtol)
        near = log_answer is not None and line is not None and line.log_height < log_answer + _LOST
        if line is not None and (log_answer is None or (near and line.extent.size <= _LONGEST)):
            return whole
        split = question.in_parts(demand, log_answer)
        if split is None or line is None:
            return split or whole
        lowest = line.log_height if log_answer is None or not near else log_answer + _LOST
        return split if split.log_height < lowest else whole

    @staticmethod
    def in_parts(
        loss: LogPhi, x: float, demand: Demand, log_answer: float | None = None, coins: Sequence[float] = COINS
    ) -> Draft | None:
        """Lines for none, one and several large losses; None if there is none. ``coins`` as in :func:`parts_of`."""
        question = _Question.of(loss, x, demand)
        return None if question is None else question.in_parts(demand, log_answer, coins)

    @property
    def log_height(self) -> float:
        """About the logarithm of the largest integrand."""
        return max((one.log_height for one in self.lines), default=-math.inf)

    @property
    def nodes(self) -> int:
        """The number of nodes of all lines."""
        return sum(one.extent.size for one in self.lines)

    @property
    def terms(self) -> float:
        """About the number of terms of all inner sums on split lines; infinite where one is too long."""
        lines = self.lines if self.split else ()
        return sum(one.terms for one in lines)

    def laid(self) -> Prepared | None:
        """The contours and the large losses; None if the inner integrals of a line need too many nodes."""
        lines: list[Contour] = []
        for one in self.lines:
            line = one.laid(self.x)
            if line is None:
                return None
            lines.append(line)
        known = tuple(lines)
        if self.tails is None:
            return Prepared(self.x, known, self.ceilings, None)
        large_losses = LargeLosses.of(self.tails, self.loss, self.rest)
        # far to the left the transform may be unknown
        return Prepared(self.x, known, self.ceilings, large_losses) if math.isfinite(large_losses.log_rest) else None


@dataclass(frozen=True)
class _Question:
    """A loss, a threshold, a cap for it, and its laws up to the cap; those with ``small`` losses need not be clipped.

    ``least`` is about the least loss that makes the sum exceed the threshold, and ``log_large`` about the logarithm of what
    losses above the cap add to the excess.
    """

    loss: LogPhi
    x: float
    least: float
    rest: Rest
    cap: float
    log_large: float
    laws: tuple[tuple[ClippedNormal, int], ...]
    small: frozenset[ClippedNormal] = frozenset()

    @staticmethod
    def of(loss: LogPhi, x: float, demand: Demand) -> _Question | None:
        """None if no loss can be clipped."""
        large = large_of(loss)
        least = least_large(loss, x) if large and 0 <= x < FARTHEST else 0.0
        if not least > NEAREST:
            return None
        # SciPy's normal tails would double the time of importing the package
        from logphi.laws.normal.clipped import ClippedNormal

        rest = Rest.near(loss, x, least)
        cap, log_large = lowest_cap(large, rest, least, math.log(REST * demand.rtol), demand.least)
        laws = tuple((ClippedNormal.at(law, cap), count) for law, count in large)
        tilt = (min(law.end for law, _ in laws) ** 2 + _FAR) / cap
        small = frozenset(law for law, _ in laws if _is_small(law, cap, tilt))
        if not max(law.upper_tail.error for law, _ in laws if law not in small) < _KNOWN:
            # the threshold is too large, or too close to zero
            return None
        return _Question(loss, x, least, rest, cap, log_large, laws, small)

    @cached_property
    def clipped(self) -> LogPhi:
        """The law of the losses up to the cap, except small ones."""
        kept = ((law.whole if law in self.small else law, count) for law, count in self.laws)
        return LogPhi((*kept, *mixed_normals(self.loss.terms)[1]))

    @cached_property
    def tails(self) -> Tails:
        """The tails above the cap."""
        return Tails.clipped([(law, count) for law, count in self.laws if law not in self.small])

    @property
    def all_clipped(self) -> _Question | None:
        """The same with small laws clipped as well; None if none is small, or if too little is known of their tails."""
        known = self.small and max(law.upper_tail.error for law in self.small) < _KNOWN
        return replace(self, small=frozenset()) if known else None

    @cached_property
    def saddle(self) -> Saddle:
        """That of the clipped law."""
        return saddle(self.clipped, Smooth(self.x), RIGHT)

    def line(self, demand: Demand) -> tuple[PlannedLine | None, float]:
        """A line for the clipped law, and its tolerance.

        The edge at the cap makes the transform fall slowly, and the tail like the square of the length. The truncation error of
        a line that would be long need not be far below the tolerance, which is larger, but no larger than what suffices.
        """
        found = PlannedLine.of(self.clipped, self.x, _log_rtol(demand), self.saddle, self.log_large)
        if found is not None and found.extent.size <= _QUICK:
            return found, demand.rtol
        rtol = demand.sufficient.rtol
        if found is not None:
            rtol = min(demand.rtol * max((found.extent.size / _QUICK) ** 2 / _SLOWLY, 1.0), rtol)
        shorter = PlannedLine.of(self.clipped, self.x, math.log(_SLOWLY * rtol), self.saddle, self.log_large)
        return (found, demand.rtol) if shorter is None else (shorter, rtol)

    def in_parts(self, demand: Demand, log_answer: float | None, coins: Sequence[float] = COINS) -> Draft | None:
        """Lines for none, one and several of those losses that matter, or None."""
        tilt, others = self.saddle.abscissa, list(mixed_normals(self.loss.terms)[1])
        large: list[tuple[MixedNormal, int]] = []
        for law, count in large_of(self.loss):
            (large if _matters(law, count, self.cap, tilt) else others).append((law, count))
        if not large:
            # several losses below the cap may decide
            large, others = list(large_of(self.loss)), list(mixed_normals(self.loss.terms)[1])
        found = parts_of(
            tuple(large), LogPhi(tuple(others)), self.x, self.least, _log_rtol(demand), log_answer, self.cap, tilt, coins
        )
        if found is None:
            return None
        return Draft(self.x, self.loss, found.lines, self.rest, found.tails, found.ceilings, True, found.log_loose)


def _is_small(law: ClippedNormal, cap: float, tilt: float) -> bool:
    """Whether the losses above a cap are negligible under every tilt up to this one, so that the law need not be clipped.

    The tilt is about twice that at which another law is next to its cap. Above the end x_0 a loss is at most
    cap + m (x - x_0), so that tilt times loss less x^2/2 is largest at the end, unless tilt times m is larger.
    """
    m, _ = law.whole.constants
    return tilt * m <= law.end and 2 * tilt * cap + _FAR <= law.end**2


def _matters(law: MixedNormal, count: int, cap: float, tilt: float) -> bool:
    """Whether losses above a cap matter under the tilt e^{tilt l}, or one a little farther."""
    from logphi.laws.normal.clipped import ClippedNormal

    abscissa = np.array([_FARTHER * tilt])
    whole, kept = (float(one.approximate(abscissa)[0]) for one in (law, ClippedNormal.at(law, cap)))
    return not count * (whole - kept) < _ALIKE


def _log_rtol(demand: Demand) -> float:
    return math.log(min(demand.rtol, _COARSEST))


def prepare(loss: LogPhi, x: float, demand: Demand, log_answer: float | None = None) -> Prepared | None:
    """A contour without the large losses near x; None if there is none."""
    draft = Draft.of(loss, x, demand, log_answer)
    return None if draft is None else draft.laid()
