"""The privacy profile of a release: delta as a function of epsilon."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, overload

from logphi.answers.bound import Bound, Bounds
from logphi.answers.status import Direction
from logphi.arrays import Array
from logphi.engine.answer import NEGLIGIBLE, log_probability, probability, worst
from logphi.engine.directions import Certifiable, Loss
from logphi.engine.log_probability import LogProbability, masses, trivial
from logphi.engine.method import EXACT
from logphi.engine.routes.evaluator import Evaluator
from logphi.engine.routes.exact import closed
from logphi.engine.routes.registry import evaluator
from logphi.engine.routes.route import Request, Route
from logphi.inputs import check
from logphi.inputs.arguments import DirectionLike, Number, Numbers
from logphi.inputs.guesses import guided
from logphi.inputs.route_names import MethodName, is_certified
from logphi.inputs.tolerance import Tolerance
from logphi.inversion.demand import Demand
from logphi.inversion.lines.contour import saddle_of_excess
from logphi.laws.log_phi import LogPhi
from logphi.questions.pointwise import pointwise


@overload
def delta(
    self: Certifiable,
    epsilon: Number,
    *,
    direction: DirectionLike | None = None,
    method: MethodName | Route | None = None,
    rtol: float | None = None,
) -> Bound: ...
@overload
def delta(
    self: Certifiable,
    epsilon: Numbers,
    *,
    direction: DirectionLike | None = None,
    method: MethodName | Route | None = None,
    rtol: float | None = None,
) -> Bounds: ...
@guided(delta="m.epsilon(delta) for the epsilon at a delta, and m.delta(epsilon) for the delta at an epsilon")
def delta(
    self: Certifiable,
    epsilon: Any,
    *,
    direction: DirectionLike | None = None,
    method: MethodName | Route | None = None,
    rtol: float | None = None,
) -> Bound | Bounds:
    """The privacy profile: delta(eps) = H_{e^eps}(P||Q), the larger of both directions ([AFA] Definition 2).

    Parameters
    ----------
    epsilon
        One number or an array, any real, in nats.
    direction
        ``"remove"`` or ``"add"`` for one direction only; the maximum of both by default.
    method
        A route by name, one of :data:`logphi.engine.routes.registry.ROUTES`, each of which has a ``reason`` that explains it;
        by default the first that meets the tolerance. ``"certified"`` is ball arithmetic, in which the parameters and
        epsilon are exact; it needs python-flint. The errors of ``"levy"`` and ``"levy-quadrature"`` are partly estimates.
    rtol
        Requested ``upper - lower`` relative to the value. By default 1e-9, or 1e-6 where the transform neither decays nor is
        that of a lattice law. Wider answers are valid and say so in their status.

    Returns
    -------
    Bound or Bounds
        Of the shape of ``epsilon``; ``lower <= delta <= upper`` and ``float`` gives the upper end.

    Raises
    ------
    ValueError, TypeError
        If epsilon is not finite, or the direction or the method does not apply.

    Examples
    --------
    >>> import logphi as lp
    >>> spent = (14062 * lp.Gaussian(sigma=1.1).poisson(256 / 60000)).delta(2)
    >>> print(f"{spent.value:.9e}")
    1.190426322e-04
    """
    if is_certified(method):
        return self._certified("delta", epsilon, direction, Tolerance.of(rtol).aim)
    return _profile(self._loss(), epsilon, direction, method, rtol, NEGLIGIBLE, probability)


@overload
def log_delta(
    self: Certifiable,
    epsilon: Number,
    *,
    direction: DirectionLike | None = None,
    method: MethodName | None = None,
    rtol: float | None = None,
) -> Bound: ...
@overload
def log_delta(
    self: Certifiable,
    epsilon: Numbers,
    *,
    direction: DirectionLike | None = None,
    method: MethodName | None = None,
    rtol: float | None = None,
) -> Bounds: ...
@guided()
def log_delta(
    self: Certifiable,
    epsilon: Any,
    *,
    direction: DirectionLike | None = None,
    method: MethodName | None = None,
    rtol: float | None = None,
) -> Bound | Bounds:
    """The natural logarithm of the privacy profile, also where delta is below the smallest double.

    Parameters
    ----------
    epsilon
        One number or an array, any real, in nats.
    direction
        ``"remove"`` or ``"add"`` for one direction only; the maximum of both by default.
    method
        A route by name, or ``"certified"``, as in :func:`delta`.
    rtol
        Requested ``upper - lower`` of delta, relative to delta: about the width of its logarithm. The default is that of
        :func:`delta`.

    Returns
    -------
    Bound or Bounds
        Of the shape of ``epsilon``; ``float`` gives the upper end, and the ledger is in units of the logarithm. An exact zero
        gives minus infinity.

    Raises
    ------
    ValueError, TypeError
        If epsilon is not finite, or the direction or the method does not apply.

    Examples
    --------
    >>> import logphi as lp
    >>> round(lp.Gaussian(sigma=1).log_delta(50).value, 6)
    -1233.869083
    """
    if is_certified(method):
        return self._certified("log_delta", epsilon, direction, Tolerance.of(rtol).aim)
    return log_profile(self._loss(), epsilon, direction=direction, method=method, rtol=rtol)


def log_profile(
    loss: Loss,
    epsilon: Any,
    *,
    direction: DirectionLike | None = None,
    method: MethodName | None = None,
    rtol: float | None = None,
    least: float = -math.inf,
) -> Bound | Bounds:
    """Log of the profile of a loss. Bounds proved to lie below ``least`` need not be tight."""
    return _profile(loss, epsilon, direction, method, rtol, least, log_probability)


def _profile(
    loss: Loss,
    epsilon: Any,
    direction: DirectionLike | None,
    method: MethodName | Route | None,
    rtol: float | None,
    least: float,
    answer: Callable[[LogProbability, float], Bound],
) -> Bound | Bounds:
    """Answers from the profile in the worse order; all options are checked, even if there are no points to answer."""
    profiles, orders, tolerance = evaluator(method), loss.orders(direction), Tolerance.of(rtol)
    points = check.real_array("epsilon", epsilon)
    likelier = _likelier_first(orders, points)
    return pointwise(
        points, lambda at: answer(_largest(likelier, at, profiles, tolerance, least), tolerance.enough), falling=True
    )


# an order of a pair, its loss, and the abscissa of the saddle of its excess, if that is known
_Order = tuple[Direction, LogPhi, "float | None"]


def _largest(orders: list[_Order], epsilon: float, profiles: Evaluator, tolerance: Tolerance, least: float) -> LogProbability:
    """The profile in the worse direction; one that cannot attain the maximum is skipped, unless that saves no time."""
    found: list[LogProbability] = []
    for order, part, hint in orders:
        if found and epsilon == 0:
            # the total variation distance is the same in both directions
            found.append(replace(found[0], direction=order))
            continue
        attained = max((other.lower for other in found), default=-math.inf)
        if -attained <= tolerance.aim:
            # nothing is larger than one
            found.append(replace(trivial(masses(part), epsilon), direction=order))
            continue
        request = Request(part, epsilon, Demand(tolerance.aim, hint, max(least, attained), tolerance.enough))
        known = profiles.from_prepared(request)
        # a closed form is as quick as a bound of it
        quick = known is not None or (bool(found) and found[-1].method is EXACT and closed(part, epsilon))
        if found and not quick and profiles.surely_below(request, attained):
            continue
        found.append(replace(known or profiles(request)(epsilon), direction=order))
    return worst(found)


def _likelier_first(orders: list[tuple[Direction, LogPhi]], points: Array) -> list[_Order]:
    """Both directions of a loss of several kinds, that with the larger Chernoff bound first: it may save the other one."""
    if len(orders) < 2 or len(orders[0][1].terms) < 2 or points.ndim or not points > 0:
        return [(order, part, None) for order, part in orders]
    saddles = [saddle_of_excess(part, float(points)) for _, part in orders]
    both: list[_Order] = [
        (order, part, found.abscissa if math.isfinite(found.value) else None)
        for (order, part), found in zip(orders, saddles, strict=True)
    ]
    return both[::-1] if saddles[0].value < saddles[1].value else both
