"""Splines of degree five on equal steps, four times differentiable, with bounds of their derivatives between the knots.

All derivatives are per step: the n-th is the one by x, times the n-th power of the step.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from logphi.arrays import Array

# the polynomial on a cell, from the six coefficients about it
_LOCAL = (
    np.array(
        [
            [1, 26, 66, 26, 1, 0],
            [-5, -50, 0, 50, 5, 0],
            [10, 20, -60, 20, 10, 0],
            [-10, 20, 0, -20, 10, 0],
            [5, -20, 30, -20, 5, 0],
            [-1, 5, -10, 10, -5, 1],
        ]
    )
    / 120
)
# derived: a spline of double steps is one of single steps, whose even coefficients are its own averaged with these weights
_EVEN = np.array([6, 20, 6]) / 32
# derived: its odd coefficients are averaged with these
_ODD = np.array([1, 15, 15, 1]) / 32


@dataclass(frozen=True, eq=False)
class Quintic:
    """A spline by its coefficients, one a knot; ``first`` is the number of the knot of the first one, in steps from zero.

    It is known from two knots after the first one to three knots before the last one.
    """

    first: int
    coefficients: Array

    @staticmethod
    def through(first: int, values: Array) -> Quintic:
        """A spline near values at knots, of which those at two knots on each side are lost; exact if they are of a quintic."""
        second = np.diff(values, 2)
        return Quintic(first + 2, values[2:-2] - second[1:-1] / 4 + 13 / 240 * np.diff(second, 2))

    @cached_property
    def cells(self) -> Array:
        """The polynomials from each knot to the next one, from the knot ``first`` + 2 on."""
        count = self.coefficients.size - 5
        found: Array = _LOCAL @ np.array([self.coefficients[n : n + count] for n in range(6)])
        return found

    def column(self, knots: NDArray[np.int64]) -> NDArray[np.int64]:
        """The places of the cells that begin at these knots."""
        return knots - (self.first + 2)

    def at(self, columns: NDArray[np.int64], inside: Array) -> tuple[Array, Array, Array]:
        """The values and two derivatives in cells, at a share of a step from their beginning."""
        a, b, c, d, e, f = np.take(self.cells, columns, axis=1)
        # Horner's scheme, again on its own coefficients for each derivative
        e1 = e + inside * f
        d1 = d + inside * e1
        c1 = c + inside * d1
        b1 = b + inside * c1
        e2 = e1 + inside * f
        d2 = d1 + inside * e2
        c2 = c1 + inside * d2
        bend = c2 + inside * (d2 + inside * (e2 + inside * f))
        return a + inside * b1, b1 + inside * c2, 2 * bend

    def sizes(self, reach: int) -> tuple[Array, Array, Array]:
        """Bounds of the absolute values of the second to fourth derivatives on each ``reach`` cells from a cell on."""
        second, third, fourth = (np.abs(factor * self.cells[n]) for factor, n in ((2.0, 2), (6.0, 3), (24.0, 4)))
        # the fourth one is linear on a cell, and the others are within half a step of a knot
        last = largest(fourth, reach + 1)
        middle = largest(third, reach + 1) + last / 2
        return largest(second, reach + 1) + middle / 2, middle, last

    @cached_property
    def near(self) -> tuple[Array, Array, Array]:
        """The sizes on each cell."""
        return self.sizes(1)

    @cached_property
    def wide(self) -> tuple[Array, Array, Array]:
        """The sizes on three cells from each on."""
        return self.sizes(3)

    def least_bend(self, reach: int) -> Array:
        """Lower bounds of the second derivative on each one or three cells from a cell on."""
        middle = (self.near if reach == 1 else self.wide)[1]
        found: Array = -largest(-2 * self.cells[2], reach + 1) - middle / 2
        return found

    def coarser(self, last: int) -> tuple[Quintic, float]:
        """A spline of steps twice as long, with a bound of its difference up to a knot."""
        knots = self.cells[0]
        skipped = (self.first + 2) % 2
        found = Quintic.through((self.first + 2 + skipped) // 2, knots[skipped::2])
        even = np.convolve(found.coefficients, _EVEN, "valid")
        odd = np.convolve(found.coefficients, _ODD, "valid")
        start = 2 * (found.first + 1) - self.first
        gaps = [even - self.coefficients[start : start + 2 * even.size : 2]]
        gaps.append(odd - self.coefficients[start + 1 : start + 1 + 2 * odd.size : 2])
        # three coefficients after a knot still count before it
        size = (last + 3 - self.first - start) // 2 + 1
        return found, float(max(np.abs(one[:size]).max() for one in gaps))


def largest(values: Array, reach: int) -> Array:
    """The largest of each ``reach`` neighbours, from each place on; the last ones have fewer."""
    padded = np.concatenate([values, np.full(reach - 1, -np.inf)])
    found = values
    for ahead in range(1, reach):
        found = np.maximum(found, padded[ahead : ahead + values.size])
    return found
