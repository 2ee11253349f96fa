"""Sums of many atomic laws without a common lattice: each atom is split over the two nearest nodes of a fine lattice.

notation: X = sum of n_i X_i. An atom of X_i between two nodes of a lattice of step h goes to both, with shares that keep its
mass and its mean of e^{-x}; Y is the sum of the laws on the nodes, U = Y - X.

* (1 - e^{x-s})_+ is convex in e^{-s}, and E[e^{-Y} | X] = e^{-X}: the excess D_Y(x) of Y is at least that of X.
* They differ only where Y and X lie on either side of x, where |U| >= |Y - x|; so that, for every rate r,

      D_Y(x) - D_X(x) <= sum over nodes t of |1 - e^{x-t}| min(p_t, e^{-r|t-x|} p_t^+-),     p_t^+- = E[e^{+-rU}; Y = t],

  with the sign + above x and - below. The p^+- are sums of independent laws on the lattice, as the p are. With r = 1.7 over
  the deviation of U this is about 2.4 Var(U) times the density at x: of second order in h. At distances above R the
  sums over t are below e^{-rR} times those of p^+-, tilted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arrays import Array
from logphi.inversion import integer_sums
from logphi.inversion.piecewise_excess import FARTHEST
from logphi.inversion.tilted import Tilted

# derived: the rate for which the bound is least, where p^+- are p times e^{r^2 Var(U) / 2}, is 8^{1/4} over the deviation
_RATE = 8**0.25
# derived: D_Y - D_X at that rate, over Var(U) times the density; near the saddle the density is c (c + 1) times the excess
_GAP = 2.42
# derived: e to minus this, as a share, is far below the error of splitting
_DEPTH = 34.0
# measured: transforms of so many nodes take a tenth of a second
_MOST_NODES = 1 << 19
# measured: the number of steps among which the one with the smallest variance of U is chosen
_STEPS = 256
# measured: the largest step times the tilt, above which the bound is useless
_COARSE = 0.25
# measured: the number of atoms from which the variance is estimated
_HEAVY = 512
# chosen: entries of the intermediate arrays
_BLOCK = 1 << 18


@dataclass(frozen=True, eq=False)
class OnNodes:
    """One law split over the nodes base + h k: the weight of each node, and the weights with the factors e^{rU} and e^{-rU}."""

    law: Tilted
    base: float
    weights: tuple[integer_sums.IntegerMeasure, integer_sums.IntegerMeasure, integer_sums.IntegerMeasure]


@dataclass(frozen=True, eq=False)
class Split:
    """Laws split over the nodes of a lattice, tilted by e^{cx}: the excess of their sum is at least that of the laws."""

    tilt: float
    step: float
    rate: float
    laws: tuple[OnNodes, ...]
    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first + 1

    @staticmethod
    def of(laws: Sequence[tuple[Tilted, int]], tilt: float, density: float, share: float) -> Split | None:
        """The laws on a lattice so fine that D_Y - D_X is about a share of the excess; None if that takes too many nodes.

        None also if so many laws leave no digits to the sum.

        ``density`` is an estimate of the density at the threshold, over the excess.
        """
        deviation = math.sqrt(sum(count * _variance(law) for law, count in laws))
        if not deviation or _rounding_of_sum(laws) > 1:
            return None
        # atoms that are anywhere between two nodes have a variance of h^2 / 6
        wanted = math.sqrt(6 * share / (_GAP * density * sum(count for _, count in laws)))
        wanted = min(wanted, _COARSE / (tilt + 1))
        coarse = _nodes(laws, tilt, min(wanted, deviation / 16))
        finest = 1.01 * (len(coarse) + 4) * coarse.step / _MOST_NODES
        candidates = max(wanted, finest) * np.linspace(1.0, 1.5, _STEPS)
        variances = sum((count * _split_variance(law, candidates) for law, count in laws), np.zeros(_STEPS))
        # the widest step with no more than the requested error, or the best one
        allowed = np.flatnonzero(variances * _GAP * density <= share)
        best = int(allowed[-1]) if allowed.size else int(np.argmin(variances))
        if candidates[best] > 2 * _COARSE / (tilt + 1):
            return None
        found = _nodes(laws, tilt, float(candidates[best]))
        return found if found.rate > 2 * (tilt + 1) and len(found) <= _MOST_NODES else None

    @property
    def finest(self) -> bool:
        """Whether a finer step would take too many nodes."""
        return 2 * len(self) > _MOST_NODES

    def composed(self) -> Composed:
        """The sums on the lattice."""
        relative = sum(
            one.weights[0].count * (one.law.relative_error + ULP * (2 + 4 * abs(one.law.log_scale))) for one in self.laws
        )
        log_scale = sum(one.weights[0].count * one.law.log_scale for one in self.laws)
        location_errors = sum(one.weights[0].count * (one.law.location_error + _moved(one, self.step)) for one in self.laws)
        omitted = sum(one.weights[0].count * one.law.omitted for one in self.laws) + 2 * math.exp(-_DEPTH)
        origin = sum(one.weights[0].count * one.base for one in self.laws)
        location = origin + self.step * np.arange(self.first, self.last + 1, dtype=np.float64)
        farthest = float(np.abs(location).max()) + sum(one.weights[0].count * abs(one.base) for one in self.laws)
        sums = []
        for side in range(3):
            weight, absolute = integer_sums.summed([one.weights[side] for one in self.laws], self.first, self.last)
            sums.append((weight, absolute))
        error = math.expm1(min(relative + _rounding_of_sum([(one.law, one.weights[0].count) for one in self.laws]), 700.0))
        whole = Tilted(
            location,
            sums[0][0],
            log_scale,
            location_errors + 4 * ULP * farthest,
            error,
            sums[0][1] + 2 * math.exp(-_DEPTH),
            omitted,
        )
        # the rate multiplies the effect of rounding on the locations
        rounded = math.exp(min((self.rate + self.tilt) * location_errors, 700.0)) * (1 + error)
        moved = tuple(weight * rounded + absolute for weight, absolute in sums[1:])
        total = sum(one.weights[0].count for one in self.laws)
        # a share e of the weights outside the nodes counts at most e^{(c + 1) n h} e below the threshold
        return Composed(whole, moved[0], moved[1], self, omitted * math.exp(min((self.tilt + 1) * total * self.step, 700.0)))


@dataclass(frozen=True, eq=False)
class Composed:
    """The sum on the nodes, the weights p^+ and p^- there, and a bound of the share of the weights outside of them."""

    sum: Tilted
    upward: Array
    downward: Array
    split: Split
    omitted: float

    @property
    def radius(self) -> float:
        """The distance R; nodes farther from the threshold contribute a negligible part of D_Y - D_X."""
        return _DEPTH / (self.split.rate - 1 - self.split.tilt)

    @property
    def log_tail(self) -> float:
        """The logarithm of a bound of the part of D_Y - D_X beyond the distance R and outside the nodes, over e^{K - cx}."""
        rest = math.exp(-_DEPTH) * (float(self.upward.sum()) + float(self.downward.sum()))
        return math.log(self.omitted + rest)

    def splitting_error(self, thresholds: Array, middle: float) -> Array:
        """Bounds of D_Y - D_X at thresholds, in units of e^{-c middle}, from the nodes within the distance R."""
        half = math.ceil(self.radius / self.split.step) + 1
        rows = max(_BLOCK // (2 * half + 1), 1)
        parts = np.split(thresholds, range(rows, thresholds.size, rows))
        return np.concatenate([self._splitting_error(part, middle, half) for part in parts])

    def _splitting_error(self, thresholds: Array, middle: float, half: int) -> Array:
        tilt, step, rate = self.split.tilt, self.split.step, self.split.rate
        location, size = self.sum.location, len(self.sum)
        nearest = np.clip(np.rint((thresholds - location[0]) / step), -half - 1, size + half).astype(np.int64)
        location_errors = nearest[:, None] + np.arange(-half, half + 1)
        held = np.clip(location_errors, 0, size - 1)
        away = location[held] - thresholds[:, None]
        mass = self.sum.between[1][held]
        moved = np.where(away > 0, self.upward[held], self.downward[held]) * np.exp(-rate * np.abs(away))
        exponent = np.minimum(-tilt * (location[held] - middle), FARTHEST)
        paid = np.abs(np.expm1(-away)) * np.minimum(mass, moved) * np.exp(exponent)
        total: Array = np.where(location_errors == held, paid, 0.0).sum(axis=1) * (1 + 1e-9)
        return total


def estimated_nodes(laws: Sequence[tuple[Tilted, int]], density: float, share: float) -> float:
    """An estimate of the number of nodes for which D_Y - D_X is a share of the excess."""
    deviation = math.sqrt(sum(count * _variance(law) for law, count in laws))
    step = math.sqrt(6 * share / (_GAP * density * sum(count for _, count in laws)))
    return 2 * math.sqrt(2 * _DEPTH) * deviation / step


def _variance(law: Tilted) -> float:
    total = float(law.weight.sum())
    mean = float((law.weight * law.location).sum()) / total
    return float((law.weight * (law.location - mean) ** 2).sum()) / total


def _rounding_of_sum(laws: Sequence[tuple[Tilted, int]]) -> float:
    """A bound of the relative rounding error of the sum of the laws."""
    return 32 * ELEMENTARY * sum(count for _, count in laws)


def _base(law: Tilted) -> float:
    """The location of the heaviest atom, which is a node."""
    return float(law.location[np.argmax(law.weight)])


def _split_variance(law: Tilted, steps: Array) -> Array:
    """An estimate of the variance of U for each step."""
    heavy = np.argpartition(-law.weight, min(_HEAVY, len(law) - 1))[:_HEAVY]
    position = (law.location[heavy] - _base(law)) / steps[:, None]
    part = position - np.floor(position)
    share = float(law.weight[heavy].sum())
    variance: Array = (law.weight[heavy] * part * (1 - part)).sum(axis=1) / share * steps**2
    return variance


def _nodes(laws: Sequence[tuple[Tilted, int]], tilt: float, step: float) -> Split:
    deviation = math.sqrt(sum(count * float(_split_variance(law, np.array([step]))[0]) for law, count in laws))
    # any rate gives a bound; where all atoms are nodes, it is limited so that e^{rU} does not overflow
    rate = _RATE / max(deviation, 0.1 * step)
    split = tuple(_on_nodes(law, count, tilt, step, rate) for law, count in laws)
    first, last = integer_sums.effective_range([one.weights[0] for one in split], _DEPTH)
    return Split(tilt, step, rate, split, first, last)


def _on_nodes(law: Tilted, count: int, tilt: float, step: float, rate: float) -> OnNodes:
    base = _base(law)
    position = (law.location - base) / step
    lower = np.floor(position)
    rest = np.clip(law.location - base - lower * step, 0.0, step)
    share = np.expm1(-rest) / math.expm1(-step)
    index = np.concatenate([lower, lower + 1]).astype(np.int64)
    moved = np.concatenate([-rest, step - rest])
    weight = np.concatenate([law.weight * (1 - share), law.weight * share]) * np.exp(tilt * moved)
    nodes, which = np.unique(index, return_inverse=True)
    whole, upward, downward = (
        integer_sums.IntegerMeasure(nodes, np.bincount(which, weight * np.exp(r * moved)).astype(np.float64, copy=False), count)
        for r in (0.0, rate, -rate)
    )
    return OnNodes(law, base, (whole, upward, downward))


def _moved(one: OnNodes, step: float) -> float:
    """A bound of the displacement of an atom by rounding: shares err by a few ulps of locations over the step."""
    return 32 * ULP * (step + 2 * float(np.abs(one.law.location).max()))
