"""Symmetric laws with a continuous density, and an excess nowhere below or above a convex function that is known at many nodes.

notation: the density of a law, tilted by e^{-x/2}, is a(x) = sum of a_j hat(x/d - j) / d over j, hat(y) = (1 - |y|)_+, with
a_{-j} = a_j; S is its excess, g(x) = e^{-x/2} S(x), u = e^x, h the function.

* g'' - g/4 = a. So between K d and (K + 1) d, at y = x - K d,

      g = [g_K sinh((d - y)/2) + g_{K+1} sinh(y/2)] / sinh(d/2) - [a_K F(y) + a_{K+1} F(d - y)] / d,
      F(y) = 4 [(d - y)/d - sinh((d - y)/2) / sinh(d/2)],

  and the differences g_{K-1} - 2 cosh(d/2) g_K + g_{K+1} of h give weights with which S is h at all K d. Nearly a cubic spline,
  it differs from h elsewhere by the fourth power of d, and by the second where h'' jumps.
* At the nodes, far closer than d, S is a sum of positive terms, and compared with h. Where it is on the wrong side, the spline
  is taken through more, or less, than h.
* Between two nodes S, which is convex in u, is below its chord by at most S_uu / 8 times the square of the step in u; u^2 S_uu
  is the density. There h is at most its own chord, and at least the larger of two tangents.
* The weight a_0 makes the law a probability. Left of zero, both S and h are 1 - e^x plus e^x times their values at -x.

There are no weights from where they are not positive, or h is not met. Instead an upper bound has one above all losses.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solveh_banded

from logphi.arrays import Array
from logphi.convex.hats import bent, half, line, spread, whole
from logphi.convex.symmetric_pair import excess_at
from logphi.convex.widest_chords import Bounds

# derived: above the rounding of the excess, relative to its terms
_ROOM = 1e-11
# derived: series of integrals of hats have that accuracy up to this d
_WIDEST = 0.1
# chosen: where h is smaller, S need not be near it
_SMALL = 1e-26
# chosen: how often the function that the spline is taken through may be moved away from h
_TRIES = 8
# chosen: how far each time, relative to h; where S is further on the wrong side, no weights are taken
_FARTHEST = 0.02
# chosen: it is moved by so many times the distance of S from h, where S is on the wrong side
_MORE = 1.25
# chosen: with so small a distance, relative to h, the law is only scaled, by no more than four times as much
_MOST = 3e-9
# chosen: the least number of multiples of d
_FEWEST = 8
# chosen: the number of multiples of d next to the end at which S may differ from h by an amount, instead of a share
_NEAR = 8
# chosen: the least weight above the largest loss
_LEAST = 1e-290
# derived: exponentials of so large losses do not overflow
_LARGEST = 600.0


class CoarseError(ArithmeticError):
    """No such law was found."""


@dataclass(frozen=True, eq=False)
class Weights:
    """The step d, the weights a_0, a_1, ... up to a_n, and one more, a_m, if m is not zero."""

    step: float
    weights: Array
    last: tuple[int, float] = (0, 0.0)

    def excess(self, parts: int) -> Array:
        """S at nodes from 0 on, of which there are ``parts`` to the step, without a_m."""
        d, a, share = self.step, self.weights, np.arange(parts) / parts
        x = np.linspace(0.0, d * (a.size - 1), a.size)
        p, q = (spread(d) * a * np.exp(sign * x / 2) for sign in (1, -1))
        # half of the hat about a node is above it
        at = np.append(excess_at(x, p[1:], q[1:]) * np.exp(-x / 2) + a * half(d), 0.0)
        after = np.append(a[1:], 0.0)
        chord = at[:-1, None] * line(d, 1 - share) + at[1:, None] * line(d, share)
        below = (a[:, None] * bent(d, 1 - share) + after[:, None] * bent(d, share)) / d
        found: Array = (chord - below).ravel() * np.exp((x[:, None] + d * share).ravel() / 2)
        return found

    def beyond(self, x: Array) -> Array:
        """The part of a_m in S, at x below all its losses."""
        m, weight = self.last
        found: Array = 2 * weight * spread(self.step) * np.exp(x / 2) * np.sinh((m * self.step - x) / 2)
        return found

    def below_chords(self, parts: int) -> Array:
        """At nodes, by how much S may be below its chord to the next one."""
        share = np.arange(parts) / parts
        density = (self.weights[:, None] * (1 - share) + np.append(self.weights[1:], 0.0)[:, None] * share).ravel() / self.step
        near = self.step / parts
        largest = np.maximum(density, np.append(density[1:], 0.0)) * np.exp(near * np.arange(1, density.size + 1) / 2)
        found: Array = math.expm1(near) ** 2 / 8 * largest
        return found

    def scaled(self, factor: float) -> Weights:
        """A multiple of the weights, but a_0 makes it a probability.

        Raises
        ------
        CoarseError
            If that is not positive.
        """
        weights, (m, weight) = self.weights * factor, self.last
        rest = float((weights[1:] * np.cosh(self.step / 2 * np.arange(1, weights.size))).sum())
        weights[0] = 1 / spread(self.step) - 2 * (rest + (weight * math.cosh(m * self.step / 2) if m else 0.0))
        if not weights[0] > 0:
            raise CoarseError("the weights sum to more than one")
        return Weights(self.step, weights, self.last)


def weights_above(bounds: Bounds, end: float, size: int) -> Weights:
    """A law with an excess of at least h, which is zero from ``end`` on, of about ``size`` weights on each side of zero.

    Raises
    ------
    CoarseError
        If there is none.
    """
    y, step = bounds.values, bounds.step
    parts, most = _knots(y, step, end, size)
    d = step * parts
    # h ends at a multiple of d, as S will
    ends = not bounds.truncated and (most + 1) * parts == y.size - 1 and y[-1] == 0 and end <= (most + 1) * d
    moved, tries = np.zeros(most + 1), 0
    while True:
        raw = _through(d, y[::parts][: most + 1] if ends else y[::parts], moved)
        own = _positive(raw, most)
        ends = ends and own == most
        found = Weights(d, raw[: own + 1])
        nodes = (own + ends) * parts + 1
        x = np.linspace(0.0, step * (nodes - 1), nodes)
        wanted = _above_chords(found, y, parts, nodes) + bounds.truncated
        have = np.append(found.excess(parts), 0.0)[:nodes] * (1 - _ROOM)
        near = max(nodes - _NEAR * parts, 0) if ends else nodes
        if ends:
            found = _beside(found, end, wanted[near:] - have[near:], x[near:])
        else:
            after = d * np.arange(own + 1, raw.size)
            omitted = 1.01 * spread(d) * float((np.abs(raw[own + 1 :]) * np.exp(after / 2)).sum())
            found = _beside(found, end, np.array([omitted + y[own * parts] + bounds.truncated]), x[-1:])
        have += found.beyond(x) * (1 - _ROOM)
        short = _by_knot(wanted[:near] / have[:near] - 1, parts)
        worst, tries = float(short.max()), tries + 1
        if worst <= _MOST or tries == _TRIES:
            break
        far = np.flatnonzero(short > _FARTHEST)
        if far.size or own < most:
            most, ends = min(most, max(int(far[0]) - 2, 0) if far.size else own), False
        moved = _moved(moved, short, most)
    factor = 1 + max(worst, 0.0)
    for _ in range(_TRIES):
        result = found.scaled(factor)
        have = (np.append(result.excess(parts), 0.0)[:nodes] + result.beyond(x)) * (1 - _ROOM)
        worst = float(((_above_chords(result, y, parts, nodes) + bounds.truncated) / have).max()) - 1
        if worst <= 0 and factor - 1 <= 4 * _MOST:
            return result
        factor += 2 * max(worst, 0.0)
    raise CoarseError("the function is not met")


def weights_below(lines: tuple[Array, Array, Array], end: float, size: int) -> Weights:
    """A law with an excess of at most h, about as many weights, from lines below h: their places, values and u times slopes.

    After ``end`` h is zero.

    Raises
    ------
    CoarseError
        If there is none.
    """
    x, y, steep = lines
    step = float(x[1])
    rise = np.diff(y) / math.expm1(step)
    # by how much the chord between two neighbours may be above both lines
    over = np.maximum(rise - steep[:-1], 0.0) + np.maximum(steep[1:] * math.exp(-step) - rise, 0.0)
    over *= math.expm1(step) / 4
    allowed = (y - np.maximum(np.append(over, 0.0), np.append(0.0, over))) * (1 - _ROOM)
    bad = np.flatnonzero(~((allowed > 0) & (steep < 0)))
    allowed = allowed[: bad[0] if bad.size else None]
    parts, most = _knots(y, step, end, size)
    # S is zero at a node where h is known
    most = min(most, (allowed.size - 1) // parts - 1)
    if most < _FEWEST:
        raise CoarseError("too few lines are below the function")
    d, moved, tries = step * parts, np.zeros(most + 1), 0
    while True:
        raw = _through(d, allowed[::parts], moved)
        own = _positive(raw, most)
        found = Weights(d, raw[: own + 1])
        have = found.excess(parts) * (1 + _ROOM)
        excessive = _by_knot(have / allowed[: have.size] - 1, parts)
        worst, tries = float(excessive.max()), tries + 1
        if worst <= _MOST or tries == _TRIES:
            break
        far = np.flatnonzero(excessive > _FARTHEST)
        most = min(most, own if not far.size else max(int(far[0]) - 2, 0))
        moved = -_moved(-moved, excessive, most)
    factor = 1 - max(worst, 0.0)
    for _ in range(_TRIES):
        result = found.scaled(factor)
        worst = float((result.excess(parts) * (1 + _ROOM) / allowed[: have.size]).max()) - 1
        if worst <= 0 and 1 - factor <= 4 * _MOST:
            return result
        factor -= 2 * max(worst, 0.0)
    raise CoarseError("the function is not met")


def _knots(y: Array, step: float, end: float, size: int) -> tuple[int, int]:
    """How many nodes there are to d, and the last whole multiple of d that is tried."""
    last, total = min(int(np.searchsorted(-y, -_SMALL)), y.size - 1), round(end / step)
    parts = max(1, -(-last // size))
    if last > total - parts:
        # h ends at a multiple of d, if one is near by
        last, parts = total, next((n for n in range(parts, parts // 2, -1) if total % n == 0), parts)
    if not 0 < step * parts <= _WIDEST or last < _FEWEST * parts:
        raise CoarseError("the steps are too wide")
    return parts, (last - 1) // parts - (last % parts > 0)


def _through(d: float, y: Array, moved: Array) -> Array:
    """Weights with which S is near y, moved by shares of it, at multiples of d, and zero after these."""
    y = y.copy()
    y[: moved.size] *= 1 + moved
    y[moved.size :] *= 1 + moved[-1]
    g = y * np.exp(-d / 2 * np.arange(y.size))
    g = np.concatenate([[2 * math.sinh(d / 2) + g[1]], g, [0.0]])
    change = g[2:] - 2 * math.cosh(d / 2) * g[1:-1] + g[:-2]
    band = np.array([np.full(change.size, half(d)), np.full(change.size, whole(d))])
    # a_{-1} is a_1
    change[0] /= 2
    band[1, 0] /= 2
    found: Array = solveh_banded(band, change)
    return found


def _positive(raw: Array, most: int) -> int:
    """The last of the positive weights, up to ``most``.

    Raises
    ------
    CoarseError
        If there are only few.
    """
    bad = np.flatnonzero(raw <= 0)
    own = min(most, int(bad[0]) - 1 if bad.size else raw.size - 1)
    if own < _FEWEST:
        raise CoarseError("the function is not smooth enough")
    return own


def _beside(found: Weights, end: float, missing: Array, x: Array) -> Weights:
    """The weights with one more, all of it above ``end``, whose part in S is at least what is missing at these x below that.

    From there on, its part is above the chord to zero at ``end``.
    """
    d = found.step
    m = max(math.ceil(end * (1 + 1e-9) / d) + 1, found.weights.size + 2)
    if m * d > _LARGEST:
        raise CoarseError("the largest loss is too large")
    mass = float((missing / -np.expm1(x - (m - 1) * d)).max()) * (1 + 1e-9)
    return Weights(d, found.weights, (m, max(mass * math.exp(-m * d / 2) / spread(d), _LEAST)))


def _above_chords(found: Weights, y: Array, parts: int, nodes: int) -> Array:
    """What S must be at nodes to be above the chords between them."""
    below = np.append(found.below_chords(parts), 0.0)[:nodes]
    result: Array = y[:nodes] + np.maximum(below, np.append(0.0, below[:-1]))
    return result


def _by_knot(share: Array, parts: int) -> Array:
    """The largest value on the four steps about each multiple of d."""
    padded = np.full(-(-share.size // parts) * parts, -np.inf)
    padded[: share.size] = share
    cells = padded.reshape(-1, parts).max(axis=1)
    around = np.pad(cells, 2, constant_values=-np.inf)
    found: Array = np.lib.stride_tricks.sliding_window_view(around[:-1], 4).max(axis=1)
    return found


def _moved(moved: Array, more: Array, most: int) -> Array:
    """Moved further where that is needed, up to a multiple of d."""
    result = moved[: most + 1].copy()
    held = min(result.size, more.size)
    result[:held] += np.clip(_MORE * more[:held], 0.0, _FARTHEST)
    return result
