"""The atoms of single laws: all of them, or those near the mean of the tilted law."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arith.summation import log_sum
from logphi.arrays import Array
from logphi.inversion.tilted import DEPTH, Tilted, normalized
from logphi.laws.transform import LossTransform
from logphi.laws.visitor import LawVisitor

# derived: weights below e to minus this, and their sum, are far below the rounding of the others; counted as omitted
_LIGHT = 60.0


class Atomic(ABC):
    """A law of atoms only."""

    @abstractmethod
    def at(self, tilt: float) -> Tilted:
        """Those of the law that is tilted by e^{cx}."""

    @abstractmethod
    def approximate(self, c: Array) -> Array:
        """About log E[e^{cX}]."""

    def without_top(self, log_mass: float) -> tuple[Atomic, float]:
        """Without the highest atoms, of at most a mass, a logarithm; and their mass, rounded up."""
        return self, 0.0


@dataclass(frozen=True, eq=False)
class Listed(Atomic):
    """Atoms by places and logarithms of masses, with the errors of each."""

    location: Array
    log_p: Array
    location_error: Array
    error: Array

    def at(self, tilt: float) -> Tilted:
        """Those of some weight: the others, far out, are those of which least is known."""
        exponent = self.log_p + tilt * self.location
        peak = float(exponent.max())
        held = exponent > peak - _LIGHT
        unsure = np.minimum(self.error[~held] + tilt * self.location_error[~held], 700.0)
        light = 1.01 * float(np.exp(exponent[~held] - peak + unsure).sum())
        location, log_p, exponent = self.location[held], self.log_p[held], exponent[held]
        size = 1 + np.abs(log_p) + 2 * tilt * np.abs(location) + 2 * np.abs(exponent)
        error = float((self.error[held] + ULP * size).max())
        return normalized(location, exponent, float(self.location_error[held].max()), error, light)

    def approximate(self, c: Array) -> Array:
        """Their sum."""
        return log_sum(self.log_p + c[:, None] * self.location)

    def without_top(self, log_mass: float) -> tuple[Atomic, float]:
        """Masses add from the highest atom downward."""
        order = np.argsort(-self.location, kind="stable")
        above = np.logaddexp.accumulate(self.log_p[order])
        dropped = min(int(np.searchsorted(above, log_mass)), order.size - 1)
        if not dropped:
            return self, 0.0
        held = np.sort(order[dropped:])
        kept = Listed(*(part[held] for part in (self.location, self.log_p, self.location_error, self.error)))
        return kept, 1.01 * math.exp(above[dropped - 1])


@dataclass(frozen=True, eq=False)
class NormalOnWholes(Atomic):
    """The log-ratio of a normal law on the whole numbers to itself moved by s."""

    law: LossTransform
    sigma: float
    shift: int

    def at(self, tilt: float) -> Tilted:
        """Those around the mean of the tilted law, which is that of the whole numbers around (1 + c) s.

        e^{cX} has the weights e^{c (c+1) s^2 / (2 sigma^2)} e^{-(x - (1+c) s)^2 / (2 sigma^2)} / Theta(0) at the whole x.
        """
        sigma, s, c = self.sigma, self.shift, tilt
        centre, span = (1 + c) * s, s / sigma**2
        # both tails are at most geometric series from their first terms
        reach = math.ceil(sigma * math.sqrt(2 * (DEPTH + math.log(1 + sigma))) + 2)
        around, x = round(centre), np.arange(-reach, reach + 1.0)
        log_weight = -((x + (around - centre)) ** 2) / (2 * sigma**2)
        location = (x + (around - s / 2)) * span
        log_total = float(np.log(np.exp(-((x / sigma) ** 2) / 2).sum()))
        common = c * (c + 1) * s * span / 2 - log_total
        tail = 2 * math.exp(-((reach - 1) ** 2) / (2 * sigma**2)) / -math.expm1(-(reach - 1) / sigma**2)
        moved = 8 * ULP * (abs(centre) + 1) * (reach + 1) / sigma**2
        rounding = moved + ELEMENTARY * (2 + float(np.abs(log_weight).max())) + 64 * ULP
        slip = 16 * ULP * (abs(common) + 2 * abs(log_total) + 4)
        found = normalized(location, log_weight, 8 * ULP * float(np.abs(location).max()), rounding + slip, tail)
        return replace(found, log_scale=found.log_scale + common)

    def approximate(self, c: Array) -> Array:
        """From the law."""
        return self.law.approximate(c)


@dataclass(frozen=True)
class _AtomicVisitor(LawVisitor[Atomic, LossTransform]):
    """The atoms of each form."""

    law: LossTransform

    def atoms(self, known: Callable[[], tuple[Array, Array, Array]]) -> Atomic:
        """As they are."""
        locations, log_p, errors = known()
        return Listed(locations, log_p, errors, errors)

    def normal_on_integers(self, sigma: float, shift: int) -> Atomic:
        """Infinitely many."""
        return NormalOnWholes(self.law, sigma, shift)


def atomic(law: LossTransform) -> Atomic | None:
    """The atoms of a law; None of a law that has other parts."""
    pieces = law.support.pieces
    if pieces is None:
        return law.accept(_AtomicVisitor(law))
    if pieces.width or not pieces.locations:
        return None
    log_weights, locations = np.array(pieces.log_weights), np.array(pieces.locations)
    # masses are formed with the place, which errs
    error = pieces.relative_error + pieces.location_error / 2 + 4 * ULP * (1 + np.abs(log_weights))
    return Listed(locations, log_weights + locations / 2, np.full(locations.shape, pieces.location_error), error)
