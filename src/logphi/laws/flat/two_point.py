"""The law on two opposite points."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from logphi.arith.doubles import DOUBLES
from logphi.arith.floats import FLOATS
from logphi.arith.protocol import Arithmetic, Number, Parameter
from logphi.arrays import Array
from logphi.laws import flat_constants
from logphi.laws.flat.intervals import BatchedOnIntervals, log_block_from_sizes
from logphi.laws.support import Lattice, Pieces, Support
from logphi.laws.traits import Traits
from logphi.laws.transform import LossTransform, T, Terms
from logphi.laws.visitor import LawVisitor

# derived: the square of a larger hyperbolic cosine overflows
_LARGE = 300.0


@dataclass(frozen=True)
class TwoPoint(LossTransform):
    """Atoms at +l and -l with odds e^l to one: K(z) = log( cosh((z + 1/2) l) / cosh(l/2) )."""

    point: Parameter

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z)."""
        half = self.point.under(arith) / 2
        return arith.log_cosh((2 * z + 1) * half) - arith.log_cosh(half)

    # K is even in z + 1/2
    traits = Traits(symmetric=True)

    @cached_property
    def location(self) -> float:
        """The positive atom."""
        return abs(float(self.point.under(FLOATS).mid))

    @cached_property
    def location_error(self) -> float:
        """A bound of the error of the location."""
        return float(self.point.under(FLOATS).rad) + 2e-16 * self.location

    @cached_property
    def support(self) -> Support:
        """Two atoms of equal tilted weight 1 / (2 cosh(l/2)), on a lattice of span 2 l."""
        point, error = self.location, self.location_error
        weight = flat_constants.two_point(DOUBLES, point)[1]
        return Support.within(
            point + error,
            2 * error,
            pieces=Pieces((-point, point), (weight, weight), location_error=error),
            lattice=Lattice(0.0, np.inf) if point == 0 else Lattice(-point, 2 * point, scale_error=error / point),
        )

    def accept(self, visitor: LawVisitor[T, LossTransform]) -> T | None:
        """Its form."""
        return visitor.flat(self.point, flat_constants.two_point)

    @staticmethod
    def batched(terms: Terms, *, coarse: bool = False) -> Terms:
        """A matrix of many."""
        points = [(law.point, count) for law, count in terms if isinstance(law, TwoPoint)]
        return terms if coarse else BatchedOnIntervals.of(TwoPoint, points) or terms

    def log_envelope(self, abscissa: float, heights: Array, end: float = np.inf) -> Array:
        """|chi(t)|^2 = 1 - sin^2(t l) / cosh^2((c + 1/2) l), decreasing up to t l = pi/2, and zero above."""
        location = np.abs(self.point.under(FLOATS).mid)
        angle = np.minimum(heights * location, np.pi / 2)
        spread = 1 / np.cosh(np.minimum(abs(abscissa + 0.5) * location, _LARGE)) ** 2
        # the factor gives up far more than rounding and the slightly larger angles allowed below
        bound = 0.5 * np.log1p(-(np.sin(angle) ** 2) * spread * (1 - 1e-8))
        return np.where(end > np.pi / 2 * (1 + 1e-9) / np.maximum(location, 1e-300), 0.0, bound)

    def log_block(self, abscissa: float, centres: Array, radius: float, enough: float = -np.inf) -> Array:
        """From |chi(t)|^2 = tanh^2((c + 1/2) l) + cos^2(t l) / cosh^2((c + 1/2) l)."""
        return log_block_from_sizes(self.point.under(FLOATS), _size, abscissa, centres, radius)


def _size(location: Array, heights: Array, rate: float) -> Array:
    tilt = np.minimum(rate * location, _LARGE)
    return np.asarray(np.sqrt(np.tanh(tilt) ** 2 + (np.cos(heights * location) / np.cosh(tilt)) ** 2))
