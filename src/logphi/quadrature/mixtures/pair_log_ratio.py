"""The log-ratio of two mixtures of normal densities of one width: value, slope, errors and tails.

notation: P = sum of p_i N(c_i, 1), Q = sum of q_i N(c_i, 1), l = log P/Q. R_P and R_Q are the distances between the outermost
centres of P and of Q, A is the largest distance between a centre of P and one of Q. Unlike in
:mod:`logphi.quadrature.mixtures.log_ratio`, l need not increase: its slope at a point is the difference of the mean centres of
P and of Q, given the point, which may have either sign.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from logphi.arith.floats import ELEMENTARY, LOG_ROOT_TWO_PI, ULP
from logphi.arith.summation import log_sum
from logphi.arrays import Array
from logphi.quadrature.values import LOG_ROUNDING, MASS_ROUNDING

# measured: tables of more points take longer than about a second
MOST = 1 << 15
# measured: the largest number of entries of an array
_BLOCK = 1 << 21
# derived: smaller sums lose digits to underflow, and are computed again in units of their largest term
_DEEP = 1e-250
# measured: the step of a coarse sum, in units of 1/R
_COARSE = 0.5
# measured: the margin of a coarse sum around the centres of a tilted law
_FAR = 16.0
# measured: the largest number of doublings of the margin
_LEVELS = 8
# measured: minus the logarithm of the share of mass that may lie outside
_OUTSIDE = 60.0
# measured: for the decay, the number of cells in a coarse step
_FINER = 4.0
# measured: for the decay, the radius of discs in units of 1/R
_DISC = 1.0
# derived: far above the relative error of a sum of terms that are all above e^-1500 times the largest
_SUM_ERROR = 1e-11


@dataclass(frozen=True, eq=False)
class Points:
    """Both mixtures at some points: log Q, l, r, the mean centres given the point, a bound of |l'|, errors.

    ``unit`` is the error of log Q, ``loss_error`` that of l.
    """

    x: Array
    log_q: Array
    loss: Array
    ratio: Array
    mean_p: Array
    mean_q: Array
    slope: Array
    unit: Array
    loss_error: Array

    def within(self, part: slice) -> Points:
        """A part of the points."""
        return Points(*(getattr(self, one.name)[part] for one in fields(self)))

    def log_tilted(self, power: float | Array) -> Array:
        """Log P^c Q^{1-c}."""
        return np.asarray(self.log_q + power * self.loss)


@dataclass(frozen=True, eq=False)
class PairLogRatio:
    """The centres, increasing, and the weights of (1 - rate) Q + rate P and of Q, from those of P and of Q.

    The given weights are known to an ulp, centres to ``centre_error`` absolutely.
    """

    centres: Array
    p: Array
    q: Array
    difference: Array
    rate: float
    centre_error: float

    @staticmethod
    def of(centres: Array, p: Array, q: Array, rate: float, centre_error: float) -> PairLogRatio:
        """The log-ratio of the given weights."""
        return PairLogRatio(centres, (1 - rate) * q + rate * p, q, rate * (p - q), rate, centre_error)

    @cached_property
    def exchanged(self) -> PairLogRatio:
        """The log-ratio of Q to P."""
        return PairLogRatio(self.centres, self.q, self.p, -self.difference, self.rate, self.centre_error)

    @cached_property
    def most(self) -> float:
        """An upper bound of l: the logarithm of the largest ratio of two weights, as P/Q is a mean of these ratios."""
        with np.errstate(divide="ignore"):  # components of P alone
            largest = float((self.difference / self.q).max())
        # derived: the ratio is at least one, and an ulp of each weight and of the rate moves it by a few ulp
        return math.log1p(largest) + 32 * ULP * (1 + largest) if math.isfinite(largest) else math.inf

    @property
    def of_rate(self) -> float:
        """The relative effect of half an ulp of the rate on 1 - rate."""
        return ULP * self.rate / (1 - self.rate) if self.rate < 1 else 0.0

    @cached_property
    def ranges(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The smallest and the largest centre of P, and of Q."""
        ends = []
        for weights in (self.p, self.q):
            own = self.centres[weights > 0]
            ends.append((float(own[0]) - self.centre_error, float(own[-1]) + self.centre_error))
        return ends[0], ends[1]

    @property
    def widths(self) -> tuple[float, float]:
        """The distances R_P and R_Q between outermost centres."""
        (low_p, high_p), (low_q, high_q) = self.ranges
        return high_p - low_p, high_q - low_q

    @property
    def span(self) -> float:
        """The distance between the outermost centres."""
        return float(self.centres[-1] - self.centres[0]) + 2 * self.centre_error

    @property
    def farthest(self) -> float:
        """The largest distance A between a centre of P and one of Q."""
        (low_p, high_p), (low_q, high_q) = self.ranges
        return max(high_p - low_q, high_q - low_p) * (1 + 4 * ULP)

    def at(self, x: Array) -> Points:
        """Both mixtures at given points."""
        rows = max(1, _BLOCK // self.centres.size)
        parts = [self._at(x[first : first + rows]) for first in range(0, x.size, rows)]
        return Points(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def _at(self, x: Array) -> tuple[Array, ...]:
        half = (x[:, None] - self.centres) ** 2 / 2
        least = half.min(axis=1, keepdims=True)
        term = np.exp(least - half)
        # derived: the effect on a term of half a dozen roundings of its exponent, and of the error of its centre
        wrong = term * (ELEMENTARY + 6 * ULP * half + 2 * self.centre_error * (1 + np.sqrt(2 * half)))
        apart = np.abs(self.difference)
        weights = (self.p, self.q, self.difference)
        columns = np.stack([*weights, apart, *(one * self.centres for one in weights)], axis=1)
        p, q, difference, size, first_p, first_q, first = (term @ columns).T
        wrong_p, wrong_q, wrong_apart = (wrong @ np.stack([self.p, self.q, apart], axis=1)).T
        # the rounding of the sums over the terms
        sums = ULP * (8 + self.centres.size / 2)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # sums that underflow are computed again
            log_q = np.log(q) - least[:, 0]
            near = np.abs(difference) < q / 2
            loss = np.where(near, np.log1p(np.where(near, difference / q, 0.0)), np.log(p / q))
            loss_error = (wrong_apart + np.abs(difference) * wrong_q / q) / p + sums * size / np.minimum(p, q)
            # the effect of an ulp of every weight of P and Q on the difference
            loss_error += 4 * ULP * (size + 2 * self.rate * q) / p
            loss_error = np.where(near, loss_error, wrong_p / p + wrong_q / q + 2 * sums + self.of_rate) + ELEMENTARY * np.abs(
                loss
            )
            # the difference of the mean centres comes from the difference of the weights
            slope = np.abs(first - difference * first_q / q) / p + _SUM_ERROR * np.abs(self.centres).max() * size / p
            results = [log_q, loss, size / q, first_p / p, first_q / q, slope, wrong_q / q + sums]
        deep = ~(np.minimum(p, q) > _DEEP)
        if deep.any():
            (log_p, mean_p, unit_p), (own_q, mean_q, unit_q) = (self._alone(half[deep], one) for one in (self.p, self.q))
            # one of the two mixtures has a negligible share
            steep = np.abs(mean_p - mean_q) * (1 + _SUM_ERROR) + _SUM_ERROR * np.abs(self.centres).max()
            exchange = (own_q, log_p - own_q, np.full(own_q.shape, np.inf), mean_p, mean_q, steep, unit_q)
            for result, other in zip(results, exchange, strict=True):
                result[deep] = other
            loss_error[deep] = unit_p + unit_q + self.of_rate + ELEMENTARY * (np.abs(log_p) + np.abs(own_q))
        log_q, loss, ratio, mean_p, mean_q, slope, unit = results
        unit = unit + 4 * ULP * (4 + np.abs(log_q))
        return x, log_q - LOG_ROOT_TWO_PI, loss, ratio, mean_p, mean_q, slope, unit, loss_error

    def _alone(self, half: Array, weights: Array) -> tuple[Array, Array, Array]:
        """The logarithm of one mixture, its mean centre and its relative error."""
        held = weights > 0
        exponent = np.log(weights[held]) - half[:, held]
        peak = exponent.max(axis=1, keepdims=True)
        term = np.exp(exponent - peak)
        total = term.sum(axis=1)
        own = half[:, held]
        wrong = term * (ELEMENTARY * (2 + np.abs(exponent)) + 6 * ULP * own + 2 * self.centre_error * (1 + np.sqrt(2 * own)))
        unit = wrong.sum(axis=1) / total + ULP * (8 + self.centres.size / 2)
        return np.log(total) + peak[:, 0], term @ self.centres[held] / total, unit

    def covering_range(self, points: Points, powers: Array, log_goal: Array) -> tuple[float, float] | None:
        """The points between which all but a share e^goal of P^c Q^{1-c} lies, for each power; None if there are too few."""
        enough = [np.flatnonzero((self.log_tail(points, powers, sign) <= log_goal).all(axis=1)) for sign in (-1, 1)]
        if not all(one.size for one in enough):
            return None
        return float(points.x[enough[0][-1]]), float(points.x[enough[1][0]])

    def log_outside(self, points: Points, powers: Array) -> Array:
        """Logarithms of the mass outside of the first and last point, for each power."""
        first, last = points.within(slice(1)), points.within(slice(-1, None))
        return np.asarray(np.logaddexp(self.log_tail(first, powers, -1)[0], self.log_tail(last, powers, 1)[0]))

    def log_tail(self, points: Points, powers: Array, sign: int) -> Array:
        """Logarithms of the integral of P^c Q^{1-c} outward from each point, (point, power); infinite if no bound is known."""
        slope = -sign * points.x[:, None]
        for mean, (low, high), power in zip((points.mean_p, points.mean_q), self.ranges, (powers, 1 - powers), strict=True):
            # outward, the mean of the centres approaches the outermost one
            there = high if sign > 0 else low
            slope = slope + np.maximum(sign * power * mean[:, None], sign * power * there)
        fall = -slope - LOG_ROUNDING * (1 + np.abs(powers) * self.farthest)
        size = points.log_tilted(powers[:, None]).T + np.abs(powers) * points.loss_error[:, None] + points.unit[:, None]
        return np.where(fall > 0, size - np.log(np.where(fall > 0, fall, 1.0)) + LOG_ROUNDING * (1 + np.abs(size)), np.inf)

    @property
    def coarse_step(self) -> float:
        """A step over which the mixtures change little."""
        return _COARSE / max(1.0, self.span)

    @cached_property
    def _narrowest(self) -> _Table:
        return _Table(self, 0)

    def coarse(self, powers: Array) -> Points | None:
        """Points that cover nearly all of P^c Q^{1-c} for each power; None if there would be too many."""
        table = self._narrowest
        for _ in range(_LEVELS):
            points = table.points
            if points is None:
                return None
            within = log_sum(points.log_tilted(powers[:, None])) + math.log(self.coarse_step)
            if (self.log_outside(points, powers) < within - _OUTSIDE).all():
                return points
            table = table.wider
        return None

    @cached_property
    def fine(self) -> tuple[float, Points] | None:
        """A step, and points at that distance, for the decay of the transform."""
        h = self.coarse_step / _FINER
        low, high = self.centres[0] - _FAR, self.centres[-1] + _FAR
        if not (high - low) / h < MOST:
            return None
        return h, self.at(h * np.arange(math.floor(low / h), math.ceil(high / h) + 1.0))

    @property
    def disc(self) -> float:
        """A radius v such that l is analytic on discs around all real numbers, with some margin."""
        return _DISC / max(1.0, *self.widths)

    def points_in_disc(self, h: float) -> int:
        """One more than the number of points, h apart, within the radius of a disc."""
        return math.ceil(self.disc / h) + 1

    def largest(self, points: Points, h: float) -> Array:
        """Bounds of |l| on the discs around each inner cell, from points at distance h.

        By Cauchy's estimate the k-th derivative of l is at most k!/v^k times such a bound.
        """
        v, (width_p, width_q) = self.disc, self.widths
        # one bound is from |P/Q - 1|, the other from the modulus and the argument of P/Q
        near = points.ratio * math.exp(self.span * h) / math.cos(v * width_q / 2)
        far = np.abs(points.loss) + self.farthest * h - math.log(math.cos(v * max(width_p, width_q) / 2)) + v * self.farthest
        size = np.where(near < 0.9, np.minimum(-np.log1p(-np.minimum(near, 0.9)), far), far)
        most: Array = np.lib.stride_tricks.sliding_window_view(size, 2 * self.points_in_disc(h)).max(axis=1)
        return most * (1 + MASS_ROUNDING)


@dataclass(frozen=True, eq=False)
class _Table:
    """Points of a coarse sum: they cover all centres and a margin, which doubles with each level."""

    pair: PairLogRatio
    level: int

    @cached_property
    def points(self) -> Points | None:
        """The points; None if there would be too many."""
        margin, step, centres = _FAR * 2.0**self.level, self.pair.coarse_step, self.pair.centres
        first, last = (math.ceil(end / step) for end in (centres[0] - margin, centres[-1] + margin))
        return None if last - first > MOST else self.pair.at(step * np.arange(first, last + 1.0))

    @cached_property
    def wider(self) -> _Table:
        """The table of the next level."""
        return _Table(self.pair, self.level + 1)
