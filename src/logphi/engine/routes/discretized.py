"""The loss as a sum over nodes: a smoothed threshold on a long line, or a lattice law above and one below."""

from __future__ import annotations

from logphi.answers.enclosure import meet
from logphi.engine.method import Method, Retry
from logphi.engine.routes.route import Local, Route, inverted, refusal
from logphi.grid.node_sums import values_on
from logphi.inversion import smoothed
from logphi.inversion.contour import Inversion, Part
from logphi.inversion.demand import Demand
from logphi.laws.log_phi import LogPhi

# measured: lattice points at most; where a line is left wide, more of them take seconds for a digit
_BUDGET = 1 << 17


def prepare(loss: LogPhi, epsilon: float, demand: Demand) -> Local:
    """On a line; on lattices too where the line leaves an atom near the threshold, or has not been found."""
    line = smoothed.prepare(loss, epsilon, demand, values_on)
    on_line = inverted(loss, _METHOD, None if line is None else line.at)
    if line is not None and on_line(epsilon).meets(demand):
        return on_line
    # SciPy's normal tails would double the time of importing the package
    from logphi.grid import discretized

    try:
        lattices = discretized.prepare(loss, epsilon, demand, _BUDGET)
    except ValueError as error:
        if line is None:
            raise refusal(_METHOD, error) from error
        return on_line
    on_lattices = inverted(loss, _METHOD, lambda x: Inversion(Part.EXCESS, lattices.at(x)))
    return lambda x: meet(on_line(x), on_lattices(x))


_METHOD = Method("discretized", Retry.ALWAYS)
DISCRETIZED = Route(_METHOD, prepare, "sums over the nodes of a loss, by Fourier transforms: sums of known laws", fallback=True)
