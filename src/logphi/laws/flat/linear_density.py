"""Symmetric laws whose density, once tilted by e^{-x/2}, is linear between equally spaced losses.

notation: a(x) = sum of a_j hat(x/d - j) / d, hat(y) = (1 - |y|)_+, over few or many whole j, with a_{-j} = a_j; u = z + 1/2.

    M(z) = B(u) (sinh(u d/2) / (u d/2))^2,      B(u) = sum of a_j e^{j u d};

a_0 makes the law a probability. With the second differences b_j of the a_j, M(z) is also the sum of b_j e^{j u d} over (u d)^2,
which bounds its decay.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY, FLOATS, ULP, Discs
from logphi.arith.protocol import Arithmetic, Number
from logphi.arrays import Array
from logphi.laws.atomic.tilted_atoms import TiltedAtoms
from logphi.laws.support import Support
from logphi.laws.traits import Traits
from logphi.laws.transform import LossTransform
from logphi.quadrature.approximation import Approximation
from logphi.quadrature.sums.approximate_nodes import ApproximateNodes
from logphi.quadrature.values import Line, Values

# chosen: for approximate values, weights are merged into this many
_MERGED = 1024
# chosen: entries of the intermediate arrays
_BLOCK = 1 << 18


@dataclass(frozen=True)
class LinearDensity(LossTransform):
    """The law of the weights at ``places`` j > 0, which increase, and of their reflections; a_0 > 0 is what is left."""

    step: float
    places: tuple[int, ...]
    weights: tuple[float, ...]

    traits = Traits(symmetric=True)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Computed once: there may be many weights."""
        return hash((self.step, self.weights))

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z)."""
        d = arith.constant(self.step)

        def twice_cosh(x: Number) -> Number:
            return arith.exp(x) + arith.exp(-x)

        def spread(u: Number) -> Number:
            return 2 * arith.log_sinhc(u * d / 2)

        half, u = arith.constant(1.0) / 2, (2 * z + 1) / 2
        pairs = [(j, arith.constant(weight)) for j, weight in zip(self.places, self.weights, strict=True)]
        first = arith.exp(-spread(half)) - sum(weight * twice_cosh(j * d / 2) for j, weight in pairs)
        return arith.log(first + sum(weight * twice_cosh(u * j * d) for j, weight in pairs)) + spread(u)

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K at an array of points."""
        z = np.asarray(z)
        points = z.ravel()
        rows = max(_BLOCK // self._loss.size, 1)
        parts = [self._at(part) for part in np.split(points, range(rows, points.size, rows))]
        mid, radius = (np.concatenate([getattr(part, name) for part in parts]).reshape(z.shape) for name in ("mid", "rounding"))
        return Values(mid, radius, np.zeros(z.shape)) + self._spread(z)

    def on_line(self, line: Line, count: int = 1) -> Values:
        """K on a vertical line, from the relevant weights under the tilt."""
        tilted = TiltedAtoms.of(self._log_p, self._loss, self._errors, line.abscissa)
        return tilted.on_line(line) + self._spread(line.points)

    @cached_property
    def approximate(self) -> Approximation:
        """From merged weights, each of which is a summand on a line."""
        nodes = ApproximateNodes(self._loss, self._log_p - self._loss).merged(_MERGED)
        return Approximation.of(nodes, summands=self._loss.size)

    @cached_property
    def support(self) -> Support:
        """The interval up to one step above the largest place, and its reflection."""
        end = (self.places[-1] + 1) * self.step
        return Support(-end * (1 + 4 * ULP), end * (1 + 4 * ULP), 16 * ULP * end, atomless=True)

    def log_envelope(self, abscissa: float, heights: Array, end: float = np.inf) -> Array:
        """From the second differences of the weights, at a real part of u that does not depend on the height."""
        rate = abscissa + 0.5
        turn = rate * self._bent[0]
        top = float(turn.max())
        variation = math.log(float((self._bent[1] * np.exp(turn - top)).sum())) + top - 2 * math.log(self.step)
        values = self.log_transform(np.array([abscissa]))
        log_mass = float((values.mid - values.radius)[0])
        bound: Array = variation - np.log(rate**2 + heights**2) - log_mass + 1e-9 * (1 + abs(variation))
        return np.minimum(bound, 0.0)

    @cached_property
    def _bent(self) -> tuple[Array, Array]:
        """The places of second differences of the weights in losses, and bounds of their sizes."""
        middle = self.places[-1] + 1
        dense = np.zeros(2 * middle + 1)
        places, weights = np.array(self.places), np.array(self.weights)
        dense[middle + places] = dense[middle - places] = weights
        dense[middle] = self._first[0]
        padded = np.pad(dense, 1)
        sizes = np.abs(np.diff(padded, 2)) + 8 * ULP * (padded[:-2] + 2 * dense + padded[2:])
        sizes[middle - 1 : middle + 2] += 4 * self._first[1]
        held = np.flatnonzero(sizes)
        return np.asarray((held - middle) * self.step, dtype=np.float64), sizes[held]

    @cached_property
    def _first(self) -> tuple[float, float]:
        """A_0, with a bound of its error."""
        quarter = FLOATS.log_sinhc(Discs.exact(np.array([self.step / 4])))
        whole = math.exp(-2 * float(quarter.mid[0]))
        x = np.array(self.places) * (self.step / 2)
        return whole - 2 * float((np.array(self.weights) * np.cosh(x)).sum()), (len(self.places) + 32) * 2 * ULP * whole

    @cached_property
    def _loss(self) -> Array:
        """The multiples of the step."""
        x = np.array(self.places) * self.step
        return np.concatenate([-x[::-1], [0.0], x])

    @cached_property
    def _log_p(self) -> Array:
        """The logarithms of a_j e^{j d/2}."""
        logs = np.log(self.weights)
        return np.concatenate([logs[::-1], [math.log(self._first[0])], logs]) + self._loss / 2

    @cached_property
    def _errors(self) -> tuple[Array, Array]:
        """The relative errors of a_j e^{j d/2}, and the errors of the losses."""
        logs = np.abs(self._log_p) + np.abs(self._loss)
        error = ELEMENTARY * (2 + logs)
        error[len(self.weights)] += 1.01 * self._first[1] / self._first[0]
        return error, ULP * np.abs(self._loss)

    def _at(self, z: NDArray[Any]) -> Values:
        """Log B, at few points."""
        exponent = self._log_p + z[:, None] * self._loss
        top = exponent.real.max(axis=1)
        terms = np.exp(exponent - top[:, None])
        weight_error, loss_error = self._errors
        size = np.abs(z)[:, None]
        wrong = weight_error + size * (loss_error + ELEMENTARY * np.abs(self._loss))
        wrong = wrong + ELEMENTARY * (2 + np.abs(exponent.real) + np.abs(top)[:, None]) + (self._loss.size + 16) * ULP
        return Values.logarithm(terms.sum(axis=1), (np.abs(terms) * np.expm1(np.minimum(wrong, 700.0))).sum(axis=1) * 1.01, top)

    def _spread(self, z: NDArray[Any]) -> Values:
        """The logarithm of the hat's transform."""
        u = (2 * Discs.exact(z) + 1) * (self.step / 4)
        return Values.of(2 * FLOATS.log_sinhc(u))
