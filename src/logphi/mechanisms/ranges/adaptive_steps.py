"""Releases with the profile of the best adaptive picks, or with pairs above and below it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from logphi.algebra.by_others import ByOthers
from logphi.algebra.release import Primitive
from logphi.answers.bound import Bound
from logphi.answers.ledger import Entry, Ledger
from logphi.arith.floats import FLOATS, ULP
from logphi.convex.linear_densities import CoarseError
from logphi.convex.symmetric_pair import SMALL
from logphi.engine.answer import on_scale
from logphi.inputs import check
from logphi.inputs.adjacency import Adjacency
from logphi.inputs.arguments import frozen
from logphi.inputs.tolerance import Tolerance
from logphi.laws.combined.adaptive_two_points import AdaptiveTwoPoints
from logphi.laws.flat.linear_density import LinearDensity
from logphi.laws.log_phi import LogPhi
from logphi.mechanisms.ranges.by_moments import epsilon_of_moments
from logphi.pairs.finite import FinitePair
from logphi.questions.pointwise import pointwise

# measured: more steps take longer than a few seconds
MOST = 4000
# chosen: the vertices, on each side of zero, of the pair that composes with other releases
_BENDS = 6000
# measured: above, the profile of fewer steps is too steep near the largest loss for densities with steps of one length
_SMOOTH_ABOVE = 2
# measured: below, that of fewer than so many is
_SMOOTH_BELOW = 3
# measured: the weights of a density on each side of zero; more of them take longer, and their law is hardly nearer
_WEIGHTS = 800


@frozen
class Steps(ByOthers, Primitive):
    """Several mechanisms of bounded range, each chosen with knowledge of earlier outputs."""

    law: AdaptiveTwoPoints
    adjacency: Adjacency
    _undescribed = "it is the profile of a composition"

    def loss_law(self) -> LogPhi:
        """A law of which only the profile is known."""
        return LogPhi.of([(self.law, 1)])

    @property
    def _ranges(self) -> list[tuple[float, int]]:
        """The widths, rounded up, with their counts."""
        known = [width.under(FLOATS) for width in self.law.widths]
        tops = [(float(one.mid) + float(one.rad)) * (1 + ULP) for one in known]
        return list(zip(tops, self.law.rounds, strict=True))

    def _by_others(self, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Epsilon, between the crossings of both bounds of the profile."""
        return self._epsilon(*arguments, **options) if name == "epsilon" else None

    def _epsilon(self, delta: Any, *, direction: Any = None, method: None = None, rtol: float | None = None) -> Any:
        (order, _), *_ = self._loss().orders(direction)
        tolerance = Tolerance.of(rtol)

        def at(level: float) -> Bound:
            if level == 0:
                top = self.law.support.upper
                lower, value, upper = top - self.law.support.error, top, top
            else:
                lower, value, upper = self.law.crossing(level) if level < 1 else (0.0, 0.0, 0.0)
                if upper > lower:
                    # of few steps, the moments may be sharper next to the largest loss
                    upper = max(min(upper, epsilon_of_moments(self._ranges, level)), lower)
                    value = min(value, upper)
            ledger = Ledger(discretization=Entry(upper - lower))
            return on_scale(Bound(lower, value, upper, direction=order, ledger=ledger), tolerance.enough)

        return pointwise(check.unit_array("delta", delta), at)


@frozen
class StepsBetween(Primitive):
    """A pair that dominates these steps if ``above``, and otherwise is dominated; with finitely many losses if ``finite``.

    Such a pair is sharp where the profile is not ``small``.
    """

    law: AdaptiveTwoPoints
    above: bool
    adjacency: Adjacency
    finite: bool = False
    small: float = SMALL
    _undescribed = "it is a bound of a composition"

    def pair(self) -> FinitePair:
        """The pair of a few points of the profile."""
        return _pair(self.law, self.above, self.small)

    def loss_law(self) -> LogPhi:
        """Of a density where that is sharp, as its transform decays; otherwise of the pair."""
        density = _density(self.law, self.above) if self._smooth else None
        return super().loss_law() if density is None else LogPhi.of([(density, 1)])

    @property
    def coarse(self) -> bool:
        """Whether no density is known where one would be sharp: if steps leak nearly everything, the pair is not."""
        return self._smooth and _density(self.law, self.above) is None

    @property
    def _smooth(self) -> bool:
        return not self.finite and sum(self.law.rounds) >= (_SMOOTH_ABOVE if self.above else _SMOOTH_BELOW)


@lru_cache(maxsize=64)
def _density(law: AdaptiveTwoPoints, above: bool) -> LinearDensity | None:
    try:
        return law.density(_WEIGHTS, above=above)
    except CoarseError:
        return None


@lru_cache(maxsize=64)
def _pair(law: AdaptiveTwoPoints, above: bool, small: float) -> FinitePair:
    p, q = law.pair(above=above, size=_BENDS, small=small)
    return FinitePair(tuple(p.tolist()), tuple(q.tolist()))
