"""Sums of independent laws on nodes, convolved node by node in positive numbers.

A Fourier sum errs relative to the whole tilted mass. A sum of products of positive numbers errs relative to itself, so that it
keeps its digits however small a mass is beside the whole. The price is a product for each pair of nodes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from logphi.arith.floats import ULP
from logphi.arith.summation import log_sum
from logphi.arrays import Array

# derived: the largest node before a product: no sum of fewer than 10^8 products overflows
_LARGEST = 1e150
# derived: a node above what underflows in one node, for fewer than 10^20 products
_UNDERFLOW = 1e-300
# derived: logarithms of doubles are no larger
LARGEST_LOG = 710.0


@dataclass(frozen=True)
class NodeMasses:
    """Masses e^log_scale * weights at origin + h k, k = 0, 1, ..., tilted by e^{c (origin + h k)}.

    ``log_error`` bounds the error of the logarithm of each, and ``log_lost`` is the logarithm of the mass, not tilted, that was
    cut off above.
    """

    weights: Array
    log_scale: float
    origin: float
    log_error: float
    log_lost: float = -math.inf

    def logs(self) -> Array:
        """Logarithms of the tilted masses."""
        with np.errstate(divide="ignore"):  # empty nodes
            return np.asarray(np.log(self.weights) + self.log_scale)

    def places(self, step: float) -> Array:
        """The nodes."""
        return np.asarray(self.origin + step * np.arange(self.weights.size))

    def doubt(self, size: float) -> float:
        """A bound of the error of the logarithm of a sum of masses, whose tilts have exponents up to ``size``."""
        return self.log_error + ULP * (16 * (LARGEST_LOG + abs(self.log_scale) + size) + self.weights.size)


@dataclass(frozen=True)
class Window:
    """The lattice, its tilt, and the number of nodes of partial sums that are kept.

    Masses are rounded up or down; mass that is cut off is ``counted`` or dropped.
    """

    step: float
    tilt: float
    size: int
    up: bool
    counted: bool

    def total(self, laws: Iterable[tuple[NodeMasses, int]]) -> NodeMasses:
        """The sum of independent laws, each counted."""
        return reduce(self._sum, (self._power(self._cut(one), count) for one, count in laws))

    def _power(self, one: NodeMasses, count: int) -> NodeMasses:
        found = one if count & 1 else None
        while count := count >> 1:
            one = self._sum(one, one)
            if count & 1:
                found = one if found is None else self._sum(found, one)
        return found or one

    def _sum(self, one: NodeMasses, other: NodeMasses) -> NodeMasses:
        weights = np.convolve(one.weights, other.weights)
        rounded = min(one.weights.size, other.weights.size) + 8
        size = abs(one.log_scale) + abs(other.log_scale) + self.tilt * (abs(one.origin) + abs(other.origin))
        return self._cut(
            NodeMasses(
                one_sided(weights, self.up),
                one.log_scale + other.log_scale,
                one.origin + other.origin,
                one.log_error + other.log_error + ULP * (rounded + 4 * size),
                float(np.logaddexp(one.log_lost, other.log_lost)),
            )
        )

    def _cut(self, one: NodeMasses) -> NodeMasses:
        """The law on the nodes that are kept, scaled so that products neither overflow nor underflow."""
        lost = one.log_lost
        if self.counted and one.weights.size > self.size:
            places = one.places(self.step)
            above = float(log_sum((one.logs() - self.tilt * places)[self.size :]))
            lost = float(np.logaddexp(lost, above + one.doubt(self.tilt * float(np.abs(places).max()))))
        kept = one.weights[: self.size]
        unit = float(kept.max())
        if not unit > 0:
            return replace(one, weights=kept, log_lost=lost)
        grown = min(_LARGEST / unit, 1 / _UNDERFLOW)
        weights = one_sided(kept * grown, self.up)
        error = one.log_error + ULP * (8 + 4 * (LARGEST_LOG + abs(one.log_scale)))
        return NodeMasses(weights, one.log_scale - math.log(grown), one.origin, error, lost)


def one_sided(weights: Array, up: bool) -> Array:
    """Masses with the error of what has underflowed on one side, relative errors apart."""
    return weights + _UNDERFLOW if up else np.maximum(weights - _UNDERFLOW, 0.0)
