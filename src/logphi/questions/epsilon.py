"""The inverse of the privacy profile: epsilon as a function of delta."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, overload

from logphi.answers.bound import Bound, Bounds
from logphi.answers.enclosure import Enclosure
from logphi.answers.ledger import Ledger
from logphi.answers.status import Direction, Status
from logphi.bracketing import Function, crossing, near_by
from logphi.engine.answer import on_scale, worst
from logphi.engine.closed_crossing import epsilon_in_closed_form
from logphi.engine.concentration import epsilon_of_many
from logphi.engine.directions import Certifiable
from logphi.engine.log_probability import LogProbability, masses
from logphi.engine.method import EXACT
from logphi.engine.near_largest_loss import near_largest_loss
from logphi.engine.routes.evaluator import Evaluator
from logphi.engine.routes.exact import closed
from logphi.engine.routes.registry import named
from logphi.engine.routes.route import Route, Solver
from logphi.engine.shared_evaluator import evaluator
from logphi.engine.warm_start import WarmStart
from logphi.inputs import check
from logphi.inputs.arguments import DirectionLike, Number, Numbers
from logphi.inputs.guesses import guided
from logphi.inputs.route_names import Method, is_certified
from logphi.inputs.tolerance import Tolerance
from logphi.inversion.demand import Demand
from logphi.laws.log_phi import LogPhi
from logphi.progress import searched
from logphi.questions.delta import checked_options, pointwise

# measured: the relative tolerance of profiles used only to approach the crossing
_COARSE = 1e-3
# derived: profiles are this much narrower than the crossing, whose ends are 1.2 widths away on each side, and more for an
# uncertain slope
_FLAT = 4.0
# measured: the slope of the log-profile is at least the abscissa of Chernoff's bound over _STEEP; the largest factor by which a
# profile may be less accurate than its crossing, as few digits do not determine a crossing
_STEEP, _STEEPEST = 4.0, 1e3
# measured: the sum of the distances of more releases than this is rarely below delta
_FEW_RELEASES = 1000
# derived: narrower profiles are not requested, because of rounding
_DIGITS = 1e-15


@overload
def epsilon(
    self: Certifiable,
    delta: Number,
    *,
    direction: DirectionLike | None = None,
    method: Method | Route | None = None,
    rtol: float | None = None,
) -> Bound: ...
@overload
def epsilon(
    self: Certifiable,
    delta: Numbers,
    *,
    direction: DirectionLike | None = None,
    method: Method | Route | None = None,
    rtol: float | None = None,
) -> Bounds: ...
@guided()
def epsilon(
    self: Certifiable,
    delta: Any,
    *,
    direction: DirectionLike | None = None,
    method: Method | Route | None = None,
    rtol: float | None = None,
) -> Bound | Bounds:
    """The smallest eps >= 0 with delta(eps) <= delta ([AFA] section 4, by a safeguarded secant on log delta).

    Parameters
    ----------
    delta
        One number or an array, in [0, 1]. Zero asks for the largest loss, which is infinite if losses are unbounded; any
        delta below the probability of an infinite loss gives infinity.
    direction
        ``"remove"`` or ``"add"`` for one order only; the maximum of both by default.
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
    tolerance = checked_options(loss, direction, method, rtol)
    deltas = check.unit_array("delta", delta)
    orders, profiles, asked = loss.orders(direction), evaluator(method, many=deltas.ndim > 0), named(method)
    # a named route has its own way of inversion
    solve, shortcuts = (
        (crossing, (near_largest_loss, epsilon_of_many, epsilon_in_closed_form)) if asked is None else (asked.solver, ())
    )
    starts = [WarmStart(part) for _, part in orders]
    return pointwise(deltas, lambda at: _answer(orders, at, profiles, solve, tolerance, shortcuts, starts))


Shortcut = Callable[[LogPhi, float, Tolerance], "Bound | None"]


def _answer(
    orders: list[tuple[Direction, LogPhi]],
    delta: float,
    profiles: Evaluator,
    solve: Solver,
    tolerance: Tolerance,
    shortcuts: Sequence[Shortcut],
    starts: list[WarmStart],
) -> Bound:
    """The larger epsilon of both orders; an order that cannot attain the maximum is skipped."""
    found: list[Bound] = []
    for (order, part), start in zip(orders, starts, strict=True):
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
    """Epsilon in one order of the pair."""
    loss = warm.loss
    infinite, _ = masses(loss)
    if delta < infinite[0] or (delta == infinite[1] == 0 and loss.support.upper == math.inf):
        return Bound(math.inf, math.inf, math.inf, Status.UNBOUNDED, method=EXACT)
    if delta == 1:
        return Bound(0.0, 0.0, 0.0, method=EXACT)
    if delta == 0 and infinite[1] == 0:
        top = max(loss.support.upper, 0.0)
        return Bound(max(0.0, top - loss.support.error - 1e-14 * top), top, top, method=EXACT)
    if delta <= infinite[1]:
        # within rounding, delta may be above or below the probability of an infinite loss
        return Bound(0.0, 0.0, math.inf, method=EXACT)
    level = math.log(delta)
    log_excess = math.log(delta - infinite[1])
    onward = warm.onward(level, log_excess)
    start, hint, top = onward.guess, onward.abscissa, loss.support.upper
    ceiling = min(onward.about, max(top, 0.0))

    def proved() -> float:
        # the search stays below the approximate upper bound, which is proved if an answer depends on it
        return min(warm.ceiling(log_excess), max(top, 0.0))

    # if the crossing may be at zero, no search is needed
    doubtful = delta > 0.01 or start <= 0 or closed(loss, 0.0)
    if ceiling <= 0:
        ceiling = proved()
    known_zero = ceiling <= 0 or _distances_suffice(loss, delta, profiles)
    if known_zero or (doubtful and _zero_suffices(loss, level, profiles, tolerance)):
        return Bound(0.0, 0.0, 0.0, method=EXACT)
    slack = _level_error(level)
    # a closed form is sharp at once
    closed_here = closed(loss, start)
    # a coarse profile is no faster if the start is close to the crossing
    at_once = closed_here or (onward.near and loss.coarsened is loss)
    # where the profile is steep, the error of the crossing is smaller than that of the profile
    steep = max(min(hint * max(1.0, start) / _STEEP, _STEEPEST), 1.0)

    def solved(needed: Tolerance, start: float, slope: float, ease: float = 1.0) -> tuple[Enclosure, LogProbability, float]:
        """The crossing of a profile known to within a tolerance, the profile there, and its slope."""
        seen: dict[float, LogProbability] = {}
        prepared: list[tuple[float, Function]] = []

        def still_sharp(x: float) -> bool:
            nearest = min(seen, key=lambda y: abs(y - x), default=math.inf)
            return near_by(x, nearest) and seen[nearest].relative_width <= needed.aim

        def near(x: float, sharp: bool) -> Function:
            if at_once and prepared and (closed_here or near_by(x, prepared[-1][0]) or still_sharp(x)):
                return prepared[-1][1]
            asked = needed if sharp or at_once else needed.at_least(_COARSE)
            demand = Demand(asked.aim, hint, level - 1, asked.enough * ease)
            local = profiles(loss if sharp else loss.coarsened, x, demand)
            own: dict[float, Enclosure] = {}

            def at(y: float) -> Enclosure:
                if y not in own:
                    seen[y] = answer = local(y)
                    own[y] = Enclosure(answer.lower - slack, answer.value, answer.upper + slack)
                return own[y]

            prepared.append((x, at))
            return at

        found = solve(near, level, 0.0, start, ceiling, searched, slope)
        last = seen[min(seen, key=lambda y: abs(y - found.value))]
        return found, last, _slope(seen, found.value)

    found, last, slope = solved(tolerance, start, onward.slope, steep)
    if found.lower == 0 and not doubtful and _zero_suffices(loss, level, profiles, tolerance):
        return Bound(0.0, 0.0, 0.0, method=EXACT)
    size = max(1.0, found.value)
    # where the profile is flat, it must be more accurate than the crossing
    needed = tolerance * (min(slope * size, 1.0) / _FLAT)
    reached = tolerance.aim if last.relative_width <= tolerance.aim else tolerance.enough
    wide = found.upper - found.lower > reached * size
    if wide and last.relative_width <= reached * steep and needed.aim > _DIGITS and not closed_here:
        found, last, slope = solved(needed, found.value, -slope)
    warm.mark(level, found.value, slope)
    ledger = last.ledger.scaled(1 / (delta * slope)) if delta > 1e-300 else Ledger()
    upper = found.upper if found.upper < ceiling else max(proved(), found.value)
    return Bound(found.lower, found.value, upper, method=last.method, ledger=ledger)


def _level_error(level: float) -> float:
    """A bound of the error of log delta from half an ulp of delta and its own rounding."""
    return 3e-16 + 1e-16 * abs(level)


def _limited(loss: LogPhi, known: Bound, delta: float, profiles: Evaluator, tolerance: Tolerance) -> Bound | None:
    """A bound of the other order's epsilon that widens a known one at most to the tolerance; None if none is proved."""
    if not 0 < known.lower < math.inf:
        return None
    level = math.log(delta)
    level -= _level_error(level)
    # a coarse answer is cheap, and its upper end a bound
    coarse = Demand(5.0, least=level)
    prepared = profiles.from_prepared(loss, known.lower, coarse)
    if prepared is None and not closed(loss, known.lower) and profiles.surely_below(loss, known.lower, level):
        return Bound(0.0, 0.0, known.lower, method=EXACT)
    local = profiles(loss, known.lower, coarse)
    if (prepared or local(known.lower)).upper < level:
        return Bound(0.0, 0.0, known.lower, method=EXACT)
    # if neither order is proved to have the larger epsilon
    for end in (known.upper, known.lower + tolerance.aim * max(1.0, known.lower)):
        if known.lower < end < math.inf and (there := local(end)).upper < level:
            return Bound(0.0, known.lower, end, method=there.method, ledger=there.ledger)
    return None


def _zero_suffices(loss: LogPhi, level: float, profiles: Evaluator, tolerance: Tolerance) -> bool:
    return profiles(loss, 0.0, Demand(tolerance.aim, least=level, enough=tolerance.enough))(0.0).upper <= level


def _distances_suffice(loss: LogPhi, delta: float, profiles: Evaluator) -> bool:
    """Whether the total variation distances of the releases add up to at most delta: delta(0) is at most their sum."""
    if sum(count for _, count in loss.terms) > _FEW_RELEASES:
        return False
    total = 0.0
    for law, count in loss.terms:
        one = LogPhi.of([(law, 1)])
        if not closed(one, 0.0):
            return False
        total += count * math.exp(profiles(one, 0.0, Demand(_COARSE))(0.0).upper)
    return total * (1 + 1e-12) <= delta


def _slope(seen: dict[float, LogProbability], x: float) -> float:
    """-d log delta / d eps from the two points nearest to x; one if they do not determine it."""
    nearest = sorted(seen, key=lambda y: abs(y - x))
    for y in nearest[1:]:
        if abs(y - nearest[0]) > 1e-9 * max(1.0, abs(x)):
            rise = (seen[nearest[0]].value - seen[y].value) / (y - nearest[0])
            return rise if rise > 1e-300 and math.isfinite(rise) else 1.0
    return 1.0
