"""The search for the epsilon at which the profile of one loss falls to a level."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

from logphi.answers.enclosure import Enclosure
from logphi.bracketing import Function, near_by
from logphi.engine.log_probability import LogProbability
from logphi.engine.routes.evaluator import Evaluator
from logphi.engine.routes.exact import closed
from logphi.engine.routes.route import Request, Solver
from logphi.engine.search.warm_start import FirstGuess
from logphi.inputs.tolerance import Tolerance
from logphi.inversion.demand import Demand
from logphi.laws.log_phi import LogPhi
from logphi.progress import searched

# measured: the relative tolerance of profiles used only to approach the crossing
_COARSE = 1e-3
# derived: profiles are this much narrower than the crossing, whose ends are 1.2 widths away on each side, and more for an
# uncertain slope
_FLAT = 4.0
# measured: the slope of the log-profile is at least the abscissa of Chernoff's bound over this number
_STEEP = 4.0
# measured: the largest factor by which a profile may be less accurate than its crossing, as few digits do not determine a
# crossing
_STEEPEST = 1e3
# derived: narrower profiles are not requested, because of rounding
_DIGITS = 1e-15


def level_error(level: float) -> float:
    """A bound of the error of log delta from half an ulp of delta and its own rounding."""
    return 3e-16 + 1e-16 * abs(level)


@dataclass(frozen=True)
class Crossing:
    """The epsilon of a crossing, the profile at the nearest epsilon that was seen, and minus the slope of its logarithm."""

    epsilon: Enclosure
    nearest: LogProbability
    slope: float


@dataclass(frozen=True)
class CrossingSearch:
    """Searches for the crossing of one profile with ``level``, the logarithm of delta, between 0 and ``ceiling``.

    ``guess`` has the first guess; the crossing of the profile's bounds is found by ``solve``.
    """

    loss: LogPhi
    profiles: Evaluator
    solve: Solver
    level: float
    ceiling: float
    guess: FirstGuess

    def first(self, tolerance: Tolerance) -> Crossing:
        """The crossing of a profile that is as accurate as it must be where it is steep."""
        return self._crossing(tolerance, self.guess.epsilon, self.guess.slope, self._steep)

    def narrowed(self, found: Crossing, tolerance: Tolerance) -> Crossing:
        """The crossing of a sharper profile, if a sharper one narrows it; the first one itself otherwise."""
        size, relative_width = max(1.0, found.epsilon.value), found.nearest.relative_width
        # where the profile is flat, it must be more accurate than the crossing
        needed = tolerance * (min(found.slope * size, 1.0) / _FLAT)
        reached = tolerance.aim if relative_width <= tolerance.aim else tolerance.enough
        wide = found.epsilon.upper - found.epsilon.lower > reached * size
        # a closed form is as sharp as it can be
        if wide and relative_width <= reached * self._steep and needed.aim > _DIGITS and not self.closed:
            return self._crossing(needed, found.epsilon.value, -found.slope)
        return found

    def _crossing(self, tolerance: Tolerance, start: float, slope: float, ease: float = 1.0) -> Crossing:
        seen = _Profiles(self, tolerance, ease)
        found = self.solve(seen.near, self.level, 0.0, start, self.ceiling, searched, slope)
        return Crossing(found, seen.values[seen.nearest(found.value)], seen.slope_at(found.value))

    @cached_property
    def closed(self) -> bool:
        """Whether the profile has a closed form near the guess."""
        return closed(self.loss, self.guess.epsilon)

    @property
    def at_once(self) -> bool:
        """Whether sharp profiles serve from the start: coarse ones are no faster, or the guess is close to the crossing."""
        return self.closed or (self.guess.near and self.loss.coarsened is self.loss)

    @property
    def _steep(self) -> float:
        """How much smaller the error of the crossing is than that of the profile, if this is steep."""
        return max(min(self.guess.abscissa * max(1.0, self.guess.epsilon) / _STEEP, _STEEPEST), 1.0)


@dataclass
class _Profiles:
    """The profiles that one search prepares, each near an epsilon, and their values so far.

    Where narrow profiles are expensive, one that is ``ease`` times wider than the crossing may be suffices.
    """

    search: CrossingSearch
    tolerance: Tolerance
    ease: float
    values: dict[float, LogProbability] = field(default_factory=dict)
    # the last one, and where it was prepared
    last: tuple[float, Function] | None = None

    def near(self, x: float, sharp: bool) -> Function:
        """Bounds of log delta near x, coarse ones as long as the crossing is only approached."""
        search = self.search
        if search.at_once and self.last and (search.closed or near_by(x, self.last[0]) or self._still_sharp(x)):
            return self.last[1]
        asked = self.tolerance if sharp or search.at_once else self.tolerance.at_least(_COARSE)
        demand = Demand(asked.aim, search.guess.abscissa, search.level - 1, asked.enough * self.ease)
        local = search.profiles(Request(search.loss if sharp else search.loss.coarsened, x, demand))
        own: dict[float, Enclosure] = {}
        slack = level_error(search.level)

        def at(y: float) -> Enclosure:
            if y not in own:
                self.values[y] = answer = local(y)
                own[y] = Enclosure(answer.lower - slack, answer.value, answer.upper + slack)
            return own[y]

        self.last = x, at
        return at

    def nearest(self, x: float) -> float:
        """The epsilon nearest to x at which a value is known."""
        return min(self.values, key=lambda y: abs(y - x), default=math.inf)

    def slope_at(self, x: float) -> float:
        """-d log delta / d eps from the two points nearest to x; one if they do not determine it."""
        first, *others = sorted(self.values, key=lambda y: abs(y - x))
        for y in others:
            if abs(y - first) > 1e-9 * max(1.0, abs(x)):
                rise = (self.values[first].value - self.values[y].value) / (y - first)
                return rise if rise > 1e-300 and math.isfinite(rise) else 1.0
        return 1.0

    def _still_sharp(self, x: float) -> bool:
        nearest = self.nearest(x)
        return near_by(x, nearest) and self.values[nearest].relative_width <= self.tolerance.aim
