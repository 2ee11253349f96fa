"""Symmetric laws of sampled normal pairs without their largest and smallest losses.

Moments of the whole law count rare losses far larger than all others; those of this one do not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from logphi.arith.floats import FLOATS, ULP
from logphi.arith.protocol import Arithmetic, Number
from logphi.laws.curves.curved import Curved, parameter_error
from logphi.laws.normal.curved_normal import Cappable, Parts
from logphi.laws.traits import Traits
from logphi.normal.tails import log_masses
from logphi.quadrature.curves.curve import Curve


@dataclass(frozen=True)
class CappedNormal(Curved):
    """The part of a symmetric law with the losses up to that at ``end`` > 0, a point of its curve, and not below minus that."""

    whole: Cappable
    end: float

    traits = Traits(symmetric=True)

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z)."""
        return arith.log(arith.exp(self.whole.formula(arith, z)) - self.whole.outer_moment(arith, z, self.end))

    @cached_property
    def log_outside(self) -> tuple[float, float]:
        """The logarithm of the mass of P, and of Q, that is left out, and its error."""
        return self._log_above(self.whole.outer_parts)

    @cached_property
    def log_above_under_q(self) -> tuple[float, float]:
        """The logarithm of the mass of Q above the end, which is that of P below minus the end, and its error."""
        return self._log_above(self.whole.upper_parts[1])

    def _log_above(self, parts: Parts) -> tuple[float, float]:
        m, wrong = float(self.whole.shift.under(FLOATS).mid), parameter_error(self.whole.shift)
        weights, centres = np.array(parts).T
        ahead = self.end - centres * m
        logs, relative = log_masses(ahead, np.full(ahead.shape, np.inf))
        # relatively, a tail changes by at most (end + 1) times the change of its end
        moved = np.abs(centres) * m * (2 * wrong + 4 * ULP) + 2 * ULP * np.abs(ahead)
        error = relative + (1 + np.maximum(ahead, 0.0) + moved) * moved + ULP * (8 + np.abs(logs))
        return float(np.logaddexp.reduce(np.log(weights) + logs)), 2 * float(error.max()) + 8 * ULP

    def _curve(self, side: int) -> Curve:
        """The curve of the whole law up to the end, on both sides if it covers both."""
        own = self.whole._curve(side)
        log_mass, error = self.log_outside
        mass = math.exp(log_mass)
        start = own.start if own.symmetric else -self.end
        return replace(own, start=start, end=self.end, omitted=(mass, mass), omitted_error=error)
