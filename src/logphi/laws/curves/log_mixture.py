"""The map of a loss L to log(1 - q + q e^L): its value, its inverse, and its effect on K and on partial masses.

notation: (P, Q) the base pair with loss L, (1 - q) Q + q P the mixture. Its loss against Q increases with L and is x where L is
x' = log(1 + (e^x - 1)/q), so that the masses of the mixture above x are sums of those of P and Q above x'.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from logphi.arith.floats import ULP
from logphi.arith.protocol import Arithmetic, Number
from logphi.arith.scaled import Scaled
from logphi.laws.closed_form import Sides
from logphi.laws.transform import LossTransform

# derived: above it e^-x is below 1e-13, and log((e^x - 1)/q) is log(e^x) - log q
_LARGE = 30.0


def formula(arith: Arithmetic, rate: float, z: Number, mean: Callable[..., Number], infinite: Number | None) -> Number:
    """K of the mixture, log E_Q[w^{z+1}] with w = 1 - q + q e^L, from means of the base and its P(L = inf), None for zero."""
    q = arith.constant(rate)
    total = mean(arith, lambda x: (1 - q + q * arith.exp(x)) ** (z + 1), above=False)
    return arith.log(total if infinite is None else total + infinite * (1 - q) ** (z + 1))


def spliced_formula(arith: Arithmetic, rate: float, z: Number, mean: Callable[..., Number], infinite: Number | None) -> Number:
    """K of the loss of the mixture where that is positive, and of its reflection where it is negative."""
    total = 1 + mean(arith, spliced_change(arith, rate, z), above=True)
    return arith.log(total if infinite is None else total - arith.constant(rate) * infinite)


def spliced_change(arith: Arithmetic, rate: float, z: Number) -> Callable[[Number], Number]:
    """The function w^{z+1} + w^{-z} - w - 1 of L, with w = 1 - q + q e^L."""
    q = arith.constant(rate)

    def change(x: Number) -> Number:
        w = 1 - q + q * arith.exp(x)
        return w ** (z + 1) + w ** (-z) - w - 1

    return change


def value(loss: float, rate: float, rate_error: float) -> tuple[float, float]:
    """An enclosure of log(1 - q + q e^L); L may be infinite."""
    if loss == math.inf:
        return math.inf, math.inf
    if loss > _LARGE:
        found = float(np.logaddexp(math.log1p(-rate), math.log(rate) + loss))
        error = 8 * ULP * (1 + loss + abs(math.log(rate))) + rate_error / rate
    else:
        growth = rate * math.expm1(loss)
        found = math.log1p(growth)
        error = abs(growth) / (1 + growth) * (8 * ULP + rate_error / rate) + 8 * ULP * abs(found)
    return found - error, found + error


def inverse(x: float, rate: float) -> tuple[float, float]:
    """An enclosure of x', for a rate known to half an ulp; its lower end is minus infinity where x' may not exist."""
    if x > _LARGE:
        # half an ulp in x and q, and the roundings of the three steps
        found = x - math.log(rate) + math.log1p(-(1 - rate) * math.exp(-x))
        error = 8e-16 * (abs(x) + abs(math.log(rate)) + 1)
        return found - error, found + error
    growth = math.expm1(x) / rate
    error = 8e-16 * (abs(growth) + abs(x) * math.exp(x) / rate)
    low, high = (
        math.log1p(end) * (1 + math.copysign(4e-16, side * end)) if end > -1 else -math.inf
        for end, side in ((growth - error, -1), (growth + error, 1))
    )
    return low, high


def partial_masses(
    base: Callable[..., Sides | None], rate: float, x: float, *, tilted: bool, floor: float, only_q: Scaled | None = None
) -> Sides | None:
    """The masses of the mixture, or of Q if ``tilted``, above x and not above x, from those of the base.

    No loss of the base is below ``floor``. ``only_q`` is the mass of Q where P has none: an atom at log(1 - q).
    """
    low, high = inverse(x, rate)
    of_q = _between(base, max(low, floor), max(high, floor), tilted=True)
    of_p = None if tilted else _between(base, max(low, floor), max(high, floor), tilted=False)
    if of_q is None or not (tilted or of_p):
        return None
    if only_q is not None:
        # if x' does not exist, the atom is above x
        share = (high == -math.inf) + 0.5 * (low == -math.inf < high)
        of_q = of_q[0] + _part(only_q, share), of_q[1] + _part(only_q, 1 - share)
    if of_p is None:
        return of_q
    # half an ulp of q, in 1 - q too
    q_error = ULP / (1 - rate)
    above, below = (
        one.times_exp(math.log1p(-rate), q_error) + other.times_exp(math.log(rate), ULP)
        for one, other in zip(of_q, of_p, strict=True)
    )
    return above, below


def _between(base: Callable[..., Sides | None], low: float, high: float, *, tilted: bool) -> Sides | None:
    """Enclosures of the masses above and below a threshold that lies between two others."""
    first, last = base(low, tilted=tilted), base(high, tilted=tilted)
    return first and last and (first[0].hull(last[0]), first[1].hull(last[1]))


def _part(amount: Scaled, share: float) -> Scaled:
    """All of an amount (share 1), none of it (share 0), or an enclosure of any part of it (share 1/2)."""
    if share in (0.0, 1.0):
        return amount if share else Scaled(0.0, 0.0)
    return replace(amount, value=amount.value / 2, rounding=amount.rounding + amount.value / 2)


def flat_density(base: LossTransform, rate: float, x: float) -> Scaled | None:
    """The density of the mixture at x, e^{2x - 2x'}/q times that of the base at x', for a base that is flat once tilted."""
    ends = inverse(x, rate)
    parts = [found for end in ends if math.isfinite(end) and (found := base.closed_form.density(end)) is not None]
    if len(parts) < len(ends):
        return None
    shift = 2 * x - math.log(rate)
    # an enclosure of the density at x', from its values at both ends of the enclosure of x'
    room = 2 * (ends[1] - ends[0])
    low, high = (part.times_exp(shift - 2 * end, room) for part, end in zip(parts, ends, strict=True))
    return low.hull(high)


def spliced(half: Callable[[float, bool], Sides | None], x: float, *, tilted: bool) -> Sides | None:
    """The masses of a law that is symmetric under the exchange of P and Q, from those at non-negative thresholds."""
    if x > 0:
        return half(x, tilted)
    exchanged = half(-x, not tilted)
    if exchanged is None or x < 0:
        return exchanged and (exchanged[1], exchanged[0])
    # an atom at zero may be on either side
    direct = half(x, tilted)
    return direct and (direct[0].hull(exchanged[1]), direct[1].hull(exchanged[0]))
