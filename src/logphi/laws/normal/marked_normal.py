"""The part of a sampled normal law where its normal variable is marked as large, or where it is not.

notation: a normal variable X is marked with the probability Phi((X - b) / tau), by a coin. With the coin it is a normal
variable of variance 1 + tau^2, which gives the masses. The marked part is a sum of positive terms, each relatively known
however rare it is; the other one, whose transform is near one, is a sum of second order. Another end b' > b, with the same
coin, leaves out what is huge: X is marked if with the coin it lies between both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from logphi.arith.floats import FLOATS, LOG_ROOT_TWO_PI, ULP
from logphi.arith.protocol import Arithmetic, Number
from logphi.arith.summation import log_sum, roundings
from logphi.arrays import Array
from logphi.laws.curves.curved import parameter_error
from logphi.laws.normal.mixed_normal import MixedNormal
from logphi.laws.transform import LossTransform
from logphi.quadrature.approximation import Approximation
from logphi.quadrature.curves.curve import Factor
from logphi.quadrature.curves.gauss_legendre import GaussLegendre, Masses, nodes_of
from logphi.quadrature.curves.marked_curve import MarkedCurve
from logphi.quadrature.curves.panels import gauss, log_errors, panels
from logphi.quadrature.curves.shifted_line_envelope import log_shifted_line_envelope
from logphi.quadrature.mixtures.inner_integral import by_abscissa
from logphi.quadrature.sums.exponential_sums import exponential_sums
from logphi.quadrature.values import Line, Values

# derived: e^600 and its square root's inverse are doubles
_LARGEST = 600.0
# derived: the normal mass below it is less than 1e-23
_LOWEST = -10.0
# measured: lengths of panels of a coarse sum, in x, in m x and in widths of the coin, with which it mostly has eight digits
_PANEL, _PANEL_TURN, _PANEL_COIN = 4.0, 8.0, 10.0
# chosen: how far a coarse sum goes above the coin
_BEYOND = 40.0
# chosen: the number of widths of the coin from which on nearly all or nothing is marked
_NEGLIGIBLE = 10.0
# chosen: the number of widths of the coin that a tilted law may reach
_FARTHEST = 30.0
# chosen: the number of distances above the range at which the tilted density is checked
_OUTWARD = 40
# chosen: minus the logarithm of the share that may lie above the range
_LEFT_OUT = 50.0

# measured: losses with less than e^-_COUNTED of the largest weight do not count
_COUNTED = 45.0
# measured: the number of nodes at phase zero
_NODES = 400.0
# measured: the number of nodes for each radian of the phase
_PER_RADIAN = 3.0
# measured: from this phase on there are too many panels
_LONGEST = 3e4

# chosen: what all bounds of one line need is asked for several times
_KEPT = 64


@dataclass(frozen=True)
class MarkedNormal(LossTransform):
    """The part of a sampled normal law where its normal variable is marked as large (``side`` 1), or not (-1)."""

    whole: MixedNormal
    middle: float
    width: float
    side: int
    far: float = math.inf

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z)."""
        m, q = (one.under(arith) for one in (self.whole.shift, self.whole.rate))
        half = arith.integral(lambda x: arith.exp(-x * x / 2), 0 * m, None)

        def kept(x: Number) -> Number:
            u = self.side * (x - self.middle) / self.width
            top = (self.far - self.middle) / self.width if math.isfinite(self.far) else None
            return arith.integral(lambda y: arith.exp(-((u - y) ** 2) / 2), 0 * m, top) / (2 * half)

        def density(x: Number) -> Number:
            return (1 - q + q * arith.exp(m * x - m * m / 2)) ** (z + 1) * arith.exp(-x * x / 2) * kept(x)

        both = arith.integral(lambda x: density(x) + density(-x), 0 * m, None)
        return arith.log(both / (2 * half))

    @cached_property
    def curve(self) -> MarkedCurve:
        """The curve over the normal variable."""
        m, q = self.whole.constants
        spread = math.sqrt(1 + self.width**2)
        # X and the coin together are a normal variable of this spread
        u = -self.side * (np.array([self.middle, self.middle - m])) / spread
        own, other = np.exp(log_ndtr(-u))
        if math.isfinite(self.far):
            v = (self.far - np.array([0.0, m])) / spread
            own, other = np.array([own, other]) + np.exp(log_ndtr(-v))
            u = np.append(u, v)
        wrong = parameter_error(self.whole.shift)
        moved = (1 + float(np.abs(u).max())) * (float(np.abs(u).max()) + m) * (8 * ULP + 2 * wrong)
        unsure = 64 * ULP + moved + float(self.whole.rate.under(FLOATS).rad) / q
        return MarkedCurve(
            (Factor(q, m, -m * m / 2),),
            -np.inf,
            np.inf,
            (-LOG_ROOT_TWO_PI, 0.0, -0.5),
            omitted=(float((1 - q) * own + q * other), float(own)),
            error=wrong,
            omitted_error=unsure,
            middle=self.middle,
            width=self.width,
            side=self.side,
            far=self.far,
        )

    def _nodes(self, powers: Array, top: float) -> tuple[Masses, Array] | None:
        """Nodes for powers and heights up to ``top``, and logarithms of the error of their sums for each power."""
        found = panels(self.curve, powers, top, near_one=False)
        if found is None:
            return None
        return nodes_of(self.curve, found.low, found.high), log_errors(self.curve, found, powers, top)[1]

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K at any points."""
        if self.side < 0:
            return GaussLegendre(self.curve).at_points(np.asarray(z), count)
        return by_abscissa(np.asarray(z), self._on_real, self._on_vertical)

    def _on_real(self, c: Array) -> Values:
        found = self._nodes(c + 1, 0.0)
        if found is None:
            return Values.unknown(c.size)
        each = [_sums(found[0], own, log_error, np.zeros(1), None) for own, log_error in zip(c, found[1], strict=True)]
        return Values.concatenated(each)

    def _on_vertical(self, c: float, heights: Array) -> Values:
        found = self._nodes(np.array([c + 1]), float(np.abs(heights).max()))
        return Values.unknown(heights.size) if found is None else _sums(found[0], c, float(found[1][0]), heights, None)

    def on_line(self, line: Line, count: int = 1) -> Values:
        """K on a vertical line, as a matrix product."""
        if self.side < 0:
            return GaussLegendre(self.curve).on_line(line, count)
        found = self._nodes(np.array([line.abscissa + 1]), line.step * line.size)
        if found is None:
            return Values.unknown(line.size)
        return _sums(found[0], line.abscissa, float(found[1][0]), line.heights, line)

    @cached_property
    def _coarse(self) -> tuple[Array, Array, float]:
        """Losses and logarithms of masses of a coarse sum, and the largest power that it serves."""
        m, _ = self.whole.constants
        if self.side < 0:
            # where the tilt outweighs the coin, the tilted law is farther out
            low, high = _LOWEST, self.middle + _FARTHEST * self.width
            reach = self._reach(self.middle)
        elif self.far < self.middle + abs(self.middle) + m + 2 * _BEYOND:
            low, high = self.middle - _FARTHEST * self.width, self.far + _FARTHEST * self.width
            reach = self._reach(self.far)
            long = min(_PANEL, _PANEL_TURN / m, _PANEL_COIN * self.width)
            edge = np.linspace(low, high, 2 + int((high - low) / long))
            s, log_weight, _ = gauss(edge[:-1], edge[1:])
            return self.curve.loss(s), self.curve.log_density(s) + log_weight, reach
        else:
            # a tilted normal law has its mean at m times the power
            low, high = self.middle - _NEGLIGIBLE * self.width, self.middle + m + _BEYOND
            if math.isfinite(self.far):
                # a far end leaves room for powers that are twice as large
                high += abs(self.middle) + _BEYOND
            reach = (high + _LOWEST) / m
        # where nearly all is kept the integrand is as smooth as without the coin, but may be steep next to it
        inner = min(max(self.middle + self.side * _NEGLIGIBLE * self.width, low), high)
        outer = low if self.side > 0 else high
        long = min(_PANEL, _PANEL_TURN / m)
        short = min(long, _PANEL_COIN * self.width)
        far = max(self.side * ((high if self.side > 0 else low) - inner), 0.0)
        growing = short * np.cumsum(2.0 ** np.arange(math.ceil(math.log2(long / short))))
        reached = float(growing[-1]) if growing.size else 0.0
        away = np.append(growing, np.arange(reached, far, long))
        coin = np.linspace(outer, inner, 2 + int(abs(inner - outer) / short))
        edge = np.unique(np.concatenate([coin, inner + self.side * np.append(away[away < far], far)]))
        s, log_weight, _ = gauss(edge[:-1], edge[1:])
        return self.curve.loss(s), self.curve.log_density(s) + log_weight, reach

    def _reach(self, end: float) -> float:
        """The largest power whose tilt moves hardly any mass more than some widths of the coin above an end."""
        high = end + _FARTHEST * self.width
        slope = float(self.whole.ratio.slope(np.array([high]))[0, 0])
        away = np.geomspace(_FARTHEST * self.width, max(_BEYOND, 2 * _FARTHEST * self.width), _OUTWARD)
        loss = np.maximum(self.whole.ratio.value(end + away)[0] - float(self.whole.ratio.value(np.array([end]))[0, 0]), 1e-300)
        fall = (away / self.width) ** 2 / 2 + away * (away / 2 + end) - _LEFT_OUT
        with np.errstate(over="ignore"):  # where the loss hardly changes, every power is within reach
            farthest = float((fall / loss).min())
        return min((_FARTHEST - _NEGLIGIBLE) / max(slope * self.width, 1e-300), farthest)

    @property
    def approximate(self) -> Approximation:
        """K at real points, from a coarse sum; on a line, the nodes of all panels."""
        return Approximation(self._by_coarse_sum, terms_on_line=self._terms_on_line)

    def _by_coarse_sum(self, c: Array) -> Array:
        loss, log_mass, reach = self._coarse
        c = np.asarray(c)
        return np.where(c + 1 < reach, log_sum(log_mass + (np.minimum(c, reach)[..., None] + 1) * loss), np.inf)

    def _terms_on_line(self, abscissa: float, top: float) -> float:
        """From the phase over all losses that count; infinite if there are too many."""
        loss, log_mass, _ = self._coarse
        size = log_mass + (abscissa + 1) * loss
        held = loss[size > size.max() - _COUNTED]
        phase = top * float(np.ptp(held))
        return _NODES + _PER_RADIAN * phase if phase < _LONGEST else math.inf

    def log_envelope(self, abscissa: float, heights: Array, end: float = np.inf) -> Array:
        """From a shifted line."""
        return log_shifted_line_envelope(self.curve, abscissa, heights)


def _sums(nodes: Masses, c: float, log_error: float, heights: Array, line: Line | None) -> Values:
    """K at c + it from nodes: positive terms, each relatively known."""
    log_terms = nodes.log_mass + (c + 1) * nodes.loss
    scale = float(log_terms.max())
    weight = np.exp(log_terms - scale)
    if line is not None:
        sums = exponential_sums(weight, nodes.loss, line)
    else:
        sums = np.exp(1j * heights[:, None] * nodes.loss) @ weight if heights.any() else weight.sum() * np.ones(heights.size)
    # the exponent is a product and a difference; the angle is turned twice
    size = abs(c + 1) + heights
    fixed = nodes.relative_error + 4 * ULP * (np.abs(nodes.log_mass) + abs(scale)) + 16 * ULP + 2 * ULP * roundings(weight.size)
    moved = nodes.loss_error + 8 * ULP * np.abs(nodes.loss)
    # both are small, where anything is known
    largest = float(fixed.max()) + float(size.max()) * float(moved.max())
    wrong = (float(weight @ fixed) + size * float(weight @ moved)) * math.exp(min(largest, _LARGEST))
    found = Values.logarithm(sums, wrong + math.exp(min(log_error - scale, _LARGEST)), scale)
    return found if largest < 1 and log_error - scale < _LARGEST else Values.unknown(heights.size)


@lru_cache(maxsize=_KEPT)
def at_abscissa(law: MarkedNormal, abscissa: float, count: int = 1) -> tuple[float, float]:
    """K at a real point, accurate for ``count`` repetitions, and its error."""
    found = law.log_transform(np.array([abscissa]), count)
    return float(found.mid[0].real), float(found.radius[0])
