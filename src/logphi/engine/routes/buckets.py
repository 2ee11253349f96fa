"""Losses rounded up and down to multiples of one width and composed by convolution: wide bounds, for comparison."""

from __future__ import annotations

from logphi.engine.method import Method
from logphi.engine.routes.route import LocalProfile, Route, by_excess
from logphi.inversion.demand import Demand
from logphi.laws.log_phi import LogPhi


def prepare(loss: LogPhi, epsilon: float, demand: Demand) -> LocalProfile:
    """The profile from multiples of a width that suits the epsilon."""
    # SciPy's normal tails would double the time of importing the package
    from logphi.comparators import buckets

    return by_excess(loss, _METHOD, lambda: buckets.prepare(loss, epsilon))


_METHOD = Method("buckets", "losses rounded up and down to multiples of one width, to compare with")
BUCKETS = Route(_METHOD, prepare)
