"""Sums over the nodes of a loss: a smoothed threshold on a long line, or lattice laws above and below."""

from __future__ import annotations

from contextlib import suppress
from functools import reduce

from logphi.answers.enclosure import meet
from logphi.engine.log_probability import LogProbability
from logphi.engine.method import Method
from logphi.engine.routes.route import LocalProfile, NotApplicableError, Request, Route, by_excess, inverted
from logphi.grid.node_sums import values_on
from logphi.inversion.demand import Promise
from logphi.inversion.smoothing import smoothed

# measured: the largest number of lattice points; where a line is wide, more of them take seconds for each digit
_BUDGET = 1 << 17
# chosen: the width from which on a Fourier sum has no digits
_LOST = 1.0


def prepare(request: Request) -> LocalProfile:
    """The profile from a line, and from lattices too if an atom is near the threshold, or the line has no digits."""
    epsilon, demand = request.epsilon, request.demand
    line = smoothed.prepare(request.loss, epsilon, demand, values_on)
    if line is None:
        return _on_lattices(request)
    on_line = inverted(request.loss, _METHOD, line.at)
    if on_line(epsilon).meets(demand):
        return on_line
    known = [on_line]
    with suppress(NotApplicableError):
        known.append(_on_lattices(request))
    if _met(known, epsilon).relative_width > _LOST:
        with suppress(NotApplicableError):
            known.append(_node_by_node(request))
    return lambda x: _met(known, x)


def _met(known: list[LocalProfile], x: float) -> LogProbability:
    return reduce(meet, [local(x) for local in known])


def _on_lattices(request: Request) -> LocalProfile:
    """The profile from the lattice laws above and below alone."""
    # SciPy's normal tails would double the time of importing the package
    from logphi.grid import discretized

    loss, epsilon, demand = request.loss, request.epsilon, request.demand
    return by_excess(loss, _METHOD, lambda: discretized.prepare(loss, epsilon, demand, _BUDGET).at)


def _node_by_node(request: Request) -> LocalProfile:
    """The profile from laws convolved node by node."""
    # SciPy's normal tails would double the time of importing the package
    from logphi.grid import node_by_node

    loss, epsilon, demand = request.loss, request.epsilon, request.demand
    return by_excess(loss, _METHOD, lambda: node_by_node.prepare(loss, epsilon, demand).at)


_METHOD = Method("discretized", "sums over the nodes of a loss, by Fourier transforms: sums of known laws")
DISCRETIZED = Route(_METHOD, prepare)
# measured: the accuracy and cost of lattices near atoms; elsewhere a smoothed line is sharper
LATTICES = Route(_METHOD, _on_lattices, mostly=Promise(1e-5, 4e8))
# measured: the accuracy and cost where all other routes lose all digits to cancellation
TAILS = Route(_METHOD, _node_by_node, mostly=Promise(0.3, 5e8))
