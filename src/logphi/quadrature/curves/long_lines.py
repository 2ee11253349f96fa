"""Transforms of exponential curves high up a vertical line, by expansions at the ends and panels where the loss hardly changes.

notation: Y = kappa s + o, w = 1 - q + q e^Y, l = log w, Q(ds) = D ds with D = e^{g0 + g1 s}, a = z + 1, r = q e^Y / w the slope
of l over that of Y, b = 1 - g1/kappa. In l the measure e^{al} Q has the density e^{al} D/(kappa r), and from dD/dY = (1 - b) D,
dr/dY = r (1 - r) and dl/dY = r

    d/dl (D r^-m) = D ((1 - b - m) r^{-m-1} + m r^-m),

so that the j-th derivative in l of D/(kappa r) is D/kappa times a polynomial in 1/r. Integration by parts, J times,

    integral of e^{al} Q(ds) = [ e^{al} sum over j < J of (-1/a)^j (D/(kappa r))^{(j)} ] / a + R,

where |R| is at most the largest size of (kappa r/D) (D/(kappa r))^{(J)} / |a|^J, in units of the integral of the modulus. R is
small where |a| r is large, and grows with 1/r: the lower end of the expansion is where R is just small enough. Below that end
the loss changes by about r in all, and a few panels suffice however high the line is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arrays import Array
from logphi.quadrature.curves.curve import Curve, Factor
from logphi.quadrature.curves.gauss_legendre import GaussLegendre, Masses, losses_at, nodes_of, whole_law
from logphi.quadrature.curves.panels import log_errors, panels
from logphi.quadrature.mixtures.log_ratio import LARGE
from logphi.quadrature.sums.exponential_sums import exponential_sums
from logphi.quadrature.values import Line, Values

# derived: |a| r at the lower end of an expansion, with which R may be small enough
_LEAST_EXPONENT = 64.0
# chosen: the logarithm of the largest R
_LOG_TARGET = -41.0
# derived: the terms of the divergent series fall up to this one
_TERMS = 40
# measured: where the phase changes by fewer radians in all, panels alone are faster
_LONG_PHASE = 400.0
# measured: the ratio of the last height of a block to the first
_BLOCK = 2.0
# no nodes
_NONE = Masses(*(np.zeros(0) for _ in range(4)))
# the exponent of r^-m / r^(-j-1), in row j and column m - 1
_LEFT = np.maximum(np.subtract.outer(np.arange(_TERMS + 1), np.arange(_TERMS + 1)), 0)


def on_line(curve: Curve, line: Line, count: int = 1) -> Values:
    """K on a line: panels for small heights, expansions where these are accurate."""
    first = _first(curve, line)
    near = GaussLegendre(curve).on_line(replace(line, size=first), count)
    log_mass = float(near.mid[0].real) + float(near.radius[0])
    if not math.isfinite(log_mass):
        return Values.unknown(line.size)
    parts = [near]
    while first < line.size:
        last = min(math.ceil(_BLOCK * first), line.size)
        parts.append(_block(curve, line, first, last, log_mass))
        first = last
    return Values.concatenated(parts)


def _first(curve: Curve, line: Line) -> int:
    """The first node at which an expansion holds on part of the curve; the size of the line if none is needed."""
    factor, top, (_, linear, bend) = curve.factors[0], line.step * (line.size - 1), curve.density
    exponential = len(curve.factors) == 1 and not factor.own and factor.sign == 1 and not bend and linear <= factor.slope / 2
    if not exponential or not math.isfinite(curve.start + curve.end) or not factor.exponent(curve.end) < LARGE:
        return line.size
    low, high = curve.loss(np.array([curve.start, curve.end])).tolist()
    lowest = 2 * _LEAST_EXPONENT / _slope_ratio(factor, curve.end)
    return max(math.ceil(lowest / line.step), 1) if top * (high - low) > _LONG_PHASE and lowest < top else line.size


def _slope_ratio(factor: Factor, point: float) -> float:
    """The ratio r at a point s."""
    s = np.array([point])
    return float(factor.share(s, factor.value(s))[0])


def _point_of(factor: Factor, rise: float) -> float:
    """An approximate s at which r has a value."""
    odds = math.log(rise) + math.log1p(-factor.rate) - math.log(factor.rate) - math.log1p(-rise)
    return float((odds - factor.offset) / factor.slope)


def _block(curve: Curve, line: Line, first: int, last: int, log_mass: float) -> Values:
    """K at the nodes from ``first`` to before ``last``, where log M(c) is at most ``log_mass``."""
    factor, powers = curve.factors[0], np.array([line.abscissa + 1])
    here, low, high = replace(line, size=last - first), line.step * first, line.step * (last - 1)
    start, body, inner = curve.start, _NONE, 0.0
    if low * _slope_ratio(factor, start) < _LEAST_EXPONENT:
        # panels up to the start of the expansion, at the same rounded s
        start = _point_of(factor, _LEAST_EXPONENT / low)
        part = replace(curve, end=start, atoms=(), rest=0.0)
        found = panels(part, powers, high)
        if found is None:
            return Values.unknown(here.size)
        body = nodes_of(part, found.low, found.high)
        inner = math.exp(min(float(log_errors(part, found, powers, high)[1][0]) - log_mass, LARGE))
    size = abs(line.abscissa) + 1 + high
    nodes = whole_law(curve, body)
    weight = np.exp(nodes.log_mass + powers * nodes.loss - log_mass)
    sums = exponential_sums(weight * np.exp(1j * low * nodes.loss), nodes.loss, here)
    relative = nodes.relative_error + size * (nodes.loss_error + 8 * ULP * np.abs(nodes.loss)) + (nodes.loss.size + 64) * ULP
    wrong = float(weight @ np.expm1(np.minimum(relative, LARGE)))

    z = line.abscissa + 1j * (line.step * np.arange(first, last))
    table = _derivatives(1 - curve.density[1] / factor.slope)
    rise = _slope_ratio(factor, start)
    log_rest = np.log((np.abs(table) * rise**_LEFT).sum(axis=1)) - np.arange(_TERMS + 1) * math.log(low * rise)
    terms = int(np.argmax(log_rest <= _LOG_TARGET)) if (log_rest <= _LOG_TARGET).any() else int(np.argmin(log_rest))
    terms = max(terms, 1)
    inner += math.exp(min(float(log_rest[terms]), LARGE))
    for side, inverse in ((1, 1 / (z + 1)), (-1, -1 / z))[: 1 + curve.symmetric]:
        scaled = low * inverse
        power = line.abscissa + 1 if side > 0 else -line.abscissa
        for end, outward in ((start, -1), (curve.end, 1)):
            own = _End.of(curve, end, table[:terms], low)
            weight_of_end = math.exp(min(own.log_density + power * own.loss - log_mass, LARGE)) / low
            turn = exponential_sums(np.exp(np.array([1j * low * side * own.loss])), np.array([side * own.loss]), here)
            total = np.full(z.shape, own.coefficients[-1], dtype=complex)
            for coefficient in own.coefficients[-2::-1]:
                total *= scaled
                total += coefficient
            sums += (outward * weight_of_end) * (total * scaled * turn)
            relative_error = size * (own.loss_error + 8 * ULP * abs(own.loss)) + 64 * ULP
            wrong += weight_of_end * (own.error + own.size * math.expm1(min(relative_error, LARGE)))
    return Values.logarithm(sums, np.full(sums.shape, (wrong + inner) * (1 + 1e-9)), log_mass)


@lru_cache(maxsize=64)
def _derivatives(b: float) -> Array:
    """The coefficient of r^-m in the j-th derivative of D/(kappa r) over D/kappa, in row j and column m - 1."""
    table, m = np.zeros((_TERMS + 1, _TERMS + 1)), np.arange(1, _TERMS + 2)
    table[0, 0] = 1.0
    for j in range(_TERMS):
        table[j + 1] = m * table[j]
        table[j + 1, 1:] += ((1 - b - m) * table[j])[:-1]
    return table


@dataclass(frozen=True)
class _End:
    """The expansion at one end: log(D / (kappa r)) and, relative to it, the coefficients of low/a, their size and error."""

    loss: float
    loss_error: float
    log_density: float
    coefficients: Array
    size: float
    error: float

    @staticmethod
    def of(curve: Curve, point: float, table: Array, low: float) -> _End:
        """The expansion at a point, from some rows of the table, for heights from ``low`` on."""
        factor, s = curve.factors[0], np.array([point])
        (loss,), (loss_error,) = losses_at(curve, s)
        rise = _slope_ratio(factor, point)
        rows = np.arange(len(table))
        powers = rise ** _LEFT[: len(table)] * (-1.0 / (low * rise)) ** rows[:, None]
        size = (np.abs(table) * np.abs(powers)).sum(axis=1)
        unsure = 2 * curve.error + 12 * ULP
        of_exponent = (abs(point) * factor.slope + abs(factor.offset)) * unsure
        of_rise = 2 * of_exponent + ELEMENTARY * (2 - math.log(rise))
        g0, g1, _ = (abs(one) for one in curve.density)
        of_density = unsure * (4 + g0 + abs(point) * g1) + 48 * ULP
        relative = of_density + (rows + 1) * (of_rise + 2 * unsure + 16 * ULP)
        log_density = float(curve.log_density(s)[0]) - math.log(factor.slope * rise)
        return _End(
            float(loss),
            float(loss_error),
            log_density,
            (table * powers).sum(axis=1),
            float(size.sum()),
            float(size @ np.expm1(np.minimum(relative, LARGE))),
        )
