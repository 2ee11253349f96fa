"""The log-ratio of a mixture of two shifted normal densities to one of them, for many parameters at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import FLOATS, ULP, Discs
from logphi.arith.protocol import Arithmetic, Number, Parameter, Plain
from logphi.arith.scaled import Scaled
from logphi.arrays import Array
from logphi.laws.closed_form import ClosedForm
from logphi.laws.curves import log_mixture
from logphi.laws.growth import Growth, OneSided
from logphi.laws.normal.normal import largest_shift, shifted_growth
from logphi.laws.support import Support
from logphi.laws.transform import LossTransform, T, Terms, apart
from logphi.laws.visitor import LawVisitor
from logphi.quadrature.approximation import Approximation
from logphi.quadrature.curves.batched_mixtures import on_line_batched
from logphi.quadrature.curves.common_panels import MANY
from logphi.quadrature.mixtures.approximate_axis import ApproximateAxis
from logphi.quadrature.mixtures.inner_integral import divided_by
from logphi.quadrature.mixtures.log_ratio import TwoComponents
from logphi.quadrature.mixtures.many_components import ManyComponents
from logphi.quadrature.mixtures.mixture_envelope import FLOOR, log_mixture_envelope
from logphi.quadrature.mixtures.mixture_trapezoid import at_points, inner_nodes, on_line, on_line_and_real
from logphi.quadrature.values import Line, Values

# chosen: the points at which the number of nodes is estimated, for each mixture
_AT_ONCE = 500
# derived: for real points with a larger tilt than this, the exponents are too large for second-order sums
_FARTHEST = 16.0
# derived: a transform below the exponential of this is below the last digit of every answer
_LOG_NEGLIGIBLE = -100.0
# measured: to prove less decay than to this share is no quicker
_HIGHEST_FLOOR = 0.1
# measured: shifts and rates whose logarithms differ by less than this count as equal in a coarsened sum
_NEAR = 0.03


@dataclass(frozen=True)
class MixedNormal(LossTransform):
    """The log-ratio of (1 - q) N(0, 1) + q N(m, 1) to N(0, 1), under the former: K(z) = log E[w^{z+1}].

    Here w = 1 - q + q e^{m X - m^2/2} with X standard normal; q < 1.
    """

    shift: Parameter
    rate: Parameter

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z)."""
        m, q = self.shift.under(arith), self.rate.under(arith)
        rest, half, power = 1 - q, m * m / 2, z + 1
        return arith.log_normal_mean(lambda x: (rest + q * arith.exp(m * x - half)) ** power)

    @cached_property
    def discs(self) -> tuple[Discs, Discs]:
        """The shift and the rate with their errors."""
        return self.shift.under(FLOATS), self.rate.under(FLOATS)

    @cached_property
    def constants(self) -> tuple[float, float]:
        """The shift and the rate as doubles."""
        shift, rate = self.discs
        return float(shift.mid), float(rate.mid)

    @property
    def relative_errors(self) -> tuple[float, float]:
        """The relative errors of the shift and of the rate."""
        m, q = self.discs
        return float(m.rad / m.mid), float(q.rad / q.mid)

    @cached_property
    def ratio(self) -> TwoComponents:
        """The log-ratio, of the parameters as doubles."""
        m, q = self.constants
        return TwoComponents(np.array([m]), np.array([q]), np.ones(1))

    @cached_property
    def components(self) -> ManyComponents:
        """The log-ratio with the errors of its weights."""
        m, q = self.constants
        half = float(self.discs[1].rad)
        rates, relative_error = np.array([q]), np.array([half / q + 4 * ULP])
        log_rest, rest_error = float(np.log1p(-q)), half / (1 - q) + 4 * ULP
        return ManyComponents.of(np.array([m]), rates, np.log(rates), log_rest, relative_error, rest_error)

    def partial_masses(self, x: float, *, tilted: bool = False) -> tuple[Scaled, Scaled] | None:
        """Normal masses on both sides of the point where log w equals x."""
        # SciPy's normal tails would double the time of importing the package
        from logphi.quadrature.mixtures.mixture_tails import partial_masses

        return partial_masses(self.components, x, tilted=tilted)

    def density(self, x: float) -> Scaled | None:
        """The density of the normal variable over the slope of log w."""
        from logphi.quadrature.mixtures.mixture_tails import density

        return density(self.components, x)

    @cached_property
    def support(self) -> Support:
        """From log(1 - q) up, rounded down."""
        low, high = log_mixture.value(-np.inf, self.constants[1], float(self.discs[1].rad))
        return Support(low, error=high - low, atomless=True)

    @property
    def growth(self) -> Growth:
        """On the right, the growth of the shift; on the left, that of a bounded law.

        w^{z+1} is convex in w, so that M is at most 1 - q + q times that of the shift; it is at least q^{z+1} times that.
        Mixing P with Q never raises a profile.
        """
        return Growth(shifted_growth(self.shift), OneSided.bounded(-self.support.lower), largest_shift(self.shift))

    @property
    def closed_form(self) -> ClosedForm:
        """Masses and density; the excess follows from that of the normal law."""
        return ClosedForm(partial_masses=self.partial_masses, density=self.density)

    def accept(self, visitor: LawVisitor[T, LossTransform]) -> T | None:
        """The mixture."""
        return visitor.mixture(self.shift, self.rate)

    @staticmethod
    def batched(terms: Terms, *, coarse: bool = False) -> Terms:
        """One law for all terms; with ``coarse``, terms of nearly equal shift and rate are merged."""
        own = tuple((law, count) for law, count in terms if isinstance(law, MixedNormal))
        return _coarsened(own) if coarse else ((BatchedMixedNormal(own), 1),)

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K at any points."""
        return BatchedMixedNormal(((self, 1),), count).log_transform(z)

    @cached_property
    def approximate(self) -> Approximation:
        """K at real points, from a coarse grid."""
        return Approximation(ApproximateAxis.of(self.ratio).at)


@dataclass(frozen=True)
class BatchedMixedNormal(LossTransform):
    """The sum of counted :class:`MixedNormal` laws, computed on common grids.

    ``repeats`` is how often the sum itself will be repeated: the inner integral is made that much more accurate.
    """

    terms: tuple[tuple[MixedNormal, int], ...]
    repeats: int = 1

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z)."""
        return sum((count * law.formula(arith, z) for law, count in self.terms), 0 * z)

    @cached_property
    def mixtures(self) -> TwoComponents:
        """The parameters as arrays."""
        constants = np.array([law.constants for law, _ in self.terms])
        counts = np.array([float(count * self.repeats) for _, count in self.terms])
        return TwoComponents(constants[:, 0], constants[:, 1], counts)

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K at any points, one grid per abscissa."""
        if count > 1:
            return BatchedMixedNormal(self.terms, self.repeats * count).log_transform(z)
        return divided_by(at_points(self.mixtures, np.asarray(z)), self.repeats)

    @cached_property
    def approximate(self) -> Approximation:
        """From a coarse grid, that of a single law or of fewer mixtures; on a line, the nodes of the inner integrals."""
        if len(self.terms) == 1:
            ((law, count),) = self.terms
            at = partial(_times, count, law.approximate.at)
        else:
            fewer = BatchedMixedNormal(tuple(_coarsened(self.terms)), self.repeats)
            at = partial(_times, 1 / self.repeats, ApproximateAxis.of(fewer.mixtures).at)
        return Approximation(at, terms_on_line=partial(_nodes_on_line, self.mixtures))

    def on_line(self, line: Line, count: int = 1) -> Values:
        """K on a vertical line, as matrix products."""
        return (on_line if len(self.terms) < MANY else on_line_batched)(self.mixtures, line)

    def on_line_and_real(self, line: Line, real_points: Array, count: int = 1) -> tuple[Values, Values]:
        """K on a vertical line, and at its abscissa and other real points; a few terms use the same nodes for both."""
        tilted = float(np.abs(1 + real_points).max(initial=abs(1 + line.abscissa)) * self.mixtures.shift.max())
        if count > 1 or len(self.terms) >= MANY or tilted > _FARTHEST:
            return super().on_line_and_real(line, real_points, count)
        return on_line_and_real(self.mixtures, line, real_points)

    def log_envelope(self, abscissa: float, heights: Array, end: float = np.inf) -> Array:
        """A bound from shifted lines of integration."""
        total = np.zeros_like(heights)
        # with more repetitions or terms, each needs less decay
        floor = max(FLOOR, min(math.exp(_LOG_NEGLIGIBLE / float(self.mixtures.count.min())), _HIGHEST_FLOOR))
        floor = floor if len(self.terms) < MANY else _HIGHEST_FLOOR
        for part in self.mixtures.chunks(120 * heights.size):
            total += part.count @ log_mixture_envelope(part, abscissa, heights, floor)
        return total


def _times(factor: float, at: Callable[[Array], Array], c: Array) -> Array:
    return factor * at(c)


def _nodes_on_line(mixtures: TwoComponents, abscissa: float, top: float) -> float:
    return sum(inner_nodes(part, abscissa, top) for part in mixtures.chunks(_AT_ONCE))


CountedMixedNormals = tuple[tuple[MixedNormal, int], ...]


def mixed_normals(terms: Terms) -> tuple[CountedMixedNormals, Terms]:
    """The laws of this file among counted laws, and the others."""
    return apart(terms, MixedNormal)


def _coarsened(terms: Sequence[tuple[MixedNormal, int]]) -> Sequence[tuple[MixedNormal, int]]:
    """Cells of shifts and rates as one term each, at the means; a few terms are unchanged."""
    if len(terms) < MANY:
        return terms
    counts = np.array([float(count) for _, count in terms])
    logs = np.log(np.array([law.constants for law, _ in terms]))
    _, cell = np.unique(np.round(logs / _NEAR), axis=0, return_inverse=True)
    total = np.bincount(cell.ravel(), counts)
    shift, rate = (np.exp(np.bincount(cell.ravel(), counts * part) / total) for part in logs.T)
    return [(MixedNormal(Plain(float(m)), Plain(float(q))), round(n)) for m, q, n in zip(shift, rate, total, strict=True)]
