"""A sum of independent lattice laws modulo N nodes: its excess at any threshold, by one Fourier sum.

notation: with masses y_J at s_J = s_0 + J h, tilted by e^{c s_J}, and the discrete transform Phi_k = prod of
phi_{i,k}^{n_i}, theta_k = 2 pi k / N,

    (1/N) sum over k of Phi_k sum over s_J > x of e^{i theta_k J} e^{-c s_J} (1 - e^{x - s_J})
        = sum over m of e^{cmNh} D(x + mNh),     D(x) = E[(1 - e^{x-X})_+].

The terms m != 0 are positive and below their Chernoff bounds: wrap-around only raises the sum, as in
:mod:`logphi.inversion.lines.contour`. The inner sum is geometric: with s_n the first node above x and r = s_n - x,

    e^{-cx - cr} [(1 - e^{-r}) z^n + (e^{-r} - e^{-h}) e^{-ch} z^{n+1}] / ((1 - e^{-ch} z) (1 - e^{-(c+1)h} z)),

z = e^{i theta}, so that thresholds differ in two powers of z and in scalars only. A Fourier transform in doubles errs by
log2(N) (few u) relative to the 2-norm of its argument (Higham 2002, *Accuracy and Stability*, Theorem 24.2); the inequality of
Cauchy and Schwarz bounds the effect on a product.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from logphi.arith.floats import FOURIER, ULP
from logphi.arith.powers import power
from logphi.arith.safe import safe_expm1, safe_log
from logphi.arrays import Array, Complex
from logphi.grid.lattice_law import Grid, Indices, LatticeLaw
from logphi.inversion.lines.kernels import log_kappa

# measured: up to this number, nodes are summed faster and more accurately one by one
_FEW = 8
# derived: the rounding of two tabulated phases, of their product, and of a sum of few terms
_DIRECT = 32 * ULP
# derived: the rounding of kernel, phases, weight and products of one term, and of a pairwise sum of rows of pairwise sums
_TERM = 96 * ULP
# derived: the rounding of folded weights, of adding the largest node, of dividing by the mass, and of the power
_FACTOR = 18 * ULP
# measured: the share of the terms that are dropped: it is a few hundredths of the rounding of the others
_DROPPED = 1e-16
# chosen: they are dropped in blocks of so many
_BLOCK = 8


@dataclass(frozen=True)
class PeriodicSum:
    """The Fourier sum of one side: e^log_scale times a value with its rounding error ``noise``.

    ``log_omitted`` bounds the part outside the nodes of an upper law, ``log_wrap`` the wrap-around.
    """

    log_scale: float
    value: float
    noise: float
    log_omitted: float
    log_wrap: float


@dataclass(frozen=True)
class Composition:
    """A sum of lattice laws, ready for any threshold.

    ``terms`` are weight * Phi_k * kernel_k in rows, and ``size`` is the sum of their moduli. Their error is at most a relative
    ``noise`` plus ``error``, which includes the terms left out. Every node is known to within ``location_error``.
    """

    grid: Grid
    nodes: int
    terms: Complex
    size: float
    error: float
    noise: float
    location: float
    shift: int
    location_error: float
    log_scale: float
    log_size: float
    omitted_above: float
    omitted_mass: float
    omitted_below: float
    points: Array
    log_moments: Array

    def at(self, x: float) -> PeriodicSum:
        """The Fourier sum at a threshold, wrap-around included, for x so small that c x has correct digits."""
        c, h = self.grid.tilt, self.grid.step
        start = self.location + self.shift * h
        magnitude = abs(self.location) + abs(self.shift) * h + abs(x) + h
        location_error = self.location_error + 8 * ULP * magnitude
        # the threshold is moved outward by the location error of the nodes
        x = x - location_error if self.grid.upper else x + location_error
        first = math.floor((x - start) / h) + 1
        rest = min(max(start + first * h - x, 0.0), h)
        one, two = -math.expm1(-rest), -math.exp(-rest) * math.expm1(-(h - rest)) * math.exp(-c * h)
        fade = math.exp(-c * rest)
        value = fade * (one * self._power(first) + two * self._power(first + 1))
        noise = fade * (one + two) * (self.size * math.expm1(self.noise) + self.error)
        log_scale = self.log_scale - c * x
        # the logarithm of the scale is a sum of large terms; the error of a node's tilt is counted in its mass
        wrong = math.expm1(min(4 * ULP * (self.log_size + c * (magnitude + abs(x)) + 4), 700.0))
        noise = (noise + wrong * (abs(value) + noise)) * (1 + 1e-9) + 1e-290
        # the contribution of omitted mass: from its tilted share or, above the nodes, from its probability
        log_kernel = log_scale + float(log_kappa(np.array([c]))[0])
        log_omitted = min(
            safe_log(safe_expm1(self.omitted_above + self.omitted_below)) + log_kernel,
            float(np.logaddexp(safe_log(safe_expm1(self.omitted_below)) + log_kernel, safe_log(self.omitted_mass))),
        )
        turns = np.abs(self.points - c) * (h * self.nodes)
        room = turns + np.log(-np.expm1(-turns)) - 1e-12 * (1 + turns)
        log_wraps = self.log_moments + log_kappa(self.points) - self.points * x - room
        return PeriodicSum(log_scale, value, noise, log_omitted, float(np.logaddexp.reduce(log_wraps)))

    def _power(self, n: int) -> float:
        """The real part of the sum of terms times z^n."""
        rows, columns = self.terms.shape
        inner = (self.terms * _phases(np.arange(columns), n, self.nodes)).sum(axis=1)
        return float((inner * _phases(columns * np.arange(rows), n, self.nodes)).real.sum())


def compose(laws: Iterable[tuple[LatticeLaw, int]], grid: Grid, nodes: int, points: Array) -> Composition:
    """The sum of counted lattice laws modulo ``nodes`` nodes, a power of two.

    ``points`` are the two rates, on either side of the tilt, of the Chernoff bounds of the wrap-around.
    """
    c, h = grid.tilt, grid.step
    log_bound = np.zeros(nodes // 2 + 1)
    transforms: list[tuple[Complex, Array, int, float]] = []
    location, shift, location_error, log_scale, log_size = 0.0, 0, 0.0, 0.0, 0.0
    omitted_above, omitted_mass, omitted_below = 0.0, 0.0, 0.0
    log_moments = np.zeros(points.size)
    for law, count in laws:
        transform, peak_index, log_mass, error = _transform(law, nodes)
        # bounds of the moduli of the transform, given its error in the 2-norm
        log_largest = np.log(np.maximum(np.abs(transform), 1e-300) + error * math.sqrt(nodes))
        log_bound += count * log_largest
        transforms.append((transform, log_largest, count, error))
        location += count * law.origin
        shift += count * peak_index
        location_error += count * (law.location_error + 2 * ULP * abs(law.origin))
        log_scale += count * (law.log_scale + log_mass)
        log_size += count * (abs(law.log_scale) + abs(log_mass))
        omitted_above += count * law.omitted_above
        omitted_mass += count * law.omitted_mass
        omitted_below += count * law.omitted_below
        if not grid.upper:
            log_moments += count * law.log_moments(points - c, h)
    total = sum(count for *_, count, _ in transforms)
    if _FACTOR * total > 1:
        raise ValueError(f"the sum of {total:.3g} releases keeps no digits in a Fourier transform of doubles")
    kept, dropped = _kept(log_bound, c, h)
    weight = np.full(kept, 2.0 / nodes)
    # the first and the last frequency of a real transform count once, all others twice
    weight[0] = 1.0 / nodes
    if kept == log_bound.size:
        weight[-1] = 1.0 / nodes
    kernel = _kernel(c, h, _angles(np.arange(kept), nodes))
    kernel_size = np.abs(kernel)
    terms = weight * kernel
    error = dropped + 1e-300 * float(kernel_size.sum())
    for transform, log_largest, count, wrong in transforms:
        terms *= power(transform[:kept], count)
        with np.errstate(over="ignore"):  # an infinite error marks the value as unknown
            others = np.exp(np.minimum(log_bound[:kept] - log_largest[:kept], 700.0)) * kernel_size
            error += count * wrong * float(np.sqrt((weight * others**2).sum()))
    noise = min(_TERM + ULP * (math.log2(nodes) + 4 * c * h) + _FACTOR * total, 700.0)
    size = float(np.abs(terms).sum()) * (1 + 1e-9)
    columns = 1 << (kept.bit_length() + 1) // 2
    rows = np.zeros((-(-kept // columns), columns), dtype=np.complex128)
    rows.ravel()[:kept] = terms
    numbers = (location, shift, location_error, log_scale, log_size, omitted_above, omitted_mass, omitted_below)
    return Composition(grid, nodes, rows, size, error * (1 + 1e-9), noise, *numbers, points, log_moments)


def _kept(log_bound: Array, c: float, h: float) -> tuple[int, float]:
    """The number of terms that are not negligible, from bounds of the transform, and a bound of the sum of the others."""
    nodes = 2 * (log_bound.size - 1)
    starts = np.arange(0, log_bound.size, _BLOCK)
    # the kernel decreases from its first node to the last
    sizes = np.exp(np.minimum(np.maximum.reduceat(log_bound, starts), 700.0))
    with np.errstate(over="ignore"):  # an infinite rest marks the value as unknown
        sizes = sizes * np.abs(_kernel(c, h, _angles(starts, nodes))) * (2 * _BLOCK / nodes)
        rests = np.append(np.cumsum(sizes[::-1])[::-1], 0.0)
    blocks = max(int(np.count_nonzero(rests > _DROPPED * rests[0])), 1)
    return min(blocks * _BLOCK, log_bound.size), float(rests[blocks]) * (1 + 1e-9)


def _transform(law: LatticeLaw, nodes: int) -> tuple[Complex, int, float, float]:
    """The transform over its sum, the index of the largest node, log of the sum, and the 2-norm error over sqrt(nodes).

    The largest node is moved to index 0, where its transform is a constant: the other nodes have a smaller norm.
    """
    held = np.flatnonzero(law.weights)
    if 0 < held.size <= _FEW:
        indices, weights = law.index[held], law.weights[held]
        best = int(np.argmax(weights))
        mass = float(weights.sum())
        weights = weights / mass
        transform = np.full(nodes // 2 + 1, weights[best], dtype=np.complex128)
        for node in np.delete(np.arange(held.size), best).tolist():
            transform += weights[node] * _all_phases(int(indices[best] - indices[node]), nodes)
        return transform, int(indices[best]), math.log(mass), _DIRECT * float(np.delete(weights, best).sum())
    peak_index = int(law.index[np.argmax(law.weights)])
    rest = law.folded(nodes, peak_index)
    largest = float(rest[0])
    rest[0] = 0.0
    # a lower law may be empty
    mass = max(float(largest + rest.sum()), 1e-300)
    rest /= mass
    transform = np.fft.rfft(rest)
    transform += largest / mass
    return transform, peak_index, math.log(mass), FOURIER * math.log2(nodes) * math.sqrt(float(np.square(rest).sum()))


def _kernel(c: float, h: float, theta: Array) -> Complex:
    """1 / ((1 - e^{-ch + i theta}) (1 - e^{-(c+1)h + i theta}))."""
    sine, versine = np.sin(theta), 2 * np.sin(theta / 2) ** 2

    def gap(rate: float) -> Complex:
        # as a sum of positive parts
        decay = math.exp(-rate * h)
        value = np.empty(theta.shape, dtype=np.complex128)
        value.real = -math.expm1(-rate * h) + decay * versine
        value.imag = -decay * sine
        return value

    kernel: Complex = 1 / (gap(c) * gap(c + 1))
    return kernel


def _angles(k: Indices, nodes: int) -> Array:
    """2 pi k / N."""
    return np.asarray(k * (2 * np.pi / nodes), dtype=np.float64)


def _phases(k: Indices, n: int, nodes: int) -> Complex:
    """z_k^n, the angle reduced in integers."""
    phases: Complex = np.exp(1j * _angles((k * (n % nodes)) % nodes, nodes))
    return phases


def _all_phases(n: int, nodes: int) -> Complex:
    """z_k^n for all k, as products of two tabulated phases."""
    columns = 1 << (nodes.bit_length() // 2)
    rows = nodes // 2 // columns + 1
    table: Complex = np.outer(_phases(columns * np.arange(rows), n, nodes), _phases(np.arange(columns), n, nodes))
    return table.ravel()[: nodes // 2 + 1]
