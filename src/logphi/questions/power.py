"""The power of the best test at a level, 1 - f(alpha), relatively accurate however small.

notation: as in :mod:`logphi.questions.tradeoff`; 1 - f(alpha) = inf over x of delta(x) + e^x alpha. Each x gives an upper
bound.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from logphi.answers.bound import Bound, single
from logphi.answers.enclosure import with_ends
from logphi.answers.ledger import Entry, Ledger
from logphi.answers.status import Side
from logphi.engine.answer import infinite_mass, relatively, worst
from logphi.engine.directions import Loss
from logphi.engine.log_probability import masses
from logphi.engine.supporting_lines import ROUNDING, PowerLines
from logphi.engine.tangent import Guess, Search, guessed, supremum
from logphi.inputs.adjacency import Adjacency
from logphi.inputs.arguments import DirectionLike
from logphi.inputs.tolerance import Tolerance
from logphi.laws.log_phi import LogPhi
from logphi.questions.delta import log_delta
from logphi.questions.tradeoff import lines_demand, tradeoff

# derived: half an ulp of a number up to one
_HALF = 2.0**-53
# measured: the distance of a point from the best one, whose square is the relative error
_APART = 1e-5


def power(loss: Loss, level: float, direction: DirectionLike | None, rtol: float | None) -> Bound:
    """The largest power at one level, in the worse direction of the pair; ``float`` gives the upper end."""
    found = [replace(_power(part, level, rtol), direction=order) for order, part in loss.orders(direction)]
    return relatively(worst(found), Tolerance.of(rtol).enough)


def hull_power(loss: Loss, level: float, direction: DirectionLike | None, rtol: float | None) -> Bound:
    """The concave hull of the largest powers of both directions, at one level; ``float`` gives the upper end.

    Any x gives an upper bound from max(delta, delta'); the best x lies between those of the two orders. The lower end is that
    of the larger power.
    """
    plain = power(loss, level, direction, rtol)
    orders = loss.orders(direction)
    if len(orders) == 1 or level in (0, 1):
        return plain

    def height(x: float) -> float:
        found = single(log_delta(loss, x, direction=direction, rtol=rtol))
        rounding = _HALF * 8 * (1 + abs(found.upper) + abs(x) + abs(math.log(level)))
        return float(np.logaddexp(found.upper, x + math.log(level))) + rounding

    from scipy.optimize import minimize_scalar

    low, high = sorted(
        Search(PowerLines(law, level, lines_demand(Tolerance.of(rtol))), _guess(law, level)).location() for _, law in orders
    )
    found = minimize_scalar(height, bounds=(low, high), method="bounded", options={"xatol": _APART})
    upper = max(min(math.exp(min(found.fun, height(low), height(high))) * (1 + ROUNDING), 1.0), plain.upper)
    ledger = replace(plain.ledger, discretization=plain.ledger.discretization + Entry(upper - plain.upper))
    return relatively(replace(plain, upper=upper, ledger=ledger), Tolerance.of(rtol).enough)


def _power(law: LogPhi, level: float, rtol: float | None) -> Bound:
    if level == 0:
        return infinite_mass(law)
    error = single(tradeoff(Loss(law, Adjacency.REMOVE), level, rtol=rtol))
    # a test that ignores the data has power equal to its level
    lower, upper = max(1 - error.upper - _HALF, level), min(1 - error.lower + _HALF, 1.0)
    plain = with_ends(error, lower, 1 - error.value, upper, side=Side.UPPER)
    tolerance = Tolerance.of(rtol)
    if plain.width <= tolerance.aim * plain.value:
        return plain
    search = Search(PowerLines(law, level, lines_demand(tolerance)), _guess(law, level))
    found = supremum(search, tolerance.aim)
    size = math.exp(found.unit) * (1 + ROUNDING)
    most = -found.lower * size
    if not most < upper:
        return plain
    least = max(lower, -found.upper * size * (1 - 2 * ROUNDING)) if math.isfinite(found.upper) else lower
    least = min(least, most)
    ledger = Ledger(discretization=Entry(most - least, error.ledger.proved and found.middle.ledger.proved))
    value = min(max(-found.value * size, least), most)
    return Bound(least, value, most, method=found.middle.method, ledger=ledger)


def _guess(law: LogPhi, level: float) -> Guess:
    return guessed(law, level, -math.expm1(masses(law)[1][1]))
