"""Renyi guarantees: bounds of the divergences as a function of the order, which add under composition."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from logphi.algebra.asking import Questions
from logphi.answers.bound import Bound
from logphi.arrays import Array
from logphi.classical.claim import Claim, at_most
from logphi.classical.interval_arithmetic import exact, up
from logphi.classical.renyi_curve import LossCurve, RenyiCurve
from logphi.inputs import check
from logphi.inputs.arguments import DirectionLike

# derived: one product and one sum in doubles, twice over
_ROUNDING = 8e-16

Divergence = Callable[[float], "float | Bound | Claim"]


def divergence_at(divergence: Divergence, order: float) -> float:
    """An upper bound of the divergence of one order, in nats.

    Raises a TypeError or ValueError if it is not a proved upper bound, or negative.
    """
    own = at_most(f"the divergence of order {order!r}", divergence(order))
    if own < 0:
        raise ValueError(f"a divergence is never negative, got {own!r} at order {order!r}")
    return own


@dataclass(frozen=True)
class DivergenceCurve(RenyiCurve):
    """A guarantee: D_order(P||Q) and D_order(Q||P) are at most ``divergence(order)``, for orders in an open interval.

    Curves add under composition, adaptive composition included (Mironov 2017, Proposition 1); ``n * curve`` is n-fold.

    Parameters
    ----------
    divergence
        From an order to a number, a Bound or a Claim, in nats; infinite where nothing is guaranteed.
    interval
        The orders at which ``divergence`` may be evaluated, 1 excepted; orders below 1 sharpen the trade-off function.
    only
        The orders at which ``divergence`` may be evaluated, if they are finitely many, such as integer orders.
    both
        Whether D_order(Q||P) is bounded too; otherwise only D_order(P||Q) is.

    Examples
    --------
    >>> (2 * DivergenceCurve(lambda order: order / 8)).divergence(2.0)
    0.5
    """

    divergence: Divergence
    interval: tuple[float, float] = (1.0, math.inf)
    only: tuple[float, ...] | None = None
    both: bool = True

    @staticmethod
    def at(orders: Sequence[float], divergences: Sequence[float | Bound | Claim]) -> DivergenceCurve:
        """A guarantee at finitely many orders."""
        known = {
            check.positive("an order", order): at_most(f"the divergence of order {order!r}", bound)
            for order, bound in zip(orders, divergences, strict=True)
        }
        if 1.0 in known or not known:
            raise ValueError("orders must be a non-empty list of positive numbers other than 1: at 1 no conversion is known")
        return DivergenceCurve(lambda order: known[order], (0.0, math.inf), tuple(sorted(known)))

    def __post_init__(self) -> None:
        low, high = self.interval
        if not 0 <= low < high or (self.only is None and high <= 1):
            raise ValueError(f"interval must be an interval of orders that reaches beyond 1, got {self.interval!r}")

    def __add__(self, other: DivergenceCurve) -> DivergenceCurve:
        if not isinstance(other, DivergenceCurve):
            return NotImplemented
        interval = (max(self.interval[0], other.interval[0]), min(self.interval[1], other.interval[1]))
        both = self.both and other.both
        return DivergenceCurve(lambda order: self._up(order, 1) + other._up(order, 1), interval, self._shared(other), both)

    def __mul__(self, count: int) -> DivergenceCurve:
        times = check.count("the number of repetitions", count)
        return DivergenceCurve(lambda order: self._up(order, times), self.interval, self.only, self.both)

    __rmul__ = __mul__

    def _shared(self, other: DivergenceCurve) -> tuple[float, ...] | None:
        if self.only is None or other.only is None:
            return other.only if self.only is None else self.only
        shared = tuple(order for order in self.only if order in other.only)
        if not shared:
            raise ValueError(
                f"the curves have no order in common: {self.only!r} and {other.only!r}; give both at the same ones"
            )
        return shared

    def _up(self, order: float, count: int) -> float:
        """A multiple of the divergence, rounded up, with a margin for the rounding of one further sum."""
        own = divergence_at(self.divergence, order)
        return count * own if own == 0 or count == 0 else count * own * (1 + _ROUNDING)

    @property
    def reach(self) -> tuple[float, float]:
        """The orders minus one, extended by reflection if the guarantee holds for both directions."""
        return (-self.interval[1] if self.both else self.interval[0] - 1, self.interval[1] - 1)

    @property
    def orders(self) -> Array | None:
        """The orders minus one, if they are finitely many, with those of the reversed pair."""
        if self.only is None:
            return None
        known = np.array(self.only)
        # without orders whose distance from 1 is not a double
        z = known[1 + (known - 1) == known] - 1
        return np.unique(np.concatenate([z, -known]) if self.both else z)

    def limit(self, z: Array) -> Array:
        """The bound of z D_{1+z}(P||Q), rounded outward; for z below -1/2 from the reversed pair, if that is bounded too."""
        return np.array([self._limit(float(one)) for one in z.flat]).reshape(z.shape)

    def _limit(self, z: float) -> float:
        order = self._order(z)
        if order == 1 or not self.interval[0] < order < self.interval[1]:
            return math.inf if order >= 1 else -math.inf
        own = self._up(order, 1)
        if math.isinf(own):
            return math.inf if order > 1 else -math.inf
        bound = (order - 1) * own
        return bound + math.copysign(_ROUNDING * abs(bound) + 1e-300, order - 1)

    def _order(self, z: float) -> float:
        """The order a with K(z) = (a-1) D_a of one direction of the pair: 1 + z, or -z of the reversed one."""
        direct = z > -0.5 if self.only is None else (1 + z) - 1 == z and 1 + z in self.only
        return 1 + z if direct or not self.both else -z


def between_orders(curve: DivergenceCurve) -> DivergenceCurve:
    """The guarantee at all orders up to the largest known one, by interpolation.

    (a-1) D_a is convex in a and zero at a = 1, so that its chords lie above it. The bound is never more than the divergence of
    the next larger known order, which [S22] section 6.5 uses.

    Raises
    ------
    ValueError
        If the curve is known at all orders already, or at none above 1.

    Examples
    --------
    >>> curve = between_orders(DivergenceCurve.at([2.0, 3.0], [1.0, 1.5]))
    >>> round(curve.divergence(2.5), 12), round(curve.divergence(1.5), 12)
    (1.333333333333, 1.0)
    """
    orders = [order for order in curve.only or () if order > 1]
    if not orders:
        raise ValueError(f"a curve that is known at finitely many orders above 1 is needed, got one with only={curve.only!r}")
    known = [1.0, *orders]
    divergences = [0.0, *(divergence_at(curve.divergence, order) for order in orders)]

    def at(order: float) -> float:
        right = bisect_left(known, order)
        if not 0 < right < len(known) or math.isinf(divergences[right]):
            return math.inf
        a, (low, high) = exact(order), (exact(one) for one in known[right - 1 : right + 1])
        first, second = (exact(one) for one in divergences[right - 1 : right + 1])
        chord = ((high - a) * (low - 1) * first + (a - low) * (high - 1) * second) / ((high - low) * (a - 1))
        return max(0.0, up(chord))

    return DivergenceCurve(at, (1.0, orders[-1]), both=curve.both)


def curves(source: Questions | RenyiCurve | Divergence, direction: DirectionLike | None = None) -> list[RenyiCurve]:
    """The curves of a mechanism, one for each direction of its pair; a curve or a function gives one curve.

    Raises a TypeError if the source is none of them, and a ValueError if the direction is unknown or not one of the relation.
    """
    if isinstance(source, Questions):
        return [LossCurve(law) for _, law in source._loss().orders(direction)]
    if isinstance(source, RenyiCurve):
        return [source]
    if callable(source):
        return [DivergenceCurve(source)]
    raise TypeError(f"a mechanism, a RenyiCurve or a function from an order to its divergence is needed, got {_kind(source)}")


def _kind(source: Any) -> str:
    return f"{source!r} of type {type(source).__name__}"
