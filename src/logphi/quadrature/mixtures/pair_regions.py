"""The set where the log-ratio of two mixtures is above a threshold, and its normal masses: tails and excess.

notation as in :mod:`logphi.quadrature.mixtures.pair_log_ratio`. Within a cell of length h, l is within h^2/8 times a bound of
l'' of its chord; cells where the sign of l - x is unknown are divided until their mass is negligible.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from logphi.arith.floats import ULP
from logphi.arith.scaled import Scaled
from logphi.arrays import Array
from logphi.normal.tails import log_masses
from logphi.quadrature.mixtures.pair_log_ratio import PairLogRatio, Points

# measured: the number of parts of a divided cell
_PARTS = 8
# measured: the largest number of divisions
_DIVISIONS = 12
# measured: the largest number of cells
_MOST_CELLS = 1 << 14
# derived: above this exponent, a difference of exponentials is no smaller than the larger one
_LARGE = 600.0


@dataclass(frozen=True)
class Regions:
    """Intervals, as rows of two ends, where l is above x, where it is below, and where neither is proved.

    ``most`` bounds |l - x| on the latter. Outside of the ``points`` nothing is known.
    """

    above: Array
    below: Array
    open: Array
    most: Array
    points: Points


def regions(pair: PairLogRatio, x: float) -> Regions | None:
    """The regions; None if the threshold is out of range."""
    points = pair.coarse(np.array([-1.0, 2.0]) * (abs(x) / max(pair.farthest, 1e-9) ** 2 + 1))
    if points is None:
        return None
    h = pair.coarse_step
    more, curved = pair.points_in_disc(h), 2 * pair.largest(points, h) / pair.disc**2
    points = points.within(slice(more - 1, points.x.size - more + 1))
    s, loss, loss_error = points.x, points.loss, points.loss_error
    low, high = s[:-1], s[1:]
    ends = np.stack([loss[:-1], loss[1:]])
    room = np.maximum(loss_error[1:], loss_error[:-1])
    done: list[tuple[Array, Array]] = []
    for _ in range(_DIVISIONS):
        least, most = _between(ends, high - low, curved, room, x)
        up, down = least > 0, most <= 0
        done += [(np.stack([low[side], high[side]], axis=1), np.full(int(side.sum()), up is side)) for side in (up, down)]
        left = ~(up | down)
        low, high, curved, ends, room = low[left], high[left], curved[left], ends[:, left], room[left]
        if not 0 < low.size * _PARTS <= _MOST_CELLS:
            break
        edges = low[:, None] + (high - low)[:, None] * np.arange(_PARTS + 1) / _PARTS
        edges[:, -1] = high
        found = pair.at(edges.ravel())
        value, wrong = found.loss.reshape(edges.shape), found.loss_error.reshape(edges.shape)
        low, high = edges[:, :-1].ravel(), edges[:, 1:].ravel()
        ends = np.stack([value[:, :-1].ravel(), value[:, 1:].ravel()])
        room = np.maximum(wrong[:, :-1], wrong[:, 1:]).ravel()
        curved = np.repeat(curved, _PARTS)
    least, most = _between(ends, high - low, curved, room, x)
    cells = np.concatenate([own for own, _ in done])
    above = np.concatenate([side for _, side in done])
    return Regions(
        _merged(cells[above]), _merged(cells[~above]), np.stack([low, high], axis=1), np.maximum(-least, most), points
    )


def _between(ends: Array, length: Array, curved: Array, room: Array, x: float) -> tuple[Array, Array]:
    """Bounds of l - x in cells."""
    margin = length * length / 8 * curved + room + 4 * ULP * (abs(x) + np.abs(ends).max(axis=0))
    return ends.min(axis=0) - x - margin, ends.max(axis=0) - x + margin


def _merged(cells: Array) -> Array:
    """The union of cells, as intervals."""
    if not cells.size:
        return cells.reshape(0, 2)
    cells = cells[np.argsort(cells[:, 0])]
    first = np.flatnonzero(np.append(True, cells[1:, 0] > cells[:-1, 1]))
    return np.stack([cells[first, 0], cells[np.append(first[1:], cells.shape[0]) - 1, 1]], axis=1)


def _log_parts(pair: PairLogRatio, intervals: Array) -> tuple[Array, Array]:
    """Logarithms of the masses of each component in intervals, (interval, component), and their relative errors."""
    low, high = (end[:, None] - pair.centres for end in intervals.T)
    log_mass, wrong = log_masses(low, high)
    # a centre moves a mass by at most as much as its outer end, relatively
    far = np.maximum(np.abs(low), np.abs(high))
    near = np.where((low < 0) & (high > 0), 0.0, np.minimum(np.abs(low), np.abs(high)))
    by_centre = (pair.centre_error + ULP * far) * (2 + 2 * near + 2 / np.minimum(high - low, 1.0))
    return log_mass, wrong + by_centre


def _log_masses(pair: PairLogRatio, weights: Array, intervals: Array, sign: int) -> Array:
    """Bounds of the logarithms of a mixture's mass in each interval, from above (``sign`` 1) or below (-1)."""
    log_mass, wrong = _log_parts(pair, intervals)
    with np.errstate(divide="ignore"):  # components without weight
        exponent = np.log(weights) + log_mass
    exponent = exponent + sign * 2 * (wrong + 8 * ULP * (1 + np.abs(np.where(np.isfinite(exponent), exponent, 0.0))))
    total: Array = np.logaddexp.reduce(exponent, axis=1, initial=-np.inf)
    return np.where(np.isfinite(total), total + sign * ULP * (weights.size + 8 * np.abs(total)), total)


def _log_mass(pair: PairLogRatio, weights: Array, intervals: Array, sign: int) -> float:
    """A bound of the logarithm of a mixture's mass in all intervals, from above (``sign`` 1) or below (-1)."""
    total = float(np.logaddexp.reduce(_log_masses(pair, weights, intervals, sign), initial=-np.inf))
    return total + sign * ULP * (len(intervals) + 8 * abs(total)) if math.isfinite(total) else total


def excess(pair: PairLogRatio, x: float) -> Scaled | None:
    """E[(1 - e^{x-L})_+], the integral of (P - e^x Q)_+; None if the threshold is out of range."""
    if x >= pair.most:
        return Scaled(0.0, 0.0)
    found = regions(pair, x) if abs(x) < _LARGE else None
    if found is None:
        return None
    # in units of the larger factor
    unit = max(x, 0.0)
    own, other = math.exp(-unit), math.exp(x - unit)
    # P - e^x Q is P - Q less (e^x - 1) Q
    gain = pair.difference * own + (math.expm1(-x) if x > 0 else -math.expm1(x)) * pair.q
    size = (pair.p + pair.q) * own + abs(x) * other * pair.q
    log_mass, wrong = _log_parts(pair, found.above)
    scale = float(log_mass.max(initial=-math.inf))
    outside = float(pair.log_outside(found.points, np.ones(1))[0]) - unit
    rest = [outside]
    if found.open.size:
        # there P exceeds e^x Q by at most e^{|l - x|} - 1 times that
        part = _log_masses(pair, pair.q, found.open, 1)
        rest += (part + x - unit + np.log(np.expm1(np.minimum(found.most, _LARGE)))).tolist()
    scale = scale if scale > -math.inf else max(rest)
    if scale == -math.inf:
        return Scaled(0.0, 0.0)
    mass = np.exp(log_mass - scale)
    value = float((mass @ gain).sum())
    rounding = float(((mass * (wrong + 4 * ULP)) @ np.abs(gain)).sum()) + 8 * ULP * float((mass @ size).sum())
    rounding += ULP * (mass.size + abs(scale)) * float((mass @ np.abs(gain)).sum())
    left = math.fsum(math.exp(min(one - scale, _LARGE)) for one in rest)
    return Scaled(scale + unit, value, truncation=left * (1 + 1e-9), rounding=rounding * (1 + 1e-9))


def partial_masses(pair: PairLogRatio, x: float, *, tilted: bool) -> tuple[Scaled, Scaled] | None:
    """The masses of P, or of Q if ``tilted``, where l is above x, and where it is not."""
    found = regions(pair, x)
    if found is None:
        return None
    weights, power = (pair.q, 0.0) if tilted else (pair.p, 1.0)
    outside = float(pair.log_outside(found.points, np.array([power]))[0])
    unsure = float(np.logaddexp(outside, _log_mass(pair, weights, found.open, 1)))
    sides = (
        Scaled.between(_log_mass(pair, weights, part, -1), float(np.logaddexp(_log_mass(pair, weights, part, 1), unsure)))
        for part in (found.above, found.below)
    )
    above, below = sides
    return above, below
