"""Pairs of finite laws whose excess is above, or below, h_k of :mod:`logphi.convex.widest_chords`.

notation: a piecewise linear h with bends at u_j = e^{x_j} is the excess, the sum of (p_j - u q_j)_+, of masses q_j, by which
its slope changes at u_j, and p_j = u_j q_j. As h(-x) = 1 - e^{-x} + e^{-x} h(x), the bend at -x_j has the masses (q_j, p_j),
and the remaining mass lies at zero.
"""

from __future__ import annotations

import numpy as np

from logphi.arrays import Array
from logphi.convex.widest_chords import Bounds

# derived: a mass below it would lose digits
_LEAST = 1e-280
# chosen: a smaller excess is truncated, unless tails are asked for
SMALL = 1e-26
# derived: above the rounding of sums of ten thousand positive terms, by which the excess is compared at every bend
_ROOM = 1e-11


class NearlyOneError(ArithmeticError):
    """The excess at zero is so near to one that nothing larger is the excess of a law."""


def pair_above(bounds: Bounds, end: float, bends: int, small: float = SMALL) -> tuple[Array, Array]:
    """Masses with an excess of at least h_k everywhere, which is zero from ``end`` on: chords between some of the nodes.

    From where h_k is ``small``, they are chords to the end.
    """
    last = min(int(np.searchsorted(-bounds.values, -small)), bounds.values.size - 1)
    nodes = np.unique(np.append(np.arange(0, last, max(1, -(-last // bends))), last))
    x, y = nodes * bounds.step, bounds.values[nodes]
    # the smallest value is truncated too
    truncated = float(y[-1]) + bounds.truncated
    y = y - y[-1]
    left, right = np.diff(y, prepend=2 * y[0] - y[1]), np.diff(y, append=y[-1])
    gap = np.diff(x)
    p = np.maximum(right / np.expm1(np.append(gap, 1.0)) - left / -np.expm1(-np.append(gap[0], gap)), 0.0)
    # a chord to a place above the end is above the truncated amount
    end = max(end * (1 + 1e-12), x[-1] + bounds.parts * bounds.step)
    share = truncated / -np.expm1(x[-1] - end)
    x, p = np.append(x[1:], end), np.append(p[1:], share)
    return _symmetric(x, p, np.append(0.0, x[:-1]), y + truncated, above=True)


def pair_below(lines: tuple[Array, Array, Array], small: float = SMALL) -> tuple[Array, Array]:
    """Masses with an excess of at most h_k everywhere, from lines below it: places, values there, and u times the slopes.

    Lines at values up to ``small`` are left out.
    """
    x, y, steep = lines
    rising = np.flatnonzero((y > small) & (steep < 0))
    x, y, steep = x[rising], y[rising], steep[rising]
    # where each line meets the next one, and the last one meets zero, relative to its own node
    later, further = np.append((y - steep)[1:], 0.0), np.append(steep[1:] * np.exp(-np.diff(x)), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):  # lines that are one do not meet
        raw: Array = (later - (y - steep)) / (steep - further)
    met = np.isfinite(raw) & (raw > 0)
    ratio: Array = np.where(met, raw, 1.0)
    at = x + np.log(ratio)
    p: Array = np.where(met, np.maximum(ratio * (further - steep), 0.0), 0.0)
    kept = (p > 0) & (at > 0)
    height: Array = np.maximum(y + steep * (ratio - 1), 0.0)[kept]
    place = at[kept]
    # at the last bend the lines are zero, and h_k is not
    return _symmetric(place, p[kept], np.append(0.0, place[:-1]), np.append(y[0], height[:-1]), above=False)


def _symmetric(x: Array, p: Array, places: Array, heights: Array, *, above: bool) -> tuple[Array, Array]:
    """The masses at x > 0 and their reflections, scaled so that the excess is on the right side of all heights."""
    x, p = x[p > 0], p[p > 0]
    q = p * np.exp(-x)
    kept = np.minimum(p, q) > _LEAST
    if above and not kept.all():
        # an infinite loss is worse than a large one
        q = np.where(kept, q, 0.0)
    else:
        x, p, q = x[kept], p[kept], q[kept]
    excess = excess_at(places, p, q)
    compared = heights > 0 if above else excess > 0
    ratios = heights[compared] / excess[compared]
    factor = float(ratios.max() * (1 + _ROOM)) if above else min(float(ratios.min()), 1 / float((p + q).sum())) * (1 - _ROOM)
    p, q = p * factor, q * factor
    rest = 1 - float((p + q).sum())
    if not rest >= 0:
        raise NearlyOneError("the masses of this law would sum to more than one")
    return np.concatenate([q[::-1], [rest], p]), np.concatenate([p[::-1], [rest], q])


def excess_at(places: Array, p: Array, q: Array) -> Array:
    """The sum of (p_j - e^x q_j)_+ at increasing places, of losses that increase.

    Between two neighbours it grows by (e^right - e^left) times the q_j above: sums of positive terms, which keep their digits.
    """
    with np.errstate(divide="ignore"):  # an infinite loss
        loss = np.log(p) - np.log(q)
    finite = np.isfinite(loss)
    every = np.unique(np.append(places, loss[finite]))
    above = np.append(np.cumsum(q[::-1])[::-1], 0.0)[np.searchsorted(loss, every, side="right")]
    grown = np.append(np.exp(every[:-1]) * np.expm1(np.diff(every)) * above[:-1], float(p[~finite].sum()))
    found: Array = np.cumsum(grown[::-1])[::-1][np.searchsorted(every, places)]
    return found
