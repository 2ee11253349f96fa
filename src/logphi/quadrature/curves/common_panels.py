"""The transforms of many laws at once: the exponential is interpolated on panels that all laws share.

notation: a = z + 1, Q the measure of the nodes. With h_a(l) = e^{al} - 1 - a (e^l - 1), M(z) - 1 is E_Q[h_a(l)] plus the
contribution of infinite losses, and g_a(l) = h_a(l)/l^2 is entire. The nodes l of each law on each panel, with their masses
times l^2, become Chebyshev moments; at z only the coefficients of g_a on the panels are computed, and all M(z) are one matrix
product.
The interpolant of degree N at Chebyshev points errs by at most 4 V rho^{-N} / (rho - 1), V the maximum of g_a on the
Bernstein ellipse rho (Trefethen 2019, *Approximation Theory and Approximation Practice*, Theorem 8.2), here

    |g_a(l)| <= |a| (|a| + 1)/2 max(1, |e^l|, |e^{al}|).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY, ULP, complex_log1p
from logphi.arith.summation import product, roundings
from logphi.arrays import Array, Complex
from logphi.quadrature.mixtures.inner_integral import weighted
from logphi.quadrature.sums.second_order_sums import second_exp_imaginary
from logphi.quadrature.values import Values

# measured: the number of laws from which common panels are faster
MANY = 64
# measured: the degree of the interpolants
_DEGREE = 24
# measured: the largest number of panels
_PANELS = 256
# measured: the error that each panel may add to the sum
_SHARE = 1e-14
# measured: the weight below which nodes are dropped
_DROPPED = 1e-24
# chosen: the parameters of the ellipses that are tried
_RHO = np.geomspace(1.1, 60.0, 40)
# derived: squares of exponentials of larger exponents overflow
_LARGE = 300.0
# chosen: the largest number of coefficients in memory
_AT_ONCE = 1 << 21


@dataclass(frozen=True)
class Powers:
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

    @property
    def ends(self) -> Array:
        """Both ends of the range."""
        return np.array([self.low, self.high])


@dataclass(frozen=True)
class BatchNodes:
    """Counted laws as nodes: for each node the number of its law, the loss, the Q-mass and the errors of both.

    The sums over the nodes of a law err by at most ``omitted`` (2 + |a|) + ``quadrature`` |z| |z + 1|, in addition to the
    errors of masses (relative) and losses (absolute). ``infinite`` is the mass that P and Q have at infinite losses, with
    absolute errors.
    """

    count: Array
    law: NDArray[np.intp]
    loss: Array
    mass: Array
    mass_error: Array
    loss_error: Array
    omitted: Array
    quadrature: Array
    infinite: Array
    infinite_error: Array


@dataclass(frozen=True)
class ChebyshevMoments:
    """Chebyshev moments of the weighted laws, (law, panel, degree), with what the bounds of their errors need.

    W is the largest of 1, |e^l| and |e^{al}|. By law and panel, ``mass`` sums the masses times l^2, ``tilted`` those times
    l^2 W, ``mass_error`` those times l^2 W times their relative errors, ``loss_error`` those times |l| W times the error of l.
    ``omitted`` is that of the nodes, with the nodes that are dropped here.
    """

    nodes: BatchNodes
    centre: Array
    half: Array
    error: Array
    moments: Array
    mass: Array
    tilted: Array
    mass_error: Array
    loss_error: Array
    omitted: Array

    @staticmethod
    def of(nodes: BatchNodes, powers: Powers) -> ChebyshevMoments | None:
        """Moments of the nodes on each panel; None if there would be too many panels, or an exponential overflows."""
        count, law, loss = nodes.count, nodes.law, nodes.loss
        if powers.log_size(loss.min(), loss.max()) > _LARGE:
            return None
        largest = np.exp(powers.log_size(loss, loss))
        # nodes of negligible weight under every tilt are dropped, and their sum is bounded
        weight = nodes.mass * largest
        kept = count[law] * weight > _DROPPED
        omitted = nodes.omitted + np.bincount(law[~kept], 2 * weight[~kept], count.size)
        law, loss, mass, largest = law[kept], loss[kept], nodes.mass[kept], largest[kept]
        square = mass * loss * loss
        panels = _panels(loss, count[law] * square, powers)
        if panels is None:
            return None
        centre, half, error = panels

        panel = np.searchsorted(centre + half, loss).clip(0, centre.size - 1)
        local = ((loss - centre[panel]) / half[panel]).clip(-1.0, 1.0)
        panel = panel + centre.size * law
        shape = (count.size, centre.size)

        def by_panel(weight: Array) -> Array:
            sums = np.bincount(panel, weight, count.size * centre.size)
            return np.asarray(sums, dtype=float).reshape(shape)

        moments = np.empty((*shape, _DEGREE + 1))
        before, here = np.ones(local.size), local
        moments[:, :, 0] = by_panel(square)
        for degree in range(1, _DEGREE + 1):
            moments[:, :, degree] = by_panel(square * here)
            before, here = here, 2 * local * here - before
        tilted = square * largest
        # derived: the relative rounding of a sum of products of a few factors
        of_sum = ULP * (12 + np.bincount(panel, minlength=count.size * centre.size).reshape(shape))
        return ChebyshevMoments(
            nodes,
            centre,
            half,
            error,
            moments,
            moments[:, :, 0],
            by_panel(tilted),
            by_panel(tilted * nodes.mass_error[kept]) + by_panel(tilted) * of_sum,
            by_panel(mass * np.abs(loss) * nodes.loss_error[kept] * largest),
            omitted,
        )

    def deviations(self, a: NDArray[Any]) -> tuple[Complex, Array, Array]:
        """M - 1 of each law, (law, point), its rounding and its inner error."""
        known, count = self, self.nodes.count
        degrees = np.arange(_DEGREE + 1)
        angles = np.pi * (degrees + 0.5) / (_DEGREE + 1)
        points = known.centre[:, None] + known.half[:, None] * np.cos(angles)
        points = np.where(np.abs(points) < 1e-30, 1e-30, points)
        # values at the points: (panel, point, z); coefficients: (panel, degree, z)
        square = (points * points)[:, :, None]
        of_power = second_exp_imaginary(-1j * a * points[:, :, None])
        of_loss = a * second_exp_imaginary(-1j * points.astype(complex))[:, :, None]
        values = (of_power - of_loss) / square
        parts = ((np.abs(of_power) + np.abs(of_loss)) / square).max(axis=1)
        cosines = np.cos(degrees[:, None] * angles) * np.where(degrees == 0, 1, 2)[:, None] / (_DEGREE + 1)
        coefficients = np.einsum("dp,npz->ndz", cosines, values, optimize=True)
        flat = known.moments.reshape(count.size, -1)
        table = coefficients.reshape(flat.shape[1], -1)
        deviation = product(flat, table.real) + 1j * product(flat, table.imag)

        size, beside = np.abs(a), np.abs(a - 1)
        # |g_a| over W, at most |a| (|a| + 1)/2 and 2 (1 + |a|)/l^2; the same of the derivative of h_a over l
        nearest = np.maximum(np.abs(known.centre) - known.half, 1e-100)[:, None]
        value = np.minimum(size * (size + 1) / 2, 2 * (1 + size) / nearest**2)
        slope = np.minimum(size * (size + 1), 2 * size / nearest)
        # derived: the roundings of the matrix product, and of the polynomials by their recurrence at rounded points
        bent = degrees * degrees * (4 + 2 * np.abs(known.centre) / known.half)[:, None] + 2 * roundings(table.shape[0])
        rounding = known.mass @ (np.abs(coefficients) * (ULP * bent[:, :, None])).sum(axis=1)
        # derived: a value errs by two dozen ulps of its two parts, and an interpolant by these times the Lebesgue constant,
        # below 1 + (2/pi) log(N + 1); each coefficient is a sum of N + 1 products
        lebesgue = 1.01 + 2 / np.pi * np.log(_DEGREE + 1)
        of_values = 24 * lebesgue * parts + (_DEGREE + 1) * (_DEGREE + 9) * np.abs(values).mean(axis=1)
        rounding += known.mass @ (ULP * of_values)
        rounding += known.mass_error @ value + known.loss_error @ slope
        only_p, only_q = known.nodes.infinite.T
        if only_p.any() or only_q.any():
            deviation += np.outer(only_q, a - 1) - np.outer(only_p, a)
            rounding += ELEMENTARY * (np.outer(np.abs(only_p), size) + np.outer(np.abs(only_q), beside))
        rounding += known.nodes.infinite_error @ np.stack([size, beside])
        real_size = float(np.abs(a.real).max())
        largest = 1 + known.tilted.sum(axis=1) * real_size * (real_size + 1) / 2
        inner = (known.mass @ known.error)[:, None] + (known.omitted * largest)[:, None] * (2 + size)
        inner += np.outer(known.nodes.quadrature, size * beside)
        return deviation, rounding, inner

    def total(self, a: NDArray[Any]) -> Values:
        """The sum of count log(1 + E[h_a]) with its errors."""
        return Values.concatenated([self._total(part) for part in self.blocks(a)])

    def blocks(self, a: NDArray[Any]) -> Iterator[NDArray[Any]]:
        """The points in blocks whose tables are not too large."""
        most = max(_AT_ONCE // (max(self.centre.size, 1) * (_DEGREE + 1) + self.nodes.count.size), 1)
        return (a[start : start + most] for start in range(0, a.size, most))

    def _total(self, a: NDArray[Any]) -> Values:
        deviation, rounding, inner = self.deviations(a)
        with np.errstate(divide="ignore"):  # a zero of a transform: infinite error
            scale = 1.01 / np.abs(1 + deviation)
        return weighted(self.nodes.count, complex_log1p(deviation), rounding * scale, inner * scale)


def _panels(loss: Array, weight: Array, powers: Powers) -> tuple[Array, Array, Array] | None:
    """Centres, half-widths and interpolation errors of panels, wider where there is less weight; None if too many."""
    low, high = float(loss.min()), float(loss.max())
    edges = np.sort(np.concatenate([low * np.geomspace(1, 1e-6, 60), high * np.geomspace(1e-6, 1, 240)]))
    above = np.bincount(np.searchsorted(edges, loss, side="right"), weight, edges.size + 1)[::-1].cumsum()[::-1]
    found: list[tuple[float, float, float]] = []
    # measured: the tilt may grow by e^3 over one panel
    widest = 3 / max(powers.high, -powers.low, 1.0)
    margin = 1e-15 * max(abs(low), abs(high))
    start, width = low - margin, widest
    while start < high:
        left = float(above[int(np.searchsorted(edges, start, side="right"))])
        width = min(4 * width, widest, high - start + margin)
        while True:
            error = _interpolation_error(start + width / 2, width / 2, powers)
            if error * left <= _SHARE or width < 1e-12 * (high - low):
                break
            width /= 1.25
        found.append((start + width / 2, width / 2, error))
        start += width
        if len(found) > _PANELS:
            return None
    if not found:
        # every loss is zero
        return None
    centre, half, errors = (np.array(part) for part in zip(*found, strict=True))
    return centre, half, errors


def _interpolation_error(centre: float, half: float, powers: Powers) -> float:
    """The bound of the module's docstring, at the best ellipse."""
    along, aside = half * (_RHO + 1 / _RHO) / 2, half * (_RHO - 1 / _RHO) / 2
    size = powers.size
    log_most = np.log(max(size * (size + 1) / 2, 1e-300)) + powers.log_size(centre - along, centre + along, aside)
    log_error = log_most + np.log(4 / (_RHO - 1)) - _DEGREE * np.log(_RHO)
    return float(np.exp(np.minimum(log_error, _LARGE)).min())
