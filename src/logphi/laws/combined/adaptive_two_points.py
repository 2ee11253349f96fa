"""The largest excess of a sum of two-point losses, each chosen with knowledge of the previous ones. It has no transform."""

from __future__ import annotations

import math
from collections.abc import Sequence
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
from logphi.convex.smooth_chords import smooth_chords
from logphi.convex.symmetric_pair import SMALL
from logphi.laws.closed_form import ClosedForm
from logphi.laws.combined.sampled_loss import NotAnsweredError
from logphi.laws.flat.linear_density import LinearDensity
from logphi.laws.support import Support
from logphi.laws.traits import Traits
from logphi.laws.transform import LossTransform
from logphi.quadrature.approximation import Approximation
from logphi.quadrature.values import Values

# measured: more rounds than this are quicker by splines, apart from the first ones
_MANY = 44
# measured: the grid steps to the width for the first rounds before splines
_FINE = 1440
# measured: with splines, the relative distance of the two bounds of a crossing, times the square of the number of these steps
_SMOOTH = 5.0
# measured: where this many steps suffice, the grid alone is quicker
_ROUGH = 512
# measured: for k rounds, _WORK / k^(1/2) grid steps to the width take 2 ms a round
_WORK = 5000
# measured: for k rounds, _QUICK / k^(3/2) grid steps to the width take 50 ms in all
_QUICK = 300_000
# chosen: the most steps by these two times
_FEW = 4096
# measured: of few rounds, this many grid steps in all take a few milliseconds
_STEPS = 40_000
# chosen: the coarsest and the finest grid, in steps to the width
_COARSEST, _FINEST = 16, 8192
# measured: the relative distance of the two bounds of a crossing, times the square of the number of steps
_SPREAD = 2.0
# measured: where widths differ, what a node of a round takes in seconds
_NODE = 7e-8
# chosen: the time for all nodes, and for those of an answer that is to be narrow
_TIME, _LONGEST = 0.5, 10.0
# chosen: the most rounds, each of which takes about half a millisecond besides
MOST_ROUNDS = 5200
# chosen: the relative distance of the two bounds of a crossing, by default
_NARROW = 1e-6
# measured: the relative loss of a composition of groups, over the share of the variance that is not in its largest group
_GROUPED = 0.02
# derived: values above the truncated ones lie within this many standard deviations
_REACH = 12.0
# chosen: the fewest steps to the least width, and to a width that is not left out
_LEAST, _FEWEST = 4, 2


def _log_sinhc(x: Array) -> Array:
    """``log(sinh(x) / x)``, to some digits."""
    size = np.maximum(np.abs(x), 1e-4)
    return np.asarray(size + np.log(-np.expm1(-2 * size) / (2 * size)))


def parts_for(rounds: int, rtol: float | None = None) -> int:
    """The number of grid steps over the width that is affordable, or that crossings of relative width ``rtol`` need."""
    if rounds > _MANY:
        fine = _FINE if rtol is None else min(_FINEST, int(math.sqrt(_SMOOTH / max(rtol, 1e-12))))
        if fine > _ROUGH:
            return fine
    return _alone(rounds) if rtol is None else max(_COARSEST, min(_FINEST, int(math.sqrt(_SPREAD / max(rtol, 1e-12)))))


def common_parts(widths: Sequence[float], counts: Sequence[int], rtol: float | None, rounds: int) -> tuple[int, ...] | None:
    """Steps to each of several increasing widths, all nearly of one length, for crossings about as narrow as ``rtol``.

    None if a composition of groups is better than what ``rounds`` on affordable nodes give. The relative distance of their
    bounds is about 2 s^2 per round for steps s, relative to the sum of all squared widths, and twice the relative difference of
    the steps of different widths.
    """
    w, n = np.array(widths), np.array(counts)
    squares = float(n @ w**2)
    spread = 2 * float(n.sum()) / squares
    affordable = _reach(w, n) * _NODE * rounds / (_TIME if rtol is None else _LONGEST)
    step = max(math.sqrt((_NARROW if rtol is None else max(rtol, 1e-12)) / spread), affordable)
    fewest = max(_LEAST, math.ceil(w[0] / step))
    first = np.arange(fewest, fewest + fewest // 2 + 2)
    parts = np.round(first[:, None] * (w / w[0]))
    steps = w / parts
    longest, shortest = steps.max(axis=1), steps.min(axis=1)
    apart = spread * longest**2 + 2 * (longest / shortest - 1)
    best = int(np.argmin(apart))
    if apart[best] > _GROUPED * (1 - float((n * w**2).max()) / squares) or shortest[best] < affordable / 4:
        return None
    return tuple(int(one) for one in parts[best])


def parts_within(widths: Sequence[float], counts: Sequence[int], rounds: int) -> tuple[int, ...]:
    """Whole steps of one affordable length within each of several increasing widths, for a bound from below.

    There are none in the narrowest widths.
    """
    w, n = np.array(widths), np.array(counts)
    parts = np.floor(w / (_reach(w, n) * _NODE * rounds / _TIME))
    return tuple(int(one) for one in np.where(parts < _FEWEST, 0, parts))


def _reach(widths: Array, counts: NDArray[np.int64]) -> float:
    """How far values above the truncated ones reach."""
    squares = float(counts @ widths**2)
    return min(float(counts @ widths), _REACH / 2 * math.sqrt(squares) + squares / 8)


def _alone(rounds: int) -> int:
    """Affordable for all rounds."""
    few = min(_FEW, int(max(_WORK / rounds**0.5, _QUICK / rounds**1.5)))
    return max(_COARSEST, few, min(_FINEST, _STEPS // rounds))


@dataclass(frozen=True)
class AdaptiveTwoPoints(LossTransform):
    """The sum of losses t or t - w, each t chosen with knowledge of the earlier ones: its largest excess at any threshold.

    Each pair of points has the probability (1 - e^{t-w}) / (1 - e^{-w}) of t, so that its tilt by e^{-x} is one too. The best
    choice depends on the threshold, so that no single law has this excess. If there are several widths, the next one is chosen
    too. Known are the excess itself, by :mod:`logphi.convex.widest_chords`, and the support.
    """

    # increasing
    widths: tuple[Parameter, ...]
    rounds: tuple[int, ...]
    parts: tuple[int, ...]

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
        rough: Array = np.zeros_like(c)
        for width, rounds in zip(self.widths, self.rounds, strict=True):
            half = float(width.under(FLOATS).mid) / 2
            rough = rough + rounds * (
                (c + 1) * _log_sinhc((c + 1) * half) - c * _log_sinhc(c * half) - _log_sinhc(np.array(half))
            )
        return rough

    @property
    def strip(self) -> tuple[float, float]:
        """The strip of every law; no more is known."""
        return (-1.0, 0.0)

    @cached_property
    def support(self) -> Support:
        """Within the sum of all widths."""
        discs = [width.under(FLOATS) for width in self.widths]
        end, error = (
            sum(rounds * float(size) for rounds, size in zip(self.rounds, sizes, strict=True))
            for sizes in zip(*((disc.mid, disc.rad) for disc in discs), strict=True)
        )
        room = (2 + 2 * len(discs)) * ULP
        return Support.within((end + error) * (1 + room), 2 * error + 4 * room * end)

    @property
    def closed_form(self) -> ClosedForm:
        """The excess, between its two bounds."""
        return ClosedForm(self.excess, lambda x: self.excess(-x).times_exp(x), without_transform=True)

    def pair(self, size: int, *, above: bool, small: float = SMALL) -> tuple[Array, Array]:
        """Atoms whose excess is nowhere below (``above``) or above that of the law, about ``size`` on each side of zero.

        They are sharp where the excess is not ``small``.
        """
        return self._bounds.pair(size, above=above, small=small)

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

    def grid_variance(self) -> float:
        """The sum of all squared widths, about, for a grid within them: its step is the least of those of all widths."""
        step = min(float(width.under(FLOATS).mid) / parts for width, parts in zip(self.widths, self.parts, strict=True))
        return sum(rounds * (parts * step) ** 2 for rounds, parts in zip(self.rounds, self.parts, strict=True))

    @cached_property
    def _bounds(self) -> ExcessBounds:
        """The bounds of the excess: by splines for many rounds of one width, where these prove something."""
        discs = [width.under(FLOATS) for width in self.widths]
        widths, error = [float(disc.mid) for disc in discs], max(float(disc.rad) / float(disc.mid) for disc in discs)
        many = len(widths) == 1 and self.rounds[0] > _MANY and self.parts[0] > _ROUGH
        parts = (_alone(self.rounds[0]),) if many else self.parts
        grid = GridBounds(tuple(zip(widths, self.rounds, parts, strict=True)), error * (1 + 4 * ULP), self.support.upper)
        splines = smooth_chords(widths[0], self.rounds[0], self.parts[0]) if many and error <= 2 * ULP else None
        return grid if splines is None else SplineBounds(splines, grid)
