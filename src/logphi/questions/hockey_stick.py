"""The hockey-stick divergence of every order: the privacy profile before its change of variable."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, overload

import numpy as np

from logphi.answers.bound import Bound, Bounds
from logphi.answers.enclosure import with_ends
from logphi.answers.ledger import Entry
from logphi.answers.status import Direction
from logphi.arith.floats import ULP
from logphi.engine.answer import infinite_mass, relatively, worst
from logphi.engine.directions import HasLoss, Loss
from logphi.engine.routes.registry import named
from logphi.inputs import check
from logphi.inputs.arguments import DirectionLike, Number, Numbers
from logphi.inputs.guesses import guided
from logphi.inputs.route_names import RouteName
from logphi.inputs.tolerance import Tolerance
from logphi.questions.delta import delta
from logphi.questions.pointwise import pointwise


@overload
def hockey_stick(
    self: HasLoss,
    order: Number,
    *,
    direction: DirectionLike | None = None,
    method: RouteName | None = None,
    rtol: float | None = None,
) -> Bound: ...
@overload
def hockey_stick(
    self: HasLoss,
    order: Numbers,
    *,
    direction: DirectionLike | None = None,
    method: RouteName | None = None,
    rtol: float | None = None,
) -> Bounds: ...
@guided()
def hockey_stick(
    self: HasLoss,
    order: Any,
    *,
    direction: DirectionLike | None = None,
    method: RouteName | None = None,
    rtol: float | None = None,
) -> Bound | Bounds:
    """The hockey-stick divergence H_a(P||Q) = E_P[(1 - a e^{-L})_+], the larger of both directions ([AFA] Definition 2).

    For every order a >= 0 it is delta(log a): 1 at 0, the total variation distance at 1, and P(L = inf) at infinity.

    Parameters
    ----------
    order
        One order or an array, non-negative or infinite, taken as exact doubles.
    direction
        ``"remove"`` or ``"add"`` for one direction only; the maximum of both by default.
    method
        A route by name, as in :func:`logphi.questions.delta.delta`, but not ``"certified"``.
    rtol
        Requested ``upper - lower`` relative to the value; by default as in :func:`logphi.questions.delta.delta`.

    Returns
    -------
    Bound or Bounds
        Of the shape of ``order``; the rounding of log a is counted, outward, and ``float`` gives the upper end.

    Raises
    ------
    ValueError, TypeError
        If an order is negative or NaN, or the direction or the method does not apply.

    Examples
    --------
    >>> import logphi as lp
    >>> round(lp.RandomizedResponse(p=0.75).hockey_stick(1).value, 9)
    0.5
    """
    loss = self._loss()
    # all options are checked, even if there are no orders to answer
    named(method), loss.orders(direction), Tolerance.of(rtol)
    orders = check.plain_array("order", order, "a real number or an array of them")
    if not np.all(orders >= 0):
        raise ValueError(f"order must be zero or more and not NaN, got {order!r}: it is e^epsilon, not epsilon")
    return pointwise(orders, lambda at: _one(loss, at, direction, method, rtol))


def _one(loss: Loss, order: float, direction: DirectionLike | None, method: RouteName | None, rtol: float | None) -> Bound:
    if order == 0:
        names = [name for name, _ in loss.orders(direction)]
        return Bound(1.0, 1.0, 1.0, direction=names[0] if len(names) == 1 else Direction.BOTH)
    if order == math.inf:
        return relatively(worst([infinite_mass(law, name) for name, law in loss.orders(direction)]), Tolerance.of(rtol).enough)
    if order == 1:
        return delta(loss, 0.0, direction=direction, method=method, rtol=rtol)
    # the profile falls with epsilon
    at = math.log(order)
    log_error = 2 * ULP * abs(at)
    high, low = (delta(loss, at + side * log_error, direction=direction, method=method, rtol=rtol) for side in (-1, 1))
    lower, upper = min(low.lower, high.upper), high.upper
    ledger = replace(high.ledger, rounding=high.ledger.rounding + Entry(max(upper - lower - high.width, 0.0)))
    return relatively(with_ends(high, lower, high.value, upper, ledger=ledger), Tolerance.of(rtol).enough)
