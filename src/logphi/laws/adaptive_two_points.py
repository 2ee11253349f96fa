"""The largest excess of a sum of two-point losses, each chosen with knowledge of the previous ones. It has no transform."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import FLOATS, ULP
from logphi.arith.protocol import Arithmetic, Number, Parameter
from logphi.arith.scaled import Scaled
from logphi.arrays import Array
from logphi.convex.smooth_chords import PARTS, SmoothBounds, smooth_chords
from logphi.convex.symmetric_pair import pair_above, pair_below
from logphi.convex.widest_chords import Bounds, widest_chords
from logphi.laws.closed_form import ClosedForm
from logphi.laws.sampled_loss import NotAnsweredError
from logphi.laws.support import Support
from logphi.laws.traits import Traits
from logphi.laws.transform import LossTransform
from logphi.quadrature.values import Values

# measured: of more rounds, most are rounds of splines, after those on a grid of so many steps
_MANY, _FINE = 56, 2048
# measured: the relative distance of the two bounds of a crossing then, times the square of the number of these steps; for a
# larger distance the grid alone is quicker
_SMOOTH, _ROUGH = 5.0, 512
# chosen: a larger h is left to the grid, if a pair is asked for
_NEARLY_ONE = 0.99
# measured: for k rounds, _WORK / k^(1/2) grid steps to the width take 2 ms a round, and _QUICK / k^(3/2) take 50 ms in all
_WORK, _QUICK = 5000, 300_000
# chosen: the coarsest and the finest grid, in steps to the width
_COARSEST, _FINEST = 16, 4096
# measured: the relative distance of the two bounds of a crossing, times the square of the number of steps
_SPREAD = 2.0
# derived: the share of the distance between the two bounds at which the truth lies: the lower bound, from chords between nodes,
# is too small by a twelfth of a squared step on average, and the upper bound too large by five times that
_SHARE = 1 / 6


def _log_sinhc(x: Array) -> Array:
    """``log(sinh(x) / x)``, to some digits."""
    size = np.maximum(np.abs(x), 1e-4)
    return np.asarray(size + np.log(-np.expm1(-2 * size) / (2 * size)))


def parts_for(rounds: int, rtol: float | None = None) -> int:
    """The number of grid steps over the width that is affordable, or that crossings of relative width ``rtol`` need."""
    if rounds > _MANY:
        fine = _FINE if rtol is None else min(_FINEST, int(math.sqrt(_SMOOTH / max(rtol, 1e-12))))
        if fine > _ROUGH:
            return -(-fine // PARTS) * PARTS
    return _alone(rounds) if rtol is None else max(_COARSEST, min(_FINEST, int(math.sqrt(_SPREAD / max(rtol, 1e-12)))))


def _alone(rounds: int) -> int:
    """Affordable for all rounds."""
    return max(_COARSEST, min(_FINEST, int(max(_WORK / rounds**0.5, _QUICK / rounds**1.5))))


@dataclass(frozen=True)
class AdaptiveTwoPoints(LossTransform):
    """The sum of k losses t or t - w, each t chosen with knowledge of the earlier ones: its largest excess at any threshold.

    Each pair of points has the probability (1 - e^{t-w}) / (1 - e^{-w}) of t, so that its tilt by e^{-x} is one too. The best
    choice depends on the threshold, so that no single law has this excess. Known are the excess itself, by
    :mod:`logphi.convex.widest_chords`, and the support.
    """

    width: Parameter
    rounds: int
    parts: int

    traits = Traits(symmetric=True)

    def formula(self, arith: Arithmetic, z: Number) -> NoReturn:
        """Not known.

        Raises
        ------
        NotAnsweredError
            Always.
        """
        raise NotAnsweredError("what is chosen as one goes has no one law, and no log-phi")

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """Not known, like the formula."""
        return Values.unknown(np.asarray(z).size)

    def approximate(self, c: Array, count: int = 1) -> Array:
        """The largest K of any of the pairs, which is about the K of the best choices at a threshold with this saddle point."""
        half = float(self.width.under(FLOATS).mid) / 2
        rough: Array = self.rounds * (
            (c + 1) * _log_sinhc((c + 1) * half) - c * _log_sinhc(c * half) - _log_sinhc(np.array(half))
        )
        return rough

    @property
    def strip(self) -> tuple[float, float]:
        """The strip of every law; no more is known."""
        return (-1.0, 0.0)

    @cached_property
    def support(self) -> Support:
        """Within k times the width."""
        disc = self.width.under(FLOATS)
        end, error = self.rounds * float(disc.mid), self.rounds * float(disc.rad)
        return Support.within((end + error) * (1 + 4 * ULP), 2 * error + 16 * ULP * end)

    @property
    def closed_form(self) -> ClosedForm:
        """The excess, between its two bounds."""
        return ClosedForm(self.excess, lambda x: self.excess(-x).times_exp(x), without_transform=True)

    def pair(self, size: int, *, above: bool) -> tuple[Array, Array]:
        """Atoms whose excess is nowhere below (``above``) or above that of the law, about ``size`` on each side of zero."""
        smooth = self._smooth
        # a pair cannot be above what is nearly one, unless it is much above
        if smooth is None or float(smooth.high(np.zeros(1))[0]) > _NEARLY_ONE:
            bounds = self._bounds(above=above)
            return pair_above(bounds, self.support.upper, size) if above else pair_below(bounds.lines(size))
        return pair_above(smooth.grid(size), self.support.upper, size) if above else pair_below(smooth.lines(size))

    def excess(self, x: float) -> Scaled:
        """H_k at a threshold; left of zero it is 1 - e^x plus e^x times its value at -x."""
        if x < 0:
            right = self.excess(-x)
            return Scaled(0.0, -math.expm1(x), rounding=-4 * ULP * math.expm1(x)) + right.times_exp(x)
        low, high = self._low(x * (1 + 8 * ULP)), self._high(x * (1 - 8 * ULP))
        value = low + (high - low) / 2
        return Scaled(0.0, value, discretization=max(value - low, high - value) * (1 + 1e-15))

    def crossing(self, level: float) -> tuple[float, float, float]:
        """A lower bound, an estimate and an upper bound of the threshold, from zero on, at which the excess crosses a level."""
        if (smooth := self._smooth) is not None and level > smooth.sharp:
            return self._smooth_crossing(smooth, level)
        bounds, top = self._bounds(above=True), self.support.upper
        index = int(np.searchsorted(-bounds.values, -(level * (1 - 8 * ULP) - bounds.truncated)))
        if index == 0:
            return 0.0, 0.0, 0.0
        upper = top
        if index < bounds.values.size:
            left, right = bounds.values[index - 1 : index + 1]
            share = (left + bounds.truncated - level) / (left - right)
            inside = math.log1p(min(max(share, 0.0), 1.0) * math.expm1(bounds.step)) + 1e-9 * bounds.step
            upper = min(((index - 1) * bounds.step + inside) * (1 + 16 * ULP), top)
        low, high = 0.0, upper
        while high - low > 1e-14 * high:
            middle = low + (high - low) / 2
            low, high = (middle, high) if self._low(middle * (1 + 8 * ULP)) >= level * (1 + 8 * ULP) else (low, middle)
        return low, low + _SHARE * (upper - low), upper

    def _smooth_crossing(self, smooth: SmoothBounds, level: float) -> tuple[float, float, float]:
        ends, end = [], smooth.last * smooth.step
        for bound in (smooth.low, smooth.high):
            low, high = 0.0, end
            # the bounds fall, but for the rounding of a step of the search
            while high - low > 1e-14 * high:
                middle = low + (high - low) / 2
                low, high = (middle, high) if float(bound(np.array([middle]))[0]) > level else (low, middle)
            ends.append((low, high))
        lower, upper = ends[0][0] * (1 - 1e-12), ends[1][1] * (1 + 1e-12)
        if float(smooth.high(np.zeros(1))[0]) <= level:
            return 0.0, 0.0, 0.0
        return lower, lower + (upper - lower) / 2, min(upper, self.support.upper)

    @cached_property
    def _smooth(self) -> SmoothBounds | None:
        """Bounds by splines; None for few rounds, and where they prove nothing."""
        disc = self.width.under(FLOATS)
        if self.rounds <= _MANY or self.parts <= _ROUGH or float(disc.rad) > 2 * ULP * float(disc.mid):
            return None
        return smooth_chords(float(disc.mid), self.rounds, self.parts)

    def _low(self, x: float) -> float:
        """A lower bound, from the best chords of the neighbouring nodes at x itself."""
        if (smooth := self._smooth) is not None and (found := float(smooth.low(np.array([x]))[0])) > smooth.sharp:
            return found
        bounds = self._bounds(above=False)
        node = x / bounds.step
        if bounds.best.size == 0:
            # one round has a formula
            left = max(bounds.step * bounds.parts - x, 0.0)
            return math.exp(x) * math.expm1(left / 2) ** 2 / math.expm1(bounds.step * bounds.parts) * (1 - 64 * ULP)
        found, (near, far), m = 0.0, bounds.before, bounds.parts
        whole = math.expm1(m * bounds.step)
        for one in {int(node), int(node) + 1}:
            if one >= bounds.best.size:
                continue
            first = int(bounds.best[one])
            behind = (node - (first - m)) * bounds.step
            if 0 <= behind <= m * bounds.step:
                ahead = m * bounds.step - behind
                chord = math.exp(behind) * math.expm1(ahead) * near[first] + math.expm1(behind) * far[first]
                found = max(found, chord / whole)
        return float(found) * (1 - 64 * ULP)

    def _high(self, x: float) -> float:
        """An upper bound, linear in e^x between two nodes."""
        if (smooth := self._smooth) is not None and (found := float(smooth.high(np.array([x]))[0])) > smooth.sharp:
            return found
        bounds = self._bounds(above=True)
        node = int(x / bounds.step)
        if node >= bounds.values.size - 1:
            return bounds.truncated if x < self.support.upper else 0.0
        left, right = bounds.values[node : node + 2]
        # derived: a node is accurate to a billionth of a step
        share = min(max(math.expm1(x - node * bounds.step) / math.expm1(bounds.step) - 1e-9, 0.0), 1.0)
        return float(left + share * (right - left)) * (1 + 16 * ULP) + bounds.truncated

    def _bounds(self, *, above: bool) -> Bounds:
        disc = self.width.under(FLOATS)
        # the rounded widths differ from the width by more than its error
        moved = float(disc.mid) + (1 if above else -1) * float(disc.rad)
        parts = _alone(self.rounds) if self.rounds > _MANY and self.parts > _ROUGH else self.parts
        return widest_chords(moved, self.rounds, parts, above=above)
