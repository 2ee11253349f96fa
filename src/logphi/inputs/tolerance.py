"""The relative width of answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from logphi.inputs import check


@dataclass(frozen=True)
class Tolerance:
    """The relative width to aim at, and a larger one that suffices where a narrower answer would cost seconds."""

    aim: float
    enough: float

    @staticmethod
    def of(rtol: Any) -> Tolerance:
        """The tolerance of a number: that width everywhere; None is the default.

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
        """The tolerance with neither width below a number."""
        return Tolerance(max(self.aim, least), max(self.enough, least))


DEFAULT = Tolerance(1e-9, 1e-6)
"""Chosen: where the transform decays, or on a lattice, nine digits cost little; elsewhere more than six are expensive."""
