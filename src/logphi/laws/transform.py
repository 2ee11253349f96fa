"""A law on the line, held by the logarithm of its two-sided Laplace transform."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import FLOATS, Discs
from logphi.arith.protocol import Arithmetic, Number
from logphi.arith.summation import error_of_log
from logphi.arrays import Array
from logphi.laws.block_envelope import block_points, log_block
from logphi.laws.closed_form import ClosedForm, Sides
from logphi.laws.growth import Growth
from logphi.laws.partial_masses import partial_masses
from logphi.laws.support import WHOLE_LINE, Support
from logphi.laws.traits import Traits
from logphi.laws.visitor import LawVisitor
from logphi.quadrature.approximation import Approximation
from logphi.quadrature.values import Line, Values

T = TypeVar("T")

# measured: with more atoms, a bound on blocks takes longer than the nodes that it saves
_MOST_ATOMS = 8


class LossTransform(ABC):
    """A finite positive measure mu on the line, known by K(z) = log of the integral of e^{zx} mu(dx).

    Instances are immutable, hashable and comparable. ``K(0)`` and ``K(-1)`` are never positive: the measure and its tilt by
    e^{-x} have mass at most one. Sums add K and intersect strips; ``reflected()`` has K(-1 - z).

    A law must have a ``formula``, and a ``strip`` if K is not finite everywhere. Everything else is optional, and makes answers
    sharper or quicker:

    - values of K, at any points (``log_transform``) and on a line, which may be one matrix product (``on_line``, and
      ``on_line_and_real`` for a line and real points beside it);
    - bounds of |M| on a line, from a height on (``log_envelope``) and on a block of heights, above which |M| may rise again
      (``log_block``);
    - value objects with what else is known, each with its rule of reflection and of sums: ``support``, ``growth``,
      ``closed_form``, ``traits``, and ``approximate``, K to some digits in a fraction of the time;
    - for sums, how those of its class are computed (``batched``); for the rest of the package, its form (``accept``).
    """

    @abstractmethod
    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z) in any arithmetic."""

    @property
    def strip(self) -> tuple[float, float]:
        """The open interval of real z where K is finite; it contains [-1, 0].

        On a side without an end of the support, K counts as infinite beyond the strip, unless ``growth`` says otherwise. So an
        end must be right to half an ulp.
        """
        return (-np.inf, np.inf)

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K at an array of points, with errors fit to be multiplied by ``count``; infinite on overflow."""
        # overflow, or the end of the strip: the radius below marks the value as unknown
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            discs = self.formula(FLOATS, Discs.exact(z))
        known = np.isfinite(discs.mid) & np.isfinite(discs.rad)
        return Values.of(Discs(np.where(known, discs.mid, np.inf), np.where(known, discs.rad, np.inf)))

    def on_line(self, line: Line, count: int = 1) -> Values:
        """K on a vertical line."""
        return self.log_transform(line.points, count)

    def on_line_and_real(self, line: Line, real_points: Array, count: int = 1) -> tuple[Values, Values]:
        """K on a vertical line, and at its abscissa and other real points, for laws that compute both faster together.

        If a real point is unknown, the whole line may be.
        """
        real = self.log_transform(np.append(line.abscissa, real_points), count)
        return self.on_line(line, count) if np.isfinite(real.mid).all() else Values.unknown(line.size), real

    @property
    def approximate(self) -> Approximation:
        """K at real points to some digits, for choosing where and how to compute; by default from ``log_transform``."""
        return Approximation(self._without_errors)

    def _without_errors(self, c: Array) -> Array:
        return self.log_transform(c).mid.real

    def log_envelope(self, abscissa: float, heights: Array, end: float = np.inf) -> Array:
        """A proved upper bound of Re K(c + is) - K(c) for all s in [t, end], for each height t.

        Non-positive and non-increasing in t. The default, zero, is true of every law.
        """
        return np.zeros_like(heights)

    def log_block(self, abscissa: float, centres: Array, radius: float, enough: float = -np.inf) -> Array:
        """A proved upper bound of Re K(c + is) - K(c) over |s - t| <= r, for each centre t; zero where none is known.

        A bound that is at most ``enough`` need not be sharp.
        """
        pieces = self.support.pieces
        if pieces is None or len(pieces.locations) > _MOST_ATOMS:
            return np.zeros_like(centres)
        values = self.log_transform(block_points(abscissa, centres))
        return log_block(values, self.support.width / 2 * (1 + 1e-12), radius)

    def reflected(self) -> LossTransform:
        """The law with K(-1 - z), which is the measure e^{-x} mu(dx) reflected at 0."""
        return self if self.traits.symmetric else Reflected(self)

    @property
    def support(self) -> Support:
        """The support of the law; by default the whole line."""
        return WHOLE_LINE

    @property
    def growth(self) -> Growth:
        """The growth of K on both sides; by default from the ends of the support and of the strip."""
        return Growth.on(self.support) if self.traits.estimated else Growth.on(self.support, self.strip)

    @property
    def closed_form(self) -> ClosedForm:
        """The functions that have closed forms; by default the partial masses, if the law has pieces."""
        return ClosedForm(partial_masses=self._masses_of_pieces)

    def _masses_of_pieces(self, x: float, *, tilted: bool = False) -> Sides | None:
        pieces = self.support.pieces
        return None if pieces is None else partial_masses(pieces, x, tilted=tilted)

    @property
    def traits(self) -> Traits:
        """Whether the law is symmetric, continuous, estimated; by default none of them."""
        return Traits()

    def accept(self, visitor: LawVisitor[T, LossTransform]) -> T | None:
        """The result of the visitor's method for the form of this law; None if there is none."""
        return None

    @staticmethod
    def batched(terms: Terms, *, coarse: bool = False) -> Terms:
        """Counted laws of this class as fewer terms with the same sum, which are faster to compute.

        With ``coarse``, laws of this class with about the same sum, for choosing where to compute and never for an answer.
        """
        return terms


# counted laws
Terms = Sequence[tuple[LossTransform, int]]
L = TypeVar("L", bound=LossTransform)


def apart(terms: Terms, kind: type[L]) -> tuple[tuple[tuple[L, int], ...], Terms]:
    """The counted laws of a class, and the others."""
    return (
        tuple((law, count) for law, count in terms if isinstance(law, kind)),
        tuple((law, count) for law, count in terms if not isinstance(law, kind)),
    )


@dataclass(frozen=True)
class Reflected(LossTransform):
    """The law with K(-1 - z): the measure e^{-x} mu(dx), reflected at 0."""

    law: LossTransform

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(-1 - z)."""
        return self.law.formula(arith, -1 - z)

    @property
    def strip(self) -> tuple[float, float]:
        """The strip, reflected at -1/2."""
        low, high = self.law.strip
        return (-1 - high, -1 - low)

    @cached_property
    def support(self) -> Support:
        """The support of the law, reflected."""
        return self.law.support.reflected()

    @property
    def growth(self) -> Growth:
        """The growth of the law, reflected."""
        return self.law.growth.reflected()

    @property
    def closed_form(self) -> ClosedForm:
        """The closed form of the law, reflected."""
        return self.law.closed_form.reflected()

    def accept(self, visitor: LawVisitor[T, LossTransform]) -> T | None:
        """The visitor's reflection of the result for the law."""
        own = self.law.accept(visitor)
        return None if own is None else visitor.reflected(own)

    @property
    def traits(self) -> Traits:
        """The traits of the law."""
        return self.law.traits

    def reflected(self) -> LossTransform:
        """The law itself."""
        return self.law

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K(-1 - z)."""
        return self._rounded(self.law.log_transform(-1 - z, count), np.asarray(z).real, count)

    @cached_property
    def approximate(self) -> Approximation:
        """The approximation of the law, reflected."""
        return self.law.approximate.reflected()

    def on_line(self, line: Line, count: int = 1) -> Values:
        """K(-1 - c - it), the conjugate of K(-1 - c + it)."""
        values = self.law.on_line(Line(-1 - line.abscissa, line.step, line.size), count)
        return self._on_conjugate_line(values, line.abscissa, count)

    def on_line_and_real(self, line: Line, real_points: Array, count: int = 1) -> tuple[Values, Values]:
        """K(-1 - c) and the conjugate of K(-1 - c + it), computed together by the law."""
        values, real = self.law.on_line_and_real(Line(-1 - line.abscissa, line.step, line.size), -1 - real_points, count)
        return self._on_conjugate_line(values, line.abscissa, count), self._rounded(
            real, np.append(line.abscissa, real_points), count
        )

    def _on_conjugate_line(self, values: Values, abscissa: float, count: int) -> Values:
        return self._rounded(Values(values.mid.conj(), values.rounding, values.inner), np.array([abscissa]), count)

    def _rounded(self, values: Values, c: Array, count: int) -> Values:
        """The values, with the effect of the rounding of -1 - c in their errors.

        |M'(z)| is at most E[|X| e^{aX}], a = Re z, and |X| at most (e^{hX} + e^{-hX}) / h.
        """
        reflected = -1 - c
        rounding = np.abs((reflected + 1) + c)
        if not rounding.any():
            return values
        low, high = self.law.strip
        h = 0.25 * np.minimum(1.0, np.minimum(reflected - low, high - reflected))
        beside = [self.law.log_transform(reflected + side * h, count) for side in (1, -1)]
        with np.errstate(over="ignore", invalid="ignore"):  # not finite: the value is unknown
            least = np.where(np.isfinite(values.mid), values.mid.real - values.radius, -np.inf)
            share = sum(np.exp(one.mid.real + one.radius - least) for one in beside) * (1.01 * rounding / h)
        return Values(values.mid, values.rounding + error_of_log(share), values.inner)

    def log_envelope(self, abscissa: float, heights: Array, end: float = np.inf) -> Array:
        """The envelope of the law at -1 - c."""
        return self.law.log_envelope(-1 - abscissa, heights, end)

    def log_block(self, abscissa: float, centres: Array, radius: float, enough: float = -np.inf) -> Array:
        """The bound of the law at -1 - c."""
        return self.law.log_block(-1 - abscissa, centres, radius, enough)
