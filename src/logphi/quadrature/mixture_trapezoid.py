"""The inner integral: the transform of log(1 - q + q e^Y), Y normal, by a trapezoidal sum with a proof.

notation: m = shift, q = rate, Y ~ N(-m^2/2, m^2), w = 1 - q + q e^Y, l = log w, so that M(z) = E[w^a] with
a = z + 1; c = Re z, t = Im z; x = (Y + m^2/2)/m is the standard normal variable of the grid.

The integrand is analytic for |Im y| < pi. For 0 < b < pi, |w(y + ib)| lies between cos(b/2) w(y) and w(y),
|arg w| <= b, and the density grows by e^{b^2 / (2 m^2)}: the trapezoidal rule with step h in y is wrong by at most

    2 e^{b^2/(2 m^2) + b|t|} cos(b/2)^{min(0, c+1)} M(c) / (e^{2 pi b/h} - 1)

(Trefethen & Weideman 2014, Theorem 5.1). Since E[w - 1] = 0, the sum may be taken of w^a - 1 - a (w - 1), whose
extra terms obey the same bound at a = 0 and a = 1. That term is of second order in l, at most
|a| |a - 1| l^2/2 times the largest of w^{c+1}, w and 1: K keeps its relative accuracy however small q is.

High up the line b|t| makes for many nodes. There the contour itself moves to y + ib, where arg w > 0 damps w^{it}: a strip
of half-width v <= b around it has no e^{b|t|}, and the number of nodes no longer grows.

All functions take many mixtures at once. Array axes, in order: mixture, abscissa or height, node.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY, ULP, complex_log1p
from logphi.quadrature.integration_range import cut_off, ends, log_beyond, near_one
from logphi.quadrature.log_ratio import Array, Mixtures, product, roundings
from logphi.quadrature.values import Line, Values

# of heights, losses and weights
SecondMoments = Callable[[Array, Array, Array], NDArray[np.complex128]]

# measured: an abscissa that needs more nodes than this lies far beyond any useful saddle
MAX_NODES = 1 << 15
# the relative error asked of the inner integral, before division by the number of repetitions
INNER_TARGET = 1e-16
# measured: what a rough sum may lose, as a logarithm
_ROUGHLY = -18.0
# below this exponent w^a does not overflow
_LARGE = 600.0


@dataclass(frozen=True)
class Noise:
    """Rounding errors of the sum at z: node by node, the smaller of a first- and a second-order bound.

    notation: a = z + 1. The term w^a - 1 - a (w - 1) and the parts it is summed from are at most |a| (1 + |z|) l^2/2 W, and at
    most w^{c+1} (1 + |a||l|) + 1 + |a||w - 1|, with W the largest of w^{c+1}, w and 1; the derivative in l is at most
    |a||z||l| W, and |a| (w^{c+1} + w). The arrays hold these with the density and with the relative error of a term
    (``second``, ``plain``, ``linear``) or with the absolute error of l (``second_moved``, ``linear_moved``), over M(c).
    """

    second: Array
    plain: Array
    linear: Array
    second_moved: Array
    linear_moved: Array
    constant: Array

    def beside(self, other: Noise) -> Noise:
        """The errors of two sums together."""
        pairs = {one.name: (getattr(self, one.name), getattr(other, one.name)) for one in fields(self)}
        constant, other_constant = pairs.pop("constant")
        return Noise(**{name: np.concatenate(pair, axis=2) for name, pair in pairs.items()}, constant=constant + other_constant)

    def of_size(self, size: Array) -> Array:
        """A bound for |z| up to ``size``; the sizes run along the second axis."""
        # a bound may be infinite, which zero must not meet
        z = np.maximum(size, 1e-300)[None, :, None]
        a = 1 + z
        term = np.minimum(a * a * self.second, self.plain + a * self.linear)
        moved = a * np.minimum(z * self.second_moved, self.linear_moved)
        total: Array = self.constant + (term + moved).sum(axis=2)
        return total

    def at(self, z: NDArray[Any]) -> Array:
        """A bound at every point of one vertical line; it grows with |z|, so a few sizes of |z| serve all."""
        steps = np.ceil(2 * np.log2(np.maximum(np.abs(z), 1e-9))).astype(int)
        lowest = steps.min()
        return self.of_size(2.0 ** (np.arange(lowest, steps.max() + 1) / 2))[:, steps - lowest]


@dataclass(frozen=True)
class Nodes:
    """The nodes of E[w^a ...] for some real parts of a, and K and K' there.

    ``weight`` sums to one over the nodes; ``noise`` and ``inner`` are relative to M(c).
    """

    loss: Array
    weight: Array
    log_mass: Array
    slope: Array
    noise: Noise
    inner: Array


def approximate(mixtures: Mixtures, abscissas: Array) -> Array:
    """The sum of count times K at real points, to some digits, with no bound; infinite where out of reach."""
    total = np.zeros(abscissas.shape)
    for part in mixtures.chunks(60 * abscissas.size):
        total += _sketch(part, abscissas)
    return total


def _sketch(mixtures: Mixtures, abscissas: Array) -> Array:
    power = abscissas[None, :, None] + 1
    low, high = ends(mixtures, power[0, :, 0], _ROUGHLY)
    # where powers are positive no peak is narrower than a normal one
    step = min(0.6, max(1.0 / float(mixtures.shift.max()), 0.1 if power.min() >= 0 else 0.0))
    if not high - low <= step * MAX_NODES / 8:
        # the farthest abscissa spoils the grid: give it up
        near = np.abs(abscissas) < np.abs(abscissas).max()
        result = np.full(abscissas.shape, np.inf)
        if near.any():
            result[near] = _sketch(mixtures, abscissas[near])
        return result
    x = np.arange(low, high + step, step)
    loss = mixtures.on(x)
    density = np.exp(-x * x / 2) * (step / np.sqrt(2 * np.pi))
    exponent = power * loss[:, None, :]
    if exponent.max() < _LARGE and loss.max() < _LARGE:
        log_mass = np.log1p(np.expm1(exponent) @ density - power[:, :, 0] * (np.expm1(loss) @ density)[:, None])
    else:
        log_terms = exponent - x * x / 2
        peak = log_terms.max(axis=2)
        log_mass = peak + np.log(np.exp(log_terms - peak[:, :, None]).sum(axis=2) * (step / np.sqrt(2 * np.pi)))
    total: Array = mixtures.count @ log_mass
    return total


def on_axis(mixtures: Mixtures, abscissas: Array) -> Values:
    """The sum of count times K at real points; infinite where the grid would exceed ``MAX_NODES``."""
    total = Values(np.zeros(abscissas.size), np.zeros(abscissas.size), np.zeros(abscissas.size))
    for part in mixtures.chunks(400 * abscissas.size):
        nodes = _nodes(part, abscissas, 0.0)
        if nodes is None:
            unknown = np.full(abscissas.size, np.inf)
            return Values(unknown, unknown, unknown)
        size = np.abs(abscissas)
        total += weighted(part.count, nodes.log_mass, to_log(nodes.noise.of_size(size)), to_log(nodes.inner))
    return total


def at_points(mixtures: Mixtures, z: NDArray[Any]) -> Values:
    """The sum of count times K at any points, of any shape."""
    return by_abscissa(z, lambda c: on_axis(mixtures, c), lambda c, heights: at_heights(mixtures, c, heights))


def by_abscissa(z: NDArray[Any], on_real: Callable[[Array], Values], on_vertical: Callable[[float, Array], Values]) -> Values:
    """Values at points of any shape from those on the real axis, or, of complex ones, from one grid per abscissa."""
    if not np.iscomplexobj(z):
        values = on_real(z.ravel())
        parts = np.stack([values.mid, values.rounding, values.inner])
    else:
        parts = np.full((3, z.size), np.inf, dtype=complex)
        abscissas, place = np.unique(z.real.ravel(), return_inverse=True)
        for i, abscissa in enumerate(abscissas):
            here = place.ravel() == i
            values = on_vertical(float(abscissa), z.imag.ravel()[here])
            parts[:, here] = np.stack([values.mid, values.rounding, values.inner])
    mid, rounding, inner = parts.reshape((3, *z.shape))
    return Values(mid, rounding.real, inner.real)


def at_heights(mixtures: Mixtures, abscissa: float, heights: Array) -> Values:
    """The sum of count times K at points of one vertical line, in any order: one sum per point."""
    # below the real axis the values are those above, conjugate
    above = np.abs(heights)
    values = _on_vertical(mixtures, abscissa, above, float(above.max()), one_by_one)
    return Values(np.where(heights < 0, values.mid.conj(), values.mid), values.rounding, values.inner)


def on_line(mixtures: Mixtures, line: Line) -> Values:
    """The sum of count times K on a line."""
    return _on_vertical(mixtures, line.abscissa, line.heights, line.step * line.size, along_line(line))


def along_line(line: Line) -> SecondMoments:
    """Second moments at all heights of a line, as in :func:`deviations`.

    With heights t = r + s, e^{itl} - 1 = A + B + AB makes the sums one matrix product: only about 2 sqrt(size) complex
    numbers are formed per node, by doubling from the logarithm of that many exponentials.
    """

    def moments(_: Array, loss: Array, weight: Array) -> NDArray[np.complex128]:
        half = int(np.ceil(np.log2(line.size) / 2))
        fine = 1 << half
        coarse = -(-line.size // fine)
        # the angles of all doublings at once
        angles = line.step * 2.0 ** np.arange(half + coarse.bit_length())[None, :, None] * loss[:, None, :]
        second = second_turn(angles)
        full = second + 1j * angles
        full_fine, second_fine = _turns(full[:, :half], second[:, :half], fine)
        full_coarse, second_coarse = _turns(full[:, half:], second[:, half:], coarse)
        sums = product(full_coarse * weight[:, None, :], full_fine.transpose(0, 2, 1))
        sums += product(second_coarse, weight[:, :, None]) + product(second_fine, weight[:, :, None]).transpose(0, 2, 1)
        return sums.reshape(loss.shape[0], -1)[:, : line.size]

    return moments


def one_by_one(heights: Array, loss: Array, weight: Array) -> NDArray[np.complex128]:
    """Second moments at heights in any order, as in :func:`deviations`."""
    turned = second_turn(heights[None, :, None] * loss[:, None, :])
    result: NDArray[np.complex128] = product(turned, weight[:, :, None])[:, :, 0]
    return result


def _on_vertical(mixtures: Mixtures, abscissa: float, heights: Array, top: float, second_moments: SecondMoments) -> Values:
    """K at c + it."""
    total = Values(np.zeros(heights.size, dtype=complex), np.zeros(heights.size), np.zeros(heights.size))
    for part in mixtures.chunks(300 * (2 * int(np.sqrt(heights.size)) + 16)):
        nodes = _nodes(part, np.array([abscissa]), 0.0 if (shift := _worthwhile_shift(part, abscissa, top)) else top)
        if nodes is not None and shift:
            nodes = _shifted(part, abscissa, top, shift, nodes)
        if nodes is None:
            unknown = np.full(heights.size, np.inf)
            return Values(unknown.astype(complex), unknown, unknown)
        total += weighted(part.count, *deviations(nodes, part.count, abscissa, heights, top, second_moments))
    return total


def deviations(
    nodes: Nodes, count: Array, abscissa: float, heights: Array, top: float, second_moments: SecondMoments
) -> tuple[NDArray[np.complex128], Array, Array]:
    """K at c + it for heights up to ``top``, its rounding and its inner error, from nodes at the abscissa c.

    ``second_moments`` computes E[e^{itl} - 1 - itl] under the tilted weights.
    """
    weight = nodes.weight[:, 0, :]
    # nodes this far below the largest are dropped; what they weigh is counted
    size = np.abs(weight)
    kept = (size > size.max(axis=1, keepdims=True) * np.exp(np.log(INNER_TARGET / count) - 12)[:, None]).any(axis=0)
    dropped = (size * (1 + top * np.abs(nodes.loss)))[:, ~kept].sum(axis=1)
    deviation = second_moments(heights, nodes.loss[:, kept], weight[:, kept]) + 1j * heights * nodes.slope
    with np.errstate(divide="ignore"):  # a zero of the characteristic function: infinite error
        scale = 1 + 1 / np.abs(1 + deviation)
    rounding = to_log(nodes.noise.at(abscissa + 1j * heights) * scale)
    inner = to_log((nodes.inner + 2 * dropped[:, None]) * scale)
    return nodes.log_mass + complex_log1p(deviation), rounding, inner


def over(values: Values, count: int) -> Values:
    """Values of K from those of count times K; where one is unknown, so is the other."""
    known = np.isfinite(values.mid)
    mid = np.where(known, np.where(known, values.mid, 0) / count, np.inf)
    return Values(mid, values.rounding / count, values.inner / count)


def weighted(count: Array, mid: NDArray[Any], rounding: Array, inner: Array) -> Values:
    """Sums over the mixtures, with the rounding of the sum itself; unknown where one of them is."""
    known = np.isfinite(rounding) & np.isfinite(inner) & np.isfinite(mid)
    mid, rounding, inner = (np.where(known, part, 0.0) for part in (mid, rounding, inner))
    unknown = np.where(known.all(axis=0), 0.0, np.inf)
    slip = ULP * (2 + count.size) * (count @ np.abs(mid))
    return Values(count @ mid, count @ rounding + slip + unknown, count @ inner)


def _nodes(mixtures: Mixtures, abscissas: Array, top: float) -> Nodes | None:
    """Nodes fit for heights up to ``top``; None where they would be too many."""
    power = abscissas + 1
    log_target = np.log(INNER_TARGET / mixtures.count)
    step = float(steps(mixtures, np.append(power, (0.0, 1.0)), top, log_target).min())
    first, last = (np.array(ends(mixtures, np.append(power, 1.0), float(log_target.min()))) / step).round()
    if not last - first <= MAX_NODES:
        return None
    x = step * np.arange(first, last + 1)
    loss = mixtures.on(x)
    log_density = np.log(step / np.sqrt(2 * np.pi)) - x * x / 2
    # derived: a term errs by three elementary functions, a dozen doublings and the rounding of its exponent; l by two
    # elementary functions and half an ulp in q and m
    slip = ELEMENTARY * (np.abs(loss) + mixtures.moved(x, loss))
    nodes = gathered(loss, log_density, power, ULP * (36 + 1.5 * x * x), slip)
    inner = cut_off(x, mixtures, loss, power, log_density, nodes.log_mass) + np.exp(log_target)[:, None]
    return replace(nodes, inner=inner)


def gathered(
    loss: Array,
    log_density: Array,
    power: Array,
    unit: Array,
    slip: Array,
    lost: tuple[float, float] = (0.0, 0.0),
    lost_blur: float = 0.0,
) -> Nodes:
    """Sums over nodes of given l and Q-mass, exact but for rounding: terms err by ``unit`` relatively, l by ``slip``.

    ``lost`` are the masses of P and of Q that are elsewhere, known to ``lost_blur``: with them E[1] and E[w] are known apart.
    """
    exponent = power[:, None] * loss[:, None, :]
    log_terms = log_density + exponent
    peak = log_terms.max(axis=2)
    weight = np.exp(log_terms - peak[:, :, None])
    total = weight.sum(axis=2)
    log_mass = peak + np.log(total)

    slope = product(weight, loss[:, :, None])[:, :, 0] / total
    small = (np.maximum(exponent.max(axis=2), loss.max(axis=1)[:, None]) < _LARGE) & near_one(log_mass)
    if small.any():
        # the second-order form, of w^a and of w
        bounded = np.where(small[:, :, None], exponent, 0.0)
        of_w = np.where(small.any(axis=1)[:, None], loss, 0.0)[:, None, :]
        density = np.exp(log_density)
        moments = product(second_exp(np.concatenate([bounded, of_w], axis=1)), density[:, None])[:, :, 0]
        excess = moments[:, :-1] - power * moments[:, -1:] + ((power - 1) * lost[1] - power * lost[0])
        first_moment = product(np.expm1(bounded), (density * loss)[:, :, None])[:, :, 0] - moments[:, -1:]
        first_moment += lost[1] - lost[0]
        log_mass = np.where(small, np.log1p(np.where(small, excess, 0.0)), log_mass)
        slope = np.where(small, first_moment / (1 + np.where(small, excess, 0.0)), slope)
    weight *= np.exp(peak - log_mass)[:, :, None]

    # derived: in a sum of complex products, at most 2^(1/2) 2 roundings a step
    unit = unit + ULP * 1.5 * roundings(loss.shape[1])
    size = np.abs(loss)
    log_relative = log_density - log_mass[:, :, None]
    second = small[:, :, None]
    plain = np.exp(log_relative + exponent)
    # where the sum is of w^a as it stands, it has no other parts
    every = bool(small.all())
    base, tilted_by_w = (
        np.exp(part) if every else np.where(second, np.exp(np.where(second, part, 0.0)), 0.0)
        for part in (log_relative, log_relative + loss[:, None, :])
    )
    largest = np.where(second, np.maximum(np.maximum(plain, tilted_by_w), base), np.inf)
    known_apart = (ELEMENTARY + lost_blur) * (np.abs(power * lost[0]) + np.abs((power - 1) * lost[1]))
    noise = Noise(
        second=largest * (size * size / 2 * unit + 1e-300)[:, None, :],
        plain=(plain + base) * unit,
        linear=(plain * size[:, None, :] + np.abs(tilted_by_w - base)) * unit,
        second_moved=largest * (size * slip + 1e-300)[:, None, :],
        linear_moved=(plain + tilted_by_w) * slip[:, None, :],
        constant=np.where(small, known_apart * np.exp(-np.where(small, log_mass, 0.0)), ELEMENTARY * (1 + np.abs(log_mass))),
    )
    return Nodes(loss, weight, log_mass, slope, noise, np.zeros(log_mass.shape))


def steps(mixtures: Mixtures, powers: Array, top: float, log_target: Array, shift: float = 0.0) -> Array:
    """The largest step in x for each mixture whose error bounds, at every power in use, stay below the target together."""
    m, lowest = mixtures.shift, min(0.0, float(powers.min()))
    # |l| may be as large as about C^2
    parts = np.log(16 * (2 + float(np.abs(powers).max()) + top)) + np.log(np.maximum(1.0, m * m / 16))[:, None]
    # beyond a few m the growth of the density outweighs all else
    far = np.minimum(0.98 * (np.pi - shift), 2 * m * np.sqrt(2 * (parts[:, 0] - log_target)))
    b = np.linspace(0.05, 1.0, 64) * far[:, None]
    high = shift + b
    turned = np.maximum(b - shift, 0.0) * (
        top * _lean(mixtures, max(float(powers.max()), 1.0), top, far)[:, None] if top else 0.0
    )
    growth = parts + high * high / (2 * m[:, None] ** 2) + turned + lowest * np.log(np.cos(high / 2))
    # the bound is at most e^{growth - 2 pi b/h} as soon as the exponential exceeds two
    longest: Array = 2 * np.pi / (np.maximum(growth - log_target[:, None], 1.0) / b).min(axis=1) / m
    return longest


def _lean(mixtures: Mixtures, power: float, top: float, far: Array) -> Array:
    """How much |arg w(y + ib)| there is for each unit of b up to ``far``, where it matters: at most one.

    It grows with y. Beyond the point where it is bounded, e^{top b} is outweighed by the tilted density.
    """
    m, q = mixtures.shift, mixtures.rate
    widest, against = float(m.max()), top * float(far.max()) + 1
    reach = float(np.sqrt(2 * against)) + 2 + 2 * power * float((m * q).max())
    # measured: less than a fifth is not worth the search
    if widest * reach > np.log(0.2 / float(q.max())):
        return np.ones(m.size)
    if log_beyond(reach, 0.1 / reach, mixtures, np.array([power])).max() > -against:
        return np.ones(m.size)
    return np.where(far < np.pi / 2, mixtures.lean(reach, np.minimum(far, np.pi / 2)), 1.0)


# measured: contours that are tried, how far they may lie in units of the shift m (the terms grow by e^{1.1} there), and
# how much longer a step must be to repay complex arithmetic
_SHIFTS = np.pi * np.array([0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.47])
_FARTHEST = 1.5
# measured: with steps of this length there are few nodes anyway
_FINE = 0.05
_REPAID = 3.0


def _worthwhile_shift(mixtures: Mixtures, abscissa: float, top: float) -> float:
    """The b whose contour y + ib needs clearly fewer nodes than the real axis, or zero."""
    log_target = np.log(INNER_TARGET / mixtures.count)
    power = np.array([abscissa + 1])
    plain = steps(mixtures, power, top, log_target).min()
    shifts = _SHIFTS[_FARTHEST * mixtures.shift.min() >= _SHIFTS]
    if plain > _FINE or not shifts.size or not np.isfinite(mixtures.floor).all():
        return 0.0
    longest = [steps(mixtures, power, top, log_target, shift).min() for shift in shifts]
    best = int(np.argmax(longest))
    return float(shifts[best]) if longest[best] > _REPAID * plain else 0.0


def _shifted(mixtures: Mixtures, abscissa: float, top: float, shift: float, axis: Nodes) -> Nodes | None:
    """Nodes on the contour y + ib for heights up to ``top``; what belongs to the real axis is kept.

    There e^{itl} - 1 - itl, l complex, is at most min(|tl|^2/2, 2 + |tl|), because |e^{itl}| <= 1.
    """
    m = mixtures.shift[:, None]
    power = abscissa + 1
    # the part itl of the integrand is larger by |l|, at most |log w| + pi on the strip
    mean_size = (axis.weight[:, 0] * np.abs(axis.loss)).sum(axis=1)
    log_target = np.log(INNER_TARGET / mixtures.count / (8 + mean_size))
    step = float(steps(mixtures, np.array([power]), top, log_target, shift).min())
    turn = shift / m
    raised = float((turn * turn / 2).max()) - min(0.0, power) * np.log(1 / np.cos(shift / 2))
    log_small = float(log_target.min()) - raised - np.log(1 + top)
    first, last = (np.array(ends(mixtures, np.array([power, power + 1]), log_small)) / step).round()
    if not last - first <= MAX_NODES:
        return None
    x = step * np.arange(first, last + 1)
    if m.max() * x[-1] > _LARGE:
        return None
    real_loss = mixtures.on(x)
    argument, log_size = mixtures.rotated(x, real_loss, np.full(m.shape, shift))
    loss = real_loss + log_size[:, 0] + 1j * argument[:, 0]
    log_density = np.log(step / np.sqrt(2 * np.pi)) - x * x / 2
    weight = np.exp(log_density + turn * turn / 2 - 1j * turn * x + power * loss - axis.log_mass)
    size, far = np.abs(weight), np.abs(loss)

    # beyond the ends |l| <= w + pi + log 1/p_0
    lost = cut_off(x, mixtures, real_loss, np.array([power, power + 1]), log_density, axis.log_mass) * np.exp(raised)
    cut = lost[:, :1] * (2 + top * (4 + mixtures.floor)) + lost[:, 1:] * top
    # derived: as for the real nodes; the weight also turns with x b/m, and w(y + ib) is at least w(y) cos(b/2)
    unit = ULP * (36 + 1.5 * x * x + 2 * turn * np.abs(x) + 4 * abs(power) * far + 1.5 * roundings(x.size))
    slip = ELEMENTARY * (far + 2 * mixtures.moved(x, real_loss, shift) / np.cos(shift / 2) ** 2)
    noise = Noise(
        second=(size * (far * far / 2 * unit + 1e-300))[:, None, :],
        plain=(2 * size * unit)[:, None, :],
        linear=(size * far * unit)[:, None, :],
        second_moved=(size * (far * slip + 1e-300))[:, None, :],
        linear_moved=(2 * size * slip)[:, None, :],
        constant=np.zeros((1, 1)),
    )
    inner = axis.inner + cut + np.exp(log_target)[:, None]
    return Nodes(loss, weight[:, None, :], axis.log_mass, axis.slope, axis.noise.beside(noise), inner)


def second_exp(x: Array) -> Array:
    """``e^x - 1 - x`` to about twenty ulps."""
    near = np.abs(x) < 0.06
    small = np.where(near, x, 0)
    series = np.full_like(small, 1.0)
    for k in range(10, 2, -1):
        series = 1 + small * (series / k)
    return np.where(near, small * small / 2 * series, np.expm1(x) - x)


def second_turn(angle: NDArray[Any]) -> NDArray[np.complex128]:
    """``e^{i angle} - 1 - i angle`` to about twenty ulps, for real angles or above the real axis."""
    if np.iscomplexobj(angle):
        inside = np.abs(angle) < 0.5
        turn = np.where(inside, 1j * angle, 0)
        tail = np.ones_like(turn)
        for k in range(15, 2, -1):
            tail = 1 + turn / k * tail
        return np.where(inside, turn * turn / 2 * tail, np.exp(1j * angle) - 1 - 1j * angle)
    near = np.abs(angle) < 0.2
    small = np.where(near, angle, 0)
    square = small * small
    series = np.full_like(small, 1.0)
    for k in range(10, 2, -2):
        series = 1 - square / (k * (k + 1)) * series
    odd = np.where(near, -small * square / 6 * series, np.sin(angle) - angle)
    sine = np.sin(0.5 * angle)
    result: NDArray[Any] = -2 * sine * sine + 1j * odd
    return result


def _turns(
    full: NDArray[np.complex128], second: NDArray[np.complex128], size: int
) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    """``e^{i j angle} - 1``, and the same less ``i j angle``, for j = 0 .. size - 1 along the second axis.

    From both for j = 1, 2, 4, ..: with A = e^{ia} - 1 and R = A - ia, those of a sum are A + B + AB and R + S + AB.
    """
    shape = (full.shape[0], size, full.shape[2])
    all_full, all_second = np.zeros(shape, dtype=complex), np.zeros(shape, dtype=complex)
    done = 1
    for level in range((size - 1).bit_length()):
        more = min(done, size - done)
        cross = all_full[:, :more] * full[:, [level]]
        all_second[:, done : done + more] = all_second[:, :more] + second[:, [level]] + cross
        all_full[:, done : done + more] = all_full[:, :more] + full[:, [level]] + cross
        done += more
    return all_full, all_second


def to_log(relative: Array) -> Array:
    """A relative error as an error of the logarithm; infinite from a half on."""
    return np.where(relative < 0.5, -np.log1p(-np.minimum(relative, 0.5)), np.inf)
