"""The inverse of the privacy profile: epsilon as a function of delta."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, overload

from logphi.answers.bound import Bound, Bounds
from logphi.answers.ledger import Ledger
from logphi.answers.status import Direction, Status
from logphi.bracketing import crossing
from logphi.engine.answer import on_scale, worst
from logphi.engine.concentration import epsilon_of_many
from logphi.engine.directions import Certifiable
from logphi.engine.log_probability import LogProbability, masses
from logphi.engine.method import EXACT
from logphi.engine.routes.evaluator import Evaluator
from logphi.engine.routes.exact import closed
from logphi.engine.routes.registry import evaluator, named
from logphi.engine.routes.route import Request, Route, Solver
from logphi.engine.search.closed_crossing import epsilon_in_closed_form
from logphi.engine.search.crossing_search import CrossingSearch, level_error
from logphi.engine.search.near_largest_loss import near_largest_loss
from logphi.engine.search.separated_crossing import epsilon_with_hardly_any_noise
from logphi.engine.search.warm_start import WarmStart
from logphi.inputs import check
from logphi.inputs.arguments import DirectionLike, Number, Numbers
from logphi.inputs.guesses import guided
from logphi.inputs.route_names import MethodName, is_certified
from logphi.inputs.tolerance import Tolerance
from logphi.inversion.demand import Demand
from logphi.laws.log_phi import LogPhi
from logphi.questions.pointwise import pointwise

# chosen: the relative accuracy of the total variation distances of single releases
_COARSE = 1e-3
# measured: the distances of more releases than this rarely add up to less than delta
_FEW_RELEASES = 1000
# chosen: the relative accuracy of the first answer to whether delta(0) is below a level
_ROUGH = 0.01
# chosen: the relative accuracy of a profile of which only the upper end counts
_VERY_COARSE = 5.0


@overload
def epsilon(
    self: Certifiable,
    delta: Number,
    *,
    direction: DirectionLike | None = None,
    method: MethodName | Route | None = None,
    rtol: float | None = None,
) -> Bound: ...
@overload
def epsilon(
    self: Certifiable,
    delta: Numbers,
    *,
    direction: DirectionLike | None = None,
    method: MethodName | Route | None = None,
    rtol: float | None = None,
) -> Bounds: ...
@guided(epsilon="m.delta(epsilon) for the delta at an epsilon, and m.epsilon(delta) for the epsilon at a delta")
def epsilon(
    self: Certifiable,
    delta: Any,
    *,
    direction: DirectionLike | None = None,
    method: MethodName | Route | None = None,
    rtol: float | None = None,
) -> Bound | Bounds:
    """The smallest eps >= 0 with delta(eps) <= delta: the inverse of the privacy profile ([AFA] section 4).

    Parameters
    ----------
    delta
        One number or an array, in [0, 1]. Zero asks for the largest loss, which is infinite if losses are unbounded; any delta
        below the probability of an infinite loss gives infinity. One gives zero, as every mechanism is (0, 1)-DP.
    direction
        ``"remove"`` or ``"add"`` for one direction only; the maximum of both by default.
    method
        A route by name, or ``"certified"``, as in :func:`logphi.questions.delta.delta`; by default the first that meets the
        tolerance. The routes of [AFA] are inverted by bisection, as in that paper.
    rtol
        Requested ``upper - lower`` in units of ``max(1, eps)``; by default as in :func:`logphi.questions.delta.delta`.

    Returns
    -------
    Bound or Bounds
        Of the shape of ``delta``, in nats. At ``upper`` the proved upper bound of the profile is at most delta, at
        ``lower`` the proved lower bound is at least delta: both are checked. ``float`` gives the upper end.

    Raises
    ------
    ValueError, TypeError
        If delta is outside [0, 1] or NaN, or the direction or the method does not apply.

    Examples
    --------
    >>> import logphi as lp
    >>> spent = (14062 * lp.Gaussian(sigma=1.1).poisson(256 / 60000)).epsilon(1e-5)
    >>> round(spent.value, 9), spent.upper - spent.lower < 1e-9
    (2.381596921, True)
    """
    if is_certified(method):
        return self._certified("epsilon", delta, direction, Tolerance.of(rtol).aim)
    loss = self._loss()
    route, orders, tolerance = named(method), loss.orders(direction), Tolerance.of(rtol)
    deltas, profiles = check.unit_array("delta", delta), evaluator(route)
    # a named route has its own way of inversion
    solve, shortcuts = (
        (crossing, (near_largest_loss, epsilon_of_many, epsilon_in_closed_form, epsilon_with_hardly_any_noise))
        if route is None
        else (route.solver, ())
    )
    starts = [(order, WarmStart(part)) for order, part in orders]
    if deltas.ndim == 0:
        starts = _larger_first(starts, float(deltas))
    return pointwise(deltas, lambda at: _answer(starts, at, profiles, solve, tolerance, shortcuts))


# an order of a pair, and the search for the epsilons of its loss
_Start = tuple[Direction, WarmStart]
Shortcut = Callable[[LogPhi, float, Tolerance], "Bound | None"]


def _larger_first(starts: list[_Start], delta: float) -> list[_Start]:
    """Both directions of a loss of several kinds, that with the larger Chernoff bound first: it may save the other one."""
    if len(starts) < 2 or len(starts[0][1].loss.terms) < 2:
        return starts
    excesses = [delta - masses(start.loss)[0][1] for _, start in starts]
    if not min(excesses) > 0:
        return starts
    one, other = (
        start.chernoff(math.log(excess)).rough_ceiling(math.log(excess))
        for (_, start), excess in zip(starts, excesses, strict=True)
    )
    return starts[::-1] if one < other else starts


def _answer(
    starts: list[_Start],
    delta: float,
    profiles: Evaluator,
    solve: Solver,
    tolerance: Tolerance,
    shortcuts: Sequence[Shortcut],
) -> Bound:
    """The larger epsilon of both directions; one that cannot attain the maximum is skipped."""
    found: list[Bound] = []
    for order, start in starts:
        part = start.loss
        other = _limited(part, found[0], delta, profiles, tolerance) if found and delta > 0 else None
        if other is not None:
            # an order that is proved to have the smaller epsilon is skipped
            found += [replace(other, direction=order)] if other.upper > found[0].lower else []
            continue
        # a Bound may have no truth value, and is compared with None
        known = (one for shortcut in shortcuts if (one := shortcut(part, delta, tolerance)) is not None)
        own = next(known, None)
        if own is None:
            own = _one(start, delta, profiles, solve, tolerance)
        found.append(replace(own, direction=order))
    return on_scale(worst(found), tolerance.enough)


def _one(warm: WarmStart, delta: float, profiles: Evaluator, solve: Solver, tolerance: Tolerance) -> Bound:
    """Epsilon in one direction of the pair."""
    loss = warm.loss
    infinite, _ = masses(loss)
    known = _known(loss, delta, infinite)
    if known is not None:
        return known
    level, log_excess = math.log(delta), math.log(delta - infinite[1])
    guess, top = warm.guess(level, log_excess), max(loss.support.upper, 0.0)

    def proved_ceiling() -> float:
        return min(warm.ceiling(log_excess), top)

    # the search stays below an approximate upper bound, which is proved if an answer depends on it
    ceiling = min(guess.rough_ceiling, top)
    if ceiling <= 0:
        ceiling = proved_ceiling()
    # if the crossing may be at zero, no search is needed
    doubtful = delta > 0.01 or guess.epsilon <= 0 or closed(loss, 0.0)
    known_zero = ceiling <= 0 or _distances_suffice(loss, delta, profiles)
    if known_zero or (doubtful and _zero_suffices(loss, level, profiles, tolerance)):
        return _ZERO
    search = CrossingSearch(loss, profiles, solve, level, ceiling, guess)
    found = search.first(tolerance)
    perhaps_zero = found.epsilon.lower == 0 and not doubtful
    if found.epsilon.upper == 0 or (perhaps_zero and _zero_suffices(loss, level, profiles, tolerance)):
        return _ZERO
    found = search.narrowed(found, tolerance)
    epsilon, nearest = found.epsilon, found.nearest
    warm.mark(level, epsilon.value, found.slope)
    ledger = nearest.ledger.scaled(1 / (delta * found.slope)) if delta > 1e-300 else Ledger()
    upper = epsilon.upper if epsilon.upper < ceiling else max(proved_ceiling(), epsilon.value)
    return Bound(epsilon.lower, epsilon.value, upper, method=nearest.method, ledger=ledger)


_ZERO = Bound(0.0, 0.0, 0.0, method=EXACT)


def _known(loss: LogPhi, delta: float, infinite: tuple[float, float]) -> Bound | None:
    """Epsilon where delta is 1, or no larger than the probability of an infinite loss; None elsewhere."""
    if delta < infinite[0] or (delta == infinite[1] == 0 and loss.support.upper == math.inf):
        return Bound(math.inf, math.inf, math.inf, Status.UNBOUNDED, method=EXACT)
    if delta == 1:
        return _ZERO
    if delta == 0 and infinite[1] == 0:
        top = max(loss.support.upper, 0.0)
        return Bound(max(0.0, top - loss.support.error - 1e-14 * top), top, top, method=EXACT)
    # within rounding, delta may be above or below the probability of an infinite loss
    return Bound(0.0, 0.0, math.inf, method=EXACT) if delta <= infinite[1] else None


def _limited(loss: LogPhi, known: Bound, delta: float, profiles: Evaluator, tolerance: Tolerance) -> Bound | None:
    """A bound of the other direction's epsilon that widens a known one at most to the tolerance; None if none is proved."""
    if not 0 < known.lower < math.inf:
        return None
    level = math.log(delta)
    level -= level_error(level)
    # a coarse answer is cheap, and its upper end a bound
    request = Request(loss, known.lower, Demand(_VERY_COARSE, least=level))
    prepared = profiles.from_prepared(request)
    # a closed form is as quick as a bound of it
    quick = prepared is not None or (known.method is EXACT and closed(loss, known.lower))
    if not quick and profiles.surely_below(request, level):
        return Bound(0.0, 0.0, known.lower, method=EXACT)
    local = profiles(request)
    if (prepared or local(known.lower)).upper < level:
        return Bound(0.0, 0.0, known.lower, method=EXACT)
    # if neither direction is proved to have the larger epsilon
    for end in (known.upper, known.lower + tolerance.aim * max(1.0, known.lower)):
        if known.lower < end < math.inf and (there := local(end)).upper < level:
            return Bound(0.0, known.lower, end, method=there.method, ledger=there.ledger)
    return None


def _zero_suffices(loss: LogPhi, level: float, profiles: Evaluator, tolerance: Tolerance) -> bool:
    """Whether delta(0) is at most the level; a coarse answer mostly decides it."""

    def at_zero(rtol: float) -> LogProbability:
        return profiles(Request(loss, 0.0, Demand(rtol, least=level, enough=tolerance.enough)))(0.0)

    found = at_zero(max(tolerance.aim, _ROUGH))
    if found.lower <= level < found.upper:
        found = at_zero(tolerance.aim)
    return found.upper <= level


def _distances_suffice(loss: LogPhi, delta: float, profiles: Evaluator) -> bool:
    """Whether the total variation distances of the releases add up to at most delta: delta(0) is at most their sum."""
    if sum(count for _, count in loss.terms) > _FEW_RELEASES:
        return False
    total = 0.0
    for law, count in loss.terms:
        one = LogPhi.of([(law, 1)])
        if not closed(one, 0.0):
            return False
        total += count * math.exp(profiles(Request(one, 0.0, Demand(_COARSE)))(0.0).upper)
        if not total * (1 + 1e-12) <= delta:
            return False
    return True
