"""One large loss among many tiny ones: lines for the loss with none, one and several large losses.

Where one large loss decides, the moments of the whole loss allow for several of them and say little: its line lies far above
the answer. Those of the loss with exactly one stay near it. Which losses count as large is left to coins, whose probabilities
are smooth (:mod:`logphi.laws.some_large`), so that the line of one large loss is short although nothing else decays.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from logphi.inversion.contour import Ceiling, ceiling
from logphi.inversion.kernels import Smooth, log_kappa
from logphi.inversion.layout import SHARE, Layout, layout
from logphi.inversion.line_sum import Contour, Extent, extent, lay_out
from logphi.inversion.saddle import RIGHT, Saddle, saddle
from logphi.laws.log_phi import LogPhi
from logphi.laws.mixed_normal import Counted
from logphi.laws.transform import LossTransform

if TYPE_CHECKING:
    from logphi.laws.some_large import SomeLarge

# derived: a part so far below the tolerance, as a logarithm, adds little to the width
_NEGLIGIBLE = 4.0
# chosen: caps above about which a loss is large that are tried, over x
_LOWER_CAPS = (0.9, 0.8, 0.65, 0.5, 0.3, 0.15)
# measured: abscissas that are tried for a part, times x
_PLACES = np.geomspace(0.1, 1e4, 81)
# chosen: how many widths of the coin lie between a cap and the threshold; how much lower, as a logarithm, the integrand of
# another cap must be, and for how much a part without decay counts unless it is negligible
DEVIATIONS, _FLAT, _DECAY = 11.0, 0.5, 5.0


@dataclass(frozen=True)
class PlannedLine:
    """A line for a law of which all is known but the values of K; ``log_height`` is about the log of the integrand's peak."""

    law: LossTransform
    log_height: float
    layout: Layout
    extent: Extent

    @staticmethod
    def of(
        law: LossTransform, x: float, log_rtol: float, found: Saddle | None = None, log_answer: float = -math.inf
    ) -> PlannedLine | None:
        """For the excess at x; None where the line would be too long.

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

    def laid(self, x: float) -> Contour | None:
        """The contour; None where the line needs too many nodes of the inner integrals."""
        line = lay_out(self.law, self.layout, self.extent, Smooth(x))
        return line if line is not None and (line.values.radius < 1).any() else None


def parts_of(
    large: Counted, others: LogPhi, x: float, log_rtol: float, log_answer: float | None, deviations: float = DEVIATIONS
) -> tuple[tuple[PlannedLine, ...], tuple[Ceiling, ...]] | None:
    """Lines for the whole loss with none, one and several losses above about a cap, each with a saddle of its own.

    Where one large loss decides, moments that allow for several of them say little; those of the law with exactly one stay near
    the answer. The cap is the one whose parts lie lowest.
    """
    # SciPy's normal tails would double the time of importing the package
    from logphi.laws.some_large import SomeLarge

    several_exist = sum(count for _, count in large) > 1
    places = _PLACES / x
    best: tuple[float, SomeLarge, list[int]] | None = None
    above = [float(law.ratio.terms.inverse(x)[0, 0]) for law, _ in large]
    for share in _LOWER_CAPS:
        middles = [float(law.ratio.terms.inverse(share * x)[0, 0]) for law, _ in large]
        # at the threshold all but nothing is not marked
        marks = tuple((middle, (top - middle) / deviations) for middle, top in zip(middles, above, strict=True))
        one = SomeLarge(large, marks, others)
        with np.errstate(invalid="ignore"):  # out of reach
            heights = np.stack(one.approximate_parts(places)) - places * x + Smooth(x).log_real(places)
        heights = np.where(np.isfinite(heights), heights, np.inf)[: 2 + several_exist]
        least = heights.min(axis=1)
        level = float(least.max())
        # a part without decay is better if it is negligible
        score = level + (_DECAY if least[0] >= (level if log_answer is None else log_answer) + log_rtol - _NEGLIGIBLE else 0.0)
        if math.isfinite(level) and (best is None or score < best[0] - _FLAT):
            best = score, one, heights.argmin(axis=1).tolist()
    if best is None:
        return None
    level, one, at = best
    level = level if log_answer is None else log_answer
    laws: tuple[LogPhi | SomeLarge, ...] = (LogPhi((*one.none_large, *others.terms)), one, replace(one, several=True))
    lines, ceilings = [], []
    for law, place in zip(laws, at, strict=False):
        found = saddle(law, Smooth(x), RIGHT, float(places[place]))
        if found.value < level + log_rtol - _NEGLIGIBLE:
            ceilings.append(_ceiling(law, x, found.abscissa))
            continue
        line = PlannedLine.of(law, x, log_rtol, found, level)
        if line is None:
            return None
        lines.append(line)
    return (tuple(lines), tuple(ceilings)) if lines else None


def _ceiling(law: LogPhi | SomeLarge, x: float, abscissa: float) -> Ceiling:
    """A bound of a negligible part, whose transform may be too small to compute."""
    if isinstance(law, LogPhi):
        return ceiling(law, x, hint=abscissa)
    height, size = law.log_bound(abscissa)
    return Ceiling(abscissa, height + float(log_kappa(np.array([abscissa]))[0]), size) if math.isfinite(height) else Ceiling()
