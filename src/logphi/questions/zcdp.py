"""Zero-concentrated differential privacy: a line xi + rho a above all Renyi divergences of orders a > 1.

notation: z = a - 1, D = K(z)/z, f(z) = (D - xi)/(z + 1), whose supremum over z > 0 is rho. K is convex: between two points it
lies below its chord alpha + beta z, so that f is at most (alpha/z + beta - xi)/(z + 1) there, which has one maximum where
alpha < 0. Above the last point f is at most most/2 + (offset - xi)/(z + 1) by the growth of K, and below the first point at
most D there less xi.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np

from logphi.answers.bound import Bound
from logphi.answers.ledger import Entry, Ledger
from logphi.answers.status import Status
from logphi.arith.floats import ULP
from logphi.arrays import Array
from logphi.engine.cumulants import cumulant, estimated, parts
from logphi.engine.directions import HasLoss
from logphi.engine.log_probability import masses
from logphi.inputs import check
from logphi.inputs.arguments import DirectionLike
from logphi.inputs.guesses import guided
from logphi.inversion.lines.moments import Taylor, proved_radius, taylor
from logphi.laws.growth import NO_GROWTH, OneSided
from logphi.laws.log_phi import LogPhi
from logphi.laws.transform import LossTransform
from logphi.progress import shown
from logphi.questions.renyi import largest

# measured: the first points, over the z at which K, given its mean and growth, deviates from its tangent at zero
_FIRST = 2.0 ** np.arange(-12.0, 13.0)
# measured: the largest number of points
_MOST = 1000
# measured: the largest number of rounds, each of which halves intervals
_ROUNDS = 60
# measured: an interval of this relative width is not halved
_NARROW = 1e-7
# measured: at points below this share of a series' radius, K is computed from the series
_NEAR = 0.25
# measured: the factor by which the first and the last point move outward in a round
_OUTWARD = 4.0
# measured: the largest order
_FARTHEST = 1e12


@guided()
def zcdp(self: HasLoss, xi: float = 0.0, *, direction: DirectionLike | None = None, rtol: float = 1e-6) -> Bound:
    """The smallest rho with D_a(P||Q) <= xi + rho a for all orders a > 1: the release is (xi, rho)-zCDP (Bun & Steinke 2016).

    Parameters
    ----------
    xi
        The offset, in nats; 0 for rho-zCDP.
    direction
        ``"remove"`` or ``"add"`` for one direction only; the maximum of both by default.
    rtol
        Requested ``upper - lower`` relative to rho.

    Returns
    -------
    Bound
        In nats; ``float`` gives the upper end. Infinite if some D_a is; with an infinite upper end if the growth of K for
        large orders is unknown.

    Raises
    ------
    ValueError, TypeError
        If xi is negative or not finite, or the direction does not apply.

    References
    ----------
    Bun & Steinke 2016, *Concentrated Differential Privacy: Simplifications, Extensions, and Lower Bounds*, Definition 1.1.

    Examples
    --------
    >>> import logphi as lp
    >>> round((4 * lp.Gaussian(sigma=2)).zcdp().value, 9)
    0.5
    """
    offset = check.nonnegative("xi", xi)
    rtol = check.tolerance("rtol", rtol)
    # extreme orders overflow: the answer is then unknown
    with np.errstate(all="ignore"):
        orders = self._loss().orders(direction)
        return largest(
            [replace(smallest_rho(law.with_omitted_mass(), offset, rtol), direction=name) for name, law in orders], rtol
        )


def smallest_rho(law: LogPhi, xi: float, rtol: float) -> Bound:
    """The smallest rho of one direction of a pair."""
    infinite, growth = masses(law)[0], law.growth.right
    if infinite[0] > 0 or math.isfinite(growth.end):
        return Bound(math.inf, math.inf, math.inf, Status.DIVERGENT)
    # the limits at both ends of the orders
    mean = cumulant(law, 1)
    lower = max(growth.least / 2, mean.lower - xi, 0.0)
    ceilings = [growth]
    if masses(law.reflected())[0][1] == 0:
        # |L| <= S under both laws gives D_a <= a S^2 / 2 (Bun & Steinke 2016, Proposition 3.3), term by term
        ceilings.append(reduce(add, (_square(term) * count for term, count in law.terms), NO_GROWTH))
    upper = min(one.most / 2 + max(one.offset - xi, 0.0) for one in ceilings)
    if infinite[1] > 0:
        growth = replace(growth, most=math.inf, offset=0.0)
        upper = math.inf
    if upper > lower * (1 + rtol / 4):
        lower, found = _search(law, xi, growth, mean.upper, lower, rtol)
        upper = min(upper, found)
    lower, upper = min(lower, upper) * (1 - 8 * ULP), upper * (1 + 8 * ULP)
    value = lower + (upper - lower) / 2 if math.isfinite(upper) else lower
    ledger = Ledger(truncation=Entry(upper - lower))
    return Bound(lower, value, upper, method="chords", ledger=estimated(ledger) if law.traits.estimated else ledger)


def _square(law: LossTransform) -> OneSided:
    """The growth of a law; for losses of modulus up to S, that of a normal law with shift S."""
    size = max(law.support.upper, -law.support.lower)
    growth = law.growth.right
    return OneSided.normal(size * size) if math.isfinite(size) and growth.most == 0 else growth


def _search(law: LogPhi, xi: float, growth: OneSided, mean: float, least: float, rtol: float) -> tuple[float, float]:
    """Bounds of the supremum, by bisection of the intervals that may contain it."""
    scale = growth.offset / mean if 0 < mean < math.inf and growth.offset > 0 else 1.0
    z = np.minimum(max(scale, 1e-3), 1e6) * _FIRST
    z = z[z < law.strip[1]]
    if z.size == 0:
        return least, math.inf
    near = [taylor(term, 2, 1.0) for term, _ in parts(law)]
    lows, highs = _ends(law, z, growth, near)
    lower, upper = least, math.inf
    for _ in shown(range(_ROUNDS), "orders", total=0):
        lower = max(least, float(np.max((lows / z - xi) / (z + 1), initial=0.0)) * (1 - 8 * ULP))
        # the bound to the right of each point, from the growth of K
        tail_bounds = growth.most / 2 + max(growth.offset - xi, 0.0) / (z + 1)
        tops = np.minimum(chord_tops(z, highs, xi), tail_bounds[:-1])
        first, last = float(highs[0] / z[0] - xi), float(tail_bounds[-1])
        upper = max(first, last, float(tops.max(initial=0.0)), 0.0) * (1 + 8 * ULP)
        goal = lower * (1 + rtol / 2)
        # where only the growth of K is known, more points do not help
        halved = (tops > goal) & (z[1:] > z[:-1] * (1 + _NARROW)) & (lows[:-1] > 0)
        fresh = [((z[1:] + z[:-1]) / 2)[halved]]
        if first > goal:
            fresh.append(z[:1] / _OUTWARD)
        if goal < last < math.inf and z[-1] < _FARTHEST and lows[-1] > 0:
            fresh.append(z[-1:] * _OUTWARD)
        more = np.concatenate(fresh)
        if upper <= goal or more.size == 0 or z.size + more.size > _MOST:
            break
        low, high = _ends(law, more, growth, near)
        order = np.argsort(np.concatenate([z, more]))
        z, lows, highs = (np.concatenate(pair)[order] for pair in ((z, more), (lows, low), (highs, high)))
    return lower, upper


def chord_tops(z: Array, highs: Array, xi: float) -> Array:
    """An upper bound of f over each interval between neighbours, from the chord of the upper ends of K."""
    left, right = z[:-1], z[1:]
    with np.errstate(invalid="ignore", over="ignore"):  # if K is unknown, so is the chord
        slope = (highs[1:] - highs[:-1]) / (right - left)
        start = highs[:-1] - slope * left
        beta = slope - xi
        # the derivative of (alpha/z + beta)/(z + 1) vanishes where beta z^2 = -alpha (2z + 1)
        bend = np.maximum(-start, 0.0)
        best = np.where(
            beta > 0, (bend + np.sqrt(bend * (bend + np.maximum(beta, 0.0)))) / np.where(beta > 0, beta, 1.0), right
        )
        best = np.where(start < 0, np.clip(best, left, right), left)
        at = [((start / x + beta) / (x + 1)) for x in (left, best, right)]
        size = (np.abs(start) / left + np.abs(slope) + xi) / (left + 1)
    return np.where(np.isnan(at[1]), np.inf, np.max(at, axis=0) + 16 * ULP * size)


def _ends(law: LogPhi, z: Array, growth: OneSided, near: Sequence[Taylor | None]) -> tuple[Array, Array]:
    """Lower and upper ends of K, which is never negative to the right of zero if no loss is infinite."""
    low, high = np.zeros(z.shape), np.zeros(z.shape)
    for (term, count), series in zip(parts(law), near, strict=True):
        one = _known(term, z)
        if series is not None and term.support.masses.certain:
            # K(0) = 0
            for k in np.flatnonzero(z < _NEAR * series.circle):
                slope, error = series.slope(float(z[k]))
                one[0][k] = max(one[0][k], z[k] * (slope.real - error.error))
                one[1][k] = min(one[1][k], z[k] * (slope.real + error.error))
        low, high = low + count * one[0], high + count * one[1]
    room = 8 * ULP * (1 + len(law.terms)) * (np.abs(low) + np.where(np.isfinite(high), np.abs(high), 0.0))
    low, high = np.where(np.isfinite(low), low, 0.0) - room, high + room
    grown = z * (growth.offset + (z + 1) * growth.most / 2) * (1 + 8 * ULP)
    return np.maximum(low, 0.0), np.maximum(np.minimum(high, grown), 0.0)


def _known(law: LossTransform, z: Array) -> tuple[Array, Array]:
    """Lower and upper bounds of K; points are split in halves if values are unknown, as one large point makes all unknown."""
    values = law.log_transform(z)
    # the disc of a continuous formula contains K itself, however wide it is
    wrong = values.radius if law.traits.continuous else proved_radius(values)
    known = np.isfinite(wrong) & np.isfinite(values.mid)
    if z.size > 1 and not known.all():
        halves = [_known(law, part) for part in np.array_split(z, 2)]
        return np.concatenate([low for low, _ in halves]), np.concatenate([high for _, high in halves])
    mid = np.where(known, values.mid.real, 0.0)
    return np.where(known, mid - wrong, -np.inf), np.where(known, mid + wrong, np.inf)
