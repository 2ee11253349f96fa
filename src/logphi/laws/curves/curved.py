"""Laws whose transform is an integral over a curve, by Gauss-Legendre sums: samples of flat and of normal laws."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import FLOATS, ULP
from logphi.arith.protocol import Parameter
from logphi.arith.scaled import Scaled
from logphi.arrays import Array
from logphi.laws.closed_form import ClosedForm, Sides
from logphi.laws.curves.batched_curved import batched
from logphi.laws.support import PROBABILITIES, LogMasses, Support
from logphi.laws.traits import Traits
from logphi.laws.transform import LossTransform, T, Terms
from logphi.laws.visitor import LawVisitor
from logphi.laws.zero_or_infinite import log_complement
from logphi.quadrature.approximation import Approximation
from logphi.quadrature.curves import curve_excess, long_lines
from logphi.quadrature.curves.curve import Curve
from logphi.quadrature.curves.gauss_legendre import GaussLegendre, losses_at
from logphi.quadrature.curves.shifted_line_envelope import log_shifted_line_envelope
from logphi.quadrature.curves.variation_envelope import log_variation_envelope
from logphi.quadrature.values import Line, Values


class Curved(LossTransform):
    """A law that is held as a :class:`~logphi.quadrature.curves.curve.Curve`."""

    @abstractmethod
    def _curve(self, side: int) -> Curve:
        """The curve at the parameters themselves (``side`` 0), or at the lower (-1) or upper (1) ends of their enclosures."""

    @cached_property
    def curve(self) -> Curve:
        """The curve, with the errors of its parameters."""
        return self._curve(0)

    @cached_property
    def _integral(self) -> GaussLegendre:
        return GaussLegendre(self.curve)

    def curve_at(self, upper: bool) -> Curve:
        """A curve of exact parameters whose profile is above or below that of the law: it increases in each parameter."""
        return replace(self._curve(1 if upper else -1), error=0.0)

    def accept(self, visitor: LawVisitor[T, LossTransform]) -> T | None:
        """The curve."""
        return visitor.curve(self.curve, self.curve_at)

    @property
    def traits(self) -> Traits:
        """Symmetric if the curve is one half of a symmetric law."""
        return Traits(symmetric=self.curve.symmetric)

    @cached_property
    def _highest(self) -> tuple[float, float]:
        """The largest loss of a bounded curve, with its error."""
        loss, error = losses_at(self.curve, np.array([self.curve.end]))
        return float(loss[0]), float(error[0])

    @property
    def _upward(self) -> Support:
        """The support without a lower end: up to the loss at the end of the curve; with the masses that the curve omits."""
        wrong = self.curve.omitted_error + 8 * ULP
        omitted = any(self.curve.omitted)
        masses = LogMasses(*(log_complement(one, wrong) for one in self.curve.omitted)) if omitted else PROBABILITIES
        if np.isinf(self.curve.end):
            return Support(masses=masses)
        top, error = self._highest
        return Support(upper=top + error + 2 * ULP * abs(top), error=2 * error + 8 * ULP * abs(top), masses=masses)

    @cached_property
    def support(self) -> Support:
        """The losses up to that at the end of the curve; of a symmetric law, from minus that loss."""
        own = self._upward
        return replace(own, lower=-own.upper) if self.traits.symmetric else own

    @property
    def closed_form(self) -> ClosedForm:
        """The excesses, by integrals of positive terms."""
        return ClosedForm(self.excess, self.reversed_excess, self.partial_masses, self.density)

    def partial_masses(self, x: float, *, tilted: bool = False) -> Sides | None:
        """None: it is not known for every curve."""
        return None

    def density(self, x: float) -> Scaled | None:
        """None: it is not known for every curve."""
        return None

    def excess(self, x: float) -> Scaled | None:
        """E[(1 - e^{x-X})_+], by an integral of positive terms."""
        return curve_excess.excess(self.curve, x)

    def reversed_excess(self, x: float) -> Scaled | None:
        """E[(e^{x-X} - 1)_+], by an integral of positive terms."""
        return curve_excess.reversed_excess(self.curve, x)

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K at any points, with new panels for each abscissa of complex points."""
        return self._integral.at_points(np.asarray(z), count)

    @property
    def approximate(self) -> Approximation:
        """A coarse quadrature; without nodes at hand for an unbounded curve, as they depend on the tilt."""
        return Approximation(self._integral.approximate, self._integral.nodes_for_all)

    def on_line(self, line: Line, count: int = 1) -> Values:
        """K on a vertical line, by panels near the real axis and expansions far from it."""
        return long_lines.on_line(self.curve, line, count)

    @staticmethod
    def batched(terms: Terms, *, coarse: bool = False) -> Terms:
        """Many laws on similar curves as one term."""
        return terms if coarse else batched([(law, law.curve, count) for law, count in terms if isinstance(law, Curved)])

    def log_envelope(self, abscissa: float, heights: Array, end: float = np.inf) -> Array:
        """From the total variation of the tilted density; from a shifted contour for several factors, which have no atoms."""
        envelope = log_variation_envelope if len(self.curve.factors) == 1 else log_shifted_line_envelope
        return envelope(self.curve, abscissa, heights)


def end_of(parameter: Parameter, side: int) -> float:
    """A parameter (``side`` 0), or the lower (-1) or upper (1) end of its enclosure."""
    disc = parameter.under(FLOATS)
    return float(disc.mid) + side * (float(disc.rad) + ULP * float(disc.mid))


def parameter_error(parameter: Parameter) -> float:
    """The relative error of a parameter."""
    disc = parameter.under(FLOATS)
    return float(disc.rad / disc.mid)
