"""The inner integrals of many mixtures at once: nodes are collected on common panels, and the transform is interpolated there.

notation as in :mod:`logphi.quadrature.mixture_trapezoid`. With h_a(l) = e^{al} - 1 - a (e^l - 1), M(z) - 1 = E[h_a(l)]: linear
in the law of l, and g_a(l) = h_a(l)/l^2 is entire. Each node l of each mixture, with its weight times l^2, becomes Chebyshev
moments on the panel that holds it; at z only the coefficients of g_a on the panels are computed, and all M(z) are one matrix
product.
The interpolant of degree N at Chebyshev points errs by at most 4 V rho^{-N} / (rho - 1), V the maximum of g_a on the
Bernstein ellipse rho (Trefethen 2019, *Approximation Theory and Approximation Practice*, Theorem 8.2), here

    |g_a(l)| <= |a| (|a| + 1)/2 max(1, |e^l|, |e^{al}|).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ULP, complex_log1p
from logphi.arrays import Array
from logphi.quadrature.inner_integral import INNER_TARGET, weighted
from logphi.quadrature.integration_range import cut_off, ends
from logphi.quadrature.log_ratio import TwoComponents
from logphi.quadrature.mixture_trapezoid import on_line, steps
from logphi.quadrature.second_order_sums import second_turn
from logphi.quadrature.values import Line, Values

# measured: from this number of mixtures on, panels are faster
MANY = 64
# measured: the degree of the interpolants, the most panels, and the error that each may add to the sum
_DEGREE = 24
_PANELS = 256
_SHARE = 1e-14
_DROPPED = 1e-24
_RHO = np.geomspace(1.1, 60.0, 40)
# measured: with more nodes, sorting takes longer than it saves
_MAX_NODES = 1 << 21
# derived: squares of exponentials of larger exponents overflow
_LARGE = 300.0


@dataclass(frozen=True)
class _Powers:
    """The range of Re a and the largest |Im a| that a set of panels serves."""

    low: float
    high: float
    top: float

    @property
    def size(self) -> float:
        """The largest |a|."""
        return float(np.hypot(max(-self.low, self.high), self.top))

    def log_size(self, low: Any, high: Any, aside: Any = 0.0) -> Any:
        """A bound of max(0, Re l, Re al) over low <= Re l <= high, |Im l| <= aside."""
        ends = (np.maximum(self.high, 1.0) * high, np.minimum(self.low, 0.0) * low)
        return np.maximum(np.maximum(*ends), 0.0) + self.top * aside


def on_line_batched(mixtures: TwoComponents, line: Line) -> Values:
    """The sum of count times K on a line; mixtures that would need too many panels are summed separately."""
    a = line.points + 1
    powers = _Powers(line.abscissa + 1, line.abscissa + 1, line.step * line.size)
    total = Values(np.zeros(line.size, dtype=complex), np.zeros(line.size), np.zeros(line.size))
    for part in mixtures.chunks(200):
        moments = _moments(part, powers, mixtures.shift.size)
        total += on_line(part, line) if moments is None else _transform(part.count, moments, a)
    return total


@dataclass(frozen=True)
class _Moments:
    """Chebyshev moments of the weighted laws, (mixture, panel, degree), and what bounds their errors.

    W is the largest of 1, |e^l| and |e^{al}|, ``growth`` its largest value on each panel. By mixture and panel, ``mass`` sums
    the weights times l^2, ``tilted`` those times l^2 W, ``mass_error`` those times l^2 W times their relative errors,
    ``loss_error`` those times |l| W times the error of l. ``omitted`` bounds what the trapezoidal sum of each mixture omits.
    """

    centre: Array
    half: Array
    error: Array
    growth: Array
    moments: Array
    mass: Array
    tilted: Array
    mass_error: Array
    loss_error: Array
    omitted: Array


def _moments(mixtures: TwoComponents, powers: _Powers, total: int) -> _Moments | None:
    """The nodes of the mixture trapezoid, untilted, sorted into panels; ``total`` mixtures share the error."""
    m = mixtures.shift[:, None]
    # the errors of all add up
    log_target = np.log(INNER_TARGET / mixtures.count / max(total / MANY, 1.0))
    step = float(steps(mixtures, np.array([powers.low, powers.high, 0.0, 1.0]), powers.top, log_target).min())
    low, high = ends(mixtures, np.array([powers.low, powers.high]), float(log_target.min()))
    if not (high - low) / step <= _MAX_NODES / mixtures.shift.size:
        return None
    x = np.arange(low, high + step, step)
    if (m * x - m * m / 2).max() > _LARGE:
        return None
    loss = mixtures.value(x)
    if powers.log_size(loss.min(), loss.max()) > _LARGE:
        return None
    log_density = np.log(step / np.sqrt(2 * np.pi)) - x * x / 2
    cut = cut_off(x, mixtures, loss, np.array([powers.low, powers.high]), log_density, np.zeros((m.size, 2))).sum(axis=1)
    largest = np.exp(powers.log_size(loss, loss))
    # nodes of negligible weight under every tilt are dropped, and their sum is bounded
    weight = np.exp(log_density) * largest
    kept = (mixtures.count @ weight) > _DROPPED
    cut += 2 * weight[:, ~kept].sum(axis=1)
    x, loss, log_density, largest = (part[..., kept] for part in (x, loss, log_density, largest))
    square = np.exp(log_density) * loss * loss
    panels = _panels(loss, mixtures.count[:, None] * square, powers)
    if panels is None:
        return None
    centre, half, error = panels

    place = np.searchsorted(centre + half, loss.ravel()).clip(0, centre.size - 1)
    local = ((loss.ravel() - centre[place]) / half[place]).clip(-1.0, 1.0)
    place = place + centre.size * np.repeat(np.arange(m.size), x.size)
    shape = (m.size, centre.size)

    def by_panel(weight: Array) -> Array:
        sums = np.bincount(place, weight.ravel(), m.size * centre.size)
        return np.asarray(sums, dtype=float).reshape(shape)

    moments = np.empty((*shape, _DEGREE + 1))
    before, here = np.ones(local.size), local
    moments[:, :, 0], flat = by_panel(square), square.ravel()
    for degree in range(1, _DEGREE + 1):
        moments[:, :, degree] = by_panel(flat * here)
        before, here = here, 2 * local * here - before
    loss_error = mixtures.error(x, loss)
    tilted = square * largest
    return _Moments(
        centre,
        half,
        error,
        np.exp(powers.log_size(centre - half, centre + half)),
        moments,
        moments[:, :, 0],
        by_panel(tilted),
        by_panel(tilted * (ULP * (36 + 1.5 * x * x + x.size))),
        by_panel(np.exp(log_density) * np.abs(loss) * loss_error * largest),
        cut + np.exp(log_target),
    )


def _panels(loss: Array, weight: Array, powers: _Powers) -> tuple[Array, Array, Array] | None:
    """Centres, half-widths and interpolation errors of panels, wider where there is less weight; None if too many."""
    low, high = float(loss.min()), float(loss.max())
    edges = np.concatenate([low * np.geomspace(1, 1e-6, 60), high * np.geomspace(1e-6, 1, 240)])
    above = np.bincount(np.searchsorted(edges, loss.ravel(), side="right"), weight.ravel(), edges.size + 1)[::-1].cumsum()[::-1]
    found: list[tuple[float, float, float]] = []
    # measured: the tilt may grow by e^6 over one panel
    widest = 6 / max(powers.high, -powers.low, 1.0)
    start, width = low - 1e-15 * abs(low), widest
    while start < high:
        left = float(above[int(np.searchsorted(edges, start, side="right"))])
        width = min(4 * width, widest, high - start + 1e-15 * high)
        while True:
            error = _interpolation_error(start + width / 2, width / 2, powers)
            if error * left <= _SHARE or width < 1e-12 * (high - low):
                break
            width /= 1.25
        found.append((start + width / 2, width / 2, error))
        start += width
        if len(found) > _PANELS:
            return None
    centre, half, errors = (np.array(part) for part in zip(*found, strict=True))
    return centre, half, errors


def _interpolation_error(centre: float, half: float, powers: _Powers) -> float:
    """The bound of the module's docstring, at the best ellipse."""
    along, aside = half * (_RHO + 1 / _RHO) / 2, half * (_RHO - 1 / _RHO) / 2
    size = powers.size
    log_most = np.log(size * (size + 1) / 2) + powers.log_size(centre - along, centre + along, aside)
    log_error = log_most + np.log(4 / (_RHO - 1)) - _DEGREE * np.log(_RHO)
    return float(np.exp(np.minimum(log_error, _LARGE)).min())


def _transform(count: Array, known: _Moments, a: NDArray[np.complex128]) -> Values:
    """The sum of count log(1 + E[h_a]) with its errors."""
    degrees = np.arange(_DEGREE + 1)
    angles = np.pi * (degrees + 0.5) / (_DEGREE + 1)
    points = known.centre[:, None] + known.half[:, None] * np.cos(angles)
    points = np.where(np.abs(points) < 1e-30, 1e-30, points)
    # values at the points: (panel, point, z); coefficients: (panel, degree, z)
    values = second_turn(-1j * a * points[:, :, None]) - a * second_turn(-1j * points.astype(complex))[:, :, None]
    values /= (points * points)[:, :, None]
    cosines = np.cos(degrees[:, None] * angles) * np.where(degrees == 0, 1, 2)[:, None] / (_DEGREE + 1)
    coefficients = np.einsum("dp,npz->ndz", cosines, values, optimize=True)
    flat = known.moments.reshape(count.size, -1)
    table = coefficients.reshape(flat.shape[1], -1)
    deviation = flat @ table.real + 1j * (flat @ table.imag)

    size = np.abs(a)
    # |g_a| over W, at most |a| (|a| + 1)/2 and 2 (1 + |a|)/l^2; the same of the derivative of h_a over l
    nearest = np.maximum(np.abs(known.centre) - known.half, 1e-100)[:, None]
    value = np.minimum(size * (size + 1) / 2, 2 * (1 + size) / nearest**2)
    slope = np.minimum(size * (size + 1), 2 * size / nearest)
    # derived: the matrix product, and the polynomials by their recurrence at rounded points
    bent = degrees * degrees * (4 + 2 * np.abs(known.centre) / known.half)[:, None] + 2 * table.shape[0]
    rounding = known.mass @ (np.abs(coefficients) * (ULP * bent[:, :, None])).sum(axis=1)
    # derived: a value errs by twenty ulps of its two parts, the sum of the coefficients by N + 1 times two such and N + 1
    rounding += known.mass @ (known.growth[:, None] * value * (2 * (_DEGREE + 1) * (_DEGREE + 21) * ULP))
    rounding += known.mass_error @ value + known.loss_error @ slope
    real_size = float(np.abs(a.real).max())
    largest = 1 + known.tilted.sum(axis=1) * real_size * (real_size + 1) / 2
    inner = (known.mass @ known.error)[:, None] + (known.omitted * largest)[:, None] * (2 + size)
    with np.errstate(divide="ignore"):  # a zero of a transform: infinite error
        scale = 1.01 / np.abs(1 + deviation)
    return weighted(count, complex_log1p(deviation), rounding * scale, inner * scale)
