"""The loss of a mixture of two shifted normal densities without the losses above a cap, and the masses above the cap."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from logphi.arith.floats import FLOATS, LOG_ROOT_TWO_PI, ULP
from logphi.arith.protocol import Arithmetic, Number
from logphi.laws.curves.curved import Curved, parameter_error
from logphi.laws.normal.mixed_normal import MixedNormal
from logphi.normal.tails import log_masses
from logphi.quadrature.approximation import Approximation
from logphi.quadrature.curves.curve import Curve, Factor
from logphi.quadrature.curves.panels import gauss
from logphi.quadrature.half_lines.clipped_contour import ClippedContour
from logphi.quadrature.sums.approximate_nodes import ApproximateNodes
from logphi.quadrature.values import Line, Values

# measured: smaller ranges of the phase, in radians, are integrated on the real axis
_LONG_PHASE = 1000.0
# derived: the normal mass below it is less than 1e-18
_LOWEST = -9.0
# measured: an end above which nodes for all powers are more than those for each
_FARTHEST = 160.0
# measured: the length of a panel of a coarse sum, in x
_PANEL = 2.0
# measured: the length of a panel of a coarse sum, in m x
_PANEL_TURN = 4.0
# measured: the distances from the cap at which further panels of a coarse sum end, as shares of a panel
_SHARES = 4.0 ** -np.arange(1, 12)


@dataclass(frozen=True)
class UpperTail:
    """Logarithms of the Q-mass above the cap and of the P-mass less the Q-mass there, and the relative error of both."""

    log_mass: float
    log_more: float
    error: float

    @staticmethod
    def above(m: float, q: float, end: float, rate_error: float) -> UpperTail:
        """The masses where a normal variable exceeds an end, of the law with shift m and rate q; all to some ulps."""
        ahead = end - np.array([0.0, m])
        (own, other), wrong = log_masses(ahead, np.full(2, np.inf))
        # half an ulp of m changes a tail by at most (end + 1) times that, relatively
        moved = float((wrong + (1 + np.maximum(ahead, 0.0)) * ULP * (8 * m + 4 * np.abs(ahead))).max())
        # if the share rounds to one, the error exceeds one
        share = min(math.exp(own - other), 1 - ULP)
        error = moved * (1 + share) / (1 - share) + rate_error + ULP * (8 + abs(own) + abs(other))
        return UpperTail(float(own), math.log(q) + float(other) + math.log1p(-share), error)


@dataclass(frozen=True)
class ClippedNormal(Curved):
    """The part of a :class:`MixedNormal` law where its normal variable is below an end; larger losses are omitted."""

    whole: MixedNormal
    end: float

    @staticmethod
    def at(whole: MixedNormal, cap: float) -> ClippedNormal:
        """The law without losses above ``cap`` > 0, up to rounding of the end."""
        return ClippedNormal(whole, float(whole.ratio.terms.inverse(cap)[0, 0]))

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z)."""
        m, q = (one.under(arith) for one in (self.whole.shift, self.whole.rate))
        root = 2 * arith.integral(lambda x: arith.exp(-x * x / 2), 0 * m, None)

        def density(x: Number) -> Number:
            return (1 - q + q * arith.exp(m * x - m * m / 2)) ** (z + 1) * arith.exp(-x * x / 2)

        return arith.log(arith.integral(lambda y: density(self.end - y), 0 * m, None) / root)

    @cached_property
    def upper_tail(self) -> UpperTail:
        """The masses above the end, under Q and P."""
        m, q = self.whole.constants
        return UpperTail.above(m, q, self.end, float(self.whole.rate.under(FLOATS).rad) / q)

    @property
    def least_above(self) -> float:
        """A lower bound of the losses above the end."""
        top, error = self._highest
        return top - error - 2 * ULP * abs(top)

    @cached_property
    def _coarse(self) -> ApproximateNodes:
        """Nodes of a coarse sum for all powers: a tilted law is wide, or next to the end."""
        m, _ = self.whole.constants
        length = max(self.end - _LOWEST, 1.0)
        count = math.ceil(length / min(_PANEL, _PANEL_TURN / m))
        edges = np.unique(
            np.concatenate([np.linspace(self.end - length, self.end, count + 1), self.end - length / count * _SHARES])
        )
        s, log_weight, _ = gauss(edges[:-1], edges[1:])
        return ApproximateNodes(self.curve.loss(s), self.curve.log_density(s) + log_weight, self.curve.omitted)

    @property
    def approximate(self) -> Approximation:
        """From one coarse sum for all powers, unless it would be too long."""
        own = super().approximate
        return own if self.end > _FARTHEST else replace(own, at=self._coarse.log_transform)

    def on_line(self, line: Line, count: int = 1) -> Values:
        """K on a vertical line; a long line uses a contour above the real axis."""
        top, power = line.step * line.size, line.abscissa + 1
        if power < 0 or top * (self._highest[0] - self.whole.support.lower) < _LONG_PHASE:
            return super().on_line(line, count)
        axis = self._integral.nodes(np.array([power]), np.array([line.abscissa + 0j]), count)
        found = None if axis is None else self._path.on_line(line, axis, count)
        return super().on_line(line, count) if found is None else found

    @property
    def _path(self) -> ClippedContour:
        return ClippedContour(*self.whole.constants, *self.whole.relative_errors, self.end)

    def _curve(self, side: int) -> Curve:
        """The curve over the normal variable."""
        m, q = self.whole.constants
        m, q = m * (1 + 4 * side * ULP), q * (1 + side * ULP)
        rest = self.upper_tail
        omitted = math.exp(rest.log_mass) + math.exp(rest.log_more), math.exp(rest.log_mass)
        density = (-LOG_ROOT_TWO_PI, 0.0, -0.5)
        wrong = parameter_error(self.whole.shift)
        return Curve(
            (Factor(q, m, -m * m / 2),), -np.inf, self.end, density, omitted=omitted, error=wrong, omitted_error=rest.error
        )
