"""Log-ratios of mixtures: log(1 - q + q e^L) for a loss L, which increases with L.

e^{x'} = 1 + (e^x - 1)/q is where e^L is at a threshold x, so that masses beyond x are those of the parts of the mixture
beyond x'.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from logphi.arith.floats import ULP
from logphi.arith.scaled import Scaled
from logphi.laws.closed_form import Sides
from logphi.laws.transform import LossTransform

_ALL, _NOTHING = Scaled(0.0, 1.0), Scaled(0.0, 0.0)


def unmixed(x: float, rate: float) -> tuple[float, float]:
    """X' = log(1 + (e^x - 1)/q) between two numbers, minus infinity where the logarithm may have no argument."""
    if x > 30:
        # half an ulp in x and q, and the roundings of the three steps
        value = x - math.log(rate) + math.log1p(-(1 - rate) * math.exp(-x))
        slip = 8e-16 * (abs(x) + abs(math.log(rate)) + 1)
        return value - slip, value + slip
    growth = math.expm1(x) / rate
    slip = 8e-16 * (abs(growth) + abs(x) * math.exp(x) / rate)
    low, high = (
        math.log1p(end) * (1 + math.copysign(4e-16, side * end)) if end > -1 else -math.inf
        for end, side in ((growth - slip, -1), (growth + slip, 1))
    )
    return low, high


def partial_masses(base: LossTransform, rate: float, x: float, *, tilted: bool) -> Sides | None:
    """The masses of (1 - q) Q + q P, or of Q if ``tilted``, above x and not, for a base law (P, Q) of mass one."""
    low, high = unmixed(x, rate)
    own = _between(base, low, high, tilted=True)
    if tilted or own is None:
        return own
    other = _between(base, low, high, tilted=False)
    if other is None:
        return None
    kept, taken = math.log1p(-rate), math.log(rate)
    # half an ulp of q in 1 - q
    wrong = ULP * rate / (1 - rate)
    above, below = (one.times_exp(kept, wrong) + two.times_exp(taken) for one, two in zip(own, other, strict=True))
    return above, below


def _between(base: LossTransform, low: float, high: float, *, tilted: bool) -> Sides | None:
    """The masses above and below a threshold between two."""
    ends = [(_ALL, _NOTHING) if x == -math.inf else base.closed_form.partial_masses(x, tilted=tilted) for x in (low, high)]
    known = [sides for sides in ends if sides is not None]
    if len(known) < len(ends):
        return None
    (above, below), (less, more) = known
    return above.hull(less), below.hull(more)


def flat_density(base: LossTransform, rate: float, x: float) -> Scaled | None:
    """The density of the mixture at x, e^{2x - 2x'}/q times that of the base at x', for a base that is flat once tilted."""
    ends = unmixed(x, rate)
    parts = [found for end in ends if math.isfinite(end) and (found := base.closed_form.density(end)) is not None]
    if len(parts) < len(ends):
        return None
    shift = 2 * x - math.log(rate)
    # beside an end of the support
    room = 2 * (ends[1] - ends[0])
    low, high = (part.times_exp(shift - 2 * end, room) for part, end in zip(parts, ends, strict=True))
    return low.hull(high)


def spliced(half: Callable[[float, bool], Sides | None], x: float, *, tilted: bool) -> Sides | None:
    """Of a law that is its own mirror image, with P and Q exchanged, from what holds at and above zero."""
    if x > 0:
        return half(x, tilted)
    turned = half(-x, not tilted)
    if turned is None or x < 0:
        return turned and (turned[1], turned[0])
    # an atom at zero may be on either side
    straight = half(x, tilted)
    return straight and (straight[0].hull(turned[1]), straight[1].hull(turned[0]))
