"""The transform of the log-ratio of two mixtures of normal densities of one width: a trapezoidal sum with a proof.

notation: P = sum of p_i N(c_i, 1), Q = sum of q_i N(c_i, 1), l = log P/Q, a = z + 1, c = Re a, so that
M(z) = integral of P^a Q^{1-a}. R_P and R_Q are how far apart the centres of either are, A the largest distance between one of P
and one of Q. On x + iy the terms of Q are e^{y^2/2} times those at x, turned by angles that differ by y R_Q at most; so

    cos(y R_Q / 2) Q(x) <= e^{-y^2/2} |Q(x + iy)| <= Q(x),      |arg P/Q| <= y A,

likewise for P, and Q has no zero for y R_Q < pi. With r = sum of |p_i - q_i| N(c_i, 1)(x) / Q(x),

    |P/Q - 1| <= r(x) / cos(y R_Q / 2),

which is small where the mixtures are alike: then P/Q hardly turns, and a sum on the real axis serves high up the line. For
0 < y < v the integral of the modulus is at most N, and the rule with step h is wrong by 2 N / (e^{2 pi v/h} - 1)
(Trefethen & Weideman 2014, Theorem 5.1). Beyond the centres, log P^c Q^{1-c} falls at least as fast as the means of both
posterior laws say.

Of the decay little is needed, as P and Q may cross many times. Where |l'| <= u and P^c Q^{1-c} >= g on a cell, the law of l
has a density of at least g/u between the values of l at both ends: these steps are a part of the law whose total variation is
known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.quadrature.density_envelope import log_smooth_envelope
from logphi.quadrature.gauss_legendre import alike
from logphi.quadrature.log_ratio import Array
from logphi.quadrature.mixture_trapezoid import (
    INNER_TARGET,
    Nodes,
    SecondMoments,
    along_line,
    deviations,
    gathered,
    one_by_one,
    second_exp,
    to_log,
    weighted,
)
from logphi.quadrature.values import Line, Values

_LOG_ROOT = 0.5 * math.log(2 * math.pi)
# measured: nodes that take about a second, and numbers in an array at a time
_MOST, _BLOCK = 1 << 15, 1 << 21
# sums below it are formed again in their own unit
_DEEP = 1e-250
# shares of the widest strip that are tried; derived: below pi/2 cosines have room
_WAYS = np.linspace(0.04, 0.96, 24)
_WIDEST = 6.0
# measured: points of a rough sum in a unit of 1/R, and how far beyond the centres of a tilted law they go
_ROUGH, _FAR = 0.5, 16.0
# measured: how often that may double, and what may lie outside, as a logarithm
_LEVELS, _OUTSIDE = 8, 60.0
# derived: far above what rounding does to the logarithm of a bound, or to a mass
_SLACK, _ROOM = 1e-9, 1e-8
# measured: caps of a density with peaks, as shares of the largest
_CAPS = np.geomspace(1e-4, 1.0, 24)
# measured: for the decay, how fine cells are, and the radius of discs in a unit of 1/R
_FINER, _DISC = 4.0, 1.0
_COARSE_TARGET = -25.0
# derived: far above the relative error of a sum over terms none of which is below e^-1500 of the largest
_BLUR = 1e-11
# below this exponent an exponential does not overflow
_LARGE = 600.0


@dataclass(frozen=True, eq=False)
class Points:
    """Both mixtures at some places: log Q, l, r, the means of the centres given the place, a bound of |l'|, errors.

    ``unit`` is the error of log Q, ``slip`` that of l.
    """

    x: Array
    log_q: Array
    loss: Array
    ratio: Array
    mean_p: Array
    mean_q: Array
    slope: Array
    unit: Array
    slip: Array

    def within(self, part: slice) -> Points:
        """Some of the places."""
        return Points(*(getattr(self, one.name)[part] for one in fields(self)))

    def log_tilted(self, power: float | Array) -> Array:
        """Log P^c Q^{1-c}."""
        size: Array = self.log_q + power * self.loss
        return size


@dataclass(frozen=True, eq=False)
class Mixed:
    """Centres, increasing, and the weights of (1 - rate) Q + rate P and of Q, from those of P and of Q.

    These are known to an ulp, centres to ``place`` absolutely.
    """

    centres: Array
    p: Array
    q: Array
    difference: Array
    rate: float
    place: float

    @staticmethod
    def of(centres: Array, p: Array, q: Array, rate: float, place: float) -> Mixed:
        """From the weights of P and Q."""
        return Mixed(centres, (1 - rate) * q + rate * p, q, rate * (p - q), rate, place)

    @cached_property
    def exchanged(self) -> Mixed:
        """Q against P."""
        return Mixed(self.centres, self.q, self.p, -self.difference, self.rate, self.place)

    @property
    def unsure(self) -> float:
        """What half an ulp of the rate does to 1 - rate, relatively."""
        return ULP * self.rate / (1 - self.rate) if self.rate < 1 else 0.0

    @cached_property
    def ranges(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The least and the largest centre of P, and of Q."""
        ends = []
        for weights in (self.p, self.q):
            own = self.centres[weights > 0]
            ends.append((float(own[0]) - self.place, float(own[-1]) + self.place))
        return ends[0], ends[1]

    @property
    def widths(self) -> tuple[float, float]:
        """R_P and R_Q."""
        (low_p, high_p), (low_q, high_q) = self.ranges
        return high_p - low_p, high_q - low_q

    @property
    def span(self) -> float:
        """The distance between the outermost centres."""
        return float(self.centres[-1] - self.centres[0]) + 2 * self.place

    @property
    def apart(self) -> float:
        """A."""
        (low_p, high_p), (low_q, high_q) = self.ranges
        return max(high_p - low_q, high_q - low_p) * (1 + 4 * ULP)

    def at(self, x: Array) -> Points:
        """Both mixtures at places."""
        rows = max(1, _BLOCK // self.centres.size)
        parts = [self._at(x[first : first + rows]) for first in range(0, x.size, rows)]
        return Points(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def _at(self, x: Array) -> tuple[Array, ...]:
        half = (x[:, None] - self.centres) ** 2 / 2
        least = half.min(axis=1, keepdims=True)
        term = np.exp(least - half)
        # derived: what rounding and half an ulp of a centre do to a term; half a dozen of both exponents
        wrong = term * (ELEMENTARY + 6 * ULP * half + 2 * self.place * (1 + np.sqrt(2 * half)))
        apart = np.abs(self.difference)
        weights = (self.p, self.q, self.difference)
        columns = np.stack([*weights, apart, *(one * self.centres for one in weights)], axis=1)
        p, q, difference, size, first_p, first_q, first = (term @ columns).T
        wrong_p, wrong_q, wrong_apart = (wrong @ np.stack([self.p, self.q, apart], axis=1)).T
        # of the sums over the terms
        sums = ULP * (8 + self.centres.size / 2)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # sums that underflow: formed again
            log_q = np.log(q) - least[:, 0]
            near = np.abs(difference) < q / 2
            loss = np.where(near, np.log1p(np.where(near, difference / q, 0.0)), np.log(p / q))
            slip = (wrong_apart + np.abs(difference) * wrong_q / q) / p + sums * size / np.minimum(p, q)
            # what an ulp of every weight of P and Q does to the difference
            slip += 4 * ULP * (size + 2 * self.rate * q) / p
            slip = np.where(near, slip, wrong_p / p + wrong_q / q + 2 * sums + self.unsure) + ELEMENTARY * np.abs(loss)
            # the means of both centres differ by what the weights do
            slope = np.abs(first - difference * first_q / q) / p + _BLUR * np.abs(self.centres).max() * size / p
            results = [log_q, loss, size / q, first_p / p, first_q / q, slope, wrong_q / q + sums]
        deep = ~(np.minimum(p, q) > _DEEP)
        if deep.any():
            (log_p, mean_p, unit_p), (own_q, mean_q, unit_q) = (self._alone(half[deep], one) for one in (self.p, self.q))
            # one of the two has hardly a share of the other
            steep = np.abs(mean_p - mean_q) * (1 + _BLUR) + _BLUR * np.abs(self.centres).max()
            exchange = (own_q, log_p - own_q, np.full(own_q.shape, np.inf), mean_p, mean_q, steep, unit_q)
            for result, other in zip(results, exchange, strict=True):
                result[deep] = other
            slip[deep] = unit_p + unit_q + self.unsure + ELEMENTARY * (np.abs(log_p) + np.abs(own_q))
        log_q, loss, ratio, mean_p, mean_q, slope, unit = results
        unit = unit + 4 * ULP * (4 + np.abs(log_q))
        return x, log_q - _LOG_ROOT, loss, ratio, mean_p, mean_q, slope, unit, slip

    def _alone(self, half: Array, weights: Array) -> tuple[Array, Array, Array]:
        """The logarithm of one mixture, its mean centre and its relative error."""
        held = weights > 0
        exponent = np.log(weights[held]) - half[:, held]
        peak = exponent.max(axis=1, keepdims=True)
        term = np.exp(exponent - peak)
        total = term.sum(axis=1)
        own = half[:, held]
        wrong = term * (ELEMENTARY * (2 + np.abs(exponent)) + 6 * ULP * own + 2 * self.place * (1 + np.sqrt(2 * own)))
        unit = wrong.sum(axis=1) / total + ULP * (8 + self.centres.size / 2)
        return np.log(total) + peak[:, 0], term @ self.centres[held] / total, unit

    def ends(self, points: Points, powers: Array, log_goal: Array) -> tuple[float, float] | None:
        """Between which of some places all but e^goal of P^c Q^{1-c} lies for each power; None if it lies further out."""
        enough = [np.flatnonzero((self.log_beyond(points, powers, sign) <= log_goal).all(axis=1)) for sign in (-1, 1)]
        if not all(one.size for one in enough):
            return None
        return float(points.x[enough[0][-1]]), float(points.x[enough[1][0]])

    def log_outside(self, points: Points, powers: Array) -> Array:
        """Logarithms of what lies beyond the first and the last of some places, for each power."""
        below, above = (self.log_beyond(points, powers, sign)[at] for sign, at in ((-1, 0), (1, -1)))
        return np.asarray(np.logaddexp(below, above))

    def log_beyond(self, points: Points, powers: Array, sign: int) -> Array:
        """Logarithms of the integral of P^c Q^{1-c} from places outward, (place, power); infinite where no bound is known."""
        slope = -sign * points.x[:, None]
        for mean, (low, high), power in zip((points.mean_p, points.mean_q), self.ranges, (powers, 1 - powers), strict=True):
            # outward the mean of the centres goes on to the outermost
            there = high if sign > 0 else low
            slope = slope + np.maximum(sign * power * mean[:, None], sign * power * there)
        fall = -slope - _SLACK * (1 + np.abs(powers) * self.apart)
        size = points.log_tilted(powers[:, None]).T + np.abs(powers) * points.slip[:, None] + points.unit[:, None]
        return np.where(fall > 0, size - np.log(np.where(fall > 0, fall, 1.0)) + _SLACK * (1 + np.abs(size)), np.inf)

    @property
    def rough(self) -> float:
        """A step over which the mixtures change little."""
        return _ROUGH / max(1.0, self.span)

    @cached_property
    def _tables(self) -> list[Points]:
        return []

    def coarse(self, powers: Array) -> Points | None:
        """Points that hold nearly all of P^c Q^{1-c} for each power; None where these are too many."""
        for level in range(_LEVELS):
            if level == len(self._tables):
                reach = _FAR * 2.0**level
                first, last = (math.ceil(end / self.rough) for end in (self.centres[0] - reach, self.centres[-1] + reach))
                if last - first > _MOST:
                    return None
                self._tables.append(self.at(self.rough * np.arange(first, last + 1.0)))
            points = self._tables[level]
            within = _log_sum(points.log_tilted(powers[:, None]).T) + math.log(self.rough)
            if (self.log_outside(points, powers) < within - _OUTSIDE).all():
                return points
        return None

    @cached_property
    def fine(self) -> tuple[float, Points] | None:
        """A step and points with that distance, for how the transform decays."""
        h = self.rough / _FINER
        ends = (self.centres[0] - _FAR, self.centres[-1] + _FAR)
        if not (ends[1] - ends[0]) / h < _MOST:
            return None
        return h, self.at(h * np.arange(math.floor(ends[0] / h), math.ceil(ends[1] / h) + 1.0))

    @property
    def disc(self) -> float:
        """A radius v with which l is analytic on discs around all real numbers, and more."""
        return _DISC / max(1.0, *self.widths)

    def beside(self, h: float) -> int:
        """How many points with distances h lie within the radius, and one more."""
        return math.ceil(self.disc / h) + 1

    def largest(self, points: Points, h: float) -> Array:
        """Bounds of |l| on the discs around all numbers in each cell but the outermost, between points with distances h.

        By Cauchy's estimate the k-th derivative of l is at most k!/v^k times that.
        """
        v, (width_p, width_q) = self.disc, self.widths
        # by how much P/Q differs from one, or by its size and turn
        near = points.ratio * math.exp(self.span * h) / math.cos(v * width_q / 2)
        far = np.abs(points.loss) + self.apart * h - math.log(math.cos(v * max(width_p, width_q) / 2)) + v * self.apart
        size = np.where(near < 0.9, np.minimum(-np.log1p(-np.minimum(near, 0.9)), far), far)
        most: Array = np.lib.stride_tricks.sliding_window_view(size, 2 * self.beside(h)).max(axis=1)
        return most * (1 + _ROOM)


def _log_sum(exponent: Array) -> Array:
    """log(sum(exp)) along the first axis."""
    peak = exponent.max(axis=0)
    total: Array = peak + np.log(np.exp(exponent - peak).sum(axis=0))
    return total


@dataclass(frozen=True, eq=False)
class Strip:
    """Lines at distances v from the real one, and logarithms of bounds of what the integrand has on each."""

    v: Array
    log_most: Array

    @staticmethod
    def around(mixed: Mixed, points: Points, power: float, top: float) -> Strip:
        """For heights up to ``top``, from equally spaced points beyond which little lies.

        Between two of them log P^c Q^{1-c} moves by at most its slope, and r by a factor of at most e^{R h}, R
        the distance between the outermost centres.
        """
        h = float(points.x[1] - points.x[0])
        width_p, width_q = mixed.widths
        v = _WAYS * min(math.pi / max(width_p, width_q, 1e-300), _WIDEST)
        bend = 1 + (abs(power) * width_p**2 + abs(1 - power) * width_q**2) / 4
        slope = np.abs(power * points.mean_p + (1 - power) * points.mean_q - points.x) + h * bend
        log_size = points.log_tilted(power) + slope * h + math.log(h)
        half_p, half_q = np.cos(v * width_p / 2), np.cos(v * width_q / 2)
        near = points.ratio[:, None] * math.exp(mixed.span * h) / half_q
        turn = np.minimum(np.where(near < 1, np.arcsin(np.minimum(near, 1.0)), np.inf), v * mixed.apart)
        raised = v * v / 2 - max(power - 1, 0.0) * np.log(half_q) - max(-power, 0.0) * np.log(half_p)
        outside = mixed.log_outside(points, np.array([power]))[0] + top * v * mixed.apart
        own = np.logaddexp(_log_sum(log_size[:, None] + top * turn), outside) + raised
        # the parts that make the sum one of second order
        log_most = np.logaddexp(own, math.log(1 + 2 * (abs(power) + top)) + v * v / 2)
        return Strip(v, log_most + _SLACK * (1 + np.abs(log_most)))

    def step(self, log_goal: float) -> float:
        """The longest step for which the rule errs by less than a goal; with so few digits that its multiples are exact."""
        longest = float((2 * np.pi * self.v / np.maximum(self.log_most - log_goal + 1, 1.0)).max())
        return float(np.float32(longest * (1 - 1e-6)))

    def log_error(self, step: float) -> float:
        """The logarithm of what the rule errs by."""
        turns = 2 * np.pi * self.v / step
        return float((self.log_most - turns - np.log(-np.expm1(-turns))).min()) + math.log(2) + _SLACK


def _nodes(mixed: Mixed, powers: Array, top: float, log_target: float) -> Nodes | None:
    """The nodes for some powers and heights up to ``top``, with an error relative to each sum; None where they are many."""
    coarse = mixed.coarse(np.concatenate([powers, [0.0, 1.0]]))
    if coarse is None:
        return None
    log_mass = _log_sum(coarse.log_tilted(powers[:, None]).T) + math.log(mixed.rough)
    strips = [Strip.around(mixed, coarse, power, top) for power in powers.tolist()]
    step = min(own.step(mass + log_target) for own, mass in zip(strips, log_mass.tolist(), strict=True))
    every = np.concatenate([powers, [0.0, 1.0]])
    size = math.log(4 * (1 + float(np.abs(powers).max()) + top))
    log_goal = np.append(log_mass, [log_mass.min()] * 2) + log_target - size
    ends = mixed.ends(coarse, every, log_goal)
    if ends is None or not (ends[1] - ends[0]) / step < _MOST:
        return None
    points = mixed.at(step * np.arange(math.floor(ends[0] / step), math.ceil(ends[1] / step) + 1.0))
    nodes = gathered(points.loss[None, :], points.log_q + math.log(step), powers, points.unit, points.slip[None, :])
    beyond = mixed.log_outside(points, every)
    cut = [np.logaddexp(own, np.logaddexp(*beyond[-2:]) + size) for own in beyond[:-2]]
    log_wrong = np.array([np.logaddexp(own.log_error(step), lost) for own, lost in zip(strips, cut, strict=True)])
    return replace(nodes, inner=np.exp(np.minimum(log_wrong - nodes.log_mass[0], 700.0))[None, :])


def _unknown(size: int) -> Values:
    return Values(*np.full((3, size), np.inf))


def approximate(mixed: Mixed, abscissas: Array) -> Array:
    """K at real points to some digits, with no bound; infinite where it is out of reach."""
    values = np.full(abscissas.size, np.inf)
    for those in alike(abscissas):
        powers = abscissas[those] + 1
        coarse = mixed.coarse(powers)
        if coarse is not None:
            values[those] = log_mass(coarse, powers, mixed.rough)
    return values


def log_mass(points: Points, powers: Array, step: float) -> Array:
    """K on equally spaced points."""
    whole = _log_sum(points.log_tilted(powers[:, None]).T) + math.log(step)
    exponent = powers[:, None] * points.loss
    if not max(np.abs(exponent).max(), np.abs(points.loss).max()) < _LARGE:
        return whole
    excess = (second_exp(exponent) - powers[:, None] * second_exp(points.loss)) @ np.exp(points.log_q + math.log(step))
    near = np.abs(excess) < 0.5
    return np.where(near, np.log1p(np.where(near, excess, 0.0)), whole)


def on_axis(mixed: Mixed, abscissas: Array, count: int) -> Values:
    """K at real points; infinite where the nodes are too many."""
    values = _unknown(abscissas.size)
    for those in alike(abscissas):
        found = _nodes(mixed, abscissas[those] + 1, 0.0, math.log(INNER_TARGET / count))
        if found is not None:
            noise = to_log(found.noise.of_size(np.abs(abscissas[those])))
            part = weighted(np.ones(1), found.log_mass, noise, to_log(found.inner))
            values.mid[those], values.rounding[those], values.inner[those] = part.mid, part.rounding, part.inner
    return values


def at_heights(mixed: Mixed, abscissa: float, heights: Array, count: int) -> Values:
    """K at points of one vertical line, in any order."""
    # below the real axis the values are those above, conjugate
    values = _on_vertical(mixed, abscissa, np.abs(heights), count, one_by_one)
    return Values(np.where(heights < 0, values.mid.conj(), values.mid), values.rounding, values.inner)


def on_line(mixed: Mixed, line: Line, count: int) -> Values:
    """K on a line, as a matrix product."""
    return _on_vertical(mixed, line.abscissa, line.heights, count, along_line(line))


def _on_vertical(mixed: Mixed, abscissa: float, heights: Array, count: int, second_moments: SecondMoments) -> Values:
    top = float(heights.max())
    found = _nodes(mixed, np.array([abscissa + 1]), top, math.log(INNER_TARGET / count))
    if found is None:
        return _unknown(heights.size)
    return weighted(np.ones(1), *deviations(found, np.array([float(count)]), abscissa, heights, top, second_moments))


def log_envelope(mixed: Mixed, abscissa: float, heights: Array) -> Array:
    """A proved upper bound of log |M(c + is)| - K(c) for all s >= t, from a part of the law with a step density."""
    power = abscissa + 1
    found = _steps_of(mixed, power)
    envelope = np.zeros(heights.shape)
    if found is None:
        return envelope
    height, length = found
    for cap in _CAPS * np.abs(height).max():
        capped = np.clip(height, -cap, cap)
        weight = float(np.abs(capped) @ length)
        # where the loss turns back, one stretch ends and another begins
        variation = float(np.abs(np.diff(capped, prepend=0.0, append=0.0)).sum())
        if weight > 0:
            own = log_smooth_envelope(variation / weight * (1 + _ROOM), heights, min(weight * (1 - _ROOM), 1.0))
            envelope = np.minimum(envelope, own)
    return envelope


def _steps_of(mixed: Mixed, power: float) -> tuple[Array, Array] | None:
    """Cell by cell a density of the loss that the tilted law has at least, with the sign of the slope, and the lengths."""
    nodes = _nodes(mixed, np.array([power]), 0.0, _COARSE_TARGET)
    if nodes is None or mixed.fine is None:
        return None
    log_whole = float(nodes.log_mass[0, 0]) + float(nodes.inner[0, 0]) + _ROOM
    width_p, width_q = mixed.widths
    h, points = mixed.fine
    more = mixed.beside(h)
    v, windows = mixed.disc, mixed.largest(points, h)
    # between the ends of a cell a function is within h^2/8 times its second derivative of the chord
    inner = slice(more - 1, points.x.size - more + 1)
    steep, loss, slip = points.slope[inner], points.loss[inner], points.slip[inner]
    bend = 1 + (abs(power) * width_p**2 + abs(1 - power) * width_q**2) / 4
    log_size = (points.log_tilted(power) - points.unit - abs(power) * points.slip)[inner]
    steepest = np.maximum(steep[1:], steep[:-1]) + h * h / 8 * 6 * windows / v**3
    log_least = np.minimum(log_size[1:], log_size[:-1]) - h * h / 8 * bend - log_whole
    rise = np.diff(loss)
    sure = np.maximum(np.abs(rise) - slip[1:] - slip[:-1], 0.0)
    return np.where(sure > 0, np.sign(rise) * np.exp(log_least) / steepest, 0.0), sure
