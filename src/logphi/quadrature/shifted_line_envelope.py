"""An envelope for a curve with several factors on the whole line: the integral on a shifted line, bounded cell by cell.

notation as in :mod:`logphi.quadrature.curve`. On s + ib, 0 < b < pi / (2 |kappa|), log |w_k| and |arg w_k| are
monotone in s, and all factors turn e^{itl} the same way:

    |M(c + it)| <= e^{B b^2} integral of e^{g(s)} |w_1|^a ... e^{-t |arg|} ds,

where the density grows by at most e^{B b^2}; cells bound this from above by their ends. Below the height S from which the ratio
|chi| to M(c) is less than E,

    1 - |chi(t)|^2 >= (1 - |chi(2^m t)|^2) / 4^m,     |chi(t)|^2 <= 1 - (t / 2S)^2 (1 - E^2),

as in :mod:`logphi.quadrature.density_envelope`. The sharper trapezoidal sum of
:mod:`logphi.quadrature.mixture_envelope` is proved for shifts of one sign only; cells need no more than monotone factors.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from logphi.arrays import Array
from logphi.quadrature.curve import Curve
from logphi.quadrature.gauss_legendre import parts_of
from logphi.quadrature.log_ratio import rotated
from logphi.quadrature.panels import log_tail, panels
from logphi.quadrature.values import MASS_ROUNDING

# measured: distances from the axis, relative to the largest, and cells; more of either gain little
_DISTANCES = np.geomspace(1 / 64, 1.0, 14)
_CELLS = 640
# derived: below pi/2
_WIDEST = 1.57
# measured: a line on which the integrand grows by more than e^35 gives no better bound
_RISE = 35.0
# measured: the values of S, times the steepness of the loss, that are tried
_STARTS = 2.0 ** np.arange(-6, 30, 0.5)
# chosen: what serves all heights of a line is asked for several times
_KEPT = 1 << 10


def log_shifted_line_envelope(curve: Curve, abscissa: float, heights: Array) -> Array:
    """A proved upper bound of log |M(c + is)| - K(c) for all s >= t, of a curve without atoms."""
    found = _at_starts(curve, abscissa + 1)
    if found is None:
        return np.zeros_like(heights)
    ends, log_mass, from_start = found
    start = _STARTS / curve.steepness
    own = np.minimum(_log_bound(curve, abscissa + 1, heights, *ends) - log_mass, 0.0)
    # the best of the bounds that start at or above each height
    gap = -np.expm1(2 * from_start) / (2 * start) ** 2 * (1 - MASS_ROUNDING)
    best = np.maximum.accumulate(gap[::-1])[::-1]
    at = np.searchsorted(start, heights)
    left = np.where(at < start.size, heights**2 * best[np.minimum(at, start.size - 1)], 0.0)
    near = 0.5 * np.log1p(-np.minimum(left, 0.5))
    return np.asarray(np.minimum.accumulate(np.minimum(own, near)))


@lru_cache(maxsize=_KEPT)
def _at_starts(curve: Curve, power: float) -> tuple[tuple[float, float], float, Array] | None:
    """The ends of the cells, a lower bound of K, and the bounds at the heights S; None if unknown."""
    found = panels(curve, np.array([power]), 0.0)
    if found is None:
        return None
    log_mass = parts_of(curve, found, power)[0] - MASS_ROUNDING
    bound = _log_bound(curve, power, _STARTS / curve.steepness, found.start, found.end) - log_mass
    return (found.start, found.end), log_mass, np.minimum(bound, 0.0)


def _log_bound(curve: Curve, power: float, heights: Array, start: float, end: float) -> Array:
    """Logarithms of bounds of |M| from each height on."""
    slope, bend = max(abs(factor.slope) for factor in curve.factors), curve.bend
    farthest = min(_WIDEST / slope, np.sqrt(_RISE / max(bend, 1e-300)))
    s, h = np.linspace(start, end, _CELLS + 1, retstep=True)
    log_density = curve.highest(s[:-1], s[1:]) + np.log(h)
    values = [factor.value(s) for factor in curve.factors]
    ends = ((start, -1), (end, 1))
    log_outside = np.logaddexp.reduce([log_tail(curve, np.array([power]), np.array([e]), side)[1, 0, 0] for e, side in ends])
    best = np.full(heights.shape, np.inf)
    for b in _DISTANCES * farthest:
        raise_by = bend * b * b
        log_size, turn, shrunk = log_density + raise_by, np.zeros(s.size - 1), 0.0
        for factor, value in zip(curve.factors, values, strict=True):
            theta = abs(factor.slope) * b
            arg, grown = rotated(factor.share(s, value), np.asarray(theta))
            exponent = factor.sign * power + factor.own
            part = exponent * (value + grown)
            log_size = log_size + np.maximum(part[1:], part[:-1])
            turn += np.minimum(arg[1:], arg[:-1])
            shrunk += max(-exponent, 0.0) * -np.log(np.cos(theta / 2))
        total = np.logaddexp.reduce(log_size - heights[:, None] * turn * (1 - MASS_ROUNDING), axis=1)
        best = np.minimum(best, np.logaddexp(total, log_outside + raise_by + shrunk))
    # a margin for the rounding of exponents
    return best + 1e-12 * (1 + abs(power)) * (1 + abs(start) + abs(end)) * curve.steepness + 1e-11
