"""The epsilon of sampled Gaussians with hardly any noise, alone or beside other losses."""

from __future__ import annotations

import math

from logphi.answers.bound import Bound
from logphi.engine.log_probability import masses
from logphi.engine.routes.automatic import Automatic
from logphi.engine.routes.separated import separated_from
from logphi.engine.search.closed_crossing import crossing_of
from logphi.inputs.tolerance import Tolerance
from logphi.inversion.demand import Demand
from logphi.laws.log_phi import LogPhi

# measured: up to this shift, other routes may be sharper
_OTHERS = 60.0
# measured: the share of the tolerance of epsilon that the profile has, as it falls by one over more than a unit of epsilon
_SHARE = 0.1


def epsilon_with_hardly_any_noise(loss: LogPhi, delta: float, tolerance: Tolerance) -> Bound | None:
    """The smallest eps >= 0 with delta(eps) <= delta; None for another loss, and where other routes may be sharper.

    Beside other losses, the search starts from the crossing without them.
    """
    found = separated_from(loss)
    if found is None or found.own.reflected or not masses(loss)[0][1] < delta < 1:
        return None
    spread = math.fsum(one.count * one.shift**2 for one in found.own.outer)
    answer = crossing_of(found.own.excess, delta, spread / 2 + math.sqrt(-2 * math.log(delta) * spread))
    if found.rest.terms and answer is not None:
        demand = Demand(_SHARE * tolerance.aim, enough=_SHARE * tolerance.enough)
        answer = crossing_of(found.beside(Automatic(), demand), delta, max(answer.value, 1.0))
    if answer is None:
        return None
    others = max(one.shift for one in found.own.outer) < _OTHERS
    return None if others and answer.width > tolerance.aim * max(1.0, answer.value) else answer
