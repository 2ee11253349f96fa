"""The normal law that a shift m of a normal density makes: mean m^2/2, variance m^2."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import FLOATS, ULP, Discs
from logphi.arith.protocol import Arithmetic, Number, Parameter
from logphi.arith.scaled import Scaled
from logphi.arrays import Array
from logphi.laws.closed_form import ClosedForm
from logphi.laws.growth import Growth, OneSided
from logphi.laws.support import ATOMLESS, Support
from logphi.laws.traits import Traits
from logphi.laws.transform import LossTransform, T, Terms
from logphi.laws.visitor import LawVisitor
from logphi.quadrature.values import Values

# derived: smaller tails lose digits to underflow
_LEAST = 1e-290
# derived: larger exponents overflow
_LARGE = 600.0
# derived: Phi(-a) = erfc(a / 2^{1/2}) / 2
_SQRT_HALF = math.sqrt(0.5)
# derived: larger variances overflow in products
_MOST = 1e300


class Shifted(LossTransform):
    """N(m^2/2, m^2): the closed forms that follow from the shift m, in standard deviations."""

    @property
    @abstractmethod
    def disc(self) -> tuple[float, float]:
        """The shift m as a double, with a bound of its error; infinite on overflow."""

    @property
    def closed_form(self) -> ClosedForm:
        """The closed forms, from normal tails."""
        return ClosedForm(self.excess, self.reversed_excess, self.partial_masses)

    def excess(self, x: float) -> Scaled | None:
        """Phi(-a) - e^x Phi(-b), a = x/m - m/2, b = x/m + m/2; None if a tail underflows.

        Balle & Wang 2018, Theorem 8. The derivative in m is the normal density at a, the one in x is the second term.
        """
        m, wrong = self.disc
        if not wrong < m:
            return None
        a, b = x / m - m / 2, x / m + m / 2
        first, second = math.erfc(a * _SQRT_HALF) / 2, math.erfc(b * _SQRT_HALF) / 2
        if min(first, second) < _LEAST or x > _LARGE:
            return None
        second *= math.exp(x)
        # relatively, a tail changes by at most (end + 1) times the change of its end
        end_error = 2 * ULP * (abs(x) / m + m)
        rounding = first * (8 * ULP + (abs(a) + 1) * end_error) + second * (8 * ULP + (abs(b) + 1) * end_error + ULP * abs(x))
        return Scaled(0.0, first - second, rounding=rounding + wrong * math.exp(-a * a / 2) * (1 + abs(a) * end_error))

    def reversed_excess(self, x: float) -> Scaled | None:
        """e^x times the excess at -x."""
        amount = self.excess(-x)
        return amount and amount.times_exp(x)

    def partial_masses(self, x: float, *, tilted: bool = False) -> tuple[Scaled, Scaled] | None:
        """Phi(-a) and Phi(a), or Phi(-b) and Phi(b) under the tilt."""
        from logphi.normal.tails import ALONE, mixed_sides

        m = Discs(*(np.float64(part) for part in self.disc))  # type: ignore[arg-type]
        end = FLOATS.constant(x) / m + (m if tilted else -m) / 2
        return mixed_sides(float(end.mid - end.rad), float(end.mid + end.rad), ALONE, ALONE, ALONE)


@dataclass(frozen=True)
class Normal(Shifted):
    """N(m^2/2, m^2), m the shift in standard deviations: K(z) = z (z + 1) m^2 / 2."""

    shift: Parameter

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z)."""
        m = self.shift.under(arith)
        return z * (z + 1) * (m * m) / 2

    # K is a polynomial in z + 1/2, and even
    traits = Traits(symmetric=True, continuous=True)

    @property
    def support(self) -> Support:
        """The whole line: the loss is a smooth function of a normal variable."""
        return ATOMLESS

    @property
    def growth(self) -> Growth:
        """Exactly z (z + 1) m^2 / 2."""
        return Growth.both(shifted_growth(self.shift), largest_shift(self.shift))

    @cached_property
    def disc(self) -> tuple[float, float]:
        """The shift."""
        m = self.shift.under(FLOATS)
        return float(m.mid), float(m.rad)

    def accept(self, visitor: LawVisitor[T, LossTransform]) -> T | None:
        """The normal law."""
        return visitor.normal(self.shift)

    @staticmethod
    def batched(terms: Terms, *, coarse: bool = False) -> Terms:
        """The sum of all terms as one normal law."""
        shifts = tuple((law.shift, count) for law, count in terms if isinstance(law, Normal))
        alone = coarse or (len(shifts) == 1 and shifts[0][1] == 1)
        return terms if alone else ((BatchedNormal(shifts), 1),)

    def log_envelope(self, abscissa: float, heights: Array, end: float = np.inf) -> Array:
        """Exactly -m^2 t^2 / 2."""
        m = self.shift.under(FLOATS)
        least = float(m.mid - m.rad)
        return -0.5 * (least * heights) ** 2 * (1 - 1e-14)


@dataclass(frozen=True)
class BatchedNormal(Shifted):
    """The sum of counted :class:`Normal` laws, one whose variance is the sum of theirs; for computing with doubles.

    (Dong, Roth & Su 2022, Corollary 3.3 of the preprint.)
    """

    shifts: tuple[tuple[Parameter, int], ...]

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z)."""
        return sum((count * Normal(shift).formula(arith, z) for shift, count in self.shifts), 0 * z)

    @cached_property
    def variance(self) -> Discs:
        """The sum of the squares of the shifts."""
        shifts = [shift.under(FLOATS) for shift, _ in self.shifts]
        mid, rad = (np.array([float(part) for part in parts]) for parts in zip(*((m.mid, m.rad) for m in shifts), strict=True))
        count = np.array([float(count) for _, count in self.shifts])
        with np.errstate(over="ignore"):  # overflow: the value is unknown
            squares = count * mid * mid
            known = squares.sum() < _MOST
        if not known:
            return Discs(np.float64(np.inf), np.float64(np.inf))  # type: ignore[arg-type]
        total = math.fsum(squares)
        # derived: two roundings of each product, one of a count above 2^53 and one of the sum
        error = math.fsum(count * rad * (2 * mid + rad)) + 4 * ULP * total
        return Discs(np.float64(total), np.float64(error * (1 + 1e-14)))  # type: ignore[arg-type]

    @cached_property
    def disc(self) -> tuple[float, float]:
        """The root of the variance."""
        total, wrong = float(self.variance.mid), float(self.variance.rad)
        if not (wrong < total and _LEAST < total < _MOST):
            return total, math.inf
        m = math.sqrt(total)
        # derived: the difference of two roots is that of the squares over the sum of the roots
        return m, wrong / m * (1 + ULP) + ULP * m

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K(z) = z (z + 1) v / 2."""
        with np.errstate(over="ignore", invalid="ignore"):  # overflow: the radius marks the value as unknown
            point = Discs.exact(z)
            found = point * (point + 1) * self.variance / 2
        known = np.isfinite(found.mid) & np.isfinite(found.rad)
        return Values(np.where(known, found.mid, np.inf), np.where(known, found.rad, np.inf), np.zeros(found.mid.shape))

    def log_envelope(self, abscissa: float, heights: Array, end: float = np.inf) -> Array:
        """Exactly -v t^2 / 2."""
        least = float(self.variance.mid - self.variance.rad)
        return -0.5 * least * heights**2 * (1 - 1e-14)


def shifted_growth(shift: Parameter, offset: float = 0.0) -> OneSided:
    """The growth of a shift m, K(z) = z (z + 1) m^2 / 2."""
    m = shift.under(FLOATS)
    return OneSided.normal(float(m.mid) ** 2, 3 * float(m.rad / m.mid) + 4 * ULP, offset)


def largest_shift(shift: Parameter) -> float:
    """A shift as a double, rounded up."""
    m = shift.under(FLOATS)
    return float(m.mid + m.rad) * (1 + 2 * ULP)
