"""Renyi divergences of sums of discrete Gaussians that are shifted by integers, from their probabilities.

notation: P(x) is proportional to e^{-x^2 / (2 v)} Theta(x), v = n sigma^2, and Theta has the period n
(:mod:`logphi.mechanisms.integer_noise.discrete_gaussian_shift`). By completing the square, a shift by s has

    K_s(z) = z (z + 1) s^2 / (2 v) + log( sum of e^{-(x - (1 + z) s)^2 / (2 v)} Theta(x - s)^{1 + z} Theta(x)^{-z} )
                                   - log( sum of e^{-x^2 / (2 v)} Theta(x) ).

Both sums are over all integers; the first one is taken near (1 + z) s, and the largest value of the powers of Theta bounds the
rest. The divergences of coordinates add, so that K(z) of a difference v of integers is at most the sum of all v_i^2 times the
largest K_s(z) / s^2.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from logphi.arith.floats import ULP
from logphi.arith.summation import log_sum
from logphi.arrays import Array
from logphi.mechanisms.integer_noise.discrete_gaussian_shift import theta

# chosen: e to minus this is a quarter of a rounding
_NEGLIGIBLE = 38.0
# measured: so many terms for small z and all shifts take up to three seconds for all z
_MOST_TERMS = 10_000
# measured: more terms count for larger z, and with so many parts of the z hardly any are computed in vain
_PARTS = 64
# chosen: the z at which sums are taken; the chords of K between them, which is convex, are larger by less than 1e-4 of it, and
# rho by less than a hundredth
_PLACES = np.geomspace(1e-4, 1e4, 1900)


def largest_of_shifts(z: Array, sigma: float, parties: int, farthest: int) -> Array:
    """An upper bound of K_s(z) / s^2 for all s from 1 to ``farthest``, by chords; infinite where there is none."""
    known = _at_places(sigma, parties, farthest)
    if known is None:
        return np.full(z.shape, np.inf)
    line = np.interp(z, np.append(0.0, _PLACES), np.append(0.0, known)) * (1 + 16 * ULP)
    return np.where(z <= _PLACES[-1], line, np.inf)


@lru_cache(maxsize=64)
def rho_of_shifts(sigma: float, parties: int, farthest: int) -> float:
    """An upper bound of K_s(z) / (s^2 z (z + 1)) over all z > 0; infinite where there is none."""
    bounds, known = _at_places(sigma, parties, farthest), _log_theta(sigma, parties)
    if bounds is None or known is None:
        return math.inf
    logs, error = known
    # a shift by s is s shifts by one
    steps = float(np.abs(logs - np.roll(logs, 1)).max()) + 2 * error
    last = 1 / (2 * parties * sigma**2) + steps / _PLACES[-1] + (float(np.ptp(logs)) + 2 * error) / _PLACES[-1] ** 2
    smaller = np.append(0.0, _PLACES[:-1])
    return float(max(float((bounds / _PLACES / (1 + smaller)).max()), last) * (1 + 16 * ULP))


@lru_cache(maxsize=64)
def _at_places(sigma: float, parties: int, farthest: int) -> Array | None:
    """Upper bounds of the largest K_s(z) / s^2."""
    known = _log_theta(sigma, parties) if 2 * farthest * _width(parties * sigma**2, 0.0) <= _MOST_TERMS else None
    if known is None:
        return None
    bounds = [_shifted(_PLACES, sigma, parties, shift, known) / shift**2 for shift in range(1, farthest + 1)]
    return np.asarray(np.max(bounds, axis=0) * (1 + 4 * ULP))


@lru_cache(maxsize=16)
def _log_theta(sigma: float, parties: int) -> tuple[Array, float] | None:
    """The logarithm of Theta over a period, and a bound of its error."""
    found = theta(sigma, parties)
    if found is None:
        return None
    logs = np.log(found[0])
    return logs, 2 * found[1] + 2 * ULP * (1 + float(np.abs(logs).max()))


def _width(variance: float, more: float) -> float:
    """So far away a normal density is below e^-_NEGLIGIBLE and e^-more."""
    return math.sqrt(2 * variance * (_NEGLIGIBLE + more)) + 1


def _shifted(z: Array, sigma: float, parties: int, shift: int, known: tuple[Array, float]) -> Array:
    """An upper bound of K of one shift."""
    logs, error = known
    variance = parties * sigma**2
    place = np.arange(parties)
    powers = (1 + z[:, None]) * logs[(place - shift) % parties] - z[:, None] * logs[place]
    highest, spread = powers.max(axis=1), np.ptp(powers, axis=1)
    found = np.empty(z.shape)
    far = math.ceil(_width(variance, float(np.ptp(logs))))
    around = np.arange(-far, far + 1)
    # a part of the sum is a bound from below
    total = float(log_sum(logs[around % parties] - around**2 / (2 * variance)))
    for some in np.array_split(np.arange(z.size), min(_PARTS, z.size)):
        own, top = z[some], highest[some]
        reach = math.ceil(_width(variance, float(spread[some].max())))
        centre = (1 + own) * shift
        near = np.rint(centre).astype(np.int64)[:, None] + np.arange(-reach, reach + 1)
        away = (near - centre[:, None]) ** 2 / (2 * variance)
        exponent = powers[some[:, None], near % parties] - away
        inside = log_sum(exponent)
        # outside, terms fall at least as fast as a geometric series
        last = reach - 0.5
        outside = top + math.log(2 / -math.expm1(-last / variance)) - last**2 / (2 * variance)
        square = own * (own + 1) * shift**2 / (2 * variance)
        sizes = np.abs(top) + spread[some] + reach**2 / variance + reach * (2 + centre) / variance + abs(total)
        rounding = 2 * (1 + own) * error + ULP * (16 * sizes + 16 * square + 64 + 8 * reach)
        found[some] = square + np.logaddexp(inside, outside) - total + rounding
    return found
