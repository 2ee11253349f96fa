"""The trapezoidal rule for the transform of the log-ratio of two normal mixtures, with a proved error bound.

notation: P = sum of p_i N(c_i, 1), Q = sum of q_i N(c_i, 1), l = log P/Q, a = z + 1, c = Re a, so that
M(z) = integral of P^a Q^{1-a}. R_P and R_Q are how far apart the centres of either are, A the largest distance between one of P
and one of Q. On x + iy the terms of Q are e^{y^2/2} times those at x, rotated by angles that differ by y R_Q at most; so

    cos(y R_Q / 2) Q(x) <= e^{-y^2/2} |Q(x + iy)| <= Q(x),      |arg P/Q| <= y A,

likewise for P, and Q has no zero for y R_Q < pi. With r = sum of |p_i - q_i| N(c_i, 1)(x) / Q(x),

    |P/Q - 1| <= r(x) / cos(y R_Q / 2),

which is small for similar mixtures: then P/Q hardly rotates, and a sum on the real axis serves large heights. For
0 < y < v the integral of the modulus is at most N, and the rule with step h is wrong by 2 N / (e^{2 pi v/h} - 1)
(Trefethen & Weideman 2014, Theorem 5.1). Beyond the centres, log P^c Q^{1-c} falls at least as fast as the means of both
posterior laws say.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.summation import log_sum
from logphi.arrays import Array
from logphi.quadrature.mixtures.inner_integral import INNER_TARGET, InnerIntegral, Nodes, summed
from logphi.quadrature.mixtures.pair_log_ratio import MOST, PairLogRatio, Points
from logphi.quadrature.sums.approximate_nodes import ApproximateNodes
from logphi.quadrature.values import LOG_ROUNDING

# derived: the half-widths v of strips that are tried, as shares of the widest one, below which cosines are positive
_WAYS = np.linspace(0.04, 0.96, 24)
# measured: wider strips do not allow a longer step, which must resolve a normal density
_WIDEST = 6.0


@dataclass(frozen=True, eq=False)
class Strip:
    """Lines at distances v from the real axis, and logarithms of bounds of the integrand's integral on each."""

    v: Array
    log_most: Array

    @staticmethod
    def around(pair: PairLogRatio, points: Points, power: float, top: float) -> Strip:
        """The strip for heights up to ``top``, from equally spaced points that cover nearly all mass.

        Between two of them log P^c Q^{1-c} moves by at most its slope, and r by a factor of at most e^{R h}, R
        the distance between the outermost centres.
        """
        h = float(points.x[1] - points.x[0])
        width_p, width_q = pair.widths
        v = _WAYS * min(math.pi / max(width_p, width_q, 1e-300), _WIDEST)
        bend = 1 + (abs(power) * width_p**2 + abs(1 - power) * width_q**2) / 4
        slope = np.abs(power * points.mean_p + (1 - power) * points.mean_q - points.x) + h * bend
        log_size = points.log_tilted(power) + slope * h + math.log(h)
        half_p, half_q = np.cos(v * width_p / 2), np.cos(v * width_q / 2)
        near = points.ratio[:, None] * math.exp(pair.span * h) / half_q
        turn = np.minimum(np.where(near < 1, np.arcsin(np.minimum(near, 1.0)), np.inf), v * pair.farthest)
        raised = v * v / 2 - max(power - 1, 0.0) * np.log(half_q) - max(-power, 0.0) * np.log(half_p)
        outside = pair.log_outside(points, np.array([power]))[0] + top * v * pair.farthest
        own = np.logaddexp(log_sum(log_size[:, None] + top * turn, axis=0), outside) + raised
        # the two extra terms of a second-order sum
        log_most = np.logaddexp(own, math.log(1 + 2 * (abs(power) + top)) + v * v / 2)
        return Strip(v, log_most + LOG_ROUNDING * (1 + np.abs(log_most)))

    def step(self, log_goal: float) -> float:
        """The longest step with an error below a goal; it has few bits, so that its multiples are exact."""
        longest = float((2 * np.pi * self.v / np.maximum(self.log_most - log_goal + 1, 1.0)).max())
        return float(np.float32(longest * (1 - 1e-6)))

    def log_error(self, step: float) -> float:
        """The logarithm of the error of the rule."""
        turns = 2 * np.pi * self.v / step
        return float((self.log_most - turns - np.log(-np.expm1(-turns))).min()) + math.log(2) + LOG_ROUNDING


@dataclass(frozen=True)
class PairTrapezoid(InnerIntegral):
    """The transform of the log-ratio of a pair."""

    pair: PairLogRatio

    def nodes(self, powers: Array, z: NDArray[Any], count: int) -> Nodes | None:
        """Equally spaced nodes that serve the powers and the heights."""
        return nodes_of(self.pair, powers, float(np.abs(z.imag).max()), math.log(INNER_TARGET / count))

    def approximate_nodes(self, powers: Array) -> ApproximateNodes | None:
        """The points of a table."""
        coarse = self.pair.coarse(powers)
        return None if coarse is None else ApproximateNodes(coarse.loss, coarse.log_q + math.log(self.pair.coarse_step))


def nodes_of(pair: PairLogRatio, powers: Array, top: float, log_target: float) -> Nodes | None:
    """The nodes for some powers and heights up to ``top``, with an error relative to each sum; None if there are too many."""
    coarse = pair.coarse(np.concatenate([powers, [0.0, 1.0]]))
    if coarse is None:
        return None
    log_mass = log_sum(coarse.log_tilted(powers[:, None])) + math.log(pair.coarse_step)
    strips = [Strip.around(pair, coarse, power, top) for power in powers.tolist()]
    step = min(own.step(mass + log_target) for own, mass in zip(strips, log_mass.tolist(), strict=True))
    every = np.concatenate([powers, [0.0, 1.0]])
    size = math.log(4 * (1 + float(np.abs(powers).max()) + top))
    log_goal = np.append(log_mass, [log_mass.min()] * 2) + log_target - size
    ends = pair.covering_range(coarse, every, log_goal)
    if ends is None or not (ends[1] - ends[0]) / step < MOST:
        return None
    points = pair.at(step * np.arange(math.floor(ends[0] / step), math.ceil(ends[1] / step) + 1.0))
    nodes = summed(points.loss[None, :], points.log_q + math.log(step), powers, points.unit, points.loss_error[None, :])
    log_outside = pair.log_outside(points, every)
    cut = [np.logaddexp(own, np.logaddexp(*log_outside[-2:]) + size) for own in log_outside[:-2]]
    log_wrong = np.array([np.logaddexp(own.log_error(step), omitted) for own, omitted in zip(strips, cut, strict=True)])
    return replace(nodes, inner=np.exp(np.minimum(log_wrong - nodes.log_mass[0], 700.0))[None, :])
