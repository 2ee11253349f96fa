"""The Markov-ADP bound of [PLC] Theorem 3: delta from Markov's bound of the tail of the loss at many points.

notation: T(y) = min over z > 0 of E[e^{zL}] e^{-zy}, and at most one, bounds P(L >= y). For points eps = y_0 < ... < y_k,

    delta(eps) <= T(y_k) + sum over i >= 1 of (1 - e^{eps - y_i}) (T(y_{i-1}) - T(y_i))
                = sum over i < k of (e^{eps - y_i} - e^{eps - y_{i+1}}) T(y_i)  +  e^{eps - y_k} T(y_k),

with positive weights, so that upper bounds of T give an upper bound of delta. As points are added the bound falls to the
integral of e^{eps-y} T(y) over y > eps. That is at most Mironov's T(eps), and by Fenchel's duality at least the conversion of
Canonne, Kamath & Steinke, which is the largest (1 - e^{-t}) T(eps + t). The probability of infinite losses is counted
separately ([PLC] Lemma 4).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from logphi.answers.status import Side
from logphi.arith.floats import ULP
from logphi.arrays import Array
from logphi.classical.best_order import best_order
from logphi.classical.claim import Claim
from logphi.classical.crossing import crossing
from logphi.classical.divergence_curve import curves
from logphi.classical.interval_arithmetic import between, decimal, down
from logphi.classical.loss_class import whole_delta
from logphi.classical.renyi import Source
from logphi.classical.renyi_curve import RenyiCurve
from logphi.inputs import check
from logphi.inputs.arguments import DirectionLike

# measured: with this number of points the bound is within a percent of its limit
_POINTS = 2000
# measured: the number of orders for each factor of ten with which the bound is within a percent of its limit
_ORDERS = 64
# derived: a tail smaller by this logarithm does not change the sum
_NEGLIGIBLE = 45.0
# derived: for z this many factors of ten below the largest relevant one, T is near one
_DECADES = 12
# measured: a decrease this many times steeper than that towards the end of the support is a step
_STEEP = 1e3
# derived: the rounding of K at small z stays above this
_NEXT_TO_ONE = -1e-6
# derived: more doublings than any relevant order needs
_DOUBLINGS = 100
# derived: the product of a point and an order is a double
_FARTHEST = 1e100


def delta(source: Source, epsilon: float, *, points: Any = None, direction: DirectionLike | None = None) -> Claim:
    """An upper bound of delta(epsilon) by the Markov bounds of the tail ([PLC] Theorem 3).

    Parameters
    ----------
    source
        A mechanism, a :class:`~logphi.classical.RenyiCurve`, or a function from an order to a bound of the divergence.
    epsilon
        Any real, in nats.
    points
        The points y_1, ..., y_k of the theorem, an array in nats; those up to epsilon are ignored. By default two thousand.
    direction
        Of a mechanism: ``"remove"`` or ``"add"`` for one direction only; the larger of both by default.

    Returns
    -------
    Claim
        An upper bound; one if no order gives a bound.

    Raises
    ------
    ValueError, TypeError
        If epsilon or a point is not finite, or the source is none of these.

    Examples
    --------
    >>> from logphi.mechanisms.gaussian import Gaussian
    >>> found = delta(Gaussian(sigma=1), 2.0)
    >>> 0.0209 < Gaussian(sigma=1).delta(2.0).value < found.value < 0.12
    True
    """
    # delta decreases in epsilon, the bound is one for small epsilons, and fewer points give a valid bound too
    at = min(max(check.real("epsilon", epsilon), -_FARTHEST), _FARTHEST)
    chosen = None if points is None else check.real_array("points", points).ravel()
    return max((_delta(curve, _near(curve, at), at, chosen) for curve in curves(source, direction)), key=float)


def epsilon(source: Source, delta: float, *, direction: DirectionLike | None = None) -> Claim:
    """An upper bound of the smallest eps >= 0 with delta(eps) <= delta: where :func:`delta` falls to delta.

    The arguments are those of :func:`delta`, with ``delta`` in [0, 1]; infinite where no order gives a bound.

    Examples
    --------
    >>> from logphi.mechanisms.gaussian import Gaussian
    >>> 4.37 < epsilon(Gaussian(sigma=1), 1e-5).value < 5
    True
    """
    at = check.unit("delta", delta)
    return max((_epsilon(curve, at) for curve in curves(source, direction)), key=float)


@dataclass(frozen=True)
class _Tails:
    """Bounds of T from finitely many z: z, bounds of log E[e^{zL}], and the best z at the first point."""

    z: Array
    k: Array
    least: float

    def log_at(self, y: Array) -> Array:
        """An upper bound of log T at some points."""
        product = np.multiply.outer(y, self.z)
        bounds = self.k - product + 4 * ULP * (np.abs(self.k) + np.abs(product))
        tail: Array = np.minimum(bounds.min(axis=1, initial=math.inf), 0.0)
        return tail

    def points(self, start: float) -> Array:
        """Points above a first one, at distances from the scale of the largest order to where the tail is negligible."""
        far = _NEGLIGIBLE / (1 + self.least)
        near = min(1e-2 / (1 + float(self.z.max(initial=0.0))), far / 10)
        return start + np.geomspace(near, far, _POINTS)


def _near(curve: RenyiCurve, epsilon: float) -> _Tails:
    """Bounds of the tail above epsilon."""
    place = epsilon + sum(curve.shift) / 2
    z = best_order(lambda z: curve.limit(z) - z * place, curve)
    return _tails(curve, z, 0.0 if z is None else float(curve.limit(np.array([z]))[0]) - z * place)


def _tails(curve: RenyiCurve, best: float | None, log_tail: float) -> _Tails:
    """Bounds of the tail above a point, from the best order there up to orders whose tail is negligible."""
    if best is None or curve.orders is not None:
        z = np.zeros(0) if best is None or curve.orders is None else curve.orders[curve.orders > 0]
        return _Tails(z, curve.limit(z) if z.size else z, best or 0.0)
    top, before = best, 0.0
    for _ in range(_DOUBLINGS):
        # at the point whose best order is z, log T is k - z k'
        z = top * np.array([1.0, 1.01])
        k = curve.limit(z) if z[1] < curve.reach[1] else np.full(2, math.inf)
        after = k[0] - 100 * (k[1] - k[0]) if np.isfinite(k).all() else -math.inf
        if after < min(log_tail, 0.0) - _NEGLIGIBLE:
            break
        if before - after < 1e-3 * -after and after < _NEXT_TO_ONE:
            # above the end of the support T decays at the rate of the largest order
            top *= _STEEP
            break
        top, before = 2 * top, after
    top = min(top, curve.reach[1] * (1 - 1e-9))
    decades = min(math.log10(4 * top / best), _DECADES)
    z = np.append(np.geomspace(top / 10**decades, top, math.ceil(_ORDERS * decades) + 2), best)
    k = curve.limit(z)
    return _Tails(z[np.isfinite(k)], k[np.isfinite(k)], best)


def _delta(curve: RenyiCurve, tails: _Tails, epsilon: float, points: Array | None = None) -> Claim:
    start = down(decimal(epsilon) + between(*curve.shift))
    y = tails.points(start) if points is None else points + sum(curve.shift) / 2
    y = np.unique(np.append(start, y[(start < y) & (y < _FARTHEST)]))
    log_weight = start - y + np.append(np.log(-np.expm1(-np.diff(y))), 0.0)
    slack = 8 * ULP * (2 + np.abs(y) + abs(start))
    terms = np.minimum(tails.log_at(y) + log_weight + slack, 0.0)
    value = min(1.0, float(np.exp(terms).sum()) * (1 + 1e-12) + 1e-300)
    return _claim(curve, float(whole_delta(value, curve.infinite_mass[1])), f"{y.size} points")


def _epsilon(curve: RenyiCurve, delta: float) -> Claim:
    if delta == 1:
        return _claim(curve, 0.0, "")
    # delta may be any decimal that reads back as the double
    level = math.nextafter(delta, -1.0)
    left = level - curve.infinite_mass[1]
    if not left > 0:
        return _claim(curve, math.inf, "delta is not above the probability of an infinite loss")
    z = best_order(lambda z: (curve.limit(z) - math.log(left)) / z, curve)
    tails = _tails(curve, z, math.log(left))
    value = math.inf if z is None else crossing(lambda eps: _delta(curve, tails, eps).value <= level)[1]
    return _claim(curve, value, f"{_POINTS} points")


def _claim(curve: RenyiCurve, value: float, note: str) -> Claim:
    return Claim(value, Side.UPPER, "Markov-ADP", "Sommer, Meiser & Mohammadi 2019, Theorem 3", note, curve.proved)
