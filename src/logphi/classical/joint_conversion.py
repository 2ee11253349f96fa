"""The privacy profile that Renyi bounds of several orders imply together: a search, and a proof of its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from logphi.arrays import Array
from logphi.classical.joint_range import Limits, Place, least, least_alone, proved
from logphi.classical.renyi_curve import RenyiCurve, representable

# measured: successive relaxations of a claim until its proof succeeds; the first succeeds unless rounding interferes
MARGINS = (1e-9, 1e-7, 1e-5, 1e-3)
# measured: after this many refinements of the orders, nine digits are stable
ROUNDS = 5
# derived: e^-600 is a double, whether t is the logarithm of a delta or an eps
_DEEPEST = 600.0
# chosen: where the orders of a next round lie between those of the last one
_SHARES = np.array([0.1, 0.25, 0.5])


@dataclass(frozen=True)
class Implied:
    """A point on or above the profile, with the orders that prove it."""

    delta: float
    epsilon: float
    orders: tuple[float, ...]

    @property
    def note(self) -> str:
        """The orders, as text."""
        listed = ", ".join(f"{order:.6g}" for order in self.orders)
        return f"order {listed}" if len(self.orders) == 1 else f"orders {listed}"


def sharpened(
    curve: RenyiCurve, point: Callable[[float], tuple[float, float]], known: float, z: float | None, alone: bool
) -> Implied | None:
    """The smallest t at which the guarantee ``point(t)``, a delta and an eps, is implied; None if it is not below ``known``.

    At least one of delta and eps grows with t. ``known`` is a t at which it is implied already, or where the search begins;
    ``1 + z`` is an order near the best of those above 1, if there is one. With ``alone`` each order above 1 is used
    separately, otherwise all orders are used together.
    """
    find = least_alone if alone else least
    limits = first_limits(curve, z, alone)
    if not limits.z.size:
        return None

    def place(t: float) -> Place:
        return find(limits, *point(t))

    top = known - 1e-12 * max(1.0, abs(known))
    t = top
    for _ in range(1 if curve.orders is not None else ROUNDS):
        if not place(t).margin > 0:
            return None
        t = _lowest(lambda at: place(at).margin > 0, t)
        if curve.orders is None:
            limits = limits.joined(limits_between(curve, limits, place(t).rows, alone))
    for margin in MARGINS:
        delta, epsilon = point(t + margin * max(1.0, abs(t)))
        if delta >= 1:
            return None
        at = find(limits, delta, epsilon)
        own = limits.at(at.rows) if alone else limits
        if at.margin > 0 and proved(own, delta, epsilon, at.x):
            return Implied(delta, epsilon, tuple(1 + float(limits.z[row]) for row in at.rows))
    return None


def _lowest(test: Callable[[float], bool], good: float) -> float:
    """The smallest point, up to rounding, from which on the test holds; at least minus 600, so that delta is a double."""
    step, bad = 0.1, good - 0.1
    while bad > -_DEEPEST and test(bad):
        good, step = bad, 2 * step
        bad = good - step
    if bad <= -_DEEPEST:
        return good
    while good - bad > 1e-11 * max(1.0, abs(good)):
        middle = (bad + good) / 2
        bad, good = (bad, middle) if test(middle) else (middle, good)
    return good


def first_limits(curve: RenyiCurve, z: float | None, alone: bool) -> Limits:
    """The initial orders: around the best one above 1 and, unless each is used alone, around 1/2 and below 0."""
    if curve.orders is not None:
        return _limits(curve, curve.orders, alone)
    centre = z if z is not None else min(1.0, curve.reach[1] / 2)
    above = centre * np.exp(np.linspace(-4, 4, 25))
    within = 1 / (1 + np.exp(np.linspace(-5, 5, 11))) - 1
    below = -1 - centre * np.exp(np.linspace(-4, 4, 13))
    return _limits(curve, np.concatenate([below, within, above]), alone)


def limits_between(curve: RenyiCurve, limits: Limits, rows: tuple[int, ...], alone: bool) -> Limits:
    """Orders between those that prove the bound and their neighbours."""
    z = limits.z
    sides = [(z[row], z[other]) for row in rows for other in (row - 1, row + 1) if 0 <= other < z.size]
    return _limits(curve, np.array([a + (b - a) * _SHARES for a, b in sides]).ravel(), alone)


def _limits(curve: RenyiCurve, z: Array, alone: bool) -> Limits:
    low, high = curve.reach
    z = np.unique(representable(z) if curve.orders is None else z)
    z = z[(z > (0.0 if alone else low)) & (z < high) & (z != 0) & (z != -1)]
    # points on the same side of the poles can share a grid
    k = np.concatenate([curve.limit(part) if part.size else part for part in np.split(z, np.searchsorted(z, [-1.0, 0.0]))])
    return Limits(z[np.isfinite(k)], k[np.isfinite(k)])
