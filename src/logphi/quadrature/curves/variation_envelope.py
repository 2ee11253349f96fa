"""An envelope for a curve with one factor, from the total variation of its tilted density.

notation as in :mod:`logphi.quadrature.curves.curve`: with l' = kappa q e^Y / w the density of e^{al} Q in l is e^u, where

    u(s) = g(s) + (a + 1) l(s) - Y(s) - log(kappa q),      |u''| <= 2 |g2| + |a + 1| kappa^2 r (1 - r) =: B,

r = q e^Y / w the share of the factor, which grows with Y. Within a cell of length h either e^u is monotone, or u' has a zero
and |u'| <= B h there: the variation of e^u is at most the difference of its values at both ends plus B h^2 times its maximum,
itself at most e^{B h^2 / 8} times the larger of them.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from logphi.arrays import Array
from logphi.quadrature.curves.curve import Curve
from logphi.quadrature.curves.gauss_legendre import parts_of
from logphi.quadrature.curves.panels import panels
from logphi.quadrature.density_envelope import log_density_envelope
from logphi.quadrature.values import MASS_ROUNDING

# measured: with this many cells, the variation is known to a few percent
_CELLS = 2048
# derived: sums of densities above e^600 times their mass overflow, and give no bound
_LARGE = 600.0
# chosen: two numbers for each abscissa of a few thousand laws, which a line asks for several times
_KEPT = 1 << 13


def log_variation_envelope(curve: Curve, abscissa: float, heights: Array) -> Array:
    """A proved upper bound of log |M(c + is)| - K(c) for all s >= t; nothing is assumed of atoms."""
    found = _variation(curve, abscissa)
    return np.zeros_like(heights) if found is None else log_density_envelope(found[0], heights, found[1])


@lru_cache(maxsize=_KEPT)
def _variation(curve: Curve, abscissa: float) -> tuple[float, float] | None:
    """The total variation of the density, and the share of the law that has it; None if unknown."""
    power = abscissa + 1
    found = panels(curve, np.array([power]), 0.0)
    if found is None:
        return None
    (factor,) = curve.factors
    s, h = np.linspace(found.start, found.end, _CELLS + 1, retstep=True)
    value = factor.value(s)
    bend = 2 * abs(curve.density[2])
    smooth, whole = -np.inf, -np.inf
    densities = []
    for tilt in (power, 1 - power) if curve.symmetric else (power,):
        body, all_of_it = parts_of(curve, found, tilt)
        smooth, whole = float(np.logaddexp(smooth, body)), float(np.logaddexp(whole, all_of_it))
        log_rise = factor.exponent(s) + np.log(factor.slope * factor.rate)
        densities.append((tilt, curve.log_density(s) + (tilt + 1) * value - log_rise))
    if curve.rest:
        whole = float(np.logaddexp(whole, np.log(curve.rest)))
    variation = 0.0
    share = factor.share(s, value)
    steepest = factor.slope**2 * np.minimum(np.maximum(share[1:], share[:-1]) * (1 + MASS_ROUNDING), 0.25)
    for tilt, log_density in densities:
        bent = (bend + abs(tilt + 1) * steepest) * h * h
        if not bent.max() < 1 or not log_density.max() - smooth < _LARGE:
            return None
        density = np.exp(log_density - smooth)
        most = np.maximum(density[1:], density[:-1])
        # the density falls outward from the last node; at zero the two sides of a symmetric curve meet
        variation += float(np.abs(np.diff(density)).sum() + (bent * np.exp(bent / 8)) @ most + density[-1])
        variation += 0.0 if curve.symmetric else float(density[0])
    weight = float(np.exp(min(smooth - whole, 0.0))) * (1 - MASS_ROUNDING)
    return variation * (1 + MASS_ROUNDING), weight
