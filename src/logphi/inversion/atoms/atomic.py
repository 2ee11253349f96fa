"""The atoms of one law under a tilt: all of them, or those near the mean of the tilted law."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arith.summation import log_sum
from logphi.arrays import Array
from logphi.inversion.atoms.tilted import DEPTH, Tilted, normalized
from logphi.laws.transform import LossTransform
from logphi.laws.visitor import LawVisitor, ListedMasses

# derived: weights below e to minus this, and their sum, are far below the rounding of the others, and count as omitted
_LIGHT = 60.0


class Atomic(ABC):
    """A law that is made of atoms."""

    @abstractmethod
    def at(self, tilt: float) -> Tilted:
        """The atoms of the law tilted by e^{cx}."""

    @abstractmethod
    def approximate(self, c: Array) -> Array:
        """An approximation of log E[e^{cX}]."""

    def without_highest(self, log_mass: float) -> tuple[Atomic, float]:
        """The law without its highest atoms, of mass at most e^log_mass together, and a bound of that mass."""
        return self, 0.0


@dataclass(frozen=True, eq=False)
class Listed(Atomic):
    """Atoms by locations and logarithms of masses, with the errors of each."""

    location: Array
    log_p: Array
    location_error: Array
    error: Array

    def at(self, tilt: float) -> Tilted:
        """The atoms that are not negligible; the others, far out, have the largest errors."""
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
        """The logarithm of the sum over the atoms."""
        return log_sum(self.log_p + c[:, None] * self.location)

    def without_highest(self, log_mass: float) -> tuple[Atomic, float]:
        """The highest atoms as long as the sum of their masses allows."""
        order = np.argsort(-self.location, kind="stable")
        above = np.logaddexp.accumulate(self.log_p[order])
        dropped = min(int(np.searchsorted(above, log_mass)), order.size - 1)
        if not dropped:
            return self, 0.0
        held = np.sort(order[dropped:])
        kept = Listed(*(part[held] for part in (self.location, self.log_p, self.location_error, self.error)))
        return kept, 1.01 * math.exp(above[dropped - 1])


@dataclass(frozen=True, eq=False)
class AtomsOfNormalOnIntegers(Atomic):
    """The atoms of the log-ratio of a normal law on the integers to the same law shifted by s."""

    law: LossTransform
    sigma: float
    shift: int

    def at(self, tilt: float) -> Tilted:
        """The atoms near the mean of the tilted law: those of the integers x near (1 + c) s.

        e^{cX} has the weights e^{c (c+1) s^2 / (2 sigma^2)} e^{-(x - (1+c) s)^2 / (2 sigma^2)} / Theta(0) at the whole x.
        """
        sigma, s, c = self.sigma, self.shift, tilt
        centre, span = (1 + c) * s, s / sigma**2
        # both tails are at most geometric series that begin with their first terms
        radius = math.ceil(sigma * math.sqrt(2 * (DEPTH + math.log(1 + sigma))) + 2)
        around, x = round(centre), np.arange(-radius, radius + 1.0)
        log_weight = -((x + (around - centre)) ** 2) / (2 * sigma**2)
        location = (x + (around - s / 2)) * span
        log_total = float(np.log(np.exp(-((x / sigma) ** 2) / 2).sum()))
        common = c * (c + 1) * s * span / 2 - log_total
        tail = 2 * math.exp(-((radius - 1) ** 2) / (2 * sigma**2)) / -math.expm1(-(radius - 1) / sigma**2)
        moved = 8 * ULP * (abs(centre) + 1) * (radius + 1) / sigma**2
        rounding = moved + ELEMENTARY * (2 + float(np.abs(log_weight).max())) + 64 * ULP
        doubt = 16 * ULP * (abs(common) + 2 * abs(log_total) + 4)
        found = normalized(location, log_weight, 8 * ULP * float(np.abs(location).max()), rounding + doubt, tail)
        return replace(found, log_scale=found.log_scale + common)

    def approximate(self, c: Array) -> Array:
        """The value of the law."""
        return self.law.approximate(c)


@dataclass(frozen=True)
class _AtomicVisitor(LawVisitor[Atomic, LossTransform]):
    """The atoms of a law, by its form."""

    law: LossTransform

    def atoms(self, known: Callable[[], ListedMasses]) -> Atomic:
        """The atoms as they are known."""
        return Listed(*known())

    def normal_on_integers(self, sigma: float, shift: int) -> Atomic:
        """The atoms, which are infinitely many."""
        return AtomsOfNormalOnIntegers(self.law, sigma, shift)


def atomic(law: LossTransform) -> Atomic | None:
    """The atoms of a law; None for a law that has other parts."""
    pieces = law.support.pieces
    if pieces is None:
        return law.accept(_AtomicVisitor(law))
    if pieces.width or not pieces.locations:
        return None
    log_weights, locations = np.array(pieces.log_weights), np.array(pieces.locations)
    # a mass is the tilted weight times a function of the location, whose error counts
    error = pieces.relative_error + pieces.location_error / 2 + 4 * ULP * (1 + np.abs(log_weights))
    return Listed(locations, log_weights + locations / 2, np.full(locations.shape, pieces.location_error), error)
