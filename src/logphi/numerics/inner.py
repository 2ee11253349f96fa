"""The inner integral: the transform of log(1 - q + q e^Y), Y normal, by a trapezoidal sum with a proof.

notation: m = shift, q = rate, Y ~ N(-m^2/2, m^2), w = 1 - q + q e^Y, l = log w, so that M(z) = E[w^a] with
a = z + 1; c = Re z, t = Im z; x = (Y + m^2/2)/m is the standard normal variable of the grid.

The integrand is analytic for |Im y| < pi. For 0 < b < pi, |w(y + ib)| lies between cos(b/2) w(y) and w(y),
|arg w| <= b, and the density grows by e^{b^2 / (2 m^2)}: the trapezoidal rule with step h in y is wrong by at most

    2 e^{b^2/(2 m^2) + b|t|} cos(b/2)^{min(0, c+1)} M(c) / (e^{2 pi b/h} - 1)

(Trefethen & Weideman 2014, Theorem 5.1). Since E[w - 1] = 0, the sum may be taken of w^a - 1 - a (w - 1), whose
extra terms obey the same bound at a = 0 and a = 1. That term is of second order in l, at most
|a| |a - 1| l^2/2 times the largest of w^{c+1}, w and 1: K keeps its relative accuracy however small q is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY, ULP, complex_log1p
from logphi.numerics.law import Line, Values

# measured: an abscissa that needs more nodes than this lies far beyond any useful saddle
MAX_NODES = 1 << 15
# the relative error asked of the inner integral, before division by the number of repetitions
INNER_TARGET = 1e-16
# below this exponent w^a does not overflow
_LARGE = 600.0


@dataclass(frozen=True)
class Noise:
    """Rounding errors of the sum at z: node by node, the smaller of a first- and a second-order bound.

    notation: a = z + 1. The term w^a - 1 - a (w - 1) and the parts it is summed from are at most |a||z| l^2/2 W, and at
    most w^{c+1} (1 + |a||l|) + 1 + |a||w - 1|, with W the largest of w^{c+1}, w and 1; the derivative in l is at most
    |a||z||l| W, and |a| (w^{c+1} + w). The arrays hold these with the density and with the relative error of a term
    (``second``, ``plain``, ``linear``) or with the absolute error of l (``second_moved``, ``linear_moved``), over M(c):
    a row per abscissa, a column per node.
    """

    second: NDArray[np.float64]
    plain: NDArray[np.float64]
    linear: NDArray[np.float64]
    second_moved: NDArray[np.float64]
    linear_moved: NDArray[np.float64]
    constant: NDArray[np.float64]

    def of_size(self, size: NDArray[np.float64]) -> NDArray[np.float64]:
        """A bound for |z| up to ``size``, one per row (or for the only row)."""
        z, a = size[:, None], 1 + size[:, None]
        term = np.minimum(a * z * self.second, self.plain + a * self.linear)
        moved = a * np.minimum(z * self.second_moved, self.linear_moved)
        total: NDArray[np.float64] = self.constant + (term + moved).sum(axis=1)
        return total

    def at(self, z: NDArray[Any]) -> NDArray[np.float64]:
        """A bound at every point of the only row; it grows with |z|, so a few sizes of |z| serve all."""
        steps = np.ceil(2 * np.log2(np.maximum(np.abs(z), 1e-9))).astype(int)
        lowest = steps.min()
        return self.of_size(2.0 ** (np.arange(lowest, steps.max() + 1) / 2))[steps - lowest]


@dataclass(frozen=True)
class Tilted:
    """Nodes and weights of E[w^a ...] on one vertical line, a = c + 1 + it.

    ``weight`` sums to one; ``slope`` is the weighted mean of l, K'(c); ``noise`` and ``inner`` are relative to M(c).
    """

    abscissa: float
    loss: NDArray[np.float64]
    weight: NDArray[np.float64]
    log_mass: float
    slope: float
    noise: Noise
    inner: float

    def at(self, heights: NDArray[np.float64]) -> Values:
        """K at c + it, one sum per height."""
        angle = np.outer(heights, self.loss)
        return self._values(heights, (_second_turn(angle) * self.weight).sum(axis=1))

    def on(self, line: Line) -> Values:
        """K on a line: with t = r + s, e^{itl} - 1 = A + B + AB makes the sums one matrix product.

        Only about 2 sqrt(size) complex exponentials are taken per node.
        """
        fine = int(np.ceil(np.sqrt(line.size)))
        coarse = -(-line.size // fine)
        angle_fine = np.outer(line.step * np.arange(fine), self.loss)
        angle_coarse = np.outer(line.step * fine * np.arange(coarse), self.loss)
        second_fine, second_coarse = _second_turn(angle_fine), _second_turn(angle_coarse)
        product = ((second_coarse + 1j * angle_coarse) * self.weight) @ (second_fine + 1j * angle_fine).T
        sums = product + (second_coarse @ self.weight)[:, None] + second_fine @ self.weight
        return self._values(line.heights, sums.ravel()[: line.size])

    def _values(self, heights: NDArray[np.float64], second: NDArray[np.complex128]) -> Values:
        deviation = second + 1j * heights * self.slope
        noise = self.noise.at(self.abscissa + 1j * heights)
        with np.errstate(divide="ignore"):  # a zero of the characteristic function: infinite error
            scale = 1 + 1 / np.abs(1 + deviation)
        return Values(self.log_mass + complex_log1p(deviation), _to_log(noise * scale), _to_log(self.inner * scale))


@dataclass(frozen=True)
class Axis:
    """K and its errors at real points: what :class:`Tilted` holds for one of them, with the grid they share."""

    loss: NDArray[np.float64]
    log_terms: NDArray[np.float64]
    log_mass: NDArray[np.float64]
    slope: NDArray[np.float64]
    noise: Noise
    inner: NDArray[np.float64]


def on_axis(shift: float, rate: float, abscissas: NDArray[np.float64], count: int) -> Values:
    """K at real points; infinite where the grid would exceed ``MAX_NODES``."""
    mid, rounding, inner = np.full((3, abscissas.size), np.inf)
    # one grid serves all unless the farthest points would stretch it
    near = np.abs(abscissas + 1) * shift <= 4 * (np.abs(abscissas + 1) * shift).min() + 40
    for group in (near, ~near) if not near.all() else (near,):
        axis = _axis(shift, rate, abscissas[group], 0.0, count)
        if axis is not None:
            mid[group], inner[group] = axis.log_mass, _to_log(axis.inner)
            rounding[group] = _to_log(axis.noise.of_size(np.abs(abscissas[group])))
    return Values(mid, rounding, inner)


def sketch(shift: float, rate: float, abscissas: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """K at real points to some digits of count * K, with no bound; infinite where the grid would be too large."""
    m, q = shift, rate
    power = abscissas[:, None] + 1
    low, high = m * np.minimum(power.min(), 0.0) - 7.5, m * np.maximum(power.max(), 1.0) + 7.5
    step = min(0.6, 1.0 / m)
    if not high - low <= step * MAX_NODES / 8:
        # the farthest abscissa spoils the grid: give it up
        near = np.abs(abscissas) < np.abs(abscissas).max()
        result = np.full(abscissas.shape, np.inf)
        if near.any():
            result[near] = sketch(m, q, abscissas[near], count)
        return result
    x = np.arange(low, high + step, step)
    y = m * x - m * m / 2
    loss = np.logaddexp(np.log1p(-q), np.log(q) + y)
    exponent = power * loss
    log_terms = np.log(step / np.sqrt(2 * np.pi)) - x * x / 2 + exponent
    peak = log_terms.max(axis=1)
    log_mass = peak + np.log(np.exp(log_terms - peak[:, None]).sum(axis=1))
    if q * np.exp(np.minimum(m * high, 600.0)) * np.abs(power).max() < 1e-3 or log_mass.min() < 0.01:
        # nearly nothing is lost: K is the variance's share, which the sum above cannot resolve
        small = log_mass < 0.01
        relative = np.exp(log_terms[small] - exponent[small])
        log_mass[small] = (relative * (_second_exp(np.minimum(exponent[small], 600.0)) - power[small] * _second_exp(loss))).sum(axis=1)
    return log_mass


def tilted(shift: float, rate: float, abscissa: float, top: float, count: int) -> Tilted | None:
    """Nodes and weights at Re z = ``abscissa``, fit for heights up to ``top`` and for ``count`` repetitions.

    Returns None where the grid would exceed ``MAX_NODES``.
    """
    axis = _axis(shift, rate, np.array([abscissa]), top, count)
    if axis is None:
        return None
    # terms this far below the largest are dropped; what they weigh is counted
    log_terms = axis.log_terms[0]
    kept = log_terms > log_terms.max() + np.log(INNER_TARGET / count) - 12
    weight = np.exp(log_terms - axis.log_mass[0])
    inner = float(axis.inner[0] + weight[~kept].sum())
    log_mass, slope = float(axis.log_mass[0]), float(axis.slope[0])
    return Tilted(abscissa, axis.loss[kept], weight[kept], log_mass, slope, axis.noise, inner)


def _axis(m: float, q: float, abscissas: NDArray[np.float64], top: float, count: int) -> Axis | None:
    power = abscissas[:, None] + 1
    low, high = min(0.0, float(power.min())), max(1.0, float(power.max()))
    log_target = float(np.log(INNER_TARGET / count))
    step = _step(m, max(-low, high), low, top, log_target) / m
    reach = np.sqrt(-2 * log_target) + 2
    first, last = np.floor((m * low - reach) / step), np.ceil((m * high + reach) / step)
    if not last - first <= MAX_NODES:
        return None
    x = step * np.arange(first, last + 1)
    y = m * x - m * m / 2
    growth = np.expm1(np.minimum(y, 600))
    loss = np.where(y < 600, np.log1p(q * growth), np.log(q) + y)
    log_density = np.log(step / np.sqrt(2 * np.pi)) - x * x / 2
    exponent = power * loss
    log_terms = log_density + exponent
    peak = log_terms.max(axis=1, keepdims=True)
    weight = np.exp(log_terms - peak)
    total = weight.sum(axis=1)
    log_mass = peak[:, 0] + np.log(total)
    weight /= total[:, None]

    # cut-offs: beyond either end, log w has slope at most one to the right, at most the logistic share to the left
    share = float(np.exp(min(y[0] + np.log(q) - loss[0], 0.0)))
    cut = np.zeros(abscissas.size)
    for a, factor in ((power[:, 0], 1.0), (np.zeros(1), 1 + np.abs(power[:, 0])), (np.ones(1), 1 + np.abs(power[:, 0]))):
        for end, fall in (
            (0, (np.minimum(a, 0.0) * m * share - x[0]) * step),
            (-1, (x[-1] - np.maximum(a, 0.0) * m) * step),
        ):
            cut += factor * np.exp(log_density[end] + a * loss[end] - log_mass) / np.expm1(np.minimum(fall, 700.0))
    inner = 1.01 * (cut + np.exp(log_target))

    slope = weight @ loss
    small = (np.maximum(exponent.max(axis=1), loss.max()) < _LARGE) & (log_mass < 1)
    if small.any():
        # the second-order form
        density = np.exp(log_density)
        second_loss = _second_exp(loss)
        excess = _second_exp(exponent[small]) @ density - power[small, 0] * (density @ second_loss)
        log_mass[small] = np.log1p(excess)
        slope[small] = (np.expm1(exponent[small]) @ (density * loss) - density @ second_loss) / (1 + excess)

    # derived: a term errs by three elementary functions, by the rounding of its exponent and, in a sum of n complex
    # products, by at most 2^(1/2) 2n roundings; l by two elementary functions and half an ulp in q and m
    unit = ULP * (24 + 1.5 * x * x + 1.5 * x.size)
    size = np.abs(loss)
    slip = ELEMENTARY * (size + (np.abs(q * growth) + (q * growth + q) * (np.abs(m * x) + m * m)) * np.exp(-loss))
    log_relative = log_density - log_mass[:, None]
    plain, base = np.exp(log_relative + exponent), np.exp(log_relative)
    tilted_by_w = np.exp(log_relative + loss)
    largest = np.where(small[:, None], np.maximum(np.maximum(plain, tilted_by_w), base), np.inf)
    noise = Noise(
        second=largest * (size * size / 2 * unit + 1e-300),
        plain=(plain + base) * unit,
        linear=(plain * size + np.abs(tilted_by_w - base)) * unit,
        second_moved=largest * (size * slip + 1e-300),
        linear_moved=(plain + tilted_by_w) * slip,
        constant=np.where(small, 0.0, ELEMENTARY * (1 + np.abs(log_mass))),
    )
    return Axis(loss, log_terms, log_mass, slope, noise, inner)


def _step(m: float, power: float, lowest: float, top: float, log_target: float) -> float:
    """The largest step in y whose error bounds, at every power in use, stay below the target together."""
    b = np.linspace(0.05, 0.98 * np.pi, 64)
    parts = np.log(8 * (2 + abs(power) + top))
    growth = parts + b * b / (2 * m * m) + b * top + lowest * np.log(np.cos(b / 2))
    # the bound is at most e^{growth - 2 pi b/h} as soon as the exponential exceeds two
    return float(2 * np.pi / (np.maximum(growth - log_target, 1.0) / b).min())


def _second_exp(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """``e^x - 1 - x`` with relative accuracy."""
    near = np.abs(x) < 0.06
    small = np.where(near, x, 0)
    series = np.full_like(small, 1.0)
    for k in range(10, 2, -1):
        series = 1 + small * (series / k)
    return np.where(near, small * small / 2 * series, np.expm1(x) - x)


def _second_turn(angle: NDArray[np.float64]) -> NDArray[np.complex128]:
    """``e^{i angle} - 1 - i angle`` with relative accuracy."""
    near = np.abs(angle) < 0.2
    small = np.where(near, angle, 0)
    square = small * small
    series = np.full_like(small, 1.0)
    for k in range(10, 2, -2):
        series = 1 - square / (k * (k + 1)) * series
    odd = np.where(near, -small * square / 6 * series, np.sin(angle) - angle)
    sine = np.sin(0.5 * angle)
    result: NDArray[Any] = -2 * sine * sine + 1j * odd
    return result


def _to_log(relative: NDArray[np.float64]) -> NDArray[np.float64]:
    """A relative error as an error of the logarithm; infinite from a half on."""
    return np.where(relative < 0.5, -np.log1p(-np.minimum(relative, 0.5)), np.inf)
