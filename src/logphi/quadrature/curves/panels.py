"""Panels for Gauss-Legendre sums of a curve, with proved bounds of the errors of these sums.

notation as in :mod:`logphi.quadrature.curves.curve`. With a = z + 1,

    h_z(l) = e^{al} - 1 - a (e^l - 1),      M(z) - 1 = integral of h_z(l) dQ,

where P and Q have mass one: a sum of second order, so that a small K keeps its digits. From h' = a e^l (e^{zl} - 1)

    |h_z(l)| <= |z| |z + 1| |l|^2/2 times the largest of 1, |e^l| and |e^{al}|.

On the Bernstein ellipse with parameter rho around a panel of half-length r the variable stays within r (rho + 1/rho)/2 of
the middle and v = r (rho - 1/rho)/2 of the real line. Where theta = |kappa| v < pi/2, w_k has no zero there, its modulus lies
between cos(theta/2) w_k and w_k of the real part, |arg w_k| <= theta q e^Y / (1 - q + q e^Y cos(theta)), and log w_k
has a derivative of at most |kappa| q e^Y / (cos(theta/2) w_k); all of these are monotone. If |f| <= B on the ellipse,
the rule with n nodes is wrong by at most

    (64/15) r B rho^{-2n} / (1 - rho^{-2})

(Trefethen, *Approximation Theory and Approximation Practice*, Theorem 19.3). Panels are halved until that is negligible.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from logphi.arith.summation import log_sum
from logphi.arrays import Array
from logphi.quadrature.curves.curve import Curve
from logphi.quadrature.mixtures.log_ratio import turn_rate
from logphi.quadrature.values import LOG_ROUNDING

# measured: the initial number of panels
_FIRST = 8
# measured: the largest number of panels, as more nodes take seconds
_MOST = 1200
# measured: the number of nodes of the rule, as other orders need about as many nodes in all
ORDER = 24
# measured: parameters of the ellipses that are tried
_RHO = np.geomspace(1.25, 64.0, 14)
# derived: the largest angle theta, below pi/2
_WIDEST = 1.5
# derived: the relative error asked of the quadrature, far below all rounding
_SHARP = 1e-17
# measured: the distances from both ends at which panels of a coarse sum end, as shares of the whole length
_SHARES = 8.0 ** -np.arange(1, 11)
# measured: the length of a panel of a coarse sum, over the scale of the factors
_LONG = 4.0
# measured: the largest number of panels of a coarse sum
_MANY = 1000.0
# chosen: a normal law is negligible this far from its mean
_WIDTH = 12.0
# chosen: the factor of the shift that allows for a tilt
_TILTED = 2.5
# measured: the number of points that locate a tilted law
_SCAN = 1025
# measured: minus the logarithm of the level, relative to its peak, below which a tilted law is ignored
_NEGLIGIBLE = 60.0
# measured: no relevant saddle point is larger
_FARTHEST = 2.0**30


@dataclass(frozen=True)
class Panels:
    """The ends of panels, in any order; ``start`` and ``end`` are where the curve is cut off."""

    low: Array
    high: Array
    start: float
    end: float


# a cache for the two orders in use
@lru_cache(maxsize=8)
def _legendre(order: int) -> tuple[Array, Array]:
    """Nodes and weights on [0, 2]; measured: to within three ulps of one, and a dozen of themselves."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    return nodes + 1, weights


def gauss(low: Array, high: Array, order: int = ORDER) -> tuple[Array, Array, Array]:
    """Nodes, logarithms of weights, and the scale of the rounding of nodes."""
    nodes, weights = _legendre(order)
    half = (high - low)[:, None] / 2
    s = low[:, None] + half * nodes
    size = np.abs(s) + half
    return s.ravel(), np.log(half * weights).ravel(), size.ravel()


def panels(curve: Curve, powers: Array, top: float, most: int = _MOST, *, near_one: bool = True) -> Panels | None:
    """Panels that serve some real parts of a and heights up to ``top``; None if more than ``most`` would be needed.

    Second-order sums, for M near one, need finer panels; with ``near_one`` false they are not served.
    """
    if not np.abs(powers).max() < _FARTHEST or not top < _FARTHEST:
        return None
    edges = coarse_edges(curve, powers)
    if edges is None:
        return None
    length = np.log(np.diff(edges))[:, None]
    second, plain = (log_sum(part + length, axis=0) for part in sizes(curve, (edges[1:] + edges[:-1]) / 2, powers))
    # goals relative to the second-order sum, and to M(c)
    mass = np.logaddexp(plain, np.log(1e-300 + curve.rest)) + np.log(_SHARP)
    size = (np.abs(powers - 1) + top) * (np.abs(powers) + top)
    small = np.minimum(second + np.log(_SHARP), mass - np.log(size + 1)) if near_one else np.full_like(mass, np.inf)
    goal = np.stack([small, mass])
    start, end = (
        end if np.isfinite(end) else _end(curve, powers, goal, float(rough), outward)
        for end, rough, outward in ((curve.start, edges[0], -1), (curve.end, edges[-1], 1))
    )
    goal += -np.log(8 * _FIRST)
    found = halved(
        np.linspace(start, end, _FIRST + 1),
        lambda low, high: np.stack(log_bounds(curve, low, high, powers, top), axis=1),
        goal,
        most,
    )
    return found and Panels(found[0], found[1], start, end)


def halved(
    edges: Array, log_errors_of: Callable[[Array, Array], Array], goal: Array | float, most: int
) -> tuple[Array, Array, Array] | None:
    """Panels between edges, halved until every error meets a goal, with these errors; the panels run along the first axis.

    None if more than ``most`` would be needed.
    """
    low, high = edges[:-1], edges[1:]
    done: list[tuple[Array, Array, Array]] = []
    count = 0
    while low.size:
        errors = log_errors_of(low, high)
        good = (errors <= goal).reshape(low.size, -1).all(axis=1)
        done.append((low[good], high[good], errors[good]))
        count += int(good.sum())
        low, high = low[~good], high[~good]
        if count + 2 * low.size > most:
            return None
        middle = (low + high) / 2
        low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
    low, high, errors = (np.concatenate(parts) for parts in zip(*done, strict=True))
    return low, high, errors


def log_errors(curve: Curve, found: Panels, powers: Array, top: float) -> tuple[Array, Array]:
    """Logarithms of the errors of sums over the panels, for each power: of h over |z| |z + 1|, and of e^{al}."""
    second, plain = (log_sum(part, axis=0) for part in log_bounds(curve, found.low, found.high, powers, top))
    for own, end, outward in ((curve.start, found.start, -1), (curve.end, found.end, 1)):
        if not np.isfinite(own):
            cut = log_tail(curve, powers, np.array([end]), outward)[:, 0]
            second, plain = np.logaddexp(second, cut[0]), np.logaddexp(plain, cut[1])
    return second, plain


def _tilts(curve: Curve, powers: Array) -> Array:
    """The powers of e^l that occur, one row for each side of the law."""
    return np.stack([powers, 1 - powers] if curve.symmetric else [powers])


def sizes(curve: Curve, s: Array, powers: Array) -> tuple[Array, Array]:
    """Logarithms of l^2/2 W and of W, times the density; W sums the largest of 1, e^l and e^{al} over the sides."""
    loss = curve.loss(s)
    tilt = _tilts(curve, powers)[:, None, :] * loss[:, None]
    log_size = log_sum(np.maximum(np.maximum(tilt, loss[:, None]), 0.0), axis=0) + curve.log_density(s)[:, None]
    square = np.log(np.maximum(loss * loss, 1e-300) / 2)[:, None]
    return log_size + square, log_size


def coarse_edges(curve: Curve, powers: Array) -> Array | None:
    """Ends of the panels of a coarse sum, which cover all relevant mass; None if there would be too many."""
    if np.isfinite(curve.start + curve.end):
        length = curve.end - curve.start
        count = min(np.ceil(length * curve.steepness / _LONG), _MANY)
        # a tilted law may concentrate at either end
        near = length * _SHARES
        edges = np.concatenate([np.linspace(curve.start, curve.end, int(count) + 1), curve.start + near, curve.end - near])
        return np.unique(edges)
    tilts = _tilts(curve, powers)
    # a positive tilt moves the law to the right, at most by the tilt times the largest slope; a negative one to the left, where
    # the slopes are below those at zero
    down = max(-float(tilts.min()), 0.0) + 1
    left = _WIDTH + _TILTED * (float(np.abs(tilts).max() + 1) * curve.steepness if curve.symmetric else down * curve.slope_left)
    right = _WIDTH + _TILTED * (float(np.abs(tilts).max()) + 1) * curve.steepness
    s = np.linspace(*curve.within(left, right), _SCAN)
    _, plain = sizes(curve, s, powers)
    kept = np.flatnonzero((plain > plain.max(axis=0) - _NEGLIGIBLE).any(axis=1))
    if not kept.size:
        # sizes that overflow
        return None
    start, end = float(s[max(kept[0] - 1, 0)]), float(s[min(kept[-1] + 1, _SCAN - 1)])
    count = np.ceil((end - start) * max(max(abs(factor.slope) for factor in curve.factors) / _LONG, 0.5))
    return np.linspace(start, end, int(count) + 1) if count <= _MANY else None


def _end(curve: Curve, powers: Array, goal: Array, coarse: float, outward: int) -> float:
    """A point near ``coarse`` at which an unbounded curve may be cut off, above zero (``outward`` 1) or below (-1)."""
    distance = max(outward * coarse, 0.0)
    e = outward * np.linspace(distance / 2, 2 * distance + 14, 193)[1:]
    # a curve may be marked out farther to the right
    marked = curve.within(np.inf, np.inf)[1]
    e = np.append(e, marked) if outward > 0 and e[-1] < marked < np.inf else e
    good = (log_tail(curve, powers, e, outward) <= goal[:, None, :] - 4).all(axis=(0, 2))
    return float(e[int(np.argmax(good))]) if good.any() else float(e[-1])


def log_tail(curve: Curve, powers: Array, end: Array, outward: int) -> Array:
    """Logarithms of the sums above ends (``outward`` 1) or below (-1), (kind, end, power), of the kinds of :func:`log_errors`.

    With u the distance from the end, the summand grows at most like e^{ku} times a decreasing normal factor, where k is the
    slope of g there and those of the factors; |l| grows by at most its own slope times u.
    """
    second, plain = sizes(curve, end, powers)
    loss = np.abs(curve.loss(end))[:, None]
    steep, own = (part[:, None] for part in curve.tail_slopes(end, outward))
    tilts = np.maximum(outward * _tilts(curve, powers), outward)
    fall = (-outward * curve.log_slope(end))[:, None] - np.maximum(tilts.max(axis=0), 0.0) * steep - own
    safe = np.where(fall > 0, fall, 1.0)
    rise = steep / (np.maximum(loss, 1e-150) * safe)
    beyond = np.stack([second + np.log1p(2 * rise * (1 + rise)), plain]) - np.log(safe)
    return np.where(fall > 0, beyond + LOG_ROUNDING * (1 + np.abs(beyond)), np.inf)


@dataclass(frozen=True)
class Ellipses:
    """Bernstein ellipses around panels, (panel, rho): ``log_rest`` is the logarithm of the error for an integrand up to one.

    On the ellipse the real part of l lies between ``least`` and ``most``, and its imaginary part is at most ``argument``. At
    the ends of the panel l is ``left`` and ``right``; on the ellipse it is within ``deviation`` of some value between these.
    """

    log_rest: Array
    least: Array
    most: Array
    argument: Array
    left: Array
    right: Array
    deviation: Array

    @property
    def size(self) -> Array:
        """A bound of |l|."""
        return np.asarray(np.maximum(np.abs(self.left), np.abs(self.right)) + self.deviation)

    @staticmethod
    def around(curve: Curve, low: Array, high: Array, rho: Array = _RHO, order: int = ORDER) -> Ellipses:
        """The ellipses of panels, with an infinite error where a factor may have a zero."""
        r, middle = ((high - low) / 2)[:, None], ((high + low) / 2)[:, None]
        along, v = r * (rho + 1 / rho) / 2, r * (rho - 1 / rho) / 2
        left, right = middle - along, middle + along
        log_density = curve.highest_beside(left, right, v)
        least, most, argument, deviation, loss_left, loss_right = (np.zeros(v.shape) for _ in range(6))
        near = np.ones(v.shape, dtype=bool)
        for factor in curve.factors:
            theta = abs(factor.slope) * v
            near &= theta < _WIDEST
            theta = np.minimum(theta, _WIDEST)
            log_left, log_right = factor.value(left), factor.value(right)
            rises = factor.rises
            log_down, log_up = (log_left, log_right) if rises else (log_right, log_left)
            share, half = factor.share(right if rises else left, log_up), np.cos(theta / 2)
            if factor.sign > 0:
                least, most = least + log_down + np.log(half), most + log_up
            else:
                # the loss increases: such a factor falls, and is largest where the loss is least
                least, most = least - log_up, most - log_down - np.log(half)
            loss_left, loss_right = loss_left + factor.sign * log_left, loss_right + factor.sign * log_right
            log_density = log_density + factor.own * log_up
            argument = argument + theta * turn_rate(share, 1 - share, theta)
            deviation = deviation + theta * share / half
        # a panel of length zero has no error
        log_rest = np.log(np.maximum(64 / 15 * r, 1e-300)) + log_density - 2 * order * np.log(rho) - np.log1p(-(rho**-2.0))
        return Ellipses(np.where(near, log_rest, np.inf), least, most, argument, loss_left, loss_right, deviation)


def best(log_error: Array) -> Array:
    """The smallest bound over the ellipses, along the second axis, rounded up."""
    least = np.minimum(log_error.min(axis=1), 1e300)
    return np.asarray(least + LOG_ROUNDING * (1 + np.abs(least)))


def log_bounds(curve: Curve, low: Array, high: Array, powers: Array, top: float) -> tuple[Array, Array]:
    """Logarithms of the error bounds of each panel, (panel, power): of h over |z| |z + 1|, and of e^{al}."""
    own = Ellipses.around(curve, low, high)
    tilts = _tilts(curve, powers)[:, None, None, :]
    grown = np.maximum(tilts * own.least[:, :, None], tilts * own.most[:, :, None]) + top * own.argument[:, :, None]
    plain = log_sum(np.maximum(np.maximum(grown, own.most[:, :, None]), 0.0), axis=0) + own.log_rest[:, :, None]
    return best(plain + np.log(np.maximum(own.size * own.size, 1e-300) / 2)[:, :, None]), best(plain)
