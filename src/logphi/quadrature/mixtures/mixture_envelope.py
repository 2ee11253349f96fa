"""An envelope for log-ratios of normal mixtures: integrals on shifted lines, by trapezoidal sums with proved errors.

notation as in :mod:`logphi.quadrature.mixtures.log_ratio`. The density grows by e^{b^2/(2 C^2)} when the normal variable moves
to x + i b/C, 0 < b < pi, and there arg w lies in (0, b): for every height from t on,

    |M(c + it)| <= e^{b^2/(2 C^2)} E[ |w(X + ib/C)|^{c+1} e^{-t arg w(X + ib/C)} ].

For a nearly normal log-ratio the best b, about t E[l'/C] / (1/C^2 - (c+1) E[l''/C^2]) under the tilted law, gives its exact
decay; far up the line, where w has a constant part, the bound falls like the normal mass of w - p_0 < 1/t, faster than any
power. The mean is a trapezoidal sum: its integrand continues to x + iv/C with exponent half that of w at the angles b + v
and v - b each. For |v| < pi/4 its modulus stays below w^{c+1} (times a power of cosines where c + 1 < 0), because
arg w at b + v is at least that at v - b: where v <= b the latter is not positive, and where v > b both angles lie below
pi/2, and so far arg w grows, its derivative being sum of (c_i + c_j) a_i a_j cos((c_i - c_j) b/C) / (2 C |w|^2).

The cells of :mod:`logphi.quadrature.curves.shifted_line_envelope` cannot replace the sum: at rate 0.004, m = 1/1.1, c = 8 and t
= 30, log |chi| is -0.0101, the sum bounds it by -0.0066 and the cells by -0.0009, which many repetitions multiply.
"""

from __future__ import annotations

import numpy as np

from logphi.arith.floats import ELEMENTARY
from logphi.arrays import Array
from logphi.quadrature.mixtures.integration_range import cut_off, integration_range
from logphi.quadrature.mixtures.log_ratio import LogRatio

# chosen: the bound stops at this share of M(c)
FLOOR = 1e-12
# measured: errors of this size hardly widen a bound
_ERROR = 1e-5
# derived: the largest b, with which b + v stays below pi
_HIGHEST = 0.7 * np.pi
# derived: the largest v, below pi/4
_WIDEST = 0.225 * np.pi
# measured: shares of the widest strip that are tried, the best within a few percent of the optimum
_SHARES = np.linspace(0.02, 1.0, 24)
# measured: products of height and b that are tried, the best within a few percent of the optimum
_PRODUCTS = 2.0 ** np.arange(-5, 20)
# derived: exceeds the effect of rounding, and of half an ulp of m and q, on the exponent, for tilts below _TILT
_ROUNDING = 1e-9
# chosen: the largest exponent under a tilt, above which there is no bound
_TILT = 1e5
# derived: the exponential of this is a double
_LARGEST = 600.0
# chosen: the largest number of nodes
_MAX_NODES = 4096


def log_mixture_envelope(mixtures: LogRatio, abscissa: float | Array, heights: Array, floor: float = FLOOR) -> Array:
    """A proved upper bound of log |M(c + is)| - K(c) for all s >= t.

    Parameters
    ----------
    mixtures
        The mixtures; their counts say how accurate the bound must be.
    abscissa
        The real number c, or one for each mixture, a column.
    heights
        The heights t, positive and increasing: the same for all mixtures, or (mixtures, heights).
    floor
        The bound stops at this share of M(c); a larger one is faster.

    Returns
    -------
    ndarray
        Of shape (mixtures, heights), not positive and decreasing; zero where the grid would be too long.
    """
    m = mixtures.shift[:, None]
    power = np.array(abscissa + 1.0, ndmin=1)
    negative = np.maximum(-power, 0.0)
    # where the integrand grows by more than 1/floor, the bound is above one
    growth = 2 - np.log(floor)
    most = np.minimum(np.minimum(_HIGHEST, np.sqrt(8 * growth / np.maximum(negative, 1e-300))), m * np.sqrt(2 * growth))
    log_growth = most * most / (2 * m * m) - negative * np.log(np.cos(most / 2))
    log_error = np.log(np.minimum(min(floor, _ERROR), 1e-3 / mixtures.count))[:, None]
    step = float((_strip_step(m, most, negative, log_error) / m).min())
    low, high = integration_range(mixtures, float(power.min()), float(power.max()), float((log_error - log_growth).min()))
    size = (high - low) / step
    if not size <= _MAX_NODES:
        return np.zeros((m.size, heights.shape[-1]))
    x = low + step * np.arange(size + 1)
    if (m * x - m * m / 2).max() > _LARGEST:
        return np.zeros((m.size, heights.shape[-1]))
    loss = mixtures.value(x)
    exponent = power * loss - x * x / 2
    peak = exponent.max(axis=1, keepdims=True)
    weight = np.exp(exponent - peak)
    total = weight.sum(axis=1, keepdims=True)
    weight /= total
    log_mass = peak + np.log(total * (step / np.sqrt(2 * np.pi)))
    log_density = np.log(step / np.sqrt(2 * np.pi)) - x * x / 2
    cut = cut_off(x, mixtures, loss, power, log_density, log_mass) * np.exp(log_growth)
    if np.abs(power * loss).max() > _TILT:
        return np.zeros((m.size, heights.shape[-1]))
    # no term grows by more than e^log_growth; negligible nodes are dropped, and their sum is bounded
    kept = (weight * np.exp(log_growth - log_error) > 1 / x.size).any(axis=0)
    cut += weight[:, ~kept].sum(axis=1, keepdims=True) * np.exp(log_growth)
    x, loss, weight = x[kept], loss[:, kept], weight[:, kept]

    slope, curvature = mixtures.curvature(x, loss)
    stiffness = np.maximum(1 / (m * m) - power * (weight * curvature).sum(axis=1, keepdims=True), 1e-300)
    b = _best(weight, slope, stiffness, heights, most)
    turn, log_size = mixtures.continued(x, loss, b)
    gain = power[..., None] * log_size
    raising = (b * b / (2 * m * m))[:, :, None]
    change = raising * (1 + _ROUNDING) - heights[..., None] * turn * (1 - _ROUNDING) + gain + _ROUNDING * np.abs(gain)
    change += 1e-14 * np.abs(power[..., None]) * (b * b)[:, :, None]
    ratio = (np.expm1(np.minimum(change, 700.0)) @ weight[:, :, None])[:, :, 0]
    # the rounding of the weights
    relative = 1e-15 * (100 + 4 * float(np.abs(exponent).max())) + 2 * np.abs(power) * ELEMENTARY * float(
        mixtures.relative_error(x, loss).max()
    )
    error = 4 * np.exp(log_error) + 3 * cut
    bound: Array = np.log1p(np.minimum(ratio + relative * np.abs(ratio) + error, 0.0))
    return np.minimum.accumulate(bound, axis=1)


def _best(weight: Array, share: Array, stiffness: Array, heights: Array, most: Array) -> Array:
    """An approximate minimiser b of b^2 stiffness / 2 + log E[e^{-t s b}] at each height t; any b gives a bound."""
    # relative to the smallest share of any weight, whose factor underflows last
    least = share.min(axis=1, keepdims=True, where=weight > 0, initial=np.inf)
    fade = np.exp(-_PRODUCTS[:, None] * np.maximum(share - least, 0.0)[:, None, :])
    left = (fade @ weight[:, :, None])[:, :, 0]
    slope = (fade @ (weight * share)[:, :, None])[:, :, 0] / left
    b = _PRODUCTS[:, None] / heights[..., None, :]
    cost = b * b * stiffness[:, :, None] / 2 + (np.log(left) - _PRODUCTS * least)[:, :, None]
    nearest = np.where(b <= most[:, :, None], cost, np.inf).argmin(axis=1)
    slope = np.take_along_axis(slope, nearest, axis=1)
    with np.errstate(over="ignore"):  # any height, over a small stiffness: the largest b then
        return np.asarray(np.minimum(heights * slope / stiffness, most))


def _strip_step(m: Array, most: Array, negative: Array, log_error: Array) -> Array:
    """The largest step in y whose two trapezoidal sums err by less than the error, relative to M(c)."""
    # beyond a few m, e^{v^2 / (2 m^2)} outweighs the wider strip
    v = np.minimum(_WIDEST, 3 * m * np.sqrt(-2 * log_error)) * _SHARES
    growth = np.log(2) + (v * v + most * most) / (2 * m * m) - log_error
    if negative.any():
        growth -= 0.5 * negative * (np.log(np.cos((most + v) / 2)) + np.log(np.cos(np.maximum(most, v) / 2)))
    return np.asarray((2 * np.pi * v / (growth + 0.1)).max(axis=1, keepdims=True))
