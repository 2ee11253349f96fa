"""The interface of discretizers, and parameters as intervals of doubles."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from logphi.arith.floats import FLOATS, ULP
from logphi.arith.protocol import Parameter
from logphi.arrays import Array
from logphi.grid.cell_masses import CellMasses
from logphi.grid.lattice_law import Grid, LatticeLaw


class Discretizer(ABC):
    """A law whose masses of cells are known.

    ``on`` chooses the nodes that suit the law, ``cells`` has the multiples of a width as its nodes. The masses of the cells
    between given nodes are computed by one function for both.
    """

    @property
    @abstractmethod
    def top(self) -> float:
        """The supremum of the support."""

    @property
    def endless(self) -> bool:
        """Whether the law has an unbounded upper tail, which :class:`Grid` may cut."""
        return False

    @property
    def spans(self) -> Array:
        """Distances that the step should divide, because there are atoms at both ends."""
        return np.zeros(0)

    def misfit(self, steps: Array, tilt: float) -> Array:
        """The approximate change of the lower law's tilted mean by atoms off the lattice, for each step."""
        return np.zeros_like(steps)

    @abstractmethod
    def approximate(self, u: Array, cut: float) -> Array:
        """An approximation of log E[e^{uX}] of the law, its upper tail cut as in :class:`Grid`."""

    @abstractmethod
    def on(self, grid: Grid) -> LatticeLaw:
        """A lattice law whose excess lies above, or below, that of the law at every threshold."""

    def cells(self, first: int, last: int, h: float, upper: bool) -> CellMasses:
        """The cells of the law between two multiples of h, with its parameters rounded to one side.

        Raises
        ------
        ValueError
            If the law has no proved cell masses.
        """
        raise ValueError("a loss is known by samples of its densities only, whose cells have no proved masses")

    def reflected(self) -> Discretizer | None:
        """The discretizer of the law of -X under Q; None if there is none."""
        return None


@dataclass(frozen=True)
class DoubleInterval:
    """A parameter as an interval between two doubles."""

    low: float
    high: float

    @staticmethod
    def of(parameter: Parameter) -> DoubleInterval:
        """The interval of a parameter's disc."""
        disc = parameter.under(FLOATS)
        mid, rad = float(np.real(disc.mid)), float(disc.rad)
        room = rad * (1 + ULP) + ULP * abs(mid) if rad else 0.0
        return DoubleInterval(mid - room, mid + room)

    @property
    def size(self) -> DoubleInterval:
        """The interval of the absolute value."""
        return self if self.low >= 0 else DoubleInterval(max(-self.high, 0.0), max(-self.low, self.high))

    def at(self, upper: bool) -> float:
        """The upper or lower end."""
        return self.high if upper else self.low
