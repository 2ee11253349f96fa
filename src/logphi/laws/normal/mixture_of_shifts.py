"""The log-ratio of a mixture of shifted normal densities to the unshifted one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import FLOATS
from logphi.arith.protocol import Arithmetic, Number, Parameter
from logphi.arith.scaled import Scaled
from logphi.arrays import Array
from logphi.laws.closed_form import ClosedForm
from logphi.laws.growth import Growth, OneSided
from logphi.laws.normal.normal import largest_shift, shifted_growth
from logphi.laws.support import Support
from logphi.laws.transform import LossTransform, T
from logphi.laws.visitor import LawVisitor
from logphi.laws.weights import Weights
from logphi.quadrature.approximation import Approximation
from logphi.quadrature.mixtures.approximate_axis import ApproximateAxis
from logphi.quadrature.mixtures.inner_integral import divided_by
from logphi.quadrature.mixtures.many_components import ManyComponents
from logphi.quadrature.mixtures.mixture_envelope import log_mixture_envelope
from logphi.quadrature.mixtures.mixture_trapezoid import at_points, on_line
from logphi.quadrature.values import Line, Values

# measured: an envelope that serves this count is sharp enough for any count
_MANY = 10**12


@dataclass(frozen=True)
class MixtureOfShifts(LossTransform):
    """The log-ratio of sum p_i N(c_i, 1) to N(0, 1), under the former: K(z) = log E[w^{z+1}].

    Here w = sum of p_i e^{c_i X - c_i^2/2} with X standard normal. The shifts are distinct and not negative, and one is
    positive; only the first may be zero.
    """

    shifts: tuple[Parameter, ...]
    weights: Weights

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z)."""
        shifts = [c.under(arith) for c in self.shifts]
        parts = [(p, c, c * c / 2) for p, c in zip(self.weights.under(arith), shifts, strict=True)]
        return arith.log_normal_mean(lambda x: sum((p * arith.exp(c * x - half) for p, c, half in parts), 0 * x) ** (z + 1))

    @cached_property
    def ratio(self) -> ManyComponents:
        """The log-ratio, of the parameters as doubles."""
        shifts = np.array([float(c.under(FLOATS).mid) for c in self.shifts])
        weights = list(self.weights.table())
        rest = weights[0] if shifts[0] == 0 else None
        moving, table = shifts[shifts > 0], np.array(weights)[shifts > 0]
        return ManyComponents.of(
            moving,
            table[:, 0],
            table[:, 1],
            -np.inf if rest is None else rest.log,
            table[:, 2],
            0.0 if rest is None else rest.relative_error,
        )

    @cached_property
    def support(self) -> Support:
        """From log p_0 up, rounded down; the whole line if every shift is positive."""
        log_rest, error = self.ratio.log_rest, self.ratio.rest_error
        known = 4e-15 * abs(log_rest) + 2 * error if np.isfinite(log_rest) else 0.0
        return Support(log_rest * (1 + 1e-15) - error, error=known, atomless=True)

    @property
    def growth(self) -> Growth:
        """Right: the growth of the largest shift, since w^{z+1} is convex in w.

        Left: bounded by p_0, or by the component of the smallest shift: -log w is at most
        -log p_1 - c_1 X + c_1^2/2.
        """
        right, lower = shifted_growth(max(self.shifts, key=_size)), self.support.lower
        # the largest shift bounds that of every part
        shift = max(map(largest_shift, self.shifts))
        if np.isfinite(lower):
            return Growth(right, OneSided.bounded(-lower), shift)
        least = min(range(len(self.shifts)), key=lambda k: _size(self.shifts[k]))
        weight = self.weights.table()[least]
        left = shifted_growth(self.shifts[least], -weight.log * (1 + 1e-15) + weight.relative_error)
        return Growth(right, left, shift)

    @property
    def closed_form(self) -> ClosedForm:
        """Sums of normal masses on both sides of the point where log w equals x."""
        return ClosedForm(self.excess, self.reversed_excess, self.partial_masses, self.density)

    def accept(self, visitor: LawVisitor[T, LossTransform]) -> T | None:
        """The mixture of shifts."""
        return visitor.mixtures(self.shifts, self.weights)

    def excess(self, x: float) -> Scaled:
        """E[(1 - e^{x-X})_+], from the point where log w equals x."""
        from logphi.quadrature.mixtures.mixture_profile import excess

        return excess(self.ratio, x)

    def reversed_excess(self, x: float) -> Scaled | None:
        """E[(e^{x-X} - 1)_+], from the point where log w equals x."""
        from logphi.quadrature.mixtures.mixture_profile import reversed_excess

        return reversed_excess(self.ratio, x)

    def partial_masses(self, x: float, *, tilted: bool = False) -> tuple[Scaled, Scaled] | None:
        """Normal masses on both sides of the point where log w equals x."""
        from logphi.quadrature.mixtures.mixture_tails import partial_masses

        return partial_masses(self.ratio, x, tilted=tilted)

    def density(self, x: float) -> Scaled | None:
        """The density of the normal variable over the slope of log w."""
        from logphi.quadrature.mixtures.mixture_tails import density

        return density(self.ratio, x)

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K at any points, one grid per abscissa."""
        return divided_by(at_points(self.ratio.repeated(count), np.asarray(z)), count)

    @cached_property
    def approximate(self) -> Approximation:
        """K at real points, from a coarse grid."""
        return Approximation(ApproximateAxis.of(self.ratio).at)

    def on_line(self, line: Line, count: int = 1) -> Values:
        """K on a vertical line, as matrix products."""
        return divided_by(on_line(self.ratio.repeated(count), line), count)

    def log_envelope(self, abscissa: float, heights: Array, end: float = np.inf) -> Array:
        """A bound from a shifted line of integration."""
        # sharp enough for any number of repetitions
        result: Array = log_mixture_envelope(self.ratio.repeated(_MANY), abscissa, heights)[0]
        return result


def _size(shift: Parameter) -> float:
    return float(shift.under(FLOATS).mid)
