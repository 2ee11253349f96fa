"""A contour laid by its forecast, or by that of a smaller angle where the integrand rises on a neighbour."""

from __future__ import annotations

import math

import numpy as np

from logphi.inversion.bent.clipped_ceiling import SampledPairs
from logphi.inversion.bent.contour import Prepared, lay, log_products
from logphi.inversion.bent.forecast import GROWTH, MOST_WORK, Forecast, forecast
from logphi.inversion.demand import Demand

# measured: every so many arcs are looked at, and smaller angles are tried so often
_SAMPLED, _LOWERED = 4, 8
# measured: so many terms take as long as all else
_QUICK = 3e5
# measured: the largest ratio of the work of a contour to its forecast
_BROKEN = 2.0


def _rises(found: Forecast, x: float) -> bool:
    """Whether the bound of the integrand rises so far on a neighbour that the step would be too short.

    The forecast assumes that it is largest at the vertex.
    """
    plan = found.plan
    # at most twice the nodes
    most = found.log_height + max(found.log_height - found.log_target, 0.0) + GROWTH
    for side in (plan.spread, -plan.spread):
        middle, vertices, _ = plan.curve.confocal(plan.curve.angle + side).triangles(plan.edges)
        middle, vertices = middle[::_SAMPLED], vertices[::_SAMPLED]
        # times the distance from the nearer pole, as the height is
        size = log_products(plan.laws, middle, vertices).max(axis=1) - np.log(np.maximum(np.abs(middle), np.abs(middle + 1)))
        if not float((size - x * middle.real).max()) <= most:
            return True
    return False


def _lay(found: Forecast, x: float) -> Prepared | None:
    """The contour of a forecast; None if it would be much longer than that."""
    most = max(found.work, _QUICK) if found.many else MOST_WORK
    return lay(found.plan, x, found.log_target, _BROKEN * most)


def _lowered(terms: SampledPairs, x: float, demand: Demand, found: Forecast, log_answer: float | None) -> Forecast | None:
    """The forecast of a smaller angle, where the integrand does not rise on a neighbour; None if there is none."""
    for _ in range(_LOWERED):
        lower = forecast(terms, x, demand, log_answer, found.lower)
        if lower is None or not lower.worthwhile:
            return None
        found = lower
        if not _rises(found, x):
            break
    return found


def prepare(terms: SampledPairs, x: float, demand: Demand, first: Forecast | None = None) -> Prepared | None:
    """A contour for one of both functionals near x; None if there is none, or if it would be too long or too wide.

    The answer is guessed beforehand. If it turns out so much smaller that the bounds are too wide, a second contour is laid.
    ``first`` is the forecast, if it is known already.
    """
    prepared: Prepared | None = None
    log_answer: float | None = None
    found = first or forecast(terms, x, demand)
    for _ in range(2):
        if found is None or not found.worthwhile:
            break
        laid = _lay(found, x)
        if laid is None and found.many:
            found = _lowered(terms, x, demand, found, log_answer)
            laid = None if found is None else _lay(found, x)
        if laid is None or found is None:
            break
        prepared = laid
        amount = prepared.at(x).amount
        if not (amount.relative_width > demand.sufficient.rtol and amount.value > 0):
            break
        # where the answer is larger by what is added, the error need not be relative to the amount
        log_answer = max(math.log(amount.value) + amount.log_scale, demand.least)
        if log_answer > found.log_answer - 1:
            break
        found = forecast(terms, x, demand, log_answer)
    return prepared
