"""Probabilistic differential privacy: the probability that the loss exceeds epsilon ([PLC] section 4.5)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, overload

import numpy as np

from logphi.answers.bound import Bound, Bounds
from logphi.answers.status import Direction, Status
from logphi.arith.safe import safe_log
from logphi.engine.answer import D, on_scale, probability, worst
from logphi.engine.directions import HasLoss
from logphi.engine.log_probability import CERTAINTY, LogProbability, masses
from logphi.engine.quantile import where_above
from logphi.engine.tail import above
from logphi.inputs import check
from logphi.inputs.arguments import DirectionLike, Number, Numbers
from logphi.inputs.guesses import guided
from logphi.laws.log_phi import LogPhi
from logphi.questions.pointwise import each


@overload
def pdp_delta(self: HasLoss, epsilon: Number, *, direction: DirectionLike | None = None, rtol: float = 1e-9) -> Bound: ...
@overload
def pdp_delta(self: HasLoss, epsilon: Numbers, *, direction: DirectionLike | None = None, rtol: float = 1e-9) -> Bounds: ...
@guided()
def pdp_delta(self: HasLoss, epsilon: Any, *, direction: DirectionLike | None = None, rtol: float = 1e-9) -> Bound | Bounds:
    """P(L > epsilon), infinite losses included: the delta of (epsilon, delta)-probabilistic differential privacy.

    It is at least the delta of the privacy profile and, unlike that, may grow under post-processing.

    Parameters
    ----------
    epsilon
        One number or an array, any real, in nats.
    direction
        ``"remove"`` or ``"add"`` for one direction only; the maximum of both by default.
    rtol
        Requested ``upper - lower`` relative to the value.

    Returns
    -------
    Bound or Bounds
        Of the shape of ``epsilon``; ``float`` gives the upper end.

    Raises
    ------
    ValueError, TypeError
        If epsilon is not finite, or the direction does not apply.

    Examples
    --------
    >>> import logphi as lp
    >>> release = 100 * lp.Gaussian(sigma=10)
    >>> round(release.pdp_delta(2).value, 9), round(release.delta(2).value, 9)
    (0.066807201, 0.020923636)
    """
    rtol = check.tolerance("rtol", rtol)
    orders = self._loss().orders(direction)
    return each("epsilon", epsilon, lambda at: probability(_worse(orders, _exceedance, at, rtol), rtol))


@overload
def pdp_epsilon(self: HasLoss, delta: Number, *, direction: DirectionLike | None = None, rtol: float = 1e-9) -> Bound: ...
@overload
def pdp_epsilon(self: HasLoss, delta: Numbers, *, direction: DirectionLike | None = None, rtol: float = 1e-9) -> Bounds: ...
@guided()
def pdp_epsilon(self: HasLoss, delta: Any, *, direction: DirectionLike | None = None, rtol: float = 1e-9) -> Bound | Bounds:
    """The smallest epsilon >= 0 with P(L > epsilon) <= delta: the inverse of ``pdp_delta`` ([PLC] section 4.5).

    Parameters
    ----------
    delta
        One number or an array, in [0, 1].
    direction
        ``"remove"`` or ``"add"`` for one direction only; the maximum of both by default.
    rtol
        Requested ``upper - lower`` in units of ``max(1, epsilon)``.

    Returns
    -------
    Bound or Bounds
        Of the shape of ``delta``, in nats; ``float`` gives the upper end. Infinite if delta is below the probability of an
        infinite loss.

    Raises
    ------
    ValueError, TypeError
        If delta is outside [0, 1] or NaN, or the direction does not apply.

    Examples
    --------
    >>> import logphi as lp
    >>> release = 100 * lp.Gaussian(sigma=10)
    >>> round(release.pdp_epsilon(1e-5).value, 9), round(release.epsilon(1e-5).value, 9)
    (4.764890794, 4.377178096)
    """
    rtol = check.tolerance("rtol", rtol)
    check.unit_array("delta", delta)
    orders = self._loss().orders(direction)
    return each("delta", delta, lambda at: on_scale(_worse(orders, _level, at, rtol), rtol))


def _worse(orders: list[tuple[Direction, LogPhi]], answer: Callable[[LogPhi, float, float], D], at: float, rtol: float) -> D:
    """The answer in the worse direction of the pair."""
    found: list[Any] = [answer(part, at, rtol) for _, part in orders]
    directed: list[D] = [replace(one, direction=order) for one, (order, _) in zip(found, orders, strict=True)]
    return worst(directed)


def _exceedance(law: LogPhi, x: float, rtol: float) -> LogProbability:
    """Log P(L > x), infinite losses included."""
    if law.empty:
        return CERTAINTY
    found, (low, high) = above(law, x, rtol), masses(law)[0]
    parts = ((low, found.lower), ((low + high) / 2, found.value), (high, found.upper))
    ends = (float(np.logaddexp(safe_log(mass), end)) for mass, end in parts)
    return LogProbability.outward(ends, found.method, found.ledger)


def _level(law: LogPhi, delta: float, rtol: float) -> Bound:
    """The smallest x >= 0 with P(L > x) <= delta."""
    low, high = masses(law)[0]
    if delta < low:
        return Bound(math.inf, math.inf, math.inf, Status.UNBOUNDED)
    if delta >= 1 or above(law, 0.0, rtol).upper < safe_log((delta - high) * (1 - 1e-15)):
        return Bound(0.0, 0.0, 0.0)
    found = where_above(law, ((delta - high) * (1 - 1e-15), (delta - low) * (1 + 1e-15)), rtol)
    lower, value, upper = (max(end, 0.0) for end in (found.lower, found.value, found.upper))
    return replace(found, lower=lower, value=value, upper=upper)
