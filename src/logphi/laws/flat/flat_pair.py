"""Symmetric pairs whose loss is uniform after tilting, with or without atoms, and with outcomes of infinite loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from logphi.arith.doubles import DOUBLES
from logphi.arith.floats import ULP
from logphi.arith.protocol import Arithmetic, Number, Parameter
from logphi.arith.scaled import Scaled
from logphi.laws.closed_form import Sides
from logphi.laws.curves.curved import end_of, parameter_error
from logphi.laws.flat.uniform import Uniform, UniformWithAtoms


@dataclass(frozen=True)
class FlatPair:
    """A symmetric pair with loss L of Q-density C e^{-L/2} on [-w, w], with or without atoms at both ends.

    With probability ``failure`` the outcome is one that only P, or only Q, can have.
    """

    width: Parameter
    with_atoms: bool
    failure: float = 0.0

    @property
    def error(self) -> float:
        """The relative error of the parameters."""
        return parameter_error(self.width) + ULP * self.failure / (1 - self.failure)

    def size(self, side: int) -> tuple[float, float]:
        """The width w and the failure probability: nominal (``side`` 0), rounded down (-1) or up (1)."""
        return end_of(self.width, side), self.failure * (1 + side * ULP)

    def log_constants(self, side: int) -> tuple[float, float, float]:
        """Logarithms of C, and of the atoms' Q-masses at -w and at w."""
        w, failure = self.size(side)
        log_kept = float(np.log1p(-failure))
        log_height, log_atom = self.law.constants(DOUBLES, w)
        return log_kept + log_height, log_kept + log_atom + w / 2, log_kept + log_atom - w / 2

    @property
    def law(self) -> Uniform | UniformWithAtoms:
        """The law of the loss without failures."""
        return UniformWithAtoms(self.width) if self.with_atoms else Uniform(self.width)

    def infinite_mass(self, arith: Arithmetic) -> Number | None:
        """The probability of failure, if there is one."""
        return arith.constant(self.failure) if self.failure else None

    @property
    def failed(self) -> Scaled:
        """The probability of failure."""
        return Scaled(0.0, self.failure, rounding=ULP * self.failure)

    @property
    def floor(self) -> float:
        """A number below every loss."""
        return 2 * self.law.support.lower

    def partial_masses(self, x: float, *, tilted: bool) -> Sides | None:
        """The masses under P, or under Q if ``tilted``, on either side of x, without failures."""
        found = self.law.closed_form.partial_masses(x, tilted=tilted)
        if found is None or not self.failure:
            return found
        log_kept = float(np.log1p(-self.failure))
        above, below = (one.times_exp(log_kept, ULP * self.failure / (1 - self.failure)) for one in found)
        return above, below

    def mean(self, arith: Arithmetic, function: Callable[[Number], Number], *, above: bool) -> Number:
        """The integral of a function of L over the common support under Q, over L > 0 if only ``above``."""
        w = self.width.under(arith)
        log_height, log_atom = self.law.constants(arith, w)
        total = arith.exp(log_height) * arith.integral(lambda x: function(x) * arith.exp(-x / 2), 0 * w if above else -w, w)
        for end in (w,) if above else (w, -w):
            total = total + (arith.exp(log_atom - end / 2) * function(end) if self.with_atoms else 0)
        return (1 - arith.constant(self.failure)) * total if self.failure else total
