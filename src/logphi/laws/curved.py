"""Laws whose transform is an integral over a curve, by Gauss-Legendre sums: what sampling makes of flat or normal laws."""

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
from logphi.laws.curved_crowd import batched
from logphi.laws.forms import Forms
from logphi.laws.support import Support
from logphi.laws.thinned import log_complement
from logphi.laws.traits import Traits
from logphi.laws.transform import LossTransform, T, Terms
from logphi.quadrature import curve_excess, long_lines
from logphi.quadrature.curve import Curve
from logphi.quadrature.gauss_legendre import GaussLegendre, ends_of
from logphi.quadrature.rough_sums import RoughNodes
from logphi.quadrature.shifted_line_envelope import log_shifted_line_envelope
from logphi.quadrature.values import Line, Values
from logphi.quadrature.variation_envelope import log_variation_envelope


class Curved(LossTransform):
    """A law that is held as a :class:`~logphi.quadrature.curve.Curve`."""

    @abstractmethod
    def _curve(self, side: int) -> Curve:
        """The loss, and the law of Q, over the variable of integration: with the parameters as they are, or at their ends."""

    @cached_property
    def curve(self) -> Curve:
        """The curve, with the errors of its parameters."""
        return self._curve(0)

    @cached_property
    def _integral(self) -> GaussLegendre:
        return GaussLegendre(self.curve)

    def curve_at(self, upper: bool) -> Curve:
        """A curve of exact parameters whose profile is above or below that of the law: it grows with each of them."""
        return replace(self._curve(1 if upper else -1), error=0.0)

    def by_form(self, forms: Forms[T, LossTransform]) -> T | None:
        """Its form."""
        return forms.curve(self.curve, self.curve_at)

    @property
    def traits(self) -> Traits:
        """Symmetric if the curve stands for its reflection too."""
        return Traits(symmetric=self.curve.mirrored)

    @cached_property
    def _highest(self) -> tuple[float, float]:
        """The largest loss of a bounded curve, and its error."""
        loss, error = ends_of(self.curve, np.array([self.curve.end]))
        return float(loss[0]), float(error[0])

    @property
    def _upward(self) -> Support:
        """Up to the loss at the end of the curve, rounded outward."""
        if np.isinf(self.curve.end):
            return Support()
        top, error = self._highest
        return Support(upper=top + error + 2 * ULP * abs(top), error=2 * error + 8 * ULP * abs(top))

    @cached_property
    def support(self) -> Support:
        """Up to the loss at the end of the curve; a symmetric law from minus that."""
        own = self._upward
        return Support.within(own.upper, own.error) if self.traits.symmetric else own

    @property
    def closed_form(self) -> ClosedForm:
        """Integrals of positive terms."""
        return ClosedForm(self.excess, self.reversed_excess, self.partial_masses, self.density)

    def partial_masses(self, x: float, *, tilted: bool = False) -> Sides | None:
        """Not known of every curve."""
        return None

    def density(self, x: float) -> Scaled | None:
        """Not known of every curve."""
        return None

    def log_masses(self) -> tuple[Values, Values] | None:
        """From what the curve omits."""
        error = self.curve.omitted_error + 8 * ULP
        p, q = (log_complement(one, error) for one in self.curve.omitted)
        return (p, q) if any(self.curve.omitted) else None

    def excess(self, x: float) -> Scaled | None:
        """By an integral of positive terms."""
        return curve_excess.excess(self.curve, x)

    def reversed_excess(self, x: float) -> Scaled | None:
        """By an integral of positive terms."""
        return curve_excess.reversed_excess(self.curve, x)

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K at any points, new panels for each abscissa of complex ones."""
        return self._integral.at_points(np.asarray(z), count)

    def approximate(self, c: Array, count: int = 1) -> Array:
        """K at real points, to some digits."""
        return self._integral.approximate(c)

    @property
    def rough_nodes(self) -> RoughNodes | None:
        """The nodes of a rough quadrature; none of a curve without ends, whose nodes depend on the tilt."""
        return self._integral.rough_nodes

    def on_line(self, line: Line, count: int = 1) -> Values:
        """K on a vertical line, by panels near the real axis and expansions far from it."""
        return long_lines.on_line(self.curve, line, count)

    @staticmethod
    def batched(terms: Terms, *, rough: bool = False) -> Terms:
        """Many laws on curves that are alike as one."""
        return terms if rough else batched([(law, law.curve, count) for law, count in terms if isinstance(law, Curved)])

    def log_envelope(self, abscissa: float, heights: Array, end: float = np.inf) -> Array:
        """From the total variation of the tilted density; a curve of several factors has no atoms, and a contour to move."""
        envelope = log_variation_envelope if len(self.curve.factors) == 1 else log_shifted_line_envelope
        return envelope(self.curve, abscissa, heights)


def end_of(parameter: Parameter, side: int) -> float:
    """A parameter as it is, or one of its ends."""
    disc = parameter.under(FLOATS)
    return float(disc.mid) + side * (float(disc.rad) + ULP * float(disc.mid))


def parameter_error(parameter: Parameter) -> float:
    """The relative error of a parameter."""
    disc = parameter.under(FLOATS)
    return float(disc.rad / disc.mid)
