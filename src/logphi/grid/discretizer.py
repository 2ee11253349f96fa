"""What a law must offer to be put on a lattice, and a parameter between two doubles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from logphi.arith.floats import FLOATS, ULP
from logphi.arith.protocol import Parameter
from logphi.arrays import Array
from logphi.grid.lattice_law import Grid, LatticeLaw


class Piece(Protocol):
    """A law that can be put on a lattice."""

    @property
    def top(self) -> float:
        """The supremum of the support."""

    @property
    def endless(self) -> bool:
        """Whether there is an upper tail that :class:`Grid` may cut."""

    @property
    def spans(self) -> Array:
        """Distances that the step should divide."""

    def misfit(self, steps: Array, tilt: float) -> Array:
        """About how far the lower law's tilted mean is moved by atoms off the lattice, per step."""

    def approximate(self, u: Array, cut: float) -> Array:
        """About log E[e^{uX}], of the law that is cut as in :class:`Grid`."""

    def on(self, grid: Grid) -> LatticeLaw:
        """A lattice law whose excess lies above, or below, that of the law at every threshold."""


@dataclass(frozen=True)
class Ends:
    """A parameter between two doubles."""

    low: float
    high: float

    @staticmethod
    def of(parameter: Parameter) -> Ends:
        """The ends of its disc."""
        disc = parameter.under(FLOATS)
        mid, rad = float(np.real(disc.mid)), float(disc.rad)
        room = rad * (1 + ULP) + ULP * abs(mid) if rad else 0.0
        return Ends(mid - room, mid + room)

    @property
    def size(self) -> Ends:
        """Of the absolute value."""
        return self if self.low >= 0 else Ends(max(-self.high, 0.0), max(-self.low, self.high))

    def at(self, upper: bool) -> float:
        """The end on one side."""
        return self.high if upper else self.low
