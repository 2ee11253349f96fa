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
from logphi.convex.excess_bounds import ExcessBounds, GridBounds, SplineBounds
from logphi.convex.smooth_chords import PARTS, smooth_chords
from logphi.laws.closed_form import ClosedForm
from logphi.laws.linear_density import LinearDensity
from logphi.laws.sampled_loss import NotAnsweredError
from logphi.laws.support import Support
from logphi.laws.traits import Traits
from logphi.laws.transform import LossTransform
from logphi.quadrature.approximation import Approximation
from logphi.quadrature.values import Values

# measured: of more rounds, most are rounds of splines, after those on a grid of so many steps
_MANY, _FINE = 56, 2048
# measured: the relative distance of the two bounds of a crossing then, times the square of the number of these steps; for a
# larger distance the grid alone is quicker
_SMOOTH, _ROUGH = 5.0, 512
# measured: for k rounds, _WORK / k^(1/2) grid steps to the width take 2 ms a round, and _QUICK / k^(3/2) take 50 ms in all
_WORK, _QUICK = 5000, 300_000
# measured: of few rounds, so many grid steps in all take a few milliseconds
_FEW, _STEPS = 4096, 40_000
# chosen: the coarsest and the finest grid, in steps to the width
_COARSEST, _FINEST = 16, 8192
# measured: the relative distance of the two bounds of a crossing, times the square of the number of steps
_SPREAD = 2.0


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
    few = min(_FEW, int(max(_WORK / rounds**0.5, _QUICK / rounds**1.5)))
    return max(_COARSEST, few, min(_FINEST, _STEPS // rounds))


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
        raise NotAnsweredError("mechanisms that are chosen adaptively have no single law, and no log-phi")

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """Not known, like the formula."""
        return Values.unknown(np.asarray(z).size)

    @property
    def approximate(self) -> Approximation:
        """The largest K of any of the pairs, which is about the K of the best choices at a threshold with this saddle point."""
        return Approximation(self._largest)

    def _largest(self, c: Array) -> Array:
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
        return self._bounds.pair(size, above=above)

    def density(self, size: int, *, above: bool) -> LinearDensity:
        """A law whose excess is nowhere below (``above``) or above that of this one, of about ``size`` weights on each side.

        Raises
        ------
        CoarseError
            If none is found.
        """
        found = self._bounds.weights(size, above=above)
        places = [*range(1, found.weights.size), *found.last[:1]]
        weights = [*found.weights[1:].tolist(), found.last[1]]
        size = len(weights) - (not found.last[0])
        return LinearDensity(found.step, tuple(places[:size]), tuple(weights[:size]))

    def excess(self, x: float) -> Scaled:
        """H_k at a threshold; left of zero it is 1 - e^x plus e^x times its value at -x."""
        if x < 0:
            right = self.excess(-x)
            return Scaled(0.0, -math.expm1(x), rounding=-4 * ULP * math.expm1(x)) + right.times_exp(x)
        low, high = self._bounds.low(x * (1 + 8 * ULP)), self._bounds.high(x * (1 - 8 * ULP))
        value = low + (high - low) / 2
        return Scaled(0.0, value, discretization=max(value - low, high - value) * (1 + 1e-15))

    def crossing(self, level: float) -> tuple[float, float, float]:
        """A lower bound, an estimate and an upper bound of the threshold, from zero on, at which the excess crosses a level."""
        return self._bounds.crossing(level)

    @cached_property
    def _bounds(self) -> ExcessBounds:
        """By splines for many rounds, where they prove something."""
        disc = self.width.under(FLOATS)
        width, error = float(disc.mid), float(disc.rad)
        many = self.rounds > _MANY and self.parts > _ROUGH
        grid = GridBounds(width, error, self.rounds, _alone(self.rounds) if many else self.parts, self.support.upper)
        splines = smooth_chords(width, self.rounds, self.parts) if many and error <= 2 * ULP * width else None
        return grid if splines is None else SplineBounds(splines, grid)
