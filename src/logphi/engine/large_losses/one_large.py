"""One large loss among many tiny ones: lines for the loss with none, one and several large losses.

Where one large loss decides the answer, the moments of the whole loss allow for several large losses, and for much larger ones:
the line of the whole loss lies far above the answer. With exactly one loss between two caps, it stays near. Which losses
count as large, and which as huge, is left to coins, whose probabilities are smooth (:mod:`logphi.laws.normal.some_large`), so
that the line of one large loss is short although nothing else decays. What huge losses add has a closed form
(:mod:`logphi.engine.large_losses.excess`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from logphi.engine.large_losses.excess import Tails
from logphi.inversion.lines.contour import Ceiling
from logphi.inversion.lines.kernels import Smooth, log_kappa
from logphi.inversion.lines.layout import SHARE, Layout, layout
from logphi.inversion.lines.line_sum import Contour, Extent, extent, lay_out
from logphi.inversion.lines.saddle import RIGHT, Saddle, saddle
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal.mixed_normal import CountedMixedNormals
from logphi.laws.transform import LossTransform

if TYPE_CHECKING:
    from logphi.laws.normal.some_large import SomeLarge

# derived: a part this far below the tolerance, as a logarithm, adds little to the width
_NEGLIGIBLE = 4.0
# measured: for larger shifts, even sums without bounds take seconds
_LARGEST_SHIFT = 60.0
# chosen: lower caps that are tried, over the least loss that alone exceeds the threshold; a loss above about this cap is large
_LOWER_CAPS = (0.9, 0.8, 0.65, 0.5, 0.3, 0.15, 0.05)
# measured: the number of abscissas that are tried for a part
_TRIED = 61
# measured: the least of these abscissas, times the cap
_LEAST = 0.5
# measured: the largest of these abscissas, over the tilt
_MOST = 12.0
# measured: widths of coins, as the change of the tilted loss; with the first width, lines are short, and parts are mostly not
# much larger than with a sharp cap
COINS = (3.0, 1.0, 0.4)
# measured: over the width of a coin of width one, the loss changes by at most the lower cap over this number
_SHARPEST = 14.0
# chosen: the least distance between both caps, in widths of the coin
_LEAST_WIDTHS = 10.0
# chosen: if the cap is at least this many times the lower cap, no loss is left out as huge
_HIGHEST = 100.0
# chosen: how much lower, as a logarithm, the integrand of another lower cap must be to be preferred
_FLAT = 0.5
# chosen: how much higher, as a logarithm, a part without decay counts, unless it is negligible
_DECAY = 5.0
# chosen: abscissas that are tried for a ceiling, over that of the saddle point, where the transform may be unknown
_NEARER = (1.0, 0.97, 0.9, 0.8, 0.65, 0.5, 0.25)
# chosen: a part this far below the answer, as a logarithm, may be left to its ceiling where its line would be too long
_LOOSE = 7.0


@dataclass(frozen=True)
class PlannedLine:
    """A line whose values of K are not yet computed; ``log_height`` is about the logarithm of the integrand's peak."""

    law: LossTransform
    log_height: float
    layout: Layout
    extent: Extent

    @staticmethod
    def of(
        law: LossTransform, x: float, log_rtol: float, found: Saddle | None = None, log_answer: float = -math.inf
    ) -> PlannedLine | None:
        """The line for the excess of a law at x; None where it would be too long.

        The tolerance is relative to the answer, if the law is a small part of it.
        """
        kernel = Smooth(x)
        found = found or saddle(law, kernel, RIGHT)
        if not math.isfinite(found.value):
            return None
        line = layout(law, found.abscissa, kernel, log_rtol)
        if line is not None and math.isfinite(log_answer):
            log_mass = found.value - float(kernel.log_real(np.array([found.abscissa]))[0])
            spare = log_answer + log_rtol + math.log(SHARE) - log_mass - line.log_target
            line = layout(law, found.abscissa, kernel, log_rtol + spare) if spare > 0 else line
        reach = line and extent(law, line, kernel, decaying=True)
        return PlannedLine(law, found.value, line, reach) if line and reach else None

    @property
    def top(self) -> float:
        """The height of the last node."""
        return self.extent.step * self.extent.size

    @property
    def terms(self) -> float:
        """About the number of terms of all inner sums; infinite where one is too long."""
        return self.extent.size * self.law.approximate.terms_on_line(self.layout.abscissa, self.top)

    def laid(self, x: float) -> Contour | None:
        """The contour; None where the line needs too many nodes of the inner integrals."""
        line = lay_out(self.law, self.layout, self.extent, Smooth(x))
        return line if line is not None and (line.values.radius < 1).any() else None


@dataclass(frozen=True)
class PlannedParts:
    """Lines for parts of a loss, ceilings of small parts, and the tails of the losses that are in no part.

    ``log_loose`` is about the logarithm of the largest ceiling.
    """

    lines: tuple[PlannedLine, ...]
    ceilings: tuple[Ceiling, ...]
    tails: Tails | None
    log_loose: float


def parts_of(
    large: CountedMixedNormals,
    others: LogPhi,
    x: float,
    least: float,
    log_rtol: float,
    log_answer: float | None,
    cap: float,
    tilt: float,
    coins: Sequence[float] = COINS,
) -> PlannedParts | None:
    """Lines for the whole loss with none, one and several losses above about a lower cap, and none above about ``cap``.

    One loss of about ``least`` makes the sum exceed x. Of the lower caps, that with the smallest parts is taken. The coins are
    so wide that the loss changes by about one of ``coins`` over ``tilt`` over their width, where ``tilt`` is the saddle of the
    law without losses above a sharp cap. None where no line serves, or where there is so little noise that it would be endless.
    """
    if max(law.constants[0] for law, _ in large) > _LARGEST_SHIFT:
        return None
    several_exist = sum(count for _, count in large) > 1
    best: _Tried | None = None
    for coin in coins:
        for share in _LOWER_CAPS:
            tried = _Tried.of(large, others, x, share * least, coin, tilt, cap)
            if math.isfinite(tried.level) and (
                best is None or tried.score(log_answer, log_rtol) < best.score(log_answer, log_rtol) - _FLAT
            ):
                best = tried
        if best is not None and best.serves(log_answer, log_rtol):
            # sharper coins make longer lines
            break
    if best is None:
        return None
    one = best.one
    tails = Tails.marked(large, one.ends, [width for _, width in one.marks]) if one.ends else None
    # the guess of the answer may be above all parts of it
    most = float(np.logaddexp(best.level, -math.inf if tails is None else tails.log_more))
    level = most if log_answer is None else min(log_answer, most)
    laws: tuple[LogPhi | SomeLarge, ...] = (LogPhi((*one.none_large, *others.terms)), one, replace(one, several=True))
    lines: list[PlannedLine] = []
    ceilings: list[Ceiling] = []
    log_loose = -math.inf
    for law, place in zip(laws[: 2 + several_exist], best.places, strict=True):
        lowest = saddle(law, Smooth(x), RIGHT, place)
        line = None
        if not lowest.value < level + log_rtol - _NEGLIGIBLE:
            line = PlannedLine.of(law, x, log_rtol, lowest, level)
            if line is not None and math.isinf(line.terms):
                line = None
            if line is None and not lowest.value < level - _LOOSE:
                return None
        if line is None:
            ceilings.append(_ceiling(law, lowest.abscissa))
            log_loose = max(log_loose, ceilings[-1].at(x))
        else:
            lines.append(line)
    return PlannedParts(tuple(lines), tuple(ceilings), tails, log_loose)


@dataclass(frozen=True)
class _Tried:
    """A law with one large loss, and about the least heights of the parts with none, one and several, with their abscissas."""

    one: SomeLarge
    heights: tuple[float, ...]
    places: tuple[float, ...]

    @staticmethod
    def of(large: CountedMixedNormals, others: LogPhi, x: float, lower: float, coin: float, tilt: float, cap: float) -> _Tried:
        """The law with a lower cap, and with coins over whose width the loss changes by about ``coin`` / ``tilt``."""
        # SciPy's normal tails would double the time of importing the package
        from logphi.laws.normal.some_large import SomeLarge

        marks, ends = [], []
        for law, _ in large:
            middle = np.array([float(law.ratio.terms.inverse(lower)[0, 0])])
            width = coin / (max(tilt, _SHARPEST / lower) * float(law.ratio.slope(middle)[0, 0]))
            marks.append((float(middle[0]), width))
            ends.append(max(Tails.end_above(cap, law, width), float(middle[0]) + _LEAST_WIDTHS * width))
        one = SomeLarge(large, tuple(marks), others, ends=tuple(ends) if cap < _HIGHEST * lower else ())
        several_exist = sum(count for _, count in large) > 1
        places = np.geomspace(min(_LEAST / min(cap, _HIGHEST * lower), tilt), _MOST * max(tilt, 1 / lower), _TRIED)
        with np.errstate(invalid="ignore"):  # out of reach
            heights = np.stack(one.approximate_parts(places)) - places * x + Smooth(x).log_real(places)
        heights = np.where(np.isfinite(heights), heights, np.inf)[: 2 + several_exist]
        return _Tried(one, tuple(heights.min(axis=1).tolist()), tuple(places[heights.argmin(axis=1)].tolist()))

    @property
    def level(self) -> float:
        """The largest height."""
        return max(self.heights)

    def _negligible(self, log_answer: float | None, log_rtol: float) -> bool:
        """Whether the part without large losses, which may not decay, is negligible."""
        return self.heights[0] < (self.level if log_answer is None else log_answer) + log_rtol - _NEGLIGIBLE

    def score(self, log_answer: float | None, log_rtol: float) -> float:
        """The level, raised if a part that does not decay is not negligible."""
        return self.level + (0.0 if self._negligible(log_answer, log_rtol) else _DECAY)

    def serves(self, log_answer: float | None, log_rtol: float) -> bool:
        """Whether no other lower cap need be tried."""
        return self._negligible(log_answer, log_rtol) and (log_answer is None or self.level < log_answer + _DECAY)


def _ceiling(law: LogPhi | SomeLarge, abscissa: float) -> Ceiling:
    """A bound of a small part, whose transform may be too small to compute."""
    for c in (abscissa * share for share in _NEARER):
        kappa = float(log_kappa(np.array([c]))[0])
        if isinstance(law, LogPhi):
            values = law.log_transform(np.array([c]))
            height, size = float((values.mid + values.radius)[0]), float(np.abs(values.mid)[0])
        else:
            height, size = law.log_bound(float(c))
        if math.isfinite(height):
            return Ceiling(float(c), height + kappa, size)
    return Ceiling()
