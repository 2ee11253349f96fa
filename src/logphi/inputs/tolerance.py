"""How narrow an answer must be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from logphi.inputs import check


@dataclass(frozen=True)
class Tolerance:
    """The relative width that is aimed at, and the one that suffices where a narrower answer costs seconds."""

    aim: float
    enough: float

    @staticmethod
    def of(rtol: Any) -> Tolerance:
        """A number asks for that width everywhere; None for the default.

        Raises
        ------
        ValueError, TypeError
            If it is not a number above 0 and at most 1.
        """
        if rtol is None:
            return DEFAULT
        number = check.tolerance("rtol", rtol)
        return Tolerance(number, number)

    def __mul__(self, factor: float) -> Tolerance:
        return Tolerance(self.aim * factor, self.enough * factor)

    def at_least(self, least: float) -> Tolerance:
        """Neither of the two below a number."""
        return Tolerance(max(self.aim, least), max(self.enough, least))


DEFAULT = Tolerance(1e-9, 1e-6)
"""A transform that decays or a lattice gives nine digits at once; elsewhere digits beyond six cost the root of their number."""
