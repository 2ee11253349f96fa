"""The trapezoidal rule for the transform of log-ratios of normal mixtures, with a proved error bound.

notation as in :mod:`logphi.quadrature.mixtures.log_ratio`: x is the standard normal variable of the grid, m the largest shift,
y = m x, l = log w, so that M(z) = E[w^a] with a = z + 1; c = Re z, t = Im z.

The integrand is analytic for |Im y| < pi. For 0 < b < pi, |w(y + ib)| lies between cos(b/2) w(y) and w(y),
|arg w| <= b, and the density grows by e^{b^2 / (2 m^2)}: the trapezoidal rule with step h in y is wrong by at most

    2 e^{b^2/(2 m^2) + b|t|} cos(b/2)^{min(0, c+1)} M(c) / (e^{2 pi b/h} - 1)

(Trefethen & Weideman 2014, Theorem 5.1). Since E[w - 1] = 0, the sum may be taken of w^a - 1 - a (w - 1), whose
extra terms obey the same bound at a = 0 and a = 1. That term is of second order in l, at most
|a| |a - 1| l^2/2 times the largest of w^{c+1}, w and 1: K keeps its relative accuracy however small q is.

High up the line b|t| requires many nodes. There the contour itself moves to y + ib, where arg w > 0 damps w^{it}: a strip
of half-width v <= b around it has no e^{b|t|}, and the number of nodes no longer grows.

All functions take many mixtures at once. Array axes, in order: mixture, abscissa or height, node.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arith.summation import error_of_log, roundings
from logphi.arrays import Array
from logphi.quadrature.mixtures.inner_integral import INNER_TARGET, Nodes, Rounding, by_abscissa, deviations, summed, weighted
from logphi.quadrature.mixtures.integration_range import cut_off, integration_range, log_tail
from logphi.quadrature.mixtures.log_ratio import LARGE, LogRatio
from logphi.quadrature.sums.second_order_sums import SecondMoments, along_line, one_by_one, second_exp
from logphi.quadrature.values import Line, Values

# measured: no useful saddle point needs more nodes
MAX_NODES = 1 << 15
# measured: the logarithm of the share that an approximate sum may omit
_LOG_APPROXIMATE = -18.0
# derived: with larger l an approximate sum of second order loses at most nine digits to one of first order
TINY = 1e-9
# measured: shares of the widest strip that are tried, the best within a percent of the optimum
_SHARES = np.linspace(0.05, 1.0, 64)
# measured: the b that are tried
_SHIFTS = np.pi * np.array([0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.47])
# measured: the largest b/m, at which the terms grow by e^{1.1}
_FARTHEST = 1.5
# measured: a step of this length on the real axis gives few nodes
_FINE = 0.05
# measured: a shifted contour, whose arithmetic is complex, must allow a step this many times longer
_REPAID = 3.0


def approximate(mixtures: LogRatio, abscissas: Array) -> Array:
    """The sum of count times K at real points, to some digits, with no bound; infinite if out of range."""
    return np.asarray(sum(part.count @ log_masses(part, abscissas) for part in mixtures.chunks(60 * abscissas.size)))


def log_masses(mixtures: LogRatio, abscissas: Array) -> Array:
    """K of each mixture to some digits, with no bound; infinite if out of range.

    The abscissas are the same for all mixtures, or (mixture, abscissa).
    """
    powers = abscissas + 1
    power = powers[..., None]
    lowest = float(powers.min())
    low, high = integration_range(mixtures, lowest, float(powers.max()), _LOG_APPROXIMATE)
    # for positive powers no peak is narrower than a normal one
    step = min(0.6, max(1.0 / mixtures.widest, 0.1 if lowest >= 0 else 0.0))
    if not high - low <= step * MAX_NODES / 8:
        # the largest abscissa needs too long a grid: drop it
        near = np.abs(abscissas) < np.abs(abscissas).max()
        result = np.full((mixtures.count.size, abscissas.shape[-1]), np.inf)
        if near.any() and abscissas.ndim == 1:
            result[:, near] = log_masses(mixtures, abscissas[near])
        return result
    x = np.arange(low, high + step, step)
    loss = mixtures.value(x)
    density = np.exp(-x * x / 2) * (step / np.sqrt(2 * np.pi))
    exponent = power * loss[:, None, :]
    if exponent.max() < LARGE and loss.max() < LARGE:
        # E[w - 1] = 0 leaves a sum of second order, in which expm1 has the digits that are needed unless l is tiny
        growth = np.expm1 if mixtures.least_loss > TINY else second_exp
        log_mass = np.log1p(growth(exponent) @ density - powers * (growth(loss) @ density)[:, None])
    else:
        log_terms = exponent - x * x / 2
        peak = log_terms.max(axis=2)
        log_mass = peak + np.log(np.exp(log_terms - peak[:, :, None]).sum(axis=2) * (step / np.sqrt(2 * np.pi)))
    return np.asarray(log_mass)


def on_axis(mixtures: LogRatio, abscissas: Array) -> Values:
    """The sum of count times K at real points; infinite where the grid would exceed ``MAX_NODES``."""
    found: list[Values] = []
    for part in mixtures.chunks(400 * abscissas.size):
        nodes = nodes_at(part, abscissas, 0.0)
        if nodes is None:
            return Values.unknown(abscissas.size)
        found.append(_real(part, nodes, abscissas))
    return reduce(add, found)


def at_points(mixtures: LogRatio, z: NDArray[Any]) -> Values:
    """The sum of count times K at any points, of any shape."""
    return by_abscissa(z, lambda c: on_axis(mixtures, c), lambda c, heights: at_heights(mixtures, c, heights))


def at_heights(mixtures: LogRatio, abscissa: float, heights: Array) -> Values:
    """The sum of count times K at points of one vertical line, in any order: one sum per point."""
    above = np.abs(heights)
    values, _ = _on_vertical(mixtures, np.array([abscissa]), above, float(above.max()), one_by_one)
    return values.on_both_sides(heights)


def on_line(mixtures: LogRatio, line: Line) -> Values:
    """The sum of count times K on a line."""
    return on_line_and_real(mixtures, line, np.zeros(0))[0]


def on_line_and_real(mixtures: LogRatio, line: Line, real_points: Array) -> tuple[Values, Values]:
    """The sum of count times K on a line and, by the same nodes, at its abscissa and at other real points."""
    abscissas = np.append(line.abscissa, real_points)
    return _on_vertical(mixtures, abscissas, line.heights, line.step * line.size, along_line(line))


def _on_vertical(
    mixtures: LogRatio, abscissas: Array, heights: Array, top: float, second_moments: SecondMoments
) -> tuple[Values, Values]:
    """K at c + it, c the first abscissa, and at all abscissas."""
    abscissa = float(abscissas[0])
    values: list[Values] = []
    real: list[Values] = []
    for part in mixtures.chunks(300 * (2 * int(np.sqrt(heights.size)) + 16) + 400 * (abscissas.size - 1)):
        step = step_at(part, abscissas, top)
        shift = _worthwhile_shift(part, abscissa, top) if step <= _FINE else 0.0
        nodes = nodes_at(part, abscissas, 0.0) if shift else nodes_of(part, abscissas, step)
        if nodes is None:
            return Values.unknown(heights.size), Values.unknown(abscissas.size)
        real.append(_real(part, nodes, abscissas))
        above = _shifted(part, abscissa, top, shift, nodes.first) if shift else nodes.first
        if above is None:
            return Values.unknown(heights.size), reduce(add, real)
        values.append(weighted(part.count, *deviations(above, part.count, abscissa, heights, top, second_moments)))
    return reduce(add, values), reduce(add, real)


def inner_nodes(mixtures: LogRatio, abscissa: float, top: float) -> float:
    """An estimate of the number of nodes of the integrals on a line up to a height; infinite if there are too many."""
    power = abscissa + 1
    lowest, highest = min(power, 0.0), max(power, 1.0)
    log_target = np.log(INNER_TARGET / mixtures.count)
    shift = _worthwhile_shift(mixtures, abscissa, top)
    step = float(steps(mixtures, lowest, highest, top, log_target, shift).min())
    first, last = integration_range(mixtures, power, highest, float(log_target.min()))
    found = float(last - first) / step
    return found * mixtures.shift.size if found <= MAX_NODES else np.inf


def _real(mixtures: LogRatio, nodes: Nodes, abscissas: Array) -> Values:
    """The sum of count times K at the abscissas of the nodes."""
    rounding = error_of_log(nodes.rounding.of_size(np.abs(abscissas)))
    return weighted(mixtures.count, nodes.log_mass, rounding, error_of_log(nodes.inner))


def nodes_at(mixtures: LogRatio, abscissas: Array, top: float) -> Nodes | None:
    """Nodes that serve heights up to ``top``; None if there would be too many.

    The abscissas are the same for all mixtures, or (mixture, abscissa).
    """
    return nodes_of(mixtures, abscissas, step_at(mixtures, abscissas, top))


def step_at(mixtures: LogRatio, abscissas: Array, top: float) -> float:
    """The step of nodes fit for heights up to ``top``."""
    lowest, highest = float(abscissas.min()) + 1, float(abscissas.max()) + 1
    log_target = np.log(INNER_TARGET / mixtures.count)
    return float(steps(mixtures, min(lowest, 0.0), max(highest, 1.0), top, log_target).min())


def nodes_of(mixtures: LogRatio, abscissas: Array, step: float) -> Nodes | None:
    """Nodes of that step, as :func:`nodes_at`."""
    power = abscissas + 1
    log_target = np.log(INNER_TARGET / mixtures.count)
    lowest, highest = min(float(power.min()), 1.0), max(float(power.max()), 1.0)
    first, last = np.rint(np.array(integration_range(mixtures, lowest, highest, float(log_target.min()))) / step)
    if not last - first <= MAX_NODES:
        return None
    x = step * np.arange(first, last + 1)
    loss = mixtures.value(x)
    log_density = np.log(step / np.sqrt(2 * np.pi)) - x * x / 2
    # derived: a term errs by three elementary functions, a dozen doublings and the rounding of its exponent; l by two
    # elementary functions and half an ulp in q and m
    nodes = summed(loss, log_density, power, ULP * (36 + 1.5 * x * x), mixtures.error(x, loss))
    inner = cut_off(x, mixtures, loss, power, log_density, nodes.log_mass) + np.exp(log_target)[:, None]
    return replace(nodes, inner=inner)


def steps(mixtures: LogRatio, lowest: float, highest: float, top: float, log_target: Array, shift: float = 0.0) -> Array:
    """The largest step in x for each mixture whose error bounds, at all powers in use, sum to less than the target."""
    m = mixtures.shift
    # |l| may be as large as about C^2
    parts = math.log(16 * (2 + max(-lowest, highest) + top)) + np.log(np.maximum(1.0, m * m / 16))[:, None]
    # above a few m the growth of the density dominates
    far = np.minimum(0.98 * (np.pi - shift), 2 * m * np.sqrt(2 * (parts[:, 0] - log_target)))
    b = _SHARES * far[:, None]
    high = shift + b
    growth = parts + high * high / (2 * m[:, None] ** 2)
    if top:
        growth += np.maximum(b - shift, 0.0) * (top * _turn_rate(mixtures, max(highest, 1.0), top, far)[:, None])
    if lowest < 0:
        growth += lowest * np.log(np.cos(high / 2))
    # the bound is at most e^{growth - 2 pi b/h} once the exponential exceeds two
    found: Array = 2 * np.pi / (np.maximum(growth - log_target[:, None], 1.0) / b).min(axis=1) / m
    return found


def _turn_rate(mixtures: LogRatio, power: float, top: float, far: Array) -> Array:
    """The largest |arg w(y + ib)| / b for b up to ``far`` on the relevant part of the line; at most one.

    It grows with y. Above the point at which it is evaluated, the tilted density outweighs e^{top b}.
    """
    m, q = mixtures.shift, mixtures.rate
    against = top * float(far.max()) + 1
    far_x = math.sqrt(2 * against) + 2 + 2 * power * float((m * q).max())
    # measured: a gain of less than a fifth does not repay the search
    if mixtures.widest * far_x > math.log(0.2 / float(q.max())):
        return np.ones(m.size)
    if log_tail(far_x, 0.1 / far_x, mixtures, np.array([power])).max() > -against:
        return np.ones(m.size)
    return np.where(far < np.pi / 2, mixtures.turn_rate(far_x, np.minimum(far, np.pi / 2)), 1.0)


def _worthwhile_shift(mixtures: LogRatio, abscissa: float, top: float) -> float:
    """The b whose contour y + ib needs far fewer nodes than the real axis, or zero."""
    log_target = np.log(INNER_TARGET / mixtures.count)
    power = abscissa + 1
    plain = steps(mixtures, power, power, top, log_target).min()
    shifts = _SHIFTS[_FARTHEST * mixtures.shift.min() >= _SHIFTS]
    if plain > _FINE or not shifts.size or not np.isfinite(mixtures.floor).all():
        return 0.0
    longest = [steps(mixtures, power, power, top, log_target, shift).min() for shift in shifts]
    best = int(np.argmax(longest))
    return float(shifts[best]) if longest[best] > _REPAID * plain else 0.0


def _shifted(mixtures: LogRatio, abscissa: float, top: float, shift: float, axis: Nodes) -> Nodes | None:
    """Nodes on the contour y + ib for heights up to ``top``; the values on the real axis are kept.

    There e^{itl} - 1 - itl, l complex, is at most min(|tl|^2/2, 2 + |tl|), because |e^{itl}| <= 1.
    """
    m = mixtures.shift[:, None]
    power = abscissa + 1
    # the part itl of the integrand is larger by |l|, at most |log w| + pi on the strip
    mean_size = (axis.weight[:, 0] * np.abs(axis.loss)).sum(axis=1)
    log_target = np.log(INNER_TARGET / mixtures.count / (8 + mean_size))
    step = float(steps(mixtures, power, power, top, log_target, shift).min())
    turn = shift / m
    raised = float((turn * turn / 2).max()) - min(0.0, power) * np.log(1 / np.cos(shift / 2))
    log_small = float(log_target.min()) - raised - np.log(1 + top)
    first, last = np.rint(np.array(integration_range(mixtures, power, power + 1, log_small)) / step)
    if not (last - first <= MAX_NODES and raised < LARGE):
        return None
    x = step * np.arange(first, last + 1)
    if m.max() * x[-1] > LARGE:
        return None
    real_loss = mixtures.value(x)
    argument, log_size = mixtures.continued(x, real_loss, np.full(m.shape, shift))
    loss = real_loss + log_size[:, 0] + 1j * argument[:, 0]
    log_density = np.log(step / np.sqrt(2 * np.pi)) - x * x / 2
    weight = np.exp(log_density + turn * turn / 2 - 1j * turn * x + power * loss - axis.log_mass)
    size, far = np.abs(weight), np.abs(loss)

    # outside of the ends |l| <= w + pi + log 1/p_0
    omitted = cut_off(x, mixtures, real_loss, np.array([power, power + 1]), log_density, axis.log_mass) * np.exp(raised)
    cut = omitted[:, :1] * (2 + top * (4 + mixtures.floor)) + omitted[:, 1:] * top
    # derived: as for the real nodes; the weight also turns with x b/m, and w(y + ib) is at least w(y) cos(b/2)
    unit = ULP * (36 + 1.5 * x * x + 2 * turn * np.abs(x) + 4 * abs(power) * far + 1.5 * roundings(x.size))
    loss_error = ELEMENTARY * (far + 2 * mixtures.relative_error(x, real_loss, shift) / np.cos(shift / 2) ** 2)
    noise = Rounding.above_axis(size, far, unit, loss_error, np.zeros((1, 1)))
    inner = axis.inner + cut + np.exp(log_target)[:, None]
    return Nodes(loss, weight[:, None, :], axis.log_mass, axis.slope, axis.rounding.plus(noise), inner)
