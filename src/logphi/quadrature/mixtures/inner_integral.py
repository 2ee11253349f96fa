"""Sums for M(z) = E[e^{zl}] over the nodes of an inner integral, with the errors of rounding and of the quadrature.

notation: Q is the measure of the nodes, l the loss, a = z + 1, c = Re z. Where M(c) is near one and E_Q[1] and
E_Q[e^l] are known, the sum is taken of the second-order term e^{al} - 1 - a (e^l - 1), so that a small K keeps its digits.

Array axes, in order: mixture, abscissa or height, node.

The file is longer than others because the sums and the bounds of their rounding share their formulas.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arith.summation import error_of_log, product, roundings
from logphi.arrays import Array
from logphi.quadrature.sums.approximate_nodes import ApproximateNodes
from logphi.quadrature.sums.second_order_sums import SecondMoments, along_line, one_by_one, second_exp
from logphi.quadrature.values import Line, Values, log_of_deviation

# measured: the relative error asked of the inner integral, to be divided by the number of repetitions: below all rounding
INNER_TARGET = 1e-16
# derived: below this exponent e^{al} does not overflow
_LARGE = 600.0
# derived: for larger |log M| the sum is of e^{al} itself; for smaller ones it is of second order
_NEAR_ONE = 1.0
# measured: the number of abscissas that may share nodes
_SHARED = 32
# measured: the logarithm of the ratio of the largest to the smallest of these abscissas
_LOG_RATIO = 1.5


@dataclass(frozen=True)
class Rounding:
    """Rounding errors of the sum at z: at each node the smaller of a first- and a second-order bound.

    notation: a = z + 1. The term w^a - 1 - a (w - 1) and the parts it is summed from are at most |a| (1 + |z|) l^2/2 W, and at
    most w^{c+1} (1 + |a||l|) + 1 + |a||w - 1|, with W the largest of w^{c+1}, w and 1; the derivative in l is at most
    |a||z||l| W, and |a| (w^{c+1} + w). The arrays hold these with the density and with the relative error of a term
    (``second``, ``plain``, ``linear``) or with the absolute error of l (``second_by_loss``, ``linear_by_loss``), over M(c).
    """

    second: Array
    plain: Array
    linear: Array
    second_by_loss: Array
    linear_by_loss: Array
    constant: Array

    @staticmethod
    def above_axis(size: Array, far: Array, unit: Array, loss_error: Array, constant: Array) -> Rounding:
        """The errors of a sum of weights times (e^{itl} - 1 - itl) where |e^{itl}| <= 1, by mixture and node."""
        second, by_loss = size * (far * far / 2 * unit + 1e-300), size * (far * loss_error + 1e-300)
        parts = (second, 2 * size * unit, size * far * unit, by_loss, 2 * size * loss_error)
        second, plain, linear, second_by_loss, linear_by_loss = (part[:, None, :] for part in parts)
        return Rounding(second, plain, linear, second_by_loss, linear_by_loss, constant)

    def plus(self, other: Rounding) -> Rounding:
        """The rounding errors of the sum of two sums."""
        pairs = {one.name: (getattr(self, one.name), getattr(other, one.name)) for one in fields(self)}
        constant, other_constant = pairs.pop("constant")
        joined = {name: np.concatenate(pair, axis=2) for name, pair in pairs.items()}
        return Rounding(**joined, constant=constant + other_constant)

    @property
    def first(self) -> Rounding:
        """The errors for the first real part only."""
        parts = (self.second, self.plain, self.linear, self.second_by_loss, self.linear_by_loss, self.constant)
        return Rounding(*(part[:, :1] for part in parts))

    def of_size(self, size: Array) -> Array:
        """A bound for all |z| up to ``size``; sizes are the same for all mixtures, or (mixture, size)."""
        # an infinite bound must not be multiplied by zero
        z = np.maximum(size, 1e-300)[..., None]
        a = 1 + z
        term = np.minimum(a * a * self.second, self.plain + a * self.linear)
        by_loss = a * np.minimum(z * self.second_by_loss, self.linear_by_loss)
        return np.asarray(self.constant + (term + by_loss).sum(axis=2))

    def at(self, z: NDArray[Any]) -> Array:
        """A bound at each point of a vertical line (one line for all mixtures, or one each), from bounds at a few sizes |z|."""
        steps = np.ceil(2 * np.log2(np.maximum(np.abs(z), 1e-9))).astype(int)
        lowest = steps.min()
        bounds = self.of_size(2.0 ** (np.arange(lowest, steps.max() + 1) / 2))
        indices = steps - lowest
        return bounds[:, indices] if indices.ndim == 1 else np.take_along_axis(bounds, indices, axis=1)


@dataclass(frozen=True)
class Nodes:
    """The nodes of the integral for some real parts of a, with K and K' there.

    ``weight`` sums to one over the nodes; ``rounding`` and ``inner`` are relative to M(c).
    """

    loss: Array
    weight: Array
    log_mass: Array
    slope: Array
    rounding: Rounding
    inner: Array

    @property
    def first(self) -> Nodes:
        """The nodes for the first real part only."""
        weight, log_mass, slope, inner = (part[:, :1] for part in (self.weight, self.log_mass, self.slope, self.inner))
        return Nodes(self.loss, weight, log_mass, slope, self.rounding.first, inner)


def near_one(log_mass: Array) -> NDArray[np.bool_]:
    """Whether M(c) is so near one that M(c) - 1 is summed instead."""
    near: NDArray[np.bool_] = np.abs(log_mass) < _NEAR_ONE
    return near


def summed(
    loss: Array,
    log_density: Array,
    power: Array,
    unit: Array,
    loss_error: Array,
    omitted: tuple[float, float] = (0.0, 0.0),
    omitted_error: float = 0.0,
) -> Nodes:
    """Sums over nodes of given l and Q-mass; masses have the relative error ``unit``, and l the absolute error ``loss_error``.

    The real parts ``power`` are the same for all mixtures, or (mixture, power).

    ``omitted`` are the masses of P and of Q outside of the nodes, with a relative error of ``omitted_error``: E[1] and E[w]
    over the nodes are one less these.
    """
    exponent = power[..., None] * loss[:, None, :]
    log_terms = log_density + exponent
    peak = log_terms.max(axis=2)
    weight = np.exp(log_terms - peak[:, :, None])
    total = weight.sum(axis=2)
    log_mass = peak + np.log(total)

    small = (np.maximum(exponent.max(axis=2), loss.max(axis=1)[:, None]) < _LARGE) & near_one(log_mass)
    # mixtures whose sum is of second order, and those whose sum is of w^a itself, have different rounding errors
    every, some = bool(small.all()), bool(small.any())
    slope = log_mass if every else product(weight, loss[:, :, None])[:, :, 0] / total
    if some:
        # the rounding of second-order sums, of w^a and of w
        bounded = exponent if every else np.where(small[:, :, None], exponent, 0.0)
        of_w = loss if every else np.where(small.any(axis=1)[:, None], loss, 0.0)
        density = np.exp(log_density)
        terms = np.concatenate([second_exp(np.concatenate([bounded, of_w[:, None, :]], axis=1)), np.expm1(bounded)], axis=1)
        by_loss = density * of_w
        measures = np.empty((*by_loss.shape, 2))
        measures[:, :, 0], measures[:, :, 1] = density, by_loss
        moments, last = product(terms, measures), power.shape[-1]
        excess = moments[:, :last, 0] - power * moments[:, [last], 0] + ((power - 1) * omitted[1] - power * omitted[0])
        if not every:
            excess = np.where(small, excess, 0.0)
        own_mass = np.log1p(excess)
        own_slope = (moments[:, last + 1 :, 1] - moments[:, [last], 0] + (omitted[1] - omitted[0])) / (1 + excess)
        log_mass = own_mass if every else np.where(small, own_mass, log_mass)
        slope = own_slope if every else np.where(small, own_slope, slope)
    weight *= np.exp(peak - log_mass)[:, :, None]

    # derived: at most 2 sqrt(2) roundings per step in a sum of complex products
    unit = unit + ULP * 1.5 * roundings(loss.shape[1])
    size = np.abs(loss)
    log_relative = log_density - log_mass[:, :, None]
    second = small[:, :, None]
    base, tilted_by_w = (
        np.exp(part) if every else np.where(second, np.exp(np.where(second, part, 0.0)), 0.0)
        for part in (log_relative, log_relative + loss[:, None, :])
    )
    largest = np.maximum(np.maximum(weight, tilted_by_w), base)
    if not every:
        largest = np.where(second, largest, np.inf)
    known_apart = (ELEMENTARY + omitted_error) * (np.abs(power * omitted[0]) + np.abs((power - 1) * omitted[1]))
    noise = Rounding(
        second=largest * (size * size / 2 * unit + 1e-300)[:, None, :],
        plain=(weight + base) * unit,
        linear=(weight * size[:, None, :] + np.abs(tilted_by_w - base)) * unit,
        second_by_loss=largest * (size * loss_error + 1e-300)[:, None, :],
        linear_by_loss=(weight + tilted_by_w) * loss_error[:, None, :],
        constant=np.where(small, known_apart * np.exp(-np.where(small, log_mass, 0.0)), ELEMENTARY * (1 + np.abs(log_mass))),
    )
    return Nodes(loss, weight, log_mass, slope, noise, np.zeros(log_mass.shape))


def deviations(
    nodes: Nodes, count: Array, abscissa: float | Array, heights: Array, top: float, second_moments: SecondMoments
) -> tuple[NDArray[np.complex128], Array, Array]:
    """K at c + it for heights up to ``top``, its rounding and its inner error, from nodes at the abscissa c.

    Heights are the same for all mixtures or, with a column of abscissas, (mixture, height).
    ``second_moments`` computes E[e^{itl} - 1 - itl] under the tilted weights.
    """
    weight = nodes.weight[:, 0, :]
    # nodes far below the largest are dropped, and their sum is bounded
    size = np.abs(weight)
    kept = (size > size.max(axis=1, keepdims=True) * np.exp(np.log(INNER_TARGET / count) - 12)[:, None]).any(axis=0)
    dropped = (size * (1 + top * np.abs(nodes.loss)))[:, ~kept].sum(axis=1)
    deviation = second_moments(heights, nodes.loss[:, kept], weight[:, kept]) + 1j * heights * nodes.slope
    rounding, inner = nodes.rounding.at(abscissa + 1j * heights), nodes.inner + 2 * dropped[:, None]
    return log_of_deviation(nodes.log_mass, deviation, rounding, inner)


def by_abscissa(z: NDArray[Any], on_real: Callable[[Array], Values], on_vertical: Callable[[float, Array], Values]) -> Values:
    """Values at points of any shape: real points together, complex points with one set of nodes for each abscissa."""
    if not np.iscomplexobj(z):
        values = on_real(z.ravel())
        if z.ndim == 1:
            return values
        parts = np.stack([values.mid, values.rounding, values.inner])
    else:
        parts = np.full((3, z.size), np.inf, dtype=complex)
        abscissas, group = np.unique(z.real.ravel(), return_inverse=True)
        for i, abscissa in enumerate(abscissas):
            here = group.ravel() == i
            values = on_vertical(float(abscissa), z.imag.ravel()[here])
            parts[:, here] = np.stack([values.mid, values.rounding, values.inner])
    mid, rounding, inner = parts.reshape((3, *z.shape))
    return Values(mid, rounding.real, inner.real)


def divided_by(values: Values, count: int) -> Values:
    """The values of K, from those of ``count`` times K; unknown where these are unknown."""
    if count == 1:
        return values
    known = np.isfinite(values.mid)
    mid = np.where(known, np.where(known, values.mid, 0) / count, np.inf)
    return Values(mid, values.rounding / count, values.inner / count)


def weighted(count: Array, mid: NDArray[Any], rounding: Array, inner: Array) -> Values:
    """Sums over the mixtures, with the rounding of the sum itself; unknown where a term is unknown."""
    # an infinite or undefined value makes the sum of the errors infinite or undefined
    known = np.isfinite(rounding + inner + np.abs(mid))
    unknown: Array | float = 0.0
    if not known.all():
        mid, rounding, inner = (np.where(known, part, 0.0) for part in (mid, rounding, inner))
        unknown = np.where(known.all(axis=0), 0.0, np.inf)
    sum_error = ULP * (2 + count.size) * (count @ np.abs(mid))
    return Values(count @ mid, count @ rounding + sum_error + unknown, count @ inner)


class InnerIntegral(ABC):
    """The transform M(z) of one law as an integral, by sums over nodes with proved errors."""

    @abstractmethod
    def nodes(self, powers: Array, z: NDArray[Any], count: int) -> Nodes | None:
        """Nodes that serve the real parts ``powers`` of z + 1 at the points z, for ``count`` repetitions; None if too many."""

    @abstractmethod
    def approximate_nodes(self, powers: Array) -> ApproximateNodes | None:
        """Nodes that serve some real z + 1, without a bound of their error; None if out of range."""

    def approximate(self, abscissas: Array) -> Array:
        """K at real points to some digits, without a bound; infinite if out of range."""
        values = np.full(abscissas.size, np.inf)
        for those in _similar(abscissas):
            found = self.approximate_nodes(abscissas[those] + 1)
            if found is not None:
                values[those] = found.log_transform(abscissas[those])
        return values

    def at_points(self, z: NDArray[Any], count: int) -> Values:
        """K at any points, with new nodes for each abscissa of complex points."""
        return by_abscissa(z, lambda c: self.on_axis(c, count), lambda c, heights: self.at_heights(c, heights, count))

    def on_axis(self, abscissas: Array, count: int) -> Values:
        """K at real points; infinite if out of range."""
        values = Values.unknown(abscissas.size)
        for those in _similar(abscissas):
            own = abscissas[those]
            found = self.nodes(own + 1, own, count)
            if found is not None:
                part = weighted(
                    np.ones(1), found.log_mass, error_of_log(found.rounding.of_size(np.abs(own))), error_of_log(found.inner)
                )
                values.mid[those], values.rounding[those], values.inner[those] = part.mid, part.rounding, part.inner
        return values

    def at_heights(self, abscissa: float, heights: Array, count: int) -> Values:
        """K at points of one vertical line, in any order: one sum for each point."""
        return self._on_vertical(abscissa, np.abs(heights), count, one_by_one).on_both_sides(heights)

    def on_line(self, line: Line, count: int) -> Values:
        """K on a line, as a matrix product."""
        return self._on_vertical(line.abscissa, line.heights, count, along_line(line))

    def _on_vertical(self, abscissa: float, heights: Array, count: int, second_moments: SecondMoments) -> Values:
        found = self.nodes(np.array([abscissa + 1]), abscissa + 1j * heights, count)
        if found is None:
            return Values.unknown(heights.size)
        repeats, top = np.array([float(count)]), float(heights.max())
        return weighted(np.ones(1), *deviations(found, repeats, abscissa, heights, top, second_moments))


def _similar(abscissas: Array) -> Iterator[NDArray[np.intp]]:
    """Groups of abscissas of similar size: with nodes for a large abscissa, sums at small ones are inaccurate."""
    level = np.floor(np.log(np.maximum(np.abs(abscissas), 1.0)) / _LOG_RATIO)
    for one in np.unique(level):
        those = np.flatnonzero(level == one)
        yield from np.split(those, range(_SHARED, those.size, _SHARED))
