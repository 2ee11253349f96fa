"""Contours of many laws at once, each the log-ratio of a mixture of normal densities on a line of its own.

A NumPy call on one contour costs more than its arithmetic. Here the quadrature of many lines is one array, on nodes fine enough
for all; the bounds are those of :mod:`logphi.quadrature` for a mixture at its own abscissas. Lines are laid out as in
:mod:`logphi.inversion.lines.layout`, with fewer trials; where these are not enough, there is no contour.

Array axes, in order: law, abscissa or height, node.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ULP
from logphi.arith.summation import error_of_log
from logphi.arrays import Array
from logphi.inversion.lines.kernels import Smooth, log_kappa
from logphi.inversion.lines.layout import SHARE, exactly_reflectable_each
from logphi.inversion.lines.line_sum import Contour, contour_of
from logphi.quadrature.mixtures.inner_integral import deviations
from logphi.quadrature.mixtures.log_ratio import TwoComponents
from logphi.quadrature.mixtures.mixture_envelope import log_mixture_envelope
from logphi.quadrature.mixtures.mixture_trapezoid import log_masses, nodes_at
from logphi.quadrature.sums.second_order_sums import along_lines
from logphi.quadrature.values import Line, Values, exact_step

# measured: abscissas that are tried, relative to a guess from the second moment, which rare large losses make too high
_WIDELY = 2.0 ** np.arange(-4, 1.5, 0.5)
# measured: abscissas around the best of them, and around the vertex of a parabola, as logarithms of ratios
_NARROWLY = 0.12 * np.linspace(-1, 1, 5)
# chosen: the relative distance of the points from which the curvature is computed
_AWAY = 0.1
# measured: distances to the neighbours that bound the aliasing, relative to the distance from the pole
_SHIFTS = np.array([1.0, 0.5, 0.25, 0.125])
# measured: heights at which the tail is bounded, relative to the height where that of a normal law is negligible
_AROUND = 2.0 ** np.concatenate([np.arange(-0.5, 1.25, 0.25), [1.5, 2.0, 3.0]])
# derived: a limit for the exponents of second-order sums
_LARGEST = 550.0
# measured: exponents stay below the limit if the last node is this far from the tilted mean and the density has one peak
_OUTWARD = 12.0
# measured: exponents stay below the limit if the last node is this far from zero and a second peak is negligible
_NEAR_ZERO = 18.0
# measured: a second peak of the tilted density is negligible below the exponential of this number
_NOT_FAR = -60.0
# measured: longer lines are as quick one by one
_LONGEST = 1024
# measured: lines whose lengths differ by more than this factor are computed separately
_SIMILAR = 4.0
# measured: the arrays of more lines leave the cache
_AT_ONCE = 16
# derived: a transform below the exponential of this is below the last digit of every answer
_LOG_NEGLIGIBLE = -100.0
# chosen: the smallest and the largest share of M(c) at which an envelope stops
_FLOORS = (1e-12, 0.1)


@dataclass(frozen=True)
class Laws:
    """Counts times K of many mixtures, or of their reflections."""

    mixtures: TwoComponents
    reflected: bool = False

    def of(self, those: NDArray[Any]) -> Laws:
        """The laws with the given indices, or of a mask."""
        own = self.mixtures
        return Laws(TwoComponents(own.shift[those], own.rate[those], own.count[those]), self.reflected)

    def approximate(self, c: Array) -> Array:
        """K at real points, to some digits."""
        return self._count * log_masses(self.mixtures, self._at(c))

    def in_range(self, c: Array) -> NDArray[np.bool_]:
        """Whether the sums at an abscissa keep their digits, and -1 - c is exact where it is needed."""
        abscissas, m, q = self._at(c), self.mixtures.shift[:, None], self.mixtures.rate[:, None]
        power = abscissas + 1
        farthest = np.where(power * (power * m * m / 2 + np.log(q)) < _NOT_FAR, _NEAR_ZERO, power * m + _OUTWARD)
        lowest = np.log1p(-q)
        exponent = power * np.where(power > 0, np.maximum(m * farthest + np.log(q), lowest), lowest)
        return np.asarray((exponent < _LARGEST) & ((abscissas == c) | ((abscissas + 1) + c == 0)))

    def on_lines(self, c: Array, step: Array, size: int, top: float) -> tuple[Values, Values] | None:
        """K on the line of the first abscissa of each law, up to ``top``, and at all abscissas; None if there are too many.

        Nodes of a line above ``top`` have no proved values.
        """
        abscissas = self._at(c)
        nodes = nodes_at(self.mixtures, abscissas, top)
        if nodes is None:
            return None
        rounding = error_of_log(nodes.rounding.of_size(np.abs(abscissas)))
        heights, moments = step[:, None] * np.arange(size), along_lines(step[:, None, None], size)
        mid, *errors = deviations(nodes.first, self.mixtures.count, abscissas[:, :1], heights, top, moments)
        on_line = self._times(mid.conj() if self.reflected else mid, *errors)
        return on_line, self._times(nodes.log_mass, rounding, error_of_log(nodes.inner))

    def log_envelope(self, c: Array, heights: Array) -> Array:
        """A proved upper bound of Re K(c + is) - K(c) for s >= t, for each height t, (law, height)."""
        low, high = _FLOORS
        floor = max(low, min(math.exp(_LOG_NEGLIGIBLE / float(self.mixtures.count.min())), high))
        return self._count * log_mixture_envelope(self.mixtures, self._at(c[:, None]), heights, floor)

    @property
    def _count(self) -> Array:
        return np.asarray(self.mixtures.count[:, None])

    def _at(self, c: Array) -> Array:
        return -1 - c if self.reflected else c

    def _times(self, mid: NDArray[Any], rounding: Array, inner: Array) -> Values:
        known = np.isfinite(np.abs(mid) + rounding + inner)
        mid, rounding, inner = (np.where(known, part, 0.0) for part in (mid, rounding, inner))
        errors = self._count * (rounding + 3 * ULP * np.abs(mid)), self._count * inner
        return Values(self._count * mid, *(np.where(known, error, np.inf) for error in errors))


# a function of abscissas (law, abscissa) and of K there
Height = Callable[[Array, Array], Array]


def minimise(laws: Laws, guess: Array, height: Height) -> Array:
    """An approximate minimiser of a function of c and K(c), from a guess; all bounds hold at any abscissa."""
    widely = guess[:, None] * _WIDELY
    middle = np.take_along_axis(widely, _least(height(widely, laws.approximate(widely))), axis=1)
    trials = middle * np.exp(_NARROWLY)
    values = height(trials, laws.approximate(trials))
    index = np.clip(_least(values), 1, _NARROWLY.size - 2)
    left, here, right = (np.take_along_axis(values, index + side, axis=1) for side in (-1, 0, 1))
    # unknown values, or a straight line: the best trial is kept
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        bend = left + right - 2 * here
        vertex = 0.5 * (left - right) / bend
    vertex = np.where((bend > 0) & (np.abs(vertex) < 1), vertex, 0.0)
    return np.asarray(np.take_along_axis(trials, index, axis=1) * np.exp(vertex * (_NARROWLY[1] - _NARROWLY[0])))[:, 0]


def _least(values: Array) -> NDArray[np.intp]:
    return np.asarray(np.where(np.isnan(values), np.inf, values).argmin(axis=1)[:, None])


@dataclass(frozen=True)
class _Layouts:
    """The layouts of many lines, as :class:`logphi.inversion.lines.layout.Layout`."""

    abscissa: Array
    shift: Array
    step: Array
    log_target: Array
    curvature: Array

    def of(self, those: NDArray[Any]) -> _Layouts:
        """The layouts with the given indices, or of a mask."""
        return _Layouts(*(getattr(self, one.name)[those] for one in fields(self)))


def lay(laws: Laws, saddles: Array, x: Array, log_rtol: float) -> list[Contour | None]:
    """Contours of the excess at the thresholds x, close to the saddles; None where the few trials find none."""
    found: list[Contour | None] = [None] * saddles.size
    layouts = _layouts(laws, saddles, x, log_rtol)
    usable = np.flatnonzero(np.isfinite(layouts.log_target) & (layouts.curvature > 0) & (layouts.step > 0))
    if not usable.size:
        return found
    laws, layouts = laws.of(usable), layouts.of(usable)
    sizes, log_tail = _lengths(laws, layouts)
    for those in _similar(sizes):
        for k, contour in zip(usable[those].tolist(), _filled(laws, layouts, sizes, log_tail, x[usable], those), strict=True):
            found[k] = contour
    return found


def _layouts(laws: Laws, saddles: Array, x: Array, log_rtol: float) -> _Layouts:
    """Layouts for the thresholds; the step is zero where K is unknown at all neighbours."""
    c = exactly_reflectable_each(saddles)
    sides = c[:, None] * np.concatenate([[0.0, _AWAY, -_AWAY], _SHIFTS, -_SHIFTS])
    points = c[:, None] + sides
    values = laws.approximate(points)
    size = Smooth(0.0).log_real(c)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # unknown values, or no curvature: no contour
        curvature = (values[:, 1] + values[:, 2] - 2 * values[:, 0]) / (_AWAY * c) ** 2
        log_target = size - 0.5 * np.log(2 * np.pi * (curvature + c**-2 + (c + 1) ** -2)) + math.log(SHARE) + log_rtol
        beside = (values + log_kappa(points) - sides * x[:, None])[:, 3:].reshape(c.size, 2, -1)
        neighbours = np.logaddexp(beside[:, 0], beside[:, 1]) - values[:, :1]
        turns = np.maximum(np.logaddexp(0.0, neighbours - log_target[:, None]), SHARE)
        steps = np.nan_to_num(2 * np.pi * c[:, None] * _SHIFTS / turns)
    # abscissas for which reflections are exact
    shifts = exactly_reflectable_each(c[:, None] * (1 + _SHIFTS)) - c[:, None]
    reached = laws.in_range(c[:, None]) & laws.in_range(c[:, None] + shifts) & laws.in_range(c[:, None] - shifts)
    steps = np.where(reached & (shifts <= c[:, None]), steps, 0.0)
    pick = steps.argmax(axis=1)[:, None]
    shift, step = (np.take_along_axis(one, pick, axis=1)[:, 0] for one in (shifts, steps))
    return _Layouts(c, shift, np.array([exact_step(one) for one in step.tolist()]), log_target, curvature)


def _filled(
    laws: Laws, layouts: _Layouts, sizes: Array, log_tail: Array, x: Array, those: NDArray[np.intp]
) -> Iterator[Contour | None]:
    """The contours of some layouts, with K on them."""
    laws, layouts, sizes = laws.of(those), layouts.of(those), sizes[those]
    c, step, shift = layouts.abscissa, layouts.step, layouts.shift
    abscissas = c[:, None] + np.stack([0 * c, shift, -shift], axis=1)
    values = laws.on_lines(abscissas, step, int(sizes.max()), float((step * sizes).max()))
    if values is None:
        yield from [None] * those.size
        return
    for k in range(those.size):
        line, kernel = Line(float(c[k]), float(step[k]), int(sizes[k])), Smooth(float(x[those[k]]))
        on, real = (
            Values(*(part[k, :size] for part in (one.mid, one.rounding, one.inner)))
            for one, size in zip(values, (line.size, 3), strict=True)
        )
        known = bool((on.radius < 1).all())
        yield contour_of(line, on, real, float(shift[k]), float(log_tail[those[k]]), kernel) if known else None


def _similar(sizes: Array) -> Iterator[NDArray[np.intp]]:
    """Indices of lines of similar size, without the longest lines."""
    order = np.argsort(sizes)
    order = order[sizes[order] <= _LONGEST]
    while order.size:
        many = min(int((sizes[order] <= _SIMILAR * sizes[order[0]]).sum()), _AT_ONCE)
        yield order[:many]
        order = order[many:]


def _lengths(laws: Laws, layouts: _Layouts) -> tuple[Array, Array]:
    """The number of nodes after which the tail is proved negligible, and the logarithm of the tail over M(c) e^{-cx}.

    The sum over the nodes from a height on is at most the integral of the decreasing bound from the node before them.
    """
    c, log_target = layouts.abscissa, layouts.log_target
    heights = np.sqrt(np.maximum(-2 * log_target, 1.0) / layouts.curvature)[:, None] * _AROUND
    rest = _rest(heights, laws.log_envelope(c, heights), c)
    enough = rest <= log_target[:, None]
    first = enough.argmax(axis=1)[:, None]
    # the last node is at or above the height
    size = np.ceil(np.take_along_axis(heights, first, axis=1)[:, 0] / layouts.step * (1 + 1e-12)) + 1
    return np.where(enough.any(axis=1), np.maximum(size, 2), np.inf), np.take_along_axis(rest, first, axis=1)[:, 0]


def _rest(heights: Array, envelope: Array, c: Array) -> Array:
    """Logarithm of 1/pi times the upper Riemann sum of a product of decreasing bounds, from each height on."""
    size = Smooth(0.0).log_size(heights, c[:, None])
    last = envelope[:, -1] - np.log(heights[:, -1]) + 1e-14
    cells = np.concatenate([(envelope + size)[:, :-1] + np.log(np.diff(heights, axis=1)), last[:, None]], axis=1)
    total: Array = np.logaddexp.accumulate(cells[:, ::-1], axis=1)[:, ::-1] - np.log(np.pi)
    return total
