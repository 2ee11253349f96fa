"""A law on the line, held by the logarithm of its two-sided Laplace transform."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import FLOATS, Discs
from logphi.arith.protocol import Arithmetic, Number, Parameter
from logphi.arith.scaled import Scaled
from logphi.laws.growth import Growth
from logphi.quadrature.values import Line, Values


@dataclass(frozen=True)
class Pieces:
    """A law as atoms and a flat part, once tilted by e^{-x/2}: weights are those of e^{-x/2} mu(dx).

    ``width`` is half the length of the flat part, centred at 0, ``log_density`` its height; -inf where there is none.
    ``location_error`` bounds how far a location may be off its place, ``relative_error`` the relative error of a weight.
    """

    locations: tuple[float, ...]
    log_weights: tuple[float, ...]
    width: float = 0.0
    log_density: float = -np.inf
    location_error: float = 0.0
    relative_error: float = 0.0


@dataclass(frozen=True)
class Lattice:
    """Atoms at ``offset + span k`` only; one atom has an infinite span.

    Each is within ``location_error`` of its place, once all places are stretched by a common factor within ``stretch`` of one.
    """

    offset: float
    span: float
    location_error: float = 0.0
    stretch: float = 0.0


# measured: blocks are worth asking about where a value of the transform is cheap
_FEW = 8


class LossTransform(ABC):
    """A finite positive measure mu on the line, known by K(z) = log of the integral of e^{zx} mu(dx).

    Instances are immutable, hashable and comparable. ``K(0)`` and ``K(-1)`` are never positive: the measure
    and its tilt by e^{-x} have mass at most one.
    """

    @abstractmethod
    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z) in any arithmetic."""

    @property
    def symmetric(self) -> bool:
        """Whether K(-1 - z) = K(z)."""
        return False

    @property
    def exactly_symmetric(self) -> bool:
        """Whether it is ``symmetric`` by its formula, and not only as far as doubles tell."""
        return self.symmetric

    @property
    def empty(self) -> bool:
        """Whether it is the zero measure: no loss is finite."""
        return False

    @property
    def strip(self) -> tuple[float, float]:
        """The open interval of real z where K is finite; it contains [-1, 0]."""
        return (-np.inf, np.inf)

    @property
    def divergence_strip(self) -> tuple[float, float]:
        """Abscissas beyond which K is infinite for certain: the strip rounded outward; infinite where that is not known."""
        low, high = (-np.inf, np.inf) if self.estimated else self.strip
        return (low - 4e-16 * (1 + abs(low)), high + 4e-16 * (1 + abs(high)))

    @property
    def growth(self) -> Growth:
        """How K grows to the right; by default that of a bounded law, or not known."""
        return Growth.bounded(self.supremum)

    @property
    def reversed_growth(self) -> Growth:
        """How K grows to the left: that of the reflected law."""
        return self.growth if self.symmetric else Growth.bounded(-self.infimum)

    def with_omitted_mass(self) -> LossTransform:
        """The law with what its transform leaves out, as far as that is known; itself by default."""
        return self

    @property
    def supremum(self) -> float:
        """The top of the support, rounded up by a few ulps at most; infinity where there is none."""
        return np.inf

    @property
    def support_error(self) -> float:
        """By how much, at most, the ends of the support are rounded outward."""
        return 0.0

    @property
    def infimum(self) -> float:
        """The bottom of the support, rounded down by a few ulps at most; minus infinity where none is told."""
        turned = self.reflected()
        return -np.inf if isinstance(turned, Reflected) else -turned.supremum

    @property
    def shift_bound(self) -> float:
        """An m for which N(m, 1) and N(0, 1) are told apart at least as easily as the two measures, at every level of a test.

        Infinite where none is known; by default from the ends of the support, if no mass is lost.
        """
        masses = self.log_masses() or ()
        if any((mass.mid != 0).any() or (mass.radius != 0).any() for mass in masses):
            return np.inf
        from logphi.normal.quantile import shift_of_ends

        return shift_of_ends(self.infimum, self.supremum)

    @property
    def atomless(self) -> bool:
        """Whether it is known that no place has a positive mass."""
        return False

    @property
    def pieces(self) -> Pieces | None:
        """The law as atoms and a flat part, if it is one, to a few ulps."""
        return None

    @property
    def lattice(self) -> Lattice | None:
        """The lattice that carries the law, if one does."""
        return None

    @property
    def estimated(self) -> bool:
        """Whether the errors of the transform are estimates: the law is known by samples of a function only."""
        return False

    @property
    def continuous(self) -> bool:
        """Whether the formula is continuous on the strip, so that it tells K without a doubt of 2 pi i; false if unknown."""
        return False

    def excess(self, x: float) -> Scaled | None:
        """E[(1 - e^{x-X})_+] in closed form, where there is one."""
        return None

    def reversed_excess(self, x: float) -> Scaled | None:
        """E[(e^{x-X} - 1)_+] in closed form, where there is one."""
        return None

    def partial_masses(self, x: float, *, tilted: bool = False) -> tuple[Scaled, Scaled] | None:
        """The mass of mu, or of its tilt e^{-x} mu, above x and not above, in closed form where there is one.

        Both are relatively accurate however small. An atom within rounding of x may be on either side: the errors say so.
        """
        if self.pieces is None:
            return None
        from logphi.laws.partial_masses import partial_masses

        return partial_masses(self.pieces, x, tilted=tilted)

    def density(self, x: float) -> Scaled | None:
        """The density of mu at x, but for atoms, in closed form where there is one."""
        return None

    @property
    def unmixed(self) -> tuple[LossTransform, Parameter] | None:
        """``(base, q)`` if the likelihood ratio is 1 - q + q times that of the base law."""
        return None

    @property
    def normal_shift(self) -> Parameter | None:
        """The m of a law that is the log-ratio of N(m, 1) to N(0, 1) under the former; None for every other law."""
        return None

    def reflected(self) -> LossTransform:
        """The law with K(-1 - z)."""
        return self if self.symmetric else Reflected(self)

    @staticmethod
    def batched(terms: Sequence[tuple[LossTransform, int]]) -> LossTransform | None:
        """One law for the sum of counted laws of this class, where computing them together is quicker."""
        return None

    @staticmethod
    def coarsened(terms: Sequence[tuple[LossTransform, int]]) -> Sequence[tuple[LossTransform, int]]:
        """Fewer terms of about the same sum: for finding out where to compute, never for an answer."""
        return terms

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K at an array of points, with errors fit to be multiplied by ``count``; infinite on overflow."""
        # overflow, or the end of the strip: the radius below says that nothing is known
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            discs = self.formula(FLOATS, Discs.exact(z))
        known = np.isfinite(discs.mid) & np.isfinite(discs.rad)
        return Values.of(Discs(np.where(known, discs.mid, np.inf), np.where(known, discs.rad, np.inf)))

    def approximate(self, c: NDArray[np.float64], count: int = 1) -> NDArray[np.float64]:
        """K at real points to some digits, for choosing where to compute; infinite where it is out of reach."""
        return self.log_transform(c, count).mid.real

    def on_line(self, line: Line, count: int = 1) -> Values:
        """K on a vertical line."""
        return self.log_transform(line.points, count)

    def log_masses(self) -> tuple[Values, Values] | None:
        """K(0) and K(-1), arrays of one element; None for a probability whose tilt is one too: both are zero."""
        return None

    def log_envelope(self, abscissa: float, heights: NDArray[np.float64], end: float = np.inf) -> NDArray[np.float64]:
        """A proved upper bound of Re K(c + is) - K(c) for all s in [t, end], for each height t.

        Non-positive and non-increasing in t. The default, zero, is true of every law.
        """
        return np.zeros_like(heights)

    def log_block(self, abscissa: float, centres: NDArray[np.float64], radius: float) -> NDArray[np.float64]:
        """A proved upper bound of Re K(c + is) - K(c) over |s - t| <= r, for each centre t; zero where none is known."""
        pieces = self.pieces
        if pieces is None or len(pieces.locations) > _FEW:
            return np.zeros_like(centres)
        from logphi.laws.block_envelope import log_block

        return log_block(self, (self.supremum - self.infimum) / 2 * (1 + 1e-12), abscissa, centres, radius)


@dataclass(frozen=True)
class Reflected(LossTransform):
    """The law with K(-1 - z): the measure e^{-x} mu(dx), turned around."""

    law: LossTransform

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(-1 - z)."""
        return self.law.formula(arith, -1 - z)

    @property
    def strip(self) -> tuple[float, float]:
        """The strip, mirrored at -1/2."""
        low, high = self.law.strip
        return (-1 - high, -1 - low)

    @property
    def divergence_strip(self) -> tuple[float, float]:
        """That of the law, mirrored at -1/2."""
        low, high = self.law.divergence_strip
        return (-1 - high - 4e-16 * (1 + abs(high)), -1 - low + 4e-16 * (1 + abs(low)))

    @property
    def empty(self) -> bool:
        """As for the law."""
        return self.law.empty

    @property
    def growth(self) -> Growth:
        """That of the law to the left."""
        return self.law.reversed_growth

    @property
    def reversed_growth(self) -> Growth:
        """That of the law to the right."""
        return self.law.growth

    def with_omitted_mass(self) -> LossTransform:
        """The completed law, turned around."""
        return self.law.with_omitted_mass().reflected()

    @property
    def supremum(self) -> float:
        """The bottom of the law, turned around."""
        return -self.law.infimum

    @property
    def support_error(self) -> float:
        """As for the law."""
        return self.law.support_error

    @property
    def infimum(self) -> float:
        """The top of the law, turned around."""
        return -self.law.supremum

    @property
    def shift_bound(self) -> float:
        """As for the law: the normal laws may be exchanged too."""
        return self.law.shift_bound

    @property
    def atomless(self) -> bool:
        """As for the law."""
        return self.law.atomless

    @property
    def pieces(self) -> Pieces | None:
        """Those of the law, turned around: the tilt e^{-x/2} is its own mirror image."""
        own = self.law.pieces
        return own and replace(own, locations=tuple(-x for x in own.locations[::-1]), log_weights=own.log_weights[::-1])

    @property
    def lattice(self) -> Lattice | None:
        """That of the law, turned around."""
        own = self.law.lattice
        return own and replace(own, offset=-own.offset)

    @property
    def estimated(self) -> bool:
        """As for the law."""
        return self.law.estimated

    @property
    def continuous(self) -> bool:
        """As for the law."""
        return self.law.continuous

    def excess(self, x: float) -> Scaled | None:
        """E^x times the reversed excess of the law at -x."""
        amount = self.law.reversed_excess(-x)
        return amount and amount.times_exp(x)

    def reversed_excess(self, x: float) -> Scaled | None:
        """E^x times the excess of the law at -x."""
        amount = self.law.excess(-x)
        return amount and amount.times_exp(x)

    def partial_masses(self, x: float, *, tilted: bool = False) -> tuple[Scaled, Scaled] | None:
        """Those of the law at -x under the other measure, exchanged."""
        masses = self.law.partial_masses(-x, tilted=not tilted)
        return masses and (masses[1], masses[0])

    def density(self, x: float) -> Scaled | None:
        """E^x times the density of the law at -x."""
        amount = self.law.density(-x)
        return amount and amount.times_exp(x)

    def reflected(self) -> LossTransform:
        """The law itself."""
        return self.law

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K(-1 - z)."""
        return self._moved(self.law.log_transform(-1 - z, count), np.asarray(z).real, count)

    def approximate(self, c: NDArray[np.float64], count: int = 1) -> NDArray[np.float64]:
        """K(-1 - c), roughly."""
        return self.law.approximate(-1 - c, count)

    def on_line(self, line: Line, count: int = 1) -> Values:
        """K(-1 - c - it), the conjugate of K(-1 - c + it)."""
        values = self.law.on_line(Line(-1 - line.abscissa, line.step, line.size), count)
        return self._moved(Values(values.mid.conj(), values.rounding, values.inner), np.array([line.abscissa]), count)

    def _moved(self, values: Values, c: NDArray[np.float64], count: int) -> Values:
        """The values with what the rounding of -1 - c does to them.

        |M'(z)| is at most E[|X| e^{aX}], a = Re z, and |X| at most (e^{hX} + e^{-hX}) / h.
        """
        turned = -1 - c
        off = np.abs((turned + 1) + c)
        if not off.any():
            return values
        low, high = self.law.strip
        h = 0.25 * np.minimum(1.0, np.minimum(turned - low, high - turned))
        beside = [self.law.log_transform(turned + side * h, count) for side in (1, -1)]
        with np.errstate(over="ignore", invalid="ignore"):  # not finite: nothing is known
            least = np.where(np.isfinite(values.mid), values.mid.real - values.radius, -np.inf)
            share = sum(np.exp(one.mid.real + one.radius - least) for one in beside) * (1.01 * off / h)
        inside = np.where(share < 0.5, share, 0.0)
        return Values(values.mid, values.rounding + np.where(share < 0.5, -np.log1p(-inside), np.inf), values.inner)

    def log_masses(self) -> tuple[Values, Values] | None:
        """The masses, exchanged."""
        masses = self.law.log_masses()
        return masses and (masses[1], masses[0])

    def log_envelope(self, abscissa: float, heights: NDArray[np.float64], end: float = np.inf) -> NDArray[np.float64]:
        """The envelope on the mirrored line."""
        return self.law.log_envelope(-1 - abscissa, heights, end)

    def log_block(self, abscissa: float, centres: NDArray[np.float64], radius: float) -> NDArray[np.float64]:
        """That on the mirrored line."""
        return self.law.log_block(-1 - abscissa, centres, radius)
