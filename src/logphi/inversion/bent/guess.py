"""Guesses of the integrand of a bent contour at trial vertices, and of the answer, without bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import log_ndtr

from logphi.arith.floats import LOG_ROOT_TWO_PI
from logphi.arrays import Array
from logphi.inversion.bent.clipped_ceiling import SampledPairs

# measured: distances of the vertex from the nearest pole that are tried, times that of the threshold from the least loss
_VERTICES = np.geomspace(1e-5, 1e7, 61)
# measured: the step of the sums over x is the smaller of the first number and of the second over m
_GRID, _GRID_TURN = 0.2, 0.3
# measured: the lower end of x, and the distance of the upper end above m
_LOWEST, _HIGHEST = -7.0, 38.0
# measured: for larger m the sums take more than a tenth of a second
_LARGEST_SHIFT = 60.0
# chosen: lower caps, over the threshold, that are tried for one large loss among small ones
_LOWER_CAPS = (0.3, 0.5, 0.75)
# chosen: higher caps, over the threshold, that are tried with each lower one
_CAPS = np.array([0.9, 1.0, 1.15, 1.4])
# chosen: the number of thresholds in the cache, as several routes ask for the same one in turn
_KEPT = 4
# derived: below these exponents nothing overflows
_LARGE = 600.0
# derived: the exponential of its exponential is a double
_MANY = 6.0
# derived: its logarithm is finite, and it adds nothing to other sums
_LEAST = 1e-300


@dataclass(frozen=True)
class ApproximateLaw:
    """Guesses for n copies of one law, clipped at ends x. All are logarithms; arrays of two axes are (vertex, end).

    ``log_c`` is that of C^n, ``tilted`` that of the density phi w^{z+1}, ``log_large`` that of n times its integral from x on,
    and ``log_farther`` that of n times this density at a vertex half as far again. ``log_q_mass`` and ``log_p_mass`` are those
    of n times the masses above x.
    """

    x: Array
    log_c: Array
    tilted: Array
    loss: Array
    log_large: Array
    log_farther: Array
    log_q_mass: Array
    log_p_mass: Array

    @staticmethod
    def of(m: float, q: float, count: int, powers: Array) -> ApproximateLaw:
        """The guesses for a law at values of Re z + 1."""
        x = np.arange(_LOWEST, m + _HIGHEST, min(_GRID, _GRID_TURN / m))
        exponent = m * x - m * m / 2
        loss = np.where(exponent < _LARGE, np.log1p(q * np.expm1(np.minimum(exponent, _LARGE))), math.log(q) + exponent)
        log_density = -x * x / 2 - LOG_ROOT_TWO_PI
        mass = np.exp(log_density) * (x[1] - x[0])
        growth = powers[:, None] * loss
        bounded = np.minimum(growth, _LARGE)
        less_one = np.cumsum(np.expm1(bounded) * mass, axis=1)
        small = less_one < -0.5
        whole = np.log(np.cumsum(np.exp(bounded) * mass, axis=1) + _LEAST)
        log_c = count * np.where(small, whole, np.log1p(np.where(small, 0.0, less_one)))
        log_count, tilted = math.log(count), growth + log_density
        own, other = log_ndtr(-x), log_ndtr(m - x)
        return ApproximateLaw(
            x,
            np.where(np.maximum.accumulate(growth, axis=1) < _LARGE, log_c, np.inf),
            tilted,
            loss,
            log_count + math.log(x[1] - x[0]) + _log_sums_from(tilted),
            log_count + log_density + 1.5 * (growth - loss) + loss,
            log_count + own,
            log_count + np.logaddexp(own, math.log(q) + other),
        )


def _log_sums_from(log_terms: Array) -> Array:
    """Logarithms of the sums of e^terms from each column on."""
    peak = log_terms.max(axis=1, keepdims=True)
    sums = np.cumsum(np.exp(log_terms - peak)[:, ::-1], axis=1)[:, ::-1]
    # a sum that underflows is about its first term
    return np.asarray(np.maximum(peak + np.log(sums + _LEAST), log_terms))


@dataclass(frozen=True)
class TriedVertices:
    """Trial vertices for a threshold, with the kernel and all laws there, and a guess of the logarithm of the answer."""

    depth: float
    distance: Array
    vertices: Array
    kernel: Array
    laws: tuple[ApproximateLaw, ...]
    log_answer: float

    @staticmethod
    @lru_cache(maxsize=_KEPT)
    def of(terms: SampledPairs, x: float) -> TriedVertices | None:
        """The vertices for the excess or, up to zero, the reversed excess; None below the least loss, or for far too many x."""
        depth = x - sum(n * math.log1p(-q) for _, q, _, _, n in terms)
        # below the least loss the excess needs no integral
        if not depth > 0 or max(m for m, *_ in terms) > _LARGEST_SHIFT:
            return None
        distance = _VERTICES / depth
        vertices = distance if x > 0 else -1 - distance
        laws = tuple(ApproximateLaw.of(m, q, n, vertices + 1) for m, q, _, _, n in terms)
        kernel = -vertices * x - np.log1p(distance)
        return TriedVertices(depth, distance, vertices, kernel, laws, _guess(laws, kernel, x))


def log_guess(terms: SampledPairs, x: float) -> float | None:
    """A guess, somewhat too low, of the logarithm of the excess or, up to zero, of the reversed excess."""
    axis = TriedVertices.of(terms, x)
    return None if axis is None else axis.log_answer


def _guess(laws: Sequence[ApproximateLaw], kernel: Array, x: float) -> float:
    """A guess of the logarithm of the answer, somewhat below the least sum of clipped mass and Chernoff's bound of the rest."""
    total, beyond = kernel.copy(), np.full(kernel.size, -np.inf)
    rows = np.arange(kernel.size)
    for one in laws:
        # the law is clipped where its tilted density is smallest, before it rises again
        start = int(np.searchsorted(one.x, 1.0))
        valley = start + one.tilted[:, start:].argmin(axis=1)
        total += one.log_c[rows, valley]
        beyond = np.logaddexp(beyond, one.log_p_mass[valley] if x > 0 else one.log_q_mass[valley] + x)
    both = float(np.logaddexp(total, beyond).min())
    return (min(both, _one_large(laws, kernel, x)) if x > 0 else both) - 2.0


def _one_large(laws: Sequence[ApproximateLaw], kernel: Array, x: float) -> float:
    """A guess of the logarithm of the answer, as a sum of three parts.

    In the first, no loss is above a lower cap; in the second, some losses are, but none is above a higher cap; in the third,
    some loss is above the higher cap.
    """
    best = math.inf
    ends = [np.minimum(np.searchsorted(one.loss, _CAPS * x), one.x.size - 1) for one in laws]
    above = np.logaddexp.reduce([one.log_p_mass[end] for one, end in zip(laws, ends, strict=True)])
    farther = [one.log_large[:, end] for one, end in zip(laws, ends, strict=True)]
    for low in _LOWER_CAPS:
        places = [min(int(np.searchsorted(one.loss, low * x)), one.x.size - 1) for one in laws]
        without = kernel + sum(one.log_c[:, place] for one, place in zip(laws, places, strict=True))
        none = float(np.fmin.reduce(without))
        some = np.full((kernel.size, _CAPS.size), -np.inf)
        for one, place, end, rest in zip(laws, places, ends, farther, strict=True):
            # losses from the lower cap to the higher one
            own = one.log_large[:, place, None]
            part = own + np.log(-np.expm1(np.minimum(rest - own, -1e-15)))
            some = np.logaddexp(some, np.where(end > place, part, -np.inf))
        # of losses between the caps there may be several
        mean = np.exp(np.clip(some, -_LARGE, _MANY))
        some = np.where(some < _MANY, some + np.log(np.expm1(mean) / mean), np.inf)
        heights = np.fmin.reduce(without[:, None] + np.where(np.isfinite(some), some, np.inf))
        best = min(best, float(np.logaddexp.reduce([np.full(_CAPS.size, none), heights, above]).min()))
    return best
