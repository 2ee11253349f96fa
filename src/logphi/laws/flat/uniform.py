"""Laws that are uniform on [-w, w] once tilted by e^{-x/2}, with or without atoms at the ends."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from logphi.arith.doubles import DOUBLES
from logphi.arith.floats import ELEMENTARY, FLOATS, ULP
from logphi.arith.protocol import Arithmetic, Number, Parameter
from logphi.arith.scaled import Scaled
from logphi.arrays import Array
from logphi.laws import flat_constants
from logphi.laws.closed_form import ClosedForm
from logphi.laws.flat.intervals import BatchedOnIntervals, log_block_from_sizes
from logphi.laws.support import Pieces, Support
from logphi.laws.traits import Traits
from logphi.laws.transform import LossTransform, T, Terms
from logphi.laws.visitor import LawVisitor
from logphi.quadrature.approximation import Approximation
from logphi.quadrature.density_envelope import log_density_envelope

# derived: up to this |c + 1/2| w, e^{(c + 1/2) x} is one to the digits of an envelope
_NEAR = 1e-8
# chosen: below this |u|^2, its digits are not trusted
_SMALL = 1e-290
# derived: the square of the hyperbolic cosine of a larger number overflows
_LARGE = 300.0


def _log_cosh(x: Array) -> Array:
    """``log(cosh(x))`` of non-negative numbers."""
    far: Array = x + np.log1p(np.exp(-2 * x)) - np.log(2)
    return np.where(x < 1, np.log1p(2 * np.sinh(np.minimum(x, 1) / 2) ** 2), far)


def _tilted_variation(abscissa: float, width: Array) -> Array:
    """Total variation of the density proportional to e^{(c + 1/2) x} on [-w, w]: twice its largest value."""
    rate = abs(abscissa + 0.5)
    near = rate * width < _NEAR
    return np.where(near, (1 + 2 * rate * width) / width, 2 * rate / -np.expm1(-2 * np.where(near, 1.0, rate * width)))


@dataclass(frozen=True)
class _OnInterval(LossTransform):
    """A symmetric law on [-w, w]."""

    width: Parameter

    @classmethod
    def batched(cls, terms: Terms, *, coarse: bool = False) -> Terms:
        """A matrix of many."""
        widths = [(law.width, count) for law, count in terms if isinstance(law, cls)]
        return terms if coarse else BatchedOnIntervals.of(cls, widths) or terms

    # K is even in z + 1/2
    traits = Traits(symmetric=True)

    @property
    def width_error(self) -> float:
        """A bound of the error of the width."""
        return float(self.width.under(FLOATS).rad)

    @property
    def extra_error(self) -> float:
        """The error of the width less the two ulps that every use of it allows for."""
        disc = self.width.under(FLOATS)
        return max(0.0, float(disc.rad) - 2 * ULP * float(disc.mid))

    @cached_property
    def support(self) -> Support:
        """The interval; its ends are known to the error of the width and a few ulps."""
        width = float(self.width.under(FLOATS).mid)
        return Support.within(
            (width + self.width_error) * (1 + 1e-15), 2 * self.width_error + 4e-15 * width, pieces=self._pieces(width)
        )

    @property
    def closed_form(self) -> ClosedForm:
        """Integrals of exponentials."""
        return ClosedForm(self.excess, self.reversed_excess, self._masses_of_pieces, self.density)

    def excess(self, x: float) -> Scaled:
        """E[(1 - e^{x-X})_+]: in closed form between the ends, and 1 - e^x below them."""
        width, wrong = float(self.width.under(FLOATS).mid), self.width_error + 2 * ULP * abs(x)
        half_distance = min((x - width) / 2, 0.0)
        value, slope = self._profile(half_distance, width) if x > -width else (-math.expm1(x), 1.0)
        return Scaled(0.0, value, rounding=(2 * ELEMENTARY + self.width_error / width) * value + slope * (wrong + ULP * width))

    def reversed_excess(self, x: float) -> Scaled:
        """E^x times the excess at -x, by symmetry."""
        return self.excess(-x).times_exp(x)

    def density(self, x: float) -> Scaled | None:
        """The density of the flat part."""
        from logphi.laws.partial_masses import flat_density

        pieces = self.support.pieces
        return None if pieces is None else flat_density(pieces, x)

    @abstractmethod
    def _pieces(self, width: float) -> Pieces:
        """The flat part, and the atoms if there are any."""

    @abstractmethod
    def _profile(self, half_distance: float, width: float) -> tuple[float, float]:
        """The excess at w + 2 half_distance, half_distance <= 0, and a bound of its slope in x nearby."""


@dataclass(frozen=True)
class Uniform(_OnInterval):
    """Density proportional to e^{x/2} on [-w, w]: K(z) = log( sinhc((z + 1/2) w) / sinhc(w/2) )."""

    constants = staticmethod(flat_constants.uniform)

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z)."""
        half = self.width.under(arith) / 2
        return arith.log_sinhc((2 * z + 1) * half) - arith.log_sinhc(half)

    def accept(self, visitor: LawVisitor[T, LossTransform]) -> T | None:
        """Its form."""
        return visitor.flat(self.width, self.constants)

    def _pieces(self, width: float) -> Pieces:
        """A flat part of height 1 / (4 sinh(w/2))."""
        height, _ = self.constants(DOUBLES, width)
        return Pieces((), (), width, height, location_error=self.extra_error, relative_error=self.extra_error)

    def _profile(self, half_distance: float, width: float) -> tuple[float, float]:
        """(e^{w/2} - e^{x/2})^2 / (e^w - 1)."""
        fall, whole = -math.expm1(half_distance), -math.expm1(-width)
        return fall * fall / whole, 1.01 * (fall + 4 * ULP * width) / whole

    def log_envelope(self, abscissa: float, heights: Array, end: float = np.inf) -> Array:
        """From the total variation of the tilted density."""
        return log_density_envelope(_tilted_variation(abscissa, self.width.under(FLOATS).mid), heights)

    def log_block(self, abscissa: float, centres: Array, radius: float, enough: float = -np.inf) -> Array:
        """From |chi(t)|."""
        return log_block_from_sizes(self.width.under(FLOATS), _size, abscissa, centres, radius)


@dataclass(frozen=True)
class UniformWithAtoms(_OnInterval):
    """The loss of a double-exponential density shifted by w scales.

    M(z) = e^{-w/2} [ cosh(u w) + sinh(u w) / (2u) ] with u = z + 1/2. The text below divides it by M(0) = 1, which is
    e^{-w/2} [ cosh(w/2) + sinh(w/2) ], so that nothing cancels for small w.
    """

    constants = staticmethod(flat_constants.with_atoms)

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z)."""
        half = self.width.under(arith) / 2
        u_w = (2 * z + 1) * half
        ratio = half * (arith.tanhc_gap(half) - arith.tanhc_gap(u_w)) / (1 + arith.tanh(half))
        return arith.log_cosh(u_w) - arith.log_cosh(half) + arith.log1p(ratio)

    @property
    def approximate(self) -> Approximation:
        """K at real points without its errors, for a tenth of the time."""
        return Approximation(self._in_closed_form)

    def _in_closed_form(self, c: Array) -> Array:
        half = self.width.under(FLOATS).mid / 2
        u_w = np.abs((2 * c + 1) * half)
        ratio = np.where(u_w > 0, np.tanh(u_w) / np.where(u_w > 0, u_w, 1.0), 1.0)
        tanh = np.tanh(half)
        approximate: Array = _log_cosh(u_w) - _log_cosh(half) + np.log1p((half * ratio - tanh) / (1 + tanh))
        return approximate

    def accept(self, visitor: LawVisitor[T, LossTransform]) -> T | None:
        """Its form."""
        return visitor.flat(self.width, self.constants)

    def _pieces(self, width: float) -> Pieces:
        """Atoms of tilted weight e^{-w/2}/2 at both ends of a flat part of height e^{-w/2}/4."""
        height, atom = self.constants(DOUBLES, width)
        return Pieces(
            (-width, width), (atom, atom), width, height, location_error=self.extra_error, relative_error=self.extra_error
        )

    def _profile(self, half_distance: float, width: float) -> tuple[float, float]:
        """1 - e^{(x - w)/2}."""
        return -math.expm1(half_distance), 0.51

    def log_envelope(self, abscissa: float, heights: Array, end: float = np.inf) -> Array:
        """The atoms may not decay at all; the rest does as its total variation says."""
        width = self.width.under(FLOATS).mid
        rate = abs(abscissa + 0.5)
        smooth = np.where(rate * width < _NEAR, width / 2, np.tanh(rate * width) / (2 * max(rate, _NEAR)))
        weight = smooth / (1 + smooth) * (1 - 1e-8)
        return log_density_envelope(_tilted_variation(abscissa, width), heights, weight)

    def log_block(self, abscissa: float, centres: Array, radius: float, enough: float = -np.inf) -> Array:
        """From |chi(t)|."""
        return log_block_from_sizes(self.width.under(FLOATS), _size_with_atoms, abscissa, centres, radius)


def _size(width: Array, heights: Array, rate: float) -> Array:
    """|sinh(uw)/u| over sinh(rw)/r, both over cosh(rw)."""
    angle, tilt = heights * width, np.minimum(rate * width, _LARGE)
    tanh, square = np.tanh(tilt), rate * rate + heights * heights
    whole = np.where(tilt < _NEAR, width * (1 - _NEAR), tanh / max(rate, _SMALL))
    sinh = np.sqrt((tanh**2 + (np.sin(angle) / np.cosh(tilt)) ** 2) / np.maximum(square, _SMALL))
    return _near_one(sinh / whole, angle, square)


def _size_with_atoms(width: Array, heights: Array, rate: float) -> Array:
    """|cosh(uw) + sinh(uw) / (2u)|, from its real and its imaginary part, over that at r, both over cosh(rw)."""
    angle, tanh, square = heights * width, np.tanh(rate * width), rate * rate + heights * heights
    cos, sin = np.cos(angle), np.sin(angle)
    half = 0.5 / np.maximum(square, _SMALL)
    real = cos + half * (rate * tanh * cos + heights * sin)
    imaginary = tanh * sin + half * (rate * sin - heights * tanh * cos)
    whole = 1 + np.where(rate * width < _NEAR, width / 2 * (1 - _NEAR), tanh / (2 * max(rate, _SMALL)))
    return _near_one(np.sqrt(real**2 + imaginary**2) / whole, angle, square)


def _near_one(size: Array, angle: Array, square: Array) -> Array:
    """The size, and one where the angle is negligible or |u|^2 has no digits."""
    return np.where((angle < _NEAR) | (square < _SMALL), 1.0, size)
