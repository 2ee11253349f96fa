"""A lattice law above and one below, composed by a Fourier sum: valid for every loss of known laws."""

from __future__ import annotations

from logphi.engine.method import Method, Retry
from logphi.engine.routes.route import Local, Route, inverted, refusal
from logphi.inversion.contour import Inversion, Part
from logphi.inversion.demand import Demand
from logphi.laws.log_phi import LogPhi

# lattice points at most; measured: an answer that may be this coarse needs few, or will not come
_BUDGET = 1 << 20
_COARSE = 1e-4


def prepare(loss: LogPhi, epsilon: float, demand: Demand) -> Local:
    """On lattices as fine as the tolerance asks or the budget allows."""
    # SciPy's normal tails would double the time of importing the package
    from logphi.grid import discretized

    try:
        prepared = discretized.prepare(loss, epsilon, demand, _BUDGET if demand.rtol < _COARSE else _BUDGET >> 4)
    except ValueError as error:
        raise refusal(_METHOD, error) from error
    return inverted(loss, _METHOD, lambda x: Inversion(Part.EXCESS, prepared.at(x)))


_METHOD = Method("discretized", Retry.ALWAYS)
DISCRETIZED = Route(_METHOD, prepare, "a lattice law above and one below: sums of known laws", fallback=True)
