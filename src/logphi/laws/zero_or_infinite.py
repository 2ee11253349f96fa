"""A loss that is zero or infinite: a constant factor of the transform."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from logphi.arith.floats import ULP
from logphi.arith.protocol import Arithmetic, Number
from logphi.laws.support import Lattice, LogMasses, Pieces, Support
from logphi.laws.traits import CONSTANT
from logphi.laws.transform import LossTransform, Terms, apart
from logphi.quadrature.values import Values


@dataclass(frozen=True)
class ZeroOrInfinite(LossTransform):
    """A loss that is 0 with probability 1 - failure and infinite otherwise: K(z) = log(1 - failure)."""

    failure: float

    traits = CONSTANT

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z), a constant."""
        return arith.log1p(-arith.constant(self.failure)) + 0 * z

    @property
    def support(self) -> Support:
        """A single atom at zero, on a lattice of any span."""
        atom, log_mass = Pieces((0.0,), (math.log1p(-self.failure),)), log_complement(self.failure)
        return Support(0.0, 0.0, pieces=atom, lattice=Lattice(0.0, math.inf), masses=LogMasses(log_mass, log_mass))


def zero_or_infinite(terms: Terms) -> tuple[Terms, Terms]:
    """The laws of this file among counted laws, and the others."""
    return apart(terms, ZeroOrInfinite)


def log_complement(infinite_mass: float, relative_error: float = 0.0, omitted_mass: float = 0.0) -> Values:
    """``log(1 - infinite_mass)`` with an error of a few ulps, half an ulp of the mass, and the given errors of it."""
    value = np.array([math.log1p(-infinite_mass)])
    elsewhere = 2 * omitted_mass / (1 - infinite_mass)
    return Values(value, (8e-16 + (2 * relative_error + ULP) / (1 - infinite_mass)) * np.abs(value) + elsewhere, np.zeros(1))
